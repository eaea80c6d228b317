"""The grid of limits as a plain form, without any script: edits, rows, presets, removals, and signs that changed."""

import re
from typing import Any

import pytest

from games.engine.signs.edits import Edits
from games.engine.signs.limits import Limits, Range
from games.limits.selectors import limits_at
from games.limits.services.presets import preset_add
from games.limits.services.proposals import limits_approve, limits_edit
from games.models import LimitPreset, LimitProposal, Table
from tests.conftest import House
from tests.games.floor_setup import HOUR, NOON, USUAL, bare_table, put_sign, sign
from tests.games.logins import logged_in

FIELD = re.compile(r'<input type="(text|hidden|checkbox)"[^>]*?name="([^"]+)"(?: value="([^"]*)")?( checked)?')


@pytest.fixture
def tables(house: House, clock: Any) -> list[Table]:
    """One of layout C with boxes of its own, and one of layout E."""
    first, second = bare_table(house, "TS-01", layout="C"), bare_table(house, "TS-02", layout="E")
    own = {"total-4": (5, 50), "triple-6": (None, None)}
    put_sign(first, sign({**USUAL, "odd-even": (50, 3000), **own}, {"big-small": 800, "odd-even": 900}))
    put_sign(second, sign({**USUAL, "four": (10, 500)}, {"big-small": 700}))
    return [first, second]


def fields_of(text: str) -> dict[str, Any]:
    """What a browser would send of the grid, as it stands."""
    form = text[text.index('id="limits-form"') :]
    found: dict[str, Any] = {}
    for kind, name, value, checked in FIELD.findall(form):
        if kind == "checkbox" and not checked:
            continue
        if name == "box":
            found.setdefault("box", []).append(value)
        else:
            found[name] = value if kind != "checkbox" else "on"
    return found


def page_of(house: House) -> str:
    return f"/admin/games/pit/{house.pits['P1'].pk}/propose/"


def send(house: House, changes: dict[str, Any], text: str | None = None) -> tuple[Any, str]:
    client = logged_in(house["pit-manager"])
    shown = fields_of(text or client.get(page_of(house)).text)
    answer = client.post(page_of(house), shown | {"reason": "A busy night"} | changes)
    return answer, answer.text if answer.status_code == 200 else ""


def name(figure: str, table: Table, key: str) -> str:
    return f"{figure}.{table.pk}.{key}"


def test_a_plain_post_of_the_whole_form_changes_the_one_edited_cell(house: House, tables: list[Table]) -> None:
    before = [limits_at(table=table, at=NOON).limits for table in tables]
    answer, _ = send(house, {name("min", tables[0], "big-small"): "1,000", "propose": "yes"})
    assert answer.status_code == 302
    proposal = LimitProposal.objects.get()
    assert list(proposal.tables.all()) == [tables[0]]
    limits_approve(actor=house["shift-manager"], proposal=proposal, reason="Agreed")
    changed = limits_at(table=tables[0], at=NOON).limits
    assert changed == Limits(
        {**before[0].by_key, "big-small": Range(100000, 300000)}, before[0].differential, before[0].chip_unit
    )
    assert limits_at(table=tables[1], at=NOON).limits == before[1]


def test_nothing_edited_is_said_so(house: House, tables: list[Table]) -> None:
    _, text = send(house, {"propose": "yes"})
    assert "These limits are already in force. Change at least one value." in text
    assert not LimitProposal.objects.exists()


def test_a_row_is_filled_where_the_layout_has_the_bet_and_the_table_is_ticked(
    house: House, tables: list[Table]
) -> None:
    _, text = send(house, {"min.all.single": "30", "row": "boxes.single"})
    shown = fields_of(text)
    assert [shown[name("min", table, "single")] for table in tables] == ["30", "30"]
    assert "2 values edited" in text
    _, text = send(house, {"min.all.odd-even": "60", "row": "boxes.odd-even"})
    assert name("min", tables[1], "odd-even") not in fields_of(text)
    client = logged_in(house["pit-manager"])
    some = fields_of(client.get(page_of(house)).text)
    del some[f"use.{tables[1].pk}"]
    shown = fields_of(client.post(page_of(house), some | {"min.all.single": "30", "row": "boxes.single"}).text)
    assert [shown[name("min", table, "single")] for table in tables] == ["30", "25"]
    _, text = send(house, {"min.all.single": "30", "propose": "yes"})
    assert "Not applied yet" in text
    assert not LimitProposal.objects.exists()


