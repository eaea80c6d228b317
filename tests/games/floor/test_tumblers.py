"""Tumblers (Division 9, 3.4(e)): registered under lock, at one table at a time, inspected, and retired for good."""

from typing import Any

import pytest
from django.core.exceptions import PermissionDenied, ValidationError

from games.floor.services.tables import table_suspend
from games.floor.services.tumblers import tumbler_fit, tumbler_inspect, tumbler_remove, tumbler_retire, tumbler_update
from games.floor.timeline import timeline
from games.models import Denial, Table, Tumbler, TumblerFit, TumblerInspection
from games.rounds.terms import terms_at
from tests.conftest import House, build_house
from tests.games.floor_setup import HOUR, MICROSECOND, MINUTE, NOON, bare_table, open_table, tumbler_for
from tests.games.live.playing import person
from tests.threads import at_once


def fit(house: House, tumbler: Tumbler, table: Table, actor: str = "pit-manager") -> TumblerFit:
    return tumbler_fit(actor=house[actor], tumbler=tumbler, table=table, reason="Serviced")


def remove(house: House, table: Table, actor: str = "pit-manager") -> TumblerFit:
    return tumbler_remove(actor=house[actor], table=table, reason="To be serviced")


def inspect(house: House, tumbler: Tumbler, result: str = "good", actor: str = "pit-supervisor", **found: Any) -> Any:
    values = {"lock_found": tumbler.lock, "remarks": "" if result == "good" else "It sticks"} | found
    return tumbler_inspect(actor=house[actor], tumbler=tumbler, result=result, **values)


def now(tumbler: Tumbler) -> Tumbler:
    return Tumbler.objects.get(pk=tumbler.pk)


@pytest.fixture
def tumbler(house: House, clock: Any) -> Tumbler:
    return tumbler_for(house)


@pytest.fixture
def table(house: House, clock: Any) -> Table:
    return bare_table(house, rulebook="division-9-2008", layout="1")


def test_3_4_e_a_tumbler_is_registered_with_its_serial_activation_and_lock(house: House, table: Table) -> None:
    found = tumbler_for(house, actor=house["pit-manager"], serial=" TB-1 ", lock=" L-1 ", activation="mechanical")
    assert (found.serial, found.lock, found.activation, found.state) == ("TB-1", "L-1", "mechanical", "fit")
    created = found.history.get()
    assert (created.history_author, created.history_change_reason) == (
        "PIT-MANAGER Person PIT-MANAGER, pit manager", "Delivered",
    )  # fmt: skip
    assert terms_at(fit(house, found, table).table, NOON).book.id == "division-9-2008"


@pytest.mark.parametrize("activation", ["mechanical", "electrical", "electronic"])
def test_3_4_e_i_how_a_tumbler_is_activated_is_one_of_three_and_kept(
    house: House, table: Table, activation: str
) -> None:
    found = tumbler_for(house, activation=activation)
    fit(house, found, table)
    (listed,) = person(house, "auditor").get("/api/v1/tumblers/").json()["results"]
    assert (listed["activation"], listed["table"]) == (activation, "TS-01")
    for other in ("by hand", ""):
        with pytest.raises(ValidationError):
            tumbler_for(house, "T-02", activation=other)
    assert Tumbler.objects.count() == 1


@pytest.mark.parametrize(
    "changes",
    [{"serial": " "}, {"lock": ""}, {"activation": "magic"}, {"code": ""}, {"code": "t-01"}, {"serial": "tb-t-01"}],
)
def test_what_makes_no_sense_is_refused_and_nothing_is_registered(
    house: House, tumbler: Tumbler, changes: dict[str, str]
) -> None:
    with pytest.raises(ValidationError):
        tumbler_for(house, **{"code": "T-02", **changes})  # type: ignore[arg-type]
    assert Tumbler.objects.count() == 1


