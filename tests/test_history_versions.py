"""The page of one version of a record: its own values, read-only, for every model that has a history."""

import datetime as dt
from typing import Any

import pytest
from django.contrib import admin
from simple_history.admin import SimpleHistoryAdmin

from audits.findings.services.findings import finding_resolve
from games.floor.services.casinos import casino_update
from games.floor.services.dice import dice_set_update
from games.models import Casino
from tests.audits.sittings import played
from tests.conftest import House
from tests.games.floor_setup import open_table
from tests.games.logins import logged_in
from tests.test_routes import PATHS, concrete, samples  # noqa: F401  the fixture with a record of every kind

VERSIONS = [name for name in PATHS if name.endswith("_simple_history")]


def version_page(house: House, record: Any, version: Any, role: str = "auditor") -> str:
    address = f"/admin/{record._meta.app_label}/{record._meta.model_name}/{record.pk}/history/{version.pk}/"
    answer = logged_in(house[role]).get(address)
    assert answer.status_code == 200
    return answer.content.decode()


def test_a_version_shows_the_values_it_had_and_not_the_present_ones(house: House) -> None:
    casino_update(
        actor=house["casino-manager"], casino=house.casino, changes={"name": "Grand Hall", "notice_minutes": 45},
        reason="New name",
    )  # fmt: skip
    newest, first = house.casino.history.order_by("-history_date")
    old = version_page(house, house.casino, first)
    assert "Casino RWS" in old
    assert "Version 1 of 2" in old
    assert "20" in old
    assert ">45<" not in old
    assert "06:00" in old
    new = version_page(house, house.casino, newest)
    assert "Grand Hall" in new
    assert "before: Casino RWS" in new
    assert "before: 20" in new
    assert "New name" in new
    assert "CASINO-MANAGER" in new


def test_a_version_names_records_states_and_amounts_in_words(house: House) -> None:
    finding = next(one for one in played(house) if one.category == "discrepancy")
    finding_resolve(actor=house["pit-manager"], finding=finding, outcome="written-off", reason="Too late")
    shown = version_page(house, finding, finding.history.latest())
    for text in (
        "Written off",
        "PIT-MANAGER",
        "300.00",
        "100.00",
        "Low",
        "yes" if finding.needs_confirmation else "no",
    ):
        assert text in shown, text


def test_the_versions_of_a_record_lead_to_each_other(house: House) -> None:
    dice_set = open_table(house).dice_fits.get().dice_set
    for code in ("DS-A", "DS-B"):
        dice_set_update(actor=house["pit-manager"], dice_set=dice_set, changes={"code": code}, reason="New label")
    first, second, third = dice_set.history.order_by("history_id")
    shown = version_page(house, dice_set, second)
    for one in (first, third):
        assert f"/admin/games/diceset/{dice_set.pk}/history/{one.pk}/" in shown
    assert "Version 2 of 3" in shown
    assert "The values may have changed since." in shown
    assert "The values may have changed since." not in version_page(house, dice_set, third)


def test_every_model_with_a_history_tab_has_the_page(house: House) -> None:
    audited = {
        model._meta.label_lower for model, one in admin.site._registry.items() if isinstance(one, SimpleHistoryAdmin)
    }
    assert {
        name.removeprefix("admin:").removesuffix("_simple_history").replace("_", ".", 1) for name in VERSIONS
    } == audited


@pytest.mark.parametrize("role", ["casino-manager", "compliance", "administrator"])
def test_no_version_of_anything_is_a_form_or_takes_one(role: str, house: House, samples: dict[str, Any]) -> None:  # noqa: F811
    client, opened = logged_in(house[role]), 0
    for name in VERSIONS:
        address = concrete(PATHS[name], samples)
        answer = client.get(address)
        if answer.status_code == 200:
            opened += 1
            shown = answer.content.decode()
            main = shown[shown.index('role="note"') :].rpartition("</section>")[0]
            for part in ("<form", "<input", "<select", "<textarea", "<button"):
                assert part not in main, (name, part)
            for door in ("_save", "_change_history", "Revert"):
                assert door not in shown, (name, door)
        for sent in ({}, {"_save": "Save", "reason": "x"}, {"_change_history": "1", "name": "x", "reason": "x"}):
            assert client.post(address, sent).status_code == 403, name
    assert opened >= 5


@pytest.mark.parametrize("version", ["0", "x", "99999999999999999999", "-1"])
def test_a_version_that_is_not_there_is_not_found(version: str, house: House) -> None:
    address = f"/admin/games/casino/{house.casino.pk}/history/{version}/"
    assert logged_in(house["auditor"]).get(address).status_code == 404


def test_a_version_of_another_record_is_not_found(house: House) -> None:
    version = Casino.history.filter(id=house.other.pk).first()
    address = f"/admin/games/casino/{house.casino.pk}/history/{version.pk}/"
    assert logged_in(house["auditor"]).get(address).status_code == 404


def test_a_record_out_of_reach_keeps_its_versions_to_itself(house: House) -> None:
    version = Casino.history.filter(id=house.other.pk).first()
    address = f"/admin/games/casino/{house.other.pk}/history/{version.pk}/"
    assert logged_in(house["casino-manager"]).get(address).status_code == 403


def test_times_are_those_of_the_casino(house: House) -> None:
    table = open_table(house)
    version = table.history.filter(state="open").latest()
    local = (version.state_since + dt.timedelta(hours=8)).strftime("%H:%M")
    assert local in version_page(house, table, version, "pit-supervisor")
