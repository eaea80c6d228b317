"""The report of incidents: to the cell, in order, of one's own place, and without what is confidential."""

from typing import Any

import pytest

from audits.incidents.services.incidents import incident_note, incident_step
from audits.reports.kinds.incidents import ROUNDS_NAMED, Incidents
from games.models import Staff
from tests.audits.decided import executed, incident_about, ruled, voided
from tests.audits.files import opened, played
from tests.audits.reports.asking import DAY, DAY_STARTS, asked_by, column_of, queries_of, rows_of
from tests.conftest import OPERATOR, House
from tests.games.engine.oracle import V6
from tests.games.floor_setup import HOUR, MICROSECOND, MINUTE, NOON, bare_table, ready_table, sign

pytestmark = pytest.mark.usefixtures("clock")
COMPLIANCE, PIT_MANAGER = "compliance", "pit-manager"


def incidents(house: House, role: str = COMPLIANCE, **more: Any) -> Incidents:
    return Incidents(asked_by(house[role], **more))


def test_an_incident_with_times_situation_advice_and_outcome(house: House, clock: Any) -> None:
    clock.move_to(NOON - HOUR)
    table = ready_table(house, "TS-01", layout="C", limits=sign())
    clock.move_to(NOON)
    one = played(table, NOON - 5 * MINUTE, "R-1")
    incident = incident_about(
        house, table, one, situation="wrong-result-entered", facts={"settled": "yes"}, account="点数输错：大、小。",
        occurred_from=NOON - 4 * MINUTE, occurred_to=NOON - MINUTE,
        people=[("dealer", "DEALER"), ("patron", "P-77")],
    )  # fmt: skip
    clock.shift(MINUTE)
    ruling = ruled(house, incident, decision="The round is void.")
    order = executed(house, voided(house, incident, one, ruling=ruling))
    clock.shift(MINUTE)
    incident_step(actor=house[COMPLIANCE], incident=incident, to="closed", reason="Stakes returned.")
    assert rows_of(incidents(house)) == [
        {
            "number": "IN-2026-000001", "casino": "RWS", "pit": "P1", "table": "TS-01", "reported_at": NOON,
            "reported_by": "SURVEILLANCE Person SURVEILLANCE, surveillance", "occurred_from": NOON - 4 * MINUTE,
            "occurred_to": NOON - MINUTE, "situation": "Wrong result entered (settled yes)",
            "account": "点数输错：大、小。", "advice": "Ask for a ruling", "decides": "Shift manager or above",
            "rules": [f"{V6}#5.14"], "rounds": ["R-1"],
            "people": ["Dealer DEALER Person DEALER (named, not confirmed)", "Patron P-77"],
            "rulings": [ruling.number], "decision": "The round is void.",
            "actions": [f"Void of a round no. {order.pk}: executed"], "state": "Closed",
            "state_since": NOON + 2 * MINUTE, "state_by": "COMPLIANCE Person COMPLIANCE, compliance",
            "outcome": "Stakes returned.", "notes": None, "confidential": False,
        }
    ]  # fmt: skip


def test_without_a_table_there_is_no_advice_and_an_order_may_wait(house: House, clock: Any) -> None:
    clock.move_to(NOON - HOUR)
    table = ready_table(house, "TS-01", layout="C", limits=sign())
    clock.move_to(NOON)
    opened(house, account="At the bar.")
    one = played(table, NOON - 5 * MINUTE, "R-1")
    order = voided(house, incident_about(house, table, one, situation="dice-damaged"), one, rule="5.6")
    bar, dice = rows_of(incidents(house))
    assert [bar[name] for name in ("advice", "decides", "rules", "rounds", "table", "decision")] == [
        None, None, [], [], None, None,
    ]  # fmt: skip
    assert (bar["outcome"], bar["state"]) == ("Reported", "Open")
    assert dice["actions"] == [f"Void of a round no. {order.pk}: waiting for a second person"]


def test_more_rounds_than_a_cell_takes_are_counted(house: House, clock: Any) -> None:
    clock.move_to(NOON - HOUR)
    table = ready_table(house, "TS-01", layout="C", limits=sign())
    clock.move_to(NOON)
    rounds = [played(table, NOON - (50 - number) * MINUTE, f"R-{number:02}") for number in range(ROUNDS_NAMED + 2)]
    incident_about(house, table, *rounds)
    ((*named, more),) = column_of(incidents(house), "rounds")
    assert (named, more) == ([round_.ref for round_ in rounds[:ROUNDS_NAMED]], "and 2 more")


