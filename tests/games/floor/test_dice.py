"""Dice sets: three different dice under seal, at one table at a time, inspected, and retired for good."""

from typing import Any

import pytest
from django.core.exceptions import PermissionDenied, ValidationError
from django.utils import timezone

from games.floor.services.dice import dice_fit, dice_inspect, dice_remove, dice_retire, dice_set_create, dice_set_update
from games.floor.services.tables import table_close, table_suspend
from games.models import Denial, DiceFit, DiceInspection, DiceSet, Table
from games.rounds.terms import terms_at
from tests.conftest import OPERATOR, House, build_house
from tests.games.floor_setup import HOUR, MICROSECOND, MINUTE, NOON, bare_table, dice_of, open_table, ready_table
from tests.games.logins import logged_in
from tests.threads import at_once, meanwhile


def fit(house: House, dice_set: DiceSet, table: Table, actor: str = "pit-manager") -> DiceFit:
    return dice_fit(actor=house[actor], dice_set=dice_set, table=table, reason="Before opening")


def remove(house: House, table: Table, actor: str = "pit-manager") -> DiceFit:
    return dice_remove(actor=house[actor], table=table, reason="After closing")


def inspect(house: House, dice_set: DiceSet, result: str = "good", actor: str = "pit-supervisor", **found: Any) -> Any:
    values = {"seal_found": dice_set.seal, "remarks": "" if result == "good" else "A chipped corner"} | found
    return dice_inspect(actor=house[actor], dice_set=dice_set, result=result, **values)


def now(dice_set: DiceSet) -> DiceSet:
    return DiceSet.objects.get(pk=dice_set.pk)


@pytest.fixture
def dice(house: House, clock: Any) -> DiceSet:
    return dice_of(house)


@pytest.fixture
def table(house: House, clock: Any) -> Table:
    """Closed, and without dice."""
    return bare_table(house)


# --- A set ---


def test_a_set_is_registered_with_its_three_dice_and_seal(house: House) -> None:
    dice = dice_of(house, actor=house["pit-manager"], serials=[" A1", "A2 ", "A3"], seal=" S-1 ")
    assert (dice.serials, dice.seal, dice.state) == (["A1", "A2", "A3"], "S-1", "fit")
    created = dice.history.get()
    assert (created.history_author, created.history_change_reason) == (
        "PIT-MANAGER Person PIT-MANAGER, pit manager",
        "Delivered",
    )


@pytest.mark.parametrize(
    "serials",
    [
        [],
        ["A1", "A2"],
        ["A1", "A2", "A3", "A4"],
        ["A1", "A2", "A1"],
        ["A1", "A2", ""],
        ["A1", "A2", "A2 "],
        ["A1", "A2", "a2"],
    ],
)
def test_a_set_is_exactly_three_different_dice(house: House, serials: list[str]) -> None:
    with pytest.raises(ValidationError, match="serials"):
        dice_of(house, serials=serials)
    assert not DiceSet.objects.exists()


@pytest.mark.parametrize("seal", ["", "  "])
def test_a_set_is_under_seal(house: House, seal: str) -> None:
    with pytest.raises(ValidationError, match="seal"):
        dice_of(house, seal=seal)


def test_a_code_is_used_once_a_casino_however_it_is_written(house: House, dice: DiceSet) -> None:
    with pytest.raises(ValidationError, match="dice_set_code_once_a_casino"):
        dice_of(house, "d-01", serials=["X", "Y", "Z"])


def test_a_die_belongs_to_one_set_only_even_when_that_is_retired(house: House, dice: DiceSet) -> None:
    with pytest.raises(ValidationError, match=r"D-01-2: already in dice set D-01\. A die belongs to one set"):
        dice_of(house, "D-02", serials=["X", "D-01-2", "Z"])
    dice_retire(actor=house["pit-manager"], dice_set=dice, reason="Worn")
    with pytest.raises(ValidationError, match="belongs to one set"):
        dice_of(house, "D-02", serials=["X", "D-01-2", "Z"])


