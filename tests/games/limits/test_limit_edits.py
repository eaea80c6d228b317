"""Edits of limits: only what was edited changes, a removal needs a tick from both people, and nothing is undone."""

import datetime as dt
from typing import Any

import pytest
from django.core.exceptions import PermissionDenied, ValidationError
from django.core.management import CommandError, call_command

from games.engine.rules.loader import rulebook
from games.engine.signs.edits import Edits, edited, removals
from games.engine.signs.limits import Limits, Range
from games.history.audited_save import OvertakenError
from games.limits.presets import preset_limits
from games.limits.selectors import limits_at
from games.limits.services.drafts import UnconfirmedRemovalsError
from games.limits.services.presets import preset_add, preset_change, preset_remove
from games.limits.services.proposals import limits_approve, limits_edit, limits_propose, limits_reject
from games.models import LimitPreset, LimitProposal, LimitSet, Table
from tests.conftest import House
from tests.games.engine.oracle import DIVISION_9, V6
from tests.games.floor_setup import HOUR, MINUTE, NOON, SECOND, START, USUAL, bare_table, open_table, put_sign, sign

ALL_BETS = (
    "big-small",
    "odd-even",
    "single",
    "total",
    "domino",
    "double",
    "triple",
    "any-triple",
    "four",
    "three",
    "pair",
)
#: A pit of every layout.
LAYOUTS = {
    "TS-A": (V6, "A"),
    "TS-C": (V6, "C"),
    "TS-E": (V6, "E"),
    "D9-1": (DIVISION_9, "1"),
    "D9-2": (DIVISION_9, "2"),
}
BIG_SMALL_MIN = ("big-small", "min")


def full_sign(book: str, layout: str, scale: int) -> Limits:
    """A sign with a line for every bet type of the layout, boxes of their own, and every Differential there is."""
    rules = rulebook(book)
    felt = rules.layouts[layout]
    types = {type_: (10 * scale, 1000 * scale) for type_ in ALL_BETS if type_ in felt.types}
    boxes: Any = {"total-4": (5 * scale, 500 * scale), "total-17": (None, 400 * scale), "triple-6": (None, None)}
    apart = {type_: 800 * scale for type_ in rules.limits.differential if type_ in felt.types}
    return sign({**types, **boxes}, apart)


@pytest.fixture
def pit(house: House, clock: Any) -> dict[str, Table]:
    """Five tables of five layouts, each with another sign."""
    tables = {}
    for scale, (code, (book, layout)) in enumerate(LAYOUTS.items(), 1):
        tables[code] = bare_table(house, code, rulebook=book, layout=layout)
        put_sign(tables[code], full_sign(book, layout, scale))
    return tables


def said(table: Table, at: dt.datetime = NOON) -> Limits:
    return limits_at(table=table, at=at).limits


def edit(house: House, edits: Any, actor: str = "pit-manager", **values: Any) -> LimitProposal:
    return limits_edit(actor=house[actor], edits=edits, **({"reason": "A busy night"} | values))


def approve(house: House, proposal: LimitProposal, **values: Any) -> list[LimitSet]:
    return limits_approve(actor=house["shift-manager"], proposal=proposal, reason="Agreed", **values)


def figures(limits: Limits) -> dict[tuple[str, str], int | None]:
    """Every figure that is written, so that nothing that is kept or lost goes unseen."""
    lines = {(key, name): amount for key, line in limits.by_key.items()
             for name, amount in (("min", line.minimum), ("max", line.maximum))}  # fmt: skip
    return lines | {(key, "differential"): amount for key, amount in limits.differential.items()}


# --- Only what was edited ---