@pytest.mark.parametrize(
    "actor", ["dealer", "pit-supervisor", "surveillance", "compliance", "auditor", "administrator"]
)
def test_who_may_not_register_fit_or_retire_tumblers_is_turned_away(
    house: House, tumbler: Tumbler, table: Table, actor: str
) -> None:
    with pytest.raises(PermissionDenied):
        tumbler_for(house, "T-02", actor=house[actor])
    with pytest.raises(PermissionDenied):
        fit(house, tumbler, table, actor)
    with pytest.raises(PermissionDenied):
        tumbler_retire(actor=house[actor], tumbler=tumbler, reason="Worn")
    denials = Denial.objects.filter(staff_id=house[actor].pk).order_by("id")
    assert [denial.action for denial in denials] == ["tumbler.add", "table.tumbler", "tumbler.retire"]


def test_3_4_e_ii_which_tumbler_a_table_had_is_known_to_the_moment(
    house: House, tumbler: Tumbler, table: Table, clock: Any
) -> None:
    second = tumbler_for(house, "T-02")
    fit(house, tumbler, table)
    clock.move_to(changed := NOON + HOUR)
    remove(house, table)
    fit(house, second, table)
    moments = (NOON - MICROSECOND, NOON, changed - MICROSECOND, changed)
    fits = [terms_at(table, at).tumbler for at in moments]
    assert [fit.tumbler if fit else None for fit in fits] == [None, tumbler, tumbler, second]
    assert [one.what for one in timeline(table) if one.kind == "tumbler"] == [
        "Tumbler T-02 fitted", "Tumbler T-01 removed", "Tumbler T-01 fitted",
    ]  # fmt: skip


def test_a_tumbler_is_at_one_table_and_a_table_has_one_tumbler(house: House, tumbler: Tumbler, table: Table) -> None:
    fit(house, tumbler, table)
    with pytest.raises(ValidationError, match="T-01 is at TS-01 already; remove it there first"):
        fit(house, tumbler, bare_table(house, "TS-02"))
    with pytest.raises(ValidationError, match="TS-01 has the tumbler T-01; remove it first"):
        fit(house, tumbler_for(house, "T-02"), table)
    with pytest.raises(ValidationError, match="TS-02 has no tumbler on record; there is nothing to remove"):
        remove(house, Table.objects.get(code="TS-02"))


def test_two_tumblers_fitted_to_one_table_at_once_are_one(clone: str) -> None:
    house = build_house()
    table = bare_table(house)
    tumblers = [tumbler_for(house, code) for code in ("T-01", "T-02")]
    answers = at_once(*(lambda tumbler=tumbler: fit(house, tumbler, table) for tumbler in tumblers))
    (told,) = (answer for answer in answers if isinstance(answer, Exception))
    assert isinstance(told, ValidationError)
    assert table.tumbler_fits.count() == 1


def test_the_tumbler_of_an_open_table_is_not_touched(house: House, clock: Any) -> None:
    table = open_table(house)
    clock.shift(MINUTE)
    with pytest.raises(ValidationError, match="TS-01 is open; close or suspend it before its tumbler is changed"):
        remove(house, table)
    table_suspend(actor=house["pit-manager"], table=table, reason="It sticks")
    remove(house, table)
    fit(house, tumbler_for(house, "T-02"), table)


def test_a_tumbler_of_another_pit_is_moved_first_and_not_from_a_table(
    house: House, tumbler: Tumbler, table: Table
) -> None:
    elsewhere = tumbler_for(house, "T-02", "P2")
    with pytest.raises(ValidationError, match="T-02 is kept by RWS P2, TS-01 stands in RWS P1; move the tumbler first"):
        fit(house, elsewhere, table, "shift-manager")
    change = {"pit": house.pits["P2"]}
    with pytest.raises(PermissionDenied):
        tumbler_update(actor=house["pit-manager"], tumbler=tumbler, changes=change, reason="Lent")
    fit(house, tumbler, table)
    with pytest.raises(ValidationError, match="The tumbler is at TS-01; remove it first"):
        tumbler_update(actor=house["shift-manager"], tumbler=tumbler, changes=change, reason="Lent")
    with pytest.raises(ValidationError, match="lock: a tumbler stays what it is"):
        tumbler_update(actor=house["shift-manager"], tumbler=tumbler, changes={"lock": "L-9"}, reason="Quietly")