def test_a_serial_is_the_same_die_however_it_is_written(house: House, dice: DiceSet) -> None:
    with pytest.raises(ValidationError, match=r"D-01-2: already in dice set D-01\. A die belongs to one set"):
        dice_of(house, "D-02", serials=["X", "d-01-2", "Z"])


@pytest.mark.parametrize("serials", [", ,", "A, ,C", "A, B", "A, B, C, D", ",,", f"A, B, {'C' * 41}"])
def test_blank_serials_are_told_in_one_sentence_and_what_was_typed_stays(house: House, serials: str) -> None:
    client = logged_in(house["pit-manager"])
    values = {"pit": house.pits["P1"].pk, "code": "D-77", "serials": serials, "seal": "S-1", "reason": "New"}
    page = client.post("/admin/games/diceset/add/", values).content.decode()
    assert "Enter the serial numbers of the three dice, separated by commas" in page
    assert "in the array" not in page
    assert 'value="D-77"' in page
    assert not DiceSet.objects.exists()


def test_what_the_service_refuses_stands_at_its_field_with_what_was_typed(house: House, dice: DiceSet) -> None:
    client = logged_in(house["pit-manager"])
    values = {"pit": house.pits["P1"].pk, "code": "D-77", "serials": "X, D-01-2, Z", "seal": "S-77", "reason": "New"}
    answer = client.post("/admin/games/diceset/add/", values)
    assert answer.status_code == 200
    assert answer.context["adminform"].form.errors["serials"] == [
        "D-01-2: already in dice set D-01. A die belongs to one set."
    ]
    for text in ('value="D-77"', 'value="X, D-01-2, Z"', 'value="S-77"'):
        assert text in answer.content.decode()
    assert DiceSet.objects.count() == 1


def test_a_die_registered_in_two_sets_at_once_gets_into_one(clone: str) -> None:
    house = build_house()
    with meanwhile(lambda: dice_of(house, "D-02", serials=["X", "Y", "D-01-1"])) as answer:
        dice_of(house)
    told = answer.result(60)
    assert isinstance(told, ValidationError)
    assert "belongs to one set" in str(told)
    assert [dice_set.code for dice_set in DiceSet.objects.all()] == ["D-01"]


def test_a_pit_of_another_casino_keeps_no_set_of_this_one(house: House) -> None:
    with pytest.raises(ValidationError, match="not a pit of this casino"):
        dice_set_create(
            actor=OPERATOR, casino=house.casino, pit=house.other_pit, code="D-01", serials=["A", "B", "C"], seal="S",
            reason="Delivered",
        )  # fmt: skip


@pytest.mark.parametrize(
    "actor", ["dealer", "pit-supervisor", "surveillance", "compliance", "auditor", "administrator"]
)
def test_who_may_not_register_fit_or_retire_dice_is_turned_away(
    house: House, dice: DiceSet, table: Table, actor: str
) -> None:
    with pytest.raises(PermissionDenied):
        dice_of(house, "D-02", actor=house[actor])
    with pytest.raises(PermissionDenied):
        fit(house, dice, table, actor)
    with pytest.raises(PermissionDenied):
        dice_retire(actor=house[actor], dice_set=dice, reason="Worn")
    denials = Denial.objects.filter(staff_id=house[actor].pk).order_by("id")
    assert [denial.action for denial in denials] == ["diceset.add", "table.dice", "diceset.retire"]


def test_dice_of_another_pit_are_refused_on_record(house: House, table: Table) -> None:
    elsewhere = dice_of(house, "D-02", "P2")
    with pytest.raises(PermissionDenied):
        fit(house, elsewhere, table)
    with pytest.raises(PermissionDenied):
        inspect(house, elsewhere)
    assert Denial.objects.get(staff_id=house["pit-supervisor"].pk).thing == "dice set D-02"
    with pytest.raises(ValidationError, match=r"D-02 belongs to RWS P2, and TS-01 is in RWS P1\. Move the set first"):
        fit(house, elsewhere, table, "shift-manager")