def test_a_preset_fills_the_bets_that_a_layout_has(house: House, tables: list[Table]) -> None:
    weekend = sign({"big-small": (100, 9000), "odd-even": (100, 9000), "total-10": (5, 50)}, {"big-small": 1000})
    preset = preset_add(
        actor=house["shift-manager"], casino=house.casino, name="Weekend 100", limits=weekend, reason="Weekends"
    )
    _, text = send(house, {"preset": str(preset.pk), "fill": "yes"})
    shown = fields_of(text)
    assert [shown[name("max", table, "big-small")] for table in tables] == ["9000", "9000"]
    assert (shown[name("min", tables[0], "odd-even")], shown[name("min", tables[1], "total-10")]) == ("100", "5")
    assert name("min", tables[1], "odd-even") not in shown
    assert shown[name("min", tables[0], "total-4")] == "5"  # what a preset does not name stays
    answer, _ = send(house, {"propose": "yes"}, text)
    assert answer.status_code == 302
    second = LimitProposal.objects.get().signs.get(table=tables[1]).limits()
    assert second.by_key == sign(
        {**USUAL, "four": (10, 500), "big-small": (100, 9000), "total-10": (5, 50)}
    ).by_key  # fmt: skip


def test_a_row_for_a_box_is_added_and_a_dash_sets_it_free(house: House, tables: list[Table]) -> None:
    _, text = send(house, {"new_box": "single-3", "add": "yes"})
    cells = {name(figure, tables[0], "single-3"): "-" for figure in ("min", "max")}
    _, text = send(house, cells | {"propose": "yes"}, text)
    assert "2 limits would be removed" in text
    ticks = [f"TS-01 boxes.single-3.{figure}" for figure in ("min", "max")]
    answer, _ = send(house, cells | {"propose": "yes", "remove": ticks}, text)
    assert answer.status_code == 302
    sheet = LimitProposal.objects.get().signs.get().limits()
    assert (sheet.by_key["single-3"], sheet.by_key["triple-6"]) == (Range(), Range())


def test_an_emptied_cell_needs_its_tick_and_the_approver_s(house: House, tables: list[Table]) -> None:
    emptied = {name("differential", tables[0], "odd-even"): "", "propose": "yes"}
    _, text = send(house, emptied)
    assert "1 limit would be removed" in text
    assert "TS-01: Odd and Even differential 900 → removed" in text
    assert not LimitProposal.objects.exists()
    answer, _ = send(house, emptied | {"remove": ["TS-01 differential.odd-even"]}, text)
    assert answer.status_code == 302
    proposal = LimitProposal.objects.get()
    client = logged_in(house["shift-manager"])
    assert "1 limit would be removed" in client.get(answer.url).text
    path = f"/admin/games/limitproposal/{proposal.pk}/approve/"
    assert "Tick every limit that is removed" in client.post(path, {"reason": "Agreed"}).text
    assert proposal.state == "pending"
    assert client.post(path, {"reason": "Agreed", "remove": ["TS-01 differential.odd-even"]}).status_code == 302
    page = client.get(f"/admin/games/limitproposal/{proposal.pk}/history/").text
    assert "removed" in page
    assert "900" in page
    assert "Odd and Even differential 900 → removed" in client.get(f"/admin/games/table/{tables[0].pk}/change/").text


