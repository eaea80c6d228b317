"""How far a ruling reaches (5.14): none, of whatever kind, goes against a rule that decides the round."""

from typing import Any

import pytest
from django.core.exceptions import ValidationError
from django.db import connection, transaction
from django.db.utils import DatabaseError

from audits.incidents.services.incidents import incident_change
from audits.models import Consequence, Correction, Incident, Ruling, RulingKind
from audits.rulings.reviews import to_review
from audits.rulings.services.corrective_actions import Basis, affected_void, consequence_execute
from games.models import Round, Table
from tests.audits.decided import incident_about, ruled, settled_as, voided
from tests.audits.files import opened, played
from tests.audits.rulings.test_ruling_remit import COPIED
from tests.conftest import House
from tests.games.engine.oracle import DIVISION_9, V6
from tests.games.floor_setup import HOUR, MINUTE, NOON, SECOND, ready_table, sign
from tests.games.logins import logged_in
from tests.games.rounds.samples import bet

INTERPRETATION, CONFIRMATION = RulingKind.INTERPRETATION, RulingKind.CONFIRMATION
BETS = [bet("seat-1", "small", "100", net="100"), bet("seat-2", "big", "60", net="-60")]
COCKED: list[tuple[str, dict[str, Any]]] = [
    ("place-bets", {}), ("no-more-bets", {}), ("tumbler", {"tumbles": 3}), ("die-not-flat", {}),
    ("result", {"dice": [1, 3, 6]}), ("settled", {}),
]  # fmt: skip
TUMBLED_AGAIN = [*COCKED[:4], ("tumbler", {"tumbles": 3}), *COCKED[4:]]


@pytest.fixture
def table(house: House, clock: Any) -> Table:
    clock.move_to(NOON - 2 * HOUR)
    found = ready_table(house, "TS-01", layout="C", limits=sign())
    clock.move_to(NOON)
    return found


def cocked(table: Table) -> Round:
    return played(table, NOON - HOUR, "COCKED", BETS, kinds=COCKED)


# --- Interpretations ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "about",
    [
        {"rules": [f"{V6}#5.1.1"]},
        {"rules": [f"{V6}#5.5.2", f"{V6}#5.3"]},
        {"rules": [f"{V6}#5.5.2"], "readings": ["rounded-down"]},
        {"rules": [f"{V6}#5.5"], "readings": ["double-in-its-place"]},
    ],
)
def test_5_5_2_a_cocked_die_is_not_made_valid_by_interpreting_another_rule(
    house: House, table: Table, about: dict[str, Any]
) -> None:
    incident = incident_about(house, table, cocked(table), situation="die-not-flat")
    with pytest.raises(ValidationError, match=r"5\.5\.2 decides this.*lists no reading of"):
        ruled(house, incident, kind=INTERPRETATION, decision="Valid.", **about)
    assert not Ruling.objects.exists()


def test_5_5_a_second_tumble_can_be_ruled_to_heal_a_round_only_where_there_was_one(house: House, table: Table) -> None:
    """Our reading is that a void round stays void; the other reading asks for a valid tumble afterwards."""
    without = cocked(table)
    again = played(table, NOON - 30 * MINUTE, "AGAIN", BETS, kinds=TUMBLED_AGAIN)
    incident = incident_about(house, table, without, again, situation="die-not-flat")
    ruling = ruled(house, incident, kind=INTERPRETATION, rules=[f"{V6}#5.5"], decision="The second tumble counts.")
    assert ruling.readings == ["void-is-not-healed"]
    with pytest.raises(ValidationError, match="order a void"):
        settled_as(house, ruling, without, dice=[6, 6, 5])
    assert settled_as(house, ruling, again, dice=[6, 6, 5])


def test_5_11_no_interpretation_voids_a_round_that_the_rule_lets_stand(house: House, table: Table) -> None:
    one = played(table, NOON - HOUR, "R-1", BETS)
    incident = incident_about(house, table, one, situation="display-wrong")
    with pytest.raises(ValidationError, match=r"5\.11 decides this"):
        ruled(house, incident, kind=INTERPRETATION, rules=[f"{V6}#5.7"], decision="Void.")


# --- Confirmations -----------------------------------------------------------------------------------


def test_a_confirmation_names_the_rule_that_decides(house: House, table: Table) -> None:
    incident = incident_about(house, table, situation="late-bet")
    with pytest.raises(ValidationError, match=f"Confirm that rule: name {V6}#5.7"):
        ruled(house, incident, kind=CONFIRMATION, rules=[f"{V6}#5.3", f"{DIVISION_9}#4.9"])
    assert ruled(house, incident, kind=CONFIRMATION, rules=[f"{V6}#5.7"])