def test_a_set_gets_another_code_or_pit_and_keeps_its_dice_and_seal(house: House, dice: DiceSet) -> None:
    changes: dict[str, Any] = {"code": "D-99", "pit": house.pits["P2"]}
    assert dice_set_update(actor=house["shift-manager"], dice_set=dice, changes=changes, reason="Lent")
    assert (now(dice).code, now(dice).pit) == ("D-99", house.pits["P2"])
    for change in ({"serials": ["X", "Y", "Z"]}, {"seal": "S-2"}, {"state": "retired"}):
        with pytest.raises(ValidationError, match="dice are fixed, and only an inspection changes the seal"):
            dice_set_update(actor=house["shift-manager"], dice_set=dice, changes=change, reason="Quietly")
    assert (now(dice).serials, now(dice).seal, now(dice).state) == (dice.serials, dice.seal, "fit")
    assert not dice_set_update(
        actor=house["shift-manager"], dice_set=dice, changes=changes | {"seal": dice.seal}, reason="Again"
    )


def test_a_set_is_moved_by_somebody_over_both_pits_and_not_from_under_a_dome(
    house: House, dice: DiceSet, table: Table
) -> None:
    change = {"pit": house.pits["P2"]}
    with pytest.raises(PermissionDenied):
        dice_set_update(actor=house["pit-manager"], dice_set=dice, changes=change, reason="Lent")
    fit(house, dice, table)
    with pytest.raises(ValidationError, match=r"The set is at TS-01\. Remove it first"):
        dice_set_update(actor=house["shift-manager"], dice_set=dice, changes=change, reason="Lent")


# --- Under the dome ---


def test_which_dice_were_under_the_dome_is_known_to_the_moment(
    house: House, dice: DiceSet, table: Table, clock: Any
) -> None:
    second = dice_of(house, "D-02")
    fit(house, dice, table)
    clock.move_to(changed := NOON + HOUR)
    remove(house, table)
    fit(house, second, table)
    clock.move_to(taken_out := NOON + 2 * HOUR)
    remove(house, table)
    under = {at: one.dice_set if (one := terms_at(table, at).dice) else None for at in (
        NOON - MICROSECOND, NOON, changed - MICROSECOND, changed, taken_out - MICROSECOND, taken_out,
    )}  # fmt: skip
    assert list(under.values()) == [None, dice, dice, second, second, None]


def test_a_fit_tells_in_its_history_who_put_the_dice_in_and_who_took_them_out(
    house: House, dice: DiceSet, table: Table, clock: Any
) -> None:
    fit(house, dice, table)
    clock.shift(HOUR)
    taken = remove(house, table, "shift-manager")
    assert (taken.during.lower, taken.during.upper) == (NOON, NOON + HOUR)
    rows = [(row.history_author, row.history_change_reason, row.history_date) for row in taken.history.all()]
    assert rows == [
        ("SHIFT-MANAGER Person SHIFT-MANAGER, shift manager", "After closing", NOON + HOUR),
        ("PIT-MANAGER Person PIT-MANAGER, pit manager", "Before opening", NOON),
    ]


def test_a_set_is_at_one_table_and_a_table_has_one_set(house: House, dice: DiceSet, table: Table) -> None:
    fit(house, dice, table)
    other = bare_table(house, "TS-02")
    with pytest.raises(ValidationError, match=r"D-01 is already at TS-01\. Remove it there first"):
        fit(house, dice, other)
    with pytest.raises(ValidationError, match="D-01 is already at TS-01"):  # a second click
        fit(house, dice, table)
    with pytest.raises(ValidationError, match=r"TS-01 has dice set D-01\. Remove it first"):
        fit(house, dice_of(house, "D-02"), table)
    assert DiceFit.objects.count() == 1