def test_one_minimum_for_a_pit_of_mixed_layouts_leaves_every_other_value_as_it_was(
    house: House, pit: dict[str, Table]
) -> None:
    before = {code: figures(said(table)) for code, table in pit.items()}
    proposal = edit(house, {table: Edits({BIG_SMALL_MIN: 7500}) for table in pit.values()})
    approve(house, proposal)
    for code, table in pit.items():
        assert figures(said(table)) == before[code] | {BIG_SMALL_MIN: 7500}, code
        assert list(said(table).by_key) == list(table.limit_sets.order_by("pk")[0].sheet.limits().by_key)
    assert ("odd-even", "differential") in before["TS-C"]  # what the form of before took off every sign
    assert ("triple-6", "min") in before["TS-E"]


def test_a_table_without_an_edit_has_no_part_in_the_proposal(house: House, pit: dict[str, Table]) -> None:
    none = Edits({BIG_SMALL_MIN: said(pit["TS-C"]).by_key["big-small"].minimum})
    proposal = edit(house, {pit["TS-A"]: Edits({BIG_SMALL_MIN: 7500}), pit["TS-C"]: none})
    assert [table.code for table in proposal.tables.all()] == ["TS-A"]
    approve(house, proposal)
    assert pit["TS-C"].limit_sets.count() == 1


def test_nothing_edited_is_no_proposal(house: House, pit: dict[str, Table]) -> None:
    with pytest.raises(ValidationError, match=r"These limits are already in force\. Change at least one value\."):
        edit(house, {pit["TS-A"]: Edits()})


def test_each_table_has_its_own_edits(house: House, pit: dict[str, Table]) -> None:
    approve(
        house,
        edit(house, {pit["TS-A"]: Edits({("total-4", "max"): 70000}), pit["TS-C"]: Edits({("odd-even", "min"): 100})}),
    )
    assert said(pit["TS-A"]).by_key["total-4"] == Range(500, 70000)
    assert said(pit["TS-C"]).by_key["odd-even"] == Range(100, 200000)


def test_a_bet_that_a_layout_lacks_is_refused_with_its_table(house: House, pit: dict[str, Table]) -> None:
    with pytest.raises(ValidationError, match=r"TS-E: .*boxes\.double: .* layout E"):
        edit(house, {pit["TS-E"]: Edits({("double", "min"): 100})})
    assert not LimitProposal.objects.exists()


def test_a_minimum_above_the_maximum_that_stays_is_refused(house: House, pit: dict[str, Table]) -> None:
    with pytest.raises(ValidationError, match="TS-A: Big/Small: minimum above the maximum"):
        edit(house, {pit["TS-A"]: Edits({BIG_SMALL_MIN: 10_000_000})})


@pytest.mark.parametrize("actor", ["pit-supervisor", "surveillance", "compliance", "auditor", "administrator"])
def test_who_may_not_propose_edits_nothing(house: House, pit: dict[str, Table], actor: str) -> None:
    with pytest.raises(PermissionDenied):
        edit(house, {pit["TS-A"]: Edits({BIG_SMALL_MIN: 100})}, actor=actor)


# --- The sign that an edit starts from ---


def test_an_edit_starts_from_the_sign_that_is_in_force_at_its_moment(house: House, clock: Any) -> None:
    table = bare_table(house)
    put_sign(table)
    approve(house, edit(house, {table: Edits({("single", "max"): 50000})}, starts_at=NOON + HOUR))
    approve(house, edit(house, {table: Edits({BIG_SMALL_MIN: 2500})}, starts_at=NOON + 2 * HOUR))
    assert figures(said(table, NOON + 2 * HOUR)) == figures(sign()) | {
        BIG_SMALL_MIN: 2500, ("single", "max"): 50000,
    }  # fmt: skip


def test_stricter_limits_without_a_moment_start_from_the_sign_after_the_notice(house: House, clock: Any) -> None:
    table = open_table(house)
    approve(house, edit(house, {table: Edits({("single", "max"): 200000})}, starts_at=NOON + 10 * MINUTE))
    (entry,) = approve(house, edit(house, {table: Edits({BIG_SMALL_MIN: 10000})}))
    assert entry.starts_at == NOON + 20 * MINUTE
    changed = {BIG_SMALL_MIN: 10000, ("single", "max"): 200000}
    assert figures(entry.sheet.limits()) == figures(said(table, START)) | changed