@pytest.mark.parametrize("asked", [{"dice": [6, 6, 5]}, {"nets": {1: 1000_00}}, {"dice": [6, 6, 5], "nets": {1: 1}}])
@pytest.mark.parametrize(
    ("situation", "rule"), [("display-wrong", "5.11"), ("lights-wrong", "5.10"), ("late-bet", "5.7")]
)
def test_a_confirmation_settles_by_the_rule_and_by_nothing_else(
    house: House, table: Table, situation: str, rule: str, asked: dict[str, Any]
) -> None:
    late = (NOON - HOUR + 3 * SECOND).isoformat()
    one = played(table, NOON - HOUR, "R-1", [*BETS, bet("seat-3", "small", "60", net="60", at=late)])
    ruling = ruled(
        house, incident_about(house, table, one, situation=situation), kind=CONFIRMATION, rules=[f"{V6}#{rule}"]
    )
    with pytest.raises(ValidationError, match="confirms that rule"):
        settled_as(house, ruling, one, **asked)
    assert settled_as(house, ruling, one)  # the late bet goes back, as the rule has it
    assert not Correction.objects.exclude(nets__2=0).exists()


# --- The round's own rulebook and record ---------------------------------------------------------------


def test_an_incident_without_a_table_is_not_ruled_uncovered_where_a_rule_may_decide(house: House, table: Table) -> None:
    incident = opened(house, role="surveillance", situation="die-not-flat", rounds=[cocked(table)])
    with pytest.raises(ValidationError, match="Name the table first"):
        ruled(house, incident, decision="The round is valid.")


def test_a_ruling_reaches_no_round_of_another_table(house: House, table: Table) -> None:
    other = ready_table(house, "D9-01", rulebook=DIVISION_9, layout="1", limits=sign())
    one = played(table, NOON - HOUR, "R-1", BETS)
    facts = {"known_dice": "?,?,?"}
    ruling = ruled(house, incident_about(house, other, situation="interruption", facts=facts))
    for order in (settled_as, lambda *of, **more: voided(house, ruling.incident, one, ruling=ruling)):
        with pytest.raises(ValidationError, match="was not played at D9-01"):
            order(house, ruling, one, dice=[6, 6, 5])
    naming = ruled(house, incident_about(house, other, one, situation="interruption", facts=facts, account="Named."))
    with pytest.raises(ValidationError, match=r"5\.4\.2 decides this"):  # by the round's own rulebook
        settled_as(house, naming, one, dice=[6, 6, 5])


def test_a_ruling_on_an_incident_without_a_table_reaches_the_rounds_it_names(house: House, table: Table) -> None:
    named, other = played(table, NOON - HOUR, "R-1", BETS), played(table, NOON - 30 * MINUTE, "R-2", BETS)
    ruling = ruled(house, opened(house, role="surveillance", situation="other", rounds=[named]))
    assert settled_as(house, ruling, named, dice=[6, 6, 5])
    with pytest.raises(ValidationError, match="does not name"):
        settled_as(house, ruling, other, dice=[6, 6, 5])


def test_5_5_2_a_round_that_its_own_record_voids_is_not_settled_as_something_else(house: House, table: Table) -> None:
    one = cocked(table)
    ruling = ruled(house, incident_about(house, table, one, situation="other"))
    with pytest.raises(ValidationError, match=rf"is void by {V6}#5\.5\.2.*wrong-result-entered"):
        settled_as(house, ruling, one, dice=[6, 6, 5])
    in_question = incident_about(house, table, one, situation="wrong-result-entered", facts={"settled": "yes"})
    assert settled_as(house, ruled(house, in_question), one, dice=[6, 6, 5])


def test_5_1_1_only_the_round_whose_minimums_exceed_the_box_is_left_to_a_ruling(house: House, clock: Any) -> None:
    clock.move_to(NOON - 2 * HOUR)
    table = ready_table(house, "TS-01", layout="C", limits=sign({"big-small": (50, 100)}))
    clock.move_to(NOON)
    exceeding = played(table, NOON - HOUR, "A", [bet(f"seat-{seat}", "small", "60", net="50") for seat in (1, 2, 3)])
    ordinary = played(table, NOON - 50 * MINUTE, "B", [bet("seat-1", "small", "400", net="100")])
    ruling = ruled(house, incident_about(house, table, exceeding, ordinary, situation="over-limit-unnoticed"))
    with pytest.raises(ValidationError, match="nothing is left to"):
        settled_as(house, ruling, ordinary, nets={0: 400_00})
    assert settled_as(house, ruling, exceeding, nets={0: 60_00})