def test_there_is_nothing_to_take_out_of_an_empty_dome(house: House, dice: DiceSet, table: Table, clock: Any) -> None:
    with pytest.raises(ValidationError, match="TS-01 has no dice to remove"):
        remove(house, table)
    fit(house, dice, table)
    clock.shift(MINUTE)
    remove(house, table)
    with pytest.raises(ValidationError, match="has no dice to remove"):
        remove(house, table)
    assert DiceFit.objects.get().history.count() == 2


def test_the_dice_of_an_open_table_are_not_touched(house: House, clock: Any) -> None:
    table = open_table(house)
    clock.shift(MINUTE)
    with pytest.raises(ValidationError, match=r"TS-01 is open\. Close or suspend it before you change its dice"):
        remove(house, table)
    with pytest.raises(ValidationError, match="is open"):
        fit(house, dice_of(house), table)
    table_suspend(actor=house["pit-manager"], table=table, reason="Dome broken")
    remove(house, table)
    fit(house, dice_of(house, "D-02"), table)
    table_close(actor=house["pit-manager"], table=table, notice_given_at=NOON, reason="Broken for good")
    clock.shift(MINUTE)
    remove(house, table)


def test_dice_at_a_table_of_another_pit_are_not_touched(house: House, clock: Any) -> None:
    table = ready_table(house, pit="P2")
    with pytest.raises(PermissionDenied):
        remove(house, table)
    assert Denial.objects.get(staff_id=house["pit-manager"].pk).thing == "table TS-01"


@pytest.mark.parametrize("reason", ["", " "])
def test_fitting_removing_and_retiring_ask_why(
    house: House, dice: DiceSet, table: Table, clock: Any, reason: str
) -> None:
    manager = house["pit-manager"]
    with pytest.raises(ValidationError, match="Enter a reason"):
        dice_fit(actor=manager, dice_set=dice, table=table, reason=reason)
    with pytest.raises(ValidationError, match="Enter a reason"):
        dice_retire(actor=manager, dice_set=dice, reason=reason)
    fit(house, dice, table)
    clock.shift(MINUTE)
    with pytest.raises(ValidationError, match="Enter a reason"):
        dice_remove(actor=manager, table=table, reason=reason)
    assert terms_at(table, timezone.now()).dice is not None


def test_two_sets_fitted_to_one_table_at_once_are_one(clone: str) -> None:
    house = build_house()
    table = bare_table(house)
    sets = [dice_of(house, code) for code in ("D-01", "D-02")]
    answers = at_once(*(lambda dice_set=dice_set: fit(house, dice_set, table) for dice_set in sets))
    (told,) = (answer for answer in answers if isinstance(answer, Exception))
    assert isinstance(told, ValidationError)
    assert "TS-01 has dice set D-0" in told.messages[0]
    assert table.dice_fits.count() == 1


def test_one_set_fitted_to_two_tables_at_once_is_at_one(clone: str) -> None:
    house = build_house()
    tables = [bare_table(house, code) for code in ("TS-01", "TS-02")]
    dice = dice_of(house)
    answers = at_once(*(lambda table=table: fit(house, dice, table) for table in tables))
    (told,) = (answer for answer in answers if isinstance(answer, Exception))
    assert isinstance(told, ValidationError)
    assert "D-01 is already at TS-0" in told.messages[0]
    assert dice.fits.count() == 1


# --- Inspections ---


def test_an_inspection_that_finds_the_dice_good_is_on_record_and_changes_nothing(
    house: House, dice: DiceSet, table: Table
) -> None:
    fit(house, dice, table)
    found = inspect(house, dice)
    assert (found.result, found.seal_found, found.table, found.at) == ("good", "S-D-01", table, NOON)
    assert (found.by, found.who) == (house["pit-supervisor"], "PIT-SUPERVISOR Person PIT-SUPERVISOR, pit supervisor")
    assert (now(dice).state, dice.history.count()) == ("fit", 1)