def test_an_approval_that_would_undo_another_change_is_refused_and_says_which(house: House, clock: Any) -> None:
    table = bare_table(house)
    put_sign(table)
    first = edit(house, {table: Edits({("single", "max"): 50000})}, starts_at=NOON + HOUR)
    second = edit(house, {table: Edits({BIG_SMALL_MIN: 2500})}, starts_at=NOON + 2 * HOUR)
    approve(house, first)
    with pytest.raises(
        OvertakenError, match=r"TS-01: .* \(Single maximum 1,000 → 500, recorded by SHIFT-MANAGER.*propose the cha"
    ):
        approve(house, second)
    assert (second.state, table.limit_sets.count()) == ("pending", 2)
    limits_reject(actor=house["shift-manager"], proposal=second, reason="Overtaken")
    approve(house, edit(house, {table: Edits({BIG_SMALL_MIN: 2500})}, starts_at=NOON + 2 * HOUR))
    assert said(table, NOON + 2 * HOUR).by_key["single"].maximum == 50000


def test_a_sign_that_takes_over_before_the_approval_is_not_undone(house: House, clock: Any) -> None:
    table = bare_table(house)
    put_sign(table)
    approve(house, edit(house, {table: Edits({("single", "max"): 50000})}, starts_at=NOON + HOUR))
    soon = edit(house, {table: Edits({BIG_SMALL_MIN: 2500})})
    clock.shift(HOUR + SECOND)
    with pytest.raises(OvertakenError, match="Single maximum 1,000 → 500"):
        approve(house, soon)
    assert said(table, NOON + 2 * HOUR).by_key["big-small"].minimum == 5000


def test_a_first_sign_that_came_after_the_proposal_is_not_undone(house: House, clock: Any) -> None:
    table = bare_table(house)
    proposal = edit(house, {table: Edits({BIG_SMALL_MIN: 2500})})
    put_sign(table)
    with pytest.raises(OvertakenError, match="Single minimum – → 25"):
        approve(house, proposal)


# --- Removals ---


def test_a_whole_sign_that_omits_limits_in_force_is_refused_and_names_each(house: House, pit: dict[str, Table]) -> None:
    tables = [pit["TS-A"], pit["TS-C"]]
    same = said(pit["TS-A"])
    kept = Limits({key: line for key, line in same.by_key.items() if key != "total-4"}, {})
    with pytest.raises(UnconfirmedRemovalsError) as refusal:
        limits_propose(actor=house["pit-manager"], tables=tables, limits=kept, reason="Fewer lines")
    told = refusal.value.message_dict["remove"]
    assert [text.split(" is ")[0] for text in told] == [
        "TS-A: boxes.total-4.min", "TS-A: boxes.total-4.max", "TS-A: differential.big-small",
        "TS-C: boxes.odd-even.min", "TS-C: boxes.odd-even.max",
        *(f"TS-C: boxes.{key}.{figure}" for key in ("four", "three", "pair", "total-4") for figure in ("min", "max")),
        "TS-C: differential.big-small", "TS-C: differential.odd-even",
    ]  # fmt: skip
    assert not LimitProposal.objects.exists()


@pytest.mark.parametrize(
    "name", ["boxes.odd-even.min", "boxes.odd-even.max", "differential.odd-even"],
)  # fmt: skip
def test_a_name_covers_what_it_says_and_nothing_more(house: House, pit: dict[str, Table], name: str) -> None:
    table = pit["TS-C"]
    before = figures(said(table))
    remove = {"TS-C": [name]}
    approve(house, edit(house, {table: Edits()}, remove=remove), remove=remove)
    lost = set(before) - set(figures(said(table))) | {
        key for key, amount in figures(said(table)).items() if amount is None and before[key] is not None
    }
    assert len(lost) == 1
    assert all(key == "odd-even" for key, _ in lost)