# --- Damaged dice --------------------------------------------------------------------------------------


def damaged(house: House, table: Table) -> tuple[Incident, Consequence]:
    played(table, NOON - HOUR, "R-1", BETS)
    incident = incident_about(house, table, situation="dice-damaged", occurred_from=NOON - 30 * MINUTE)
    order = affected_void(actor=house["shift-manager"], basis=Basis(incident, rule="5.6"), reason="Cracked")
    return incident, order


def test_5_6_an_order_is_not_executed_once_the_incident_was_moved_to_another_table(house: House, table: Table) -> None:
    other = ready_table(house, "TS-02", layout="C", limits=sign())
    incident, order = damaged(house, table)
    incident_change(
        actor=house["surveillance"], incident=incident, changes={"table": other, "occurred_from": NOON}, reason="TS-02"
    )
    with pytest.raises(ValidationError, match=r"5\.6 does not reach"):
        consequence_execute(actor=house["casino-manager"], consequence=order, reason="Agreed")
    assert not Correction.objects.exists()


def test_5_6_rounds_that_came_since_the_order_are_named_as_not_covered(house: House, table: Table) -> None:
    _, order = damaged(house, table)
    played(table, NOON - 50 * MINUTE, "LATE", BETS)
    consequence_execute(actor=house["casino-manager"], consequence=order, reason="Agreed")
    client = logged_in(house["shift-manager"])
    page = client.get(f"/admin/audits/consequence/{order.pk}/change/").content.decode()
    assert "1 affected round recorded since this order. Order it from the incident." in page
    assert client.get(f"/api/v1/consequences/{order.pk}/").json()["affected"]["left_out"] == 1


# --- By SQL ----------------------------------------------------------------------------------------------


def insert(like: Ruling, incident: Incident, **values: str) -> None:
    other = {
        "incident_id": str(incident.pk), "situation": f"'{incident.situation}'", "serial": "99",
        "number": "'RU-' || year || '-000099'", **values,
    }  # fmt: skip
    columns, wanted = ", ".join(COPIED), ", ".join(other.get(name, name) for name in COPIED)
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(
            f"INSERT INTO audits_ruling ({columns}) SELECT {wanted} FROM audits_ruling WHERE id = %s", [like.pk]
        )


def test_the_database_holds_a_ruling_to_the_situation_of_its_incident(house: House, table: Table) -> None:
    sound = ruled(house, incident_about(house, table, account="Another."))
    incident = incident_about(house, table, situation="die-not-flat")
    for values, refusal in (
        ({"readings": "ARRAY['minimums-exceed-the-box']"}, "itself decides die-not-flat"),
        ({"situation": "'other'"}, "the situation and the rulebook of its incident"),
        ({"kind": "'interpretation'", "readings": "ARRAY['rounded-down']"}, "names a reading that this rests on"),
        (
            {"kind": "'interpretation'", "scope": "'standing'", "effective_from": "now()"},
            "names a reading that this rests on",
        ),
    ):
        with pytest.raises(DatabaseError, match=refusal):
            insert(sound, incident, **values)
    insert(sound, incident, kind="'interpretation'", readings="ARRAY['void-is-not-healed']")


def test_5_6_the_database_takes_no_order_without_damaged_dice_on_record(house: House, table: Table) -> None:
    one = played(table, NOON - HOUR, "R-1", BETS)
    for situation in ("other", "dice-damaged"):
        incident = incident_about(house, table, one, situation=situation, account=situation)
        with (
            pytest.raises(DatabaseError, match="needs an incident about damaged dice and a dice set"),
            transaction.atomic(),
        ):
            Consequence.objects.create(
                casino=house.casino, incident=incident, kind="void-affected", rules=[f"{V6}#5.6"], round_ids=[one.pk],
                needs_second=True, reason="x", by=house["shift-manager"], who="x",
            )  # fmt: skip


def test_an_interpretation_kept_from_before_that_goes_against_a_rule_is_listed_for_review(
    house: House, table: Table
) -> None:
    """Made while the incident was thought to be about something that no rule decides."""
    incident = incident_about(house, table, situation="other")
    ruling = ruled(house, incident, kind=INTERPRETATION, rules=[f"{V6}#5.5.2"], decision="A cocked die is valid.")
    assert to_review(house["shift-manager"]) == []
    Incident.objects.filter(pk=incident.pk).update(situation="die-not-flat")
    (waiting,) = to_review(house["compliance"], ruling)
    assert f"Interprets no reading that is left open, and {V6}#5.5.2 decides this." in waiting.why