@pytest.mark.parametrize("result", ["damaged", "seal-broken"])
def test_a_set_that_failed_is_not_fitted_until_it_is_found_good_again(
    house: House, dice: DiceSet, table: Table, result: str
) -> None:
    inspect(house, dice, result)
    assert now(dice).state == "unfit"
    with pytest.raises(ValidationError, match=r"D-01: failed inspection\. Choose a set that is fit for play"):
        fit(house, dice, table)
    inspect(house, dice, seal_found="S-2", new_seal="S-2")
    assert (now(dice).state, now(dice).seal) == ("fit", "S-2")
    fit(house, dice, table)
    last, before, *_ = dice.history.all()
    assert (last.history_author, last.history_change_reason) == (
        "PIT-SUPERVISOR Person PIT-SUPERVISOR, pit supervisor",
        "Inspection: good.",
    )
    told = {(change.field, change.old, change.new) for change in last.diff_against(before).changes}
    assert told == {("state", "unfit", "fit"), ("seal", "S-D-01", "S-2")}


@pytest.mark.parametrize("result", ["damaged", "seal-broken"])
def test_a_failed_inspection_says_what_was_found(house: House, dice: DiceSet, result: str) -> None:
    with pytest.raises(ValidationError, match="Enter what was found"):
        inspect(house, dice, result, remarks="  ")
    assert not DiceInspection.objects.exists()
    assert now(dice).state == "fit"


def test_a_result_nobody_knows_is_refused(house: House, dice: DiceSet) -> None:
    with pytest.raises(ValidationError, match="result"):
        inspect(house, dice, "splendid", remarks="Shines")
    assert not DiceInspection.objects.exists()


def test_another_seal_than_the_one_on_record_is_not_good_without_a_new_one(house: House, dice: DiceSet) -> None:
    with pytest.raises(ValidationError, match=r"The seal on record is S-D-01\. Record it as broken, or enter the new"):
        inspect(house, dice, seal_found="S-9")
    inspect(house, dice, seal_found=" S-D-01 ")
    inspect(house, dice, seal_found="S-9", new_seal="S-10")
    assert now(dice).seal == "S-10"
    assert [(inspection.seal_found, inspection.new_seal) for inspection in dice.inspections.order_by("id")] == [
        ("S-D-01", ""),
        ("S-9", "S-10"),
    ]


@pytest.mark.parametrize("actor", ["dealer", "surveillance", "compliance", "auditor", "administrator"])
def test_people_of_the_pit_inspect(house: House, dice: DiceSet, actor: str) -> None:
    with pytest.raises(PermissionDenied):
        inspect(house, dice, actor=actor)
    assert Denial.objects.get(staff_id=house[actor].pk).action == "diceset.inspect"


# --- Retired ---


def test_a_retired_set_is_out_for_good_and_a_second_time_changes_nothing(
    house: House, dice: DiceSet, table: Table
) -> None:
    for _ in range(2):
        dice_retire(actor=house["pit-manager"], dice_set=dice, reason="Worn")
    assert now(dice).state == "retired"
    assert [row.history_change_reason for row in dice.history.all()] == ["Worn", "Delivered"]
    with pytest.raises(ValidationError, match=r"D-01: retired\. Choose a set"):
        fit(house, dice, table)
    with pytest.raises(ValidationError, match="D-01 is retired and cannot be inspected"):
        inspect(house, dice)


def test_a_set_under_a_dome_is_taken_out_before_it_is_retired(
    house: House, dice: DiceSet, table: Table, clock: Any
) -> None:
    fit(house, dice, table)
    with pytest.raises(ValidationError, match=r"D-01 has been at TS-01 since 2026-11-15T20:00:00\+08:00\. Remove it"):
        dice_retire(actor=house["pit-manager"], dice_set=dice, reason="Worn")
    clock.shift(MINUTE)
    remove(house, table)
    dice_retire(actor=house["pit-manager"], dice_set=dice, reason="Worn")