@pytest.mark.parametrize("name", ["odd-even", "boxes.odd-even", "boxes.odd-even.", "min"])
def test_a_bare_name_removes_nothing(house: House, pit: dict[str, Table], name: str) -> None:
    table = pit["TS-C"]
    with pytest.raises(ValidationError):
        edit(house, {table: Edits()}, remove={"TS-C": [name]})
    full = ["boxes.odd-even.min", "boxes.odd-even.max", "differential.odd-even"]
    proposal = edit(house, {table: Edits()}, remove={"TS-C": full})
    with pytest.raises(UnconfirmedRemovalsError):
        approve(house, proposal, remove={"TS-C": [name]})
    approve(house, proposal, remove={"TS-C": full})


def test_an_emptied_figure_needs_a_tick_of_its_own(house: House, pit: dict[str, Table]) -> None:
    table = pit["TS-C"]
    emptied = Edits({("odd-even", "differential"): None, ("total-4", "min"): None})
    for remove in ({}, {"TS-C": ["differential.odd-even"]}, {"TS-A": ["differential.odd-even", "boxes.total-4.min"]}):
        with pytest.raises(UnconfirmedRemovalsError, match=r"total-4\.min is 10\.00 on the sign and would be removed"):
            edit(house, {table: emptied}, remove=remove)
    proposal = edit(house, {table: emptied}, remove={"TS-C": ["differential.odd-even", "boxes.total-4.min"]})
    assert proposal.signs.get().removals == ["boxes.total-4.min", "differential.odd-even"]


def test_who_approves_ticks_each_removal_again(house: House, pit: dict[str, Table]) -> None:
    remove = {"TS-C": ["differential.odd-even", "boxes.total-4.min"]}
    proposal = edit(house, {pit["TS-C"]: Edits()}, remove=remove)
    for ticked in ({}, {"TS-C": ["differential.odd-even"]}):
        with pytest.raises(UnconfirmedRemovalsError, match=r"boxes\.total-4\.min"):
            approve(house, proposal, remove=ticked)
    assert proposal.state == "pending"
    (entry,) = approve(house, proposal, remove=remove)
    assert entry.decision is not None
    assert entry.decision.removals == ["TS-C boxes.total-4.min", "TS-C differential.odd-even"]
    assert entry.sheet.limits().by_key["total-4"] == Range(None, 100000)


def test_the_command_names_each_removal_with_its_table(house: House, pit: dict[str, Table]) -> None:
    name = "boxes.total-4.min"
    both = {"TS-A": [name], "TS-C": [name]}
    proposal = edit(house, {pit["TS-A"]: Edits(), pit["TS-C"]: Edits()}, remove=both)

    def approve_by_command(*removed: str) -> None:
        given = [part for name in removed for part in ("--remove", name)]
        call_command("limits", "approve", str(proposal.pk), "--reason", "Agreed", *given, "--as", "SHIFT-MANAGER")

    with pytest.raises(CommandError, match="the proposal has several tables; write it as TS-A:boxes"):
        approve_by_command(name)
    with pytest.raises(CommandError, match="TS-9 is not a table of this proposal"):
        approve_by_command(f"TS-9:{name}")
    for removed in ([f"TS-A:{name}"], ["TS-A:total-4", f"TS-C:{name}"]):
        with pytest.raises(CommandError):
            approve_by_command(*removed)
    assert proposal.state == "pending"
    approve_by_command(f"TS-A:{name}", f"TS-C:{name}")
    assert LimitProposal.objects.get(pk=proposal.pk).state == "approved"


def test_a_name_that_removes_nothing_is_a_slip(house: House, pit: dict[str, Table]) -> None:
    change = {pit["TS-A"]: Edits({BIG_SMALL_MIN: 7500})}
    with pytest.raises(ValidationError, match="odd-evn: no such limit would be removed"):
        edit(house, change, remove={"TS-A": ["odd-evn"]})
    proposal = edit(house, change)
    with pytest.raises(ValidationError, match="double: no such limit would be removed"):
        approve(house, proposal, remove={"TS-A": ["double"]})