def test_in_the_order_of_the_report_then_the_number(house: House, clock: Any) -> None:
    opened(house, account="One.", occurred_from=NOON - MINUTE)
    opened(house, account="Two.", occurred_from=NOON - HOUR)
    clock.shift(-MINUTE)
    opened(house, account="Three.", occurred_from=NOON - 2 * HOUR)
    assert column_of(incidents(house), "account") == ["Three.", "One.", "Two."]


def test_the_period_is_gaming_days_by_the_casinos_clock(house: House, clock: Any) -> None:
    for moment in (DAY_STARTS - MICROSECOND, DAY_STARTS, DAY_STARTS + 24 * HOUR - MICROSECOND, DAY_STARTS + 24 * HOUR):
        clock.move_to(moment)
        opened(house, account=moment.isoformat(), occurred_from=DAY_STARTS - 2 * HOUR)
    assert column_of(incidents(house), "reported_at") == [DAY_STARTS, DAY_STARTS + 24 * HOUR - MICROSECOND]


def test_nothing_of_another_casino_or_pit(house: House) -> None:
    house.people["there"] = house.hire("SM-ELSE", "shift-manager", house.other)
    opened(house, "there", "Elsewhere.", casino=house.other, pit=house.other_pit)
    opened(house, "shift-manager", "In the other pit.", pit=house.pits["P2"])
    opened(house, "shift-manager", "In the house.", pit=None)
    opened(house, account="In the pit.")
    assert column_of(incidents(house), "account") == ["In the other pit.", "In the house.", "In the pit."]
    assert column_of(incidents(house, PIT_MANAGER), "account") == ["In the house.", "In the pit."]
    everything = Incidents(asked_by(OPERATOR))
    assert column_of(everything, "casino") == ["ELSE", "RWS", "RWS", "RWS"]


def test_of_one_table(house: House) -> None:
    here, there = bare_table(house), bare_table(house, "TS-02")
    for place in (here, there):
        opened(house, account=f"At {place}.", table=place)
    assert column_of(incidents(house, table=there), "account") == ["At TS-02."]


def test_confidential_notes_are_for_those_who_may_see_them(house: House) -> None:
    incident = opened(house)
    incident_note(actor=house["pit-supervisor"], incident=incident, text="The patron left.")
    incident_note(actor=house["surveillance"], incident=incident, text="Zebra 陈.", is_confidential=True)
    plain = "The patron left. (PIT-SUPERVISOR Person PIT-SUPERVISOR, pit supervisor)"
    secret = "Confidential: Zebra 陈. (SURVEILLANCE Person SURVEILLANCE, surveillance)"
    for role in (COMPLIANCE, "auditor"):
        (row,) = rows_of(incidents(house, role))
        assert (row["notes"], row["confidential"]) == (f"{plain}\n{secret}", True)
    for actor in (house[PIT_MANAGER], house["casino-manager"], OPERATOR):
        (row,) = rows_of(Incidents(asked_by(actor)))
        assert (row["notes"], row["confidential"]) == (plain, False)
        assert "zebra" not in repr(row).lower()


def test_rounds_of_another_pit_are_not_named(house: House, clock: Any) -> None:
    clock.move_to(NOON - HOUR)
    here = ready_table(house, "TS-01", layout="C", limits=sign())
    there = ready_table(house, "TS-02", pit="P2", layout="C", limits=sign())
    clock.move_to(NOON)
    rounds = [played(table, NOON - 5 * MINUTE, f"R-{table}") for table in (here, there)]
    incident_about(house, here, *rounds)
    assert column_of(incidents(house, PIT_MANAGER), "rounds") == [["R-TS-01"]]
    assert column_of(incidents(house), "rounds") == [["R-TS-01", "R-TS-02"]]


def test_names_survive_as_they_are_written(house: House) -> None:
    Staff.objects.filter(pk=house["pit-supervisor"].pk).update(name="陈美玲")
    opened(house)
    assert column_of(incidents(house), "reported_by") == ["PIT-SUPERVISOR 陈美玲, pit supervisor"]


def test_a_period_without_incidents_says_so(house: House) -> None:
    report = incidents(house)
    assert rows_of(report) == []
    assert (report.nil(), report.totals()) == ("No incidents were reported in the period.", None)


def test_many_incidents_take_as_many_queries_as_one(house: House) -> None:
    table = bare_table(house)

    def one_more(number: int) -> None:
        incident = opened(house, "surveillance", f"No. {number}.", table=table, people=[("dealer", "DEALER")])
        incident_note(actor=house["surveillance"], incident=incident, text="Seen.")
        ruled(house, incident)

    one_more(1)
    before = queries_of(incidents(house))
    for number in range(2, 6):
        one_more(number)
    report = incidents(house)
    assert (queries_of(report), len(rows_of(report))) == (before, 5)
    assert report.request.first == DAY