@pytest.mark.parametrize("result", ["faulty", "lock-broken"])
def test_5_0_c_a_tumbler_that_failed_is_not_fitted_until_it_is_found_good_again(
    house: House, tumbler: Tumbler, table: Table, result: str
) -> None:
    with pytest.raises(ValidationError, match="Write what was found"):
        inspect(house, tumbler, result, remarks=" ")
    inspect(house, tumbler, result)
    with pytest.raises(ValidationError, match="T-01: failed inspection; choose a tumbler that is fit for play"):
        fit(house, tumbler, table)
    with pytest.raises(ValidationError, match=r"The lock on record is L-T-01\. Record it as broken, or enter the new"):
        inspect(house, tumbler, lock_found="L-9")
    inspect(house, tumbler, lock_found="L-9", new_lock="L-10")
    assert (now(tumbler).state, now(tumbler).lock) == ("fit", "L-10")
    fit(house, tumbler, table)
    assert [tumbler_inspection.result for tumbler_inspection in TumblerInspection.objects.order_by("id")] == [
        result,
        "good",
    ]


@pytest.mark.parametrize("actor", ["dealer", "surveillance", "compliance", "auditor", "administrator"])
def test_people_of_the_pit_inspect(house: House, tumbler: Tumbler, actor: str) -> None:
    with pytest.raises(PermissionDenied):
        inspect(house, tumbler, actor=actor)
    assert Denial.objects.get(staff_id=house[actor].pk).action == "tumbler.inspect"


def test_a_retired_tumbler_is_out_for_good(house: House, tumbler: Tumbler, table: Table, clock: Any) -> None:
    fit(house, tumbler, table)
    with pytest.raises(ValidationError, match=r"T-01 is at TS-01 since 2026-11-15T20:00:00\+08:00; remove it first"):
        tumbler_retire(actor=house["pit-manager"], tumbler=tumbler, reason="Worn")
    clock.shift(MINUTE)
    remove(house, table)
    for _ in range(2):
        tumbler_retire(actor=house["pit-manager"], tumbler=tumbler, reason="Worn")
    assert now(tumbler).state == "retired"
    with pytest.raises(ValidationError, match="T-01: retired; choose a tumbler"):
        fit(house, tumbler, table)
    with pytest.raises(ValidationError, match="T-01 is retired; there is nothing to inspect"):
        inspect(house, tumbler)


def test_tumblers_by_api(house: House, tumbler: Tumbler, table: Table) -> None:
    fit(house, tumbler, table)
    inspect(house, tumbler)
    client = person(house, "auditor")
    (listed,) = client.get("/api/v1/tumblers/").json()["results"]
    assert listed == {
        "id": tumbler.pk, "code": "T-01", "casino": "RWS", "pit": "P1", "serial": "TB-T-01", "activation": "electronic",
        "lock": "L-T-01", "state": "fit", "table": "TS-01",
    }  # fmt: skip
    (found,) = client.get(f"/api/v1/tumblers/{tumbler.pk}/").json()["inspections"]
    assert (found["result"], found["inspector"], found["lock_found"]) == ("good", "PIT-SUPERVISOR", "L-T-01")
    assert client.get("/api/v1/tables/TS-01/tumbler/").json()["tumbler"] == "T-01"
    assert client.get("/api/v1/tables/TS-01/tumbler/?at=2026-01-01T00:00:00Z").status_code == 404
    assert client.get("/api/v1/tables/TS-01/").json()["tumbler"] == "T-01"
    assert client.get("/api/v1/tumblers/999999/").status_code == 404