def test_a_box_set_free_of_its_type_s_limits_is_a_removal_too(house: House, pit: dict[str, Table]) -> None:
    table = pit["TS-A"]
    with pytest.raises(UnconfirmedRemovalsError, match=r"boxes\.single-3\.min is 10\.00"):
        edit(house, {table: Edits(free=frozenset({"single-3"}))})
    remove = {"TS-A": ["boxes.single-3.min", "boxes.single-3.max"]}
    approve(house, edit(house, {table: Edits(free=frozenset({"single-3"}))}, remove=remove), remove=remove)
    assert said(table).by_key["single-3"] == Range()
    assert said(table).of(rulebook(V6).layouts["A"], "single-2") == Range(1000, 100000)


def test_the_engine_keeps_the_order_of_lines_and_drops_only_an_emptied_one() -> None:
    old = sign({"big-small": (50, 3000), "total-4": (None, None), "single": (25, 1000)}, {"big-small": 800})
    new = edited(old, Edits({("single", "min"): None, ("single", "max"): None, ("total", "max"): 100}))
    assert list(new.by_key) == ["big-small", "total-4", "total"]
    assert [change.name for change in removals(None, old, new)] == ["boxes.single.min", "boxes.single.max"]
    assert edited(old, Edits()) == old


# --- A file ---


def test_a_later_sign_from_a_file_still_supersedes_the_earlier_whole(house: House, clock: Any) -> None:
    table = bare_table(house)
    put_sign(table, sign(differential={"big-small": 1000}))
    put_sign(table, sign({"single": (5, 50)}), starts_at=NOON + HOUR)
    assert said(table, NOON + HOUR) == Limits({"single": Range(500, 5000)}, {}, 100)
    assert said(table, START).differential == {"big-small": 100000}


# --- Presets ---


def test_a_preset_is_kept_by_who_approves_limits_with_history(house: House) -> None:
    boss = house["shift-manager"]
    preset = preset_add(
        actor=boss,
        casino=house.casino,
        name=" Weekend 100 ",
        limits=sign({"big-small": (100, 9000)}),
        reason="Weekends",
    )
    preset_change(actor=boss, preset=preset, name="Weekend", limits=sign({"big-small": (100, 8000)}), reason="Lower")
    preset.refresh_from_db()
    assert (preset.name, preset_limits(preset)) == ("Weekend", sign({"big-small": (100, 8000)}))
    preset_remove(actor=boss, preset=preset, reason="No longer used")
    assert not LimitPreset.objects.exists()
    assert [(version.name, version.history_change_reason) for version in LimitPreset.history.all()] == [
        ("Weekend", "No longer used"), ("Weekend", "Lower"), ("Weekend 100", "Weekends"),
    ]  # fmt: skip


@pytest.mark.parametrize("actor", ["pit-supervisor", "pit-manager", "surveillance", "compliance", "auditor"])
def test_who_does_not_approve_limits_keeps_no_presets(house: House, actor: str) -> None:
    with pytest.raises(PermissionDenied):
        preset_add(actor=house[actor], casino=house.casino, name="Mine", limits=sign(), reason="Mine")
    assert not LimitPreset.objects.exists()


def test_a_preset_without_limits_or_with_a_name_that_is_taken_is_refused(house: House) -> None:
    boss = house["shift-manager"]
    with pytest.raises(ValidationError, match="has no limits"):
        preset_add(actor=boss, casino=house.casino, name="Nothing", limits=Limits(), reason="Try")
    preset_add(actor=boss, casino=house.casino, name="Weekend 100", limits=sign(USUAL), reason="Try")
    with pytest.raises(ValidationError, match="already"):
        preset_add(actor=boss, casino=house.casino, name="weekend 100", limits=sign(USUAL), reason="Try")