def test_a_sign_that_changed_while_the_form_was_open_is_shown_and_the_edit_kept(
    house: House, tables: list[Table]
) -> None:
    text = logged_in(house["pit-manager"]).get(page_of(house)).text
    other = limits_edit(
        actor=house["pit-manager"], edits={tables[0]: Edits({("single", "max"): 50000})}, reason="Elsewhere"
    )
    limits_approve(actor=house["shift-manager"], proposal=other, reason="Agreed")
    edit = {name("min", tables[0], "big-small"): "75", "propose": "yes"}
    _, text = send(house, edit, text)
    assert "TS-01: another sign is in force at that moment" in text
    shown = fields_of(text)
    assert (shown[name("max", tables[0], "single")], shown[name("min", tables[0], "big-small")]) == ("500", "75")
    answer, _ = send(house, {"propose": "yes"}, text)
    assert answer.status_code == 302
    assert LimitProposal.objects.latest("pk").signs.get().limits().by_key["single"].maximum == 50000


def test_a_sign_that_takes_over_later_is_told_and_is_the_base_of_what_begins_then(
    house: House, tables: list[Table]
) -> None:
    later = limits_edit(
        actor=house["pit-manager"], edits={tables[0]: Edits({("single", "max"): 50000})}, reason="Evening",
        starts_at=NOON + HOUR,
    )  # fmt: skip
    limits_approve(actor=house["shift-manager"], proposal=later, reason="Agreed")
    edit = {name("min", tables[0], "big-small"): "40", "propose": "yes"}
    answer, _ = send(house, edit)
    assert "another sign takes over at" in logged_in(house["pit-manager"]).get(answer.url).text
    _, text = send(house, edit | {"starts_at": "2026-11-15 21:30"})
    assert fields_of(text)[name("max", tables[0], "single")] == "500"


@pytest.mark.parametrize("value", ["ten", "1.234", "-5", "9" * 30, "10,0000", "1,00", "1,000 000", ",100"])
def test_what_is_no_amount_is_told_at_its_cell(house: House, tables: list[Table], value: str) -> None:
    _, text = send(house, {name("min", tables[0], "big-small"): value, "propose": "yes"})
    assert 'aria-invalid="true"' in text
    assert "Correct the values marked in the grid." in text
    assert not LimitProposal.objects.exists()


def test_a_preset_is_added_changed_and_removed_on_its_pages(house: House, tables: list[Table]) -> None:
    client = logged_in(house["shift-manager"])
    values = {"casino": house.casino.pk, "name": "Weekend 100", "min_big-small": "100", "boxes": "total-4 10 500"}
    empty = client.post("/admin/games/limitpreset/add/", {"casino": house.casino.pk, "name": "x", "reason": "Try"})
    assert "Enter at least one value" in empty.text
    assert client.post("/admin/games/limitpreset/add/", values | {"reason": "Weekends"}).status_code == 302
    preset = LimitPreset.objects.get()
    assert preset.limits == {
        "boxes": {"big-small": {"min": "100.00"}, "total-4": {"min": "10.00", "max": "500.00"}}, "differential": {},
    }  # fmt: skip
    path = f"/admin/games/limitpreset/{preset.pk}"
    assert client.post(f"{path}/change/", values | {"max_big-small": "50", "reason": "x"}).status_code == 200
    assert client.post(f"{path}/change/", values | {"max_big-small": "900", "reason": "More"}).status_code == 302
    assert LimitPreset.objects.get().limits["boxes"]["big-small"] == {"min": "100.00", "max": "900.00"}
    assert "Total 4 maximum 500" in logged_in(house["pit-manager"]).get(f"{path}/change/").text
    history = client.get(f"{path}/history/").text
    assert "More" in history
    assert "Big and Small maximum 900" in history
    assert "{&#x27;" not in history
    version = client.get(f"{path}/history/{LimitPreset.history.latest('history_id').pk}/").text
    assert "Big and Small maximum 900" in version
    assert client.post(f"{path}/remove/", {"reason": "Unused"}).status_code == 302
    assert not LimitPreset.objects.exists()
