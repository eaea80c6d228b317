"""Log, files, evidence, disputes: plain SQL as `app` breaks no rule of theirs and changes nothing written once."""

import datetime as dt
import io
import re
from typing import Any

import pytest
from django.db import IntegrityError, connection, transaction

from audits.incidents.services.disputes import dispute_raise, dispute_rule_set
from audits.incidents.services.evidence import evidence_add
from audits.incidents.services.incidents import incident_note, incident_relate
from audits.incidents.services.log import handover_sign, handover_take
from audits.incidents.services.shifts import shift_add
from games.database.role_grants import table_grants
from games.floor.services.tables import table_create
from taisai_backoffice.embedded.home import Home
from tests.audits.files import PNG, opened, played, seen
from tests.conftest import OPERATOR, House
from tests.games.engine.oracle import V6
from tests.games.floor.test_table_constraints import columns, denied
from tests.games.floor_setup import HOUR, MINUTE, NOON, START, ready_table

WRITTEN_ONCE = (
    "logentry", "handover", "handovertaken", "incidentstep", "incidentnote", "incidentperson", "incidentround",
    "incidentlink", "evidence", "custodystep", "historicalincident", "historicaldispute", "historicaldisputerule",
)  # fmt: skip
CHANGING = ("incident", "numbercounter", "dispute")
TABLES = (*WRITTEN_ONCE[:10], *CHANGING, "disputerule", "shift")

NEXT = {"serial": "99", "number": "'IN-2026-000099'"}
#: A copy of the latest row with something different, and the constraint that says no.
COPIES: list[tuple[str, dict[str, str], str]] = [
    ("logentry", {"summary": "''"}, "log_entry_says_something"),
    ("logentry", {"id": "987654321", "addendum_to_id": "987654321"}, "log_entry_not_its_own_addendum"),
    ("logentry", {"is_confidential": "true", "department": "'pit'"}, "log_entry_confidential_by_whom"),
    ("logentry", {"pit_id": "{other_pit}"}, "logentry_pit_of_same_casino"),
    ("logentry", {"table_id": "{other_table}"}, "logentry_table_of_same_casino"),
    ("handover", {"watch": "''"}, "handover_says_what_to_watch"),
    ("handover", {"is_confidential": "true"}, "handover_confidential_by_whom"),
    ("handover", {"open_findings": "-1"}, "audits_handover_open_findings_check"),
    ("handover", {"pit_id": "{other_pit}"}, "handover_pit_of_same_casino"),
    ("handovertaken", {}, "audits_handovertaken_handover_id_key"),
    ("handovertaken", {"handover_id": "{pending}", "taken_by_id": "left_by_id"}, "handover_between_two"),
    ("handovertaken", {"handover_id": "{pending}", "left_by_id": "{stranger}"}, "handover_taken_from_who_left"),
    ("handovertaken", {"handover_id": "{pending}", "left_by_id": "taken_by_id", "taken_by_id": "left_by_id"},
     "handover_taken_from_who_left"),
    ("incident", {}, "incident_number_once"),
    ("incident", {"serial": "0", "number": "'IN-2026-000000'"}, "incident_serial_from_one"),
    ("incident", {"serial": "-1"}, "audits_incident_serial_check"),
    ("incident", {"year": "-1"}, "audits_incident_year_check"),
    ("incident", {"serial": "99"}, "incident_number_says_year_and_serial"),
    ("incident", {"year": "2027"}, "incident_number_says_year_and_serial"),
    ("incident", {**NEXT, "state": "'dancing'"}, "incident_state_known"),
    ("incident", {**NEXT, "account": "''"}, "incident_says_what_happened"),
    ("incident", {**NEXT, "occurred_to": "occurred_from - interval '1 second'"}, "incident_ends_after_it_begins"),
    ("incident", {**NEXT, "pit_id": "{other_pit}"}, "incident_pit_of_same_casino"),
    ("incident", {**NEXT, "table_id": "{other_table}"}, "incident_table_of_same_casino"),
    ("numbercounter", {}, "number_counter_once"),
    ("numbercounter", {"year": "-1"}, "audits_numbercounter_year_check"),
    ("numbercounter", {"year": "2030", "last": "-1"}, "audits_numbercounter_last_check"),
    ("incidentstep", {"reason": "''"}, "incident_step_has_a_reason"),
    ("incidentnote", {"text": "''"}, "incident_note_says_something"),
    ("incidentperson", {}, "incident_person_once"),
    ("incidentperson", {"reference": "''"}, "incident_person_has_a_reference"),
    ("incidentround", {}, "incident_round_once"),
    ("incidentlink", {}, "incident_link_once"),
    ("incidentlink", {"one_id": "other_id", "other_id": "one_id"}, "incident_link_one_way_round"),
    ("incidentlink", {"one_id": "other_id"}, "incident_link_one_way_round"),
    ("evidence", {"incident_id": "NULL", "entry_id": "NULL"}, "evidence_of_something"),
    *(("evidence", {name: value}, "evidence_is_a_file_or_a_camera")
      for name, value in (("stored", "''"), ("sha256", "NULL"), ("size", "0"), ("size", "NULL"))),
    ("evidence", {"content_type": "''"}, "evidence_is_a_file_or_a_camera"),
    ("evidence", {"stored": "''", "sha256": "NULL", "size": "NULL"}, "evidence_is_a_file_or_a_camera"),
    ("evidence", {"pit_id": "{other_pit}"}, "evidence_pit_of_same_casino"),
    ("dispute", {}, "audits_dispute_incident_id_key"),
    ("dispute", {"incident_id": "{second}", "due_at": "raised_at"}, "dispute_due_after_it_is_raised"),
    ("dispute", {"incident_id": "{second}", "resolved_at": "now()"}, "dispute_resolved_with_words"),
    ("dispute", {"incident_id": "{second}", "resolution": "'Paid'"}, "dispute_resolved_with_words"),
    ("disputerule", {}, "audits_disputerule_casino_id_key"),
    ("disputerule", {"casino_id": "{other}", "days": "-1"}, "audits_disputerule_days_check"),
    ("disputerule", {"casino_id": "{other}", "warn_days": "-1"}, "audits_disputerule_warn_days_check"),
    ("shift", {"starts": "'01:00'"}, "shift_name_once"),
    ("shift", {"name": "'Other'"}, "shift_start_once"),
]  # fmt: skip
SUPPORTS = {"handover_of_who_leaves"}  # what a foreign key points to


@pytest.fixture
def records(house: House, clock: Any, settings: Any, tmp_path: Any) -> dict[str, int]:
    """One row in each of the tables at least, and the keys that the attempts name."""
    settings.HOME = Home(tmp_path / "home")
    clock.move_to(NOON - HOUR)
    table = ready_table(house)
    clock.move_to(NOON)
    actor = house["pit-supervisor"]
    seen(house, "pit-supervisor", table=table)
    handover = handover_sign(actor=actor, casino=house.casino, watch="Seat 3")
    handover_take(actor=house["pit-manager"], handover=handover)
    pending = handover_sign(actor=actor, casino=house.casino, watch="Seat 4")
    second = opened(house, account="Another quarrel.")
    incident = opened(house, table=table, people=[("patron", "P-77")], rounds=[played(table, NOON - MINUTE, "R-1")])
    incident_note(actor=actor, incident=incident, text="Still loud.")
    incident_relate(actor=actor, incident=incident, other=second, reason="The same patron")
    evidence_add(actor=actor, about=incident, description="Felt", name="felt.png", content=io.BytesIO(PNG))
    dispute_raise(actor=actor, incident=incident, patron="P-77", raised_at=NOON, reason="Unhappy")
    dispute_rule_set(actor=house["compliance"], casino=house.casino, changes={"days": 5}, reason="Our law")
    shift_add(actor=house["compliance"], casino=house.casino, name="Early", starts=dt.time(8), reason="Our own")
    other_table = table_create(
        actor=OPERATOR, casino=house.other, pit=house.other_pit, code="ELSE-01", rulebook=V6, layout="A",
        chip_unit="1.00", starts_at=START, reason="New table",
    )  # fmt: skip
    return {
        "other": house.other.pk, "other_pit": house.other_pit.pk, "other_table": other_table.pk,
        "pending": pending.pk, "second": second.pk, "stranger": house["casino-manager"].pk,
    }  # fmt: skip


def test_no_row_that_makes_no_sense_is_added(records: dict[str, int]) -> None:
    for model, different, constraint in COPIES:
        names = [name for name in columns(f"audits_{model}") if name not in ("id", "search") or name in different]
        values = [different.get(name, name) for name in names]
        statement = (
            f"INSERT INTO audits_{model} ({', '.join(names)}) "
            f"SELECT {', '.join(values)} FROM audits_{model} ORDER BY id DESC LIMIT 1"
        )
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")
            with pytest.raises(IntegrityError, match=f'"{constraint}"'), transaction.atomic():
                cursor.execute(statement.format(**records))


def test_every_constraint_of_these_tables_is_tried(db: None) -> None:
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT conname FROM pg_constraint WHERE conrelid::regclass::text = ANY(%(tables)s) "
            "AND (contype IN ('c', 'u', 'x') OR contype = 'f' AND conname NOT LIKE '%%\\_fk\\_%%')",
            {"tables": [f"audits_{name}" for name in TABLES]},
        )
        found = {name for (name,) in cursor.fetchall()}
    tried = {constraint for _, _, constraint in COPIES}
    assert {name for name in found if not any(re.fullmatch(one, name) for one in tried)} == SUPPORTS


def test_what_is_written_once_stays_with_its_rows_in_place(records: dict[str, int]) -> None:
    for table in (f"audits_{model}" for model in WRITTEN_ONCE):
        assert table_grants()[table].by_trigger
        assert count(table) > 0, table
        for column in columns(table):
            denied(f"UPDATE {table} SET {column} = {'DEFAULT' if column == 'search' else column}")
        denied(f"DELETE FROM {table}")
        denied(f"TRUNCATE {table} CASCADE")
        denied(f"SELECT 1 FROM {table} FOR UPDATE")


def test_only_the_columns_that_may_change_do(records: dict[str, int]) -> None:
    for table in (f"audits_{model}" for model in CHANGING):
        for column in set(columns(table)) - set(table_grants()[table].update):
            denied(f"UPDATE {table} SET {column} = {'DEFAULT' if column == 'search' else column}")
        denied(f"DELETE FROM {table}")
        denied(f"TRUNCATE {table} CASCADE")
        with connection.cursor() as cursor:
            for column in table_grants()[table].update:
                cursor.execute(f"UPDATE {table} SET {column} = {column}")
                assert cursor.rowcount > 0


def count(table: str) -> int:
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT count(*) FROM {table}")
        return int(cursor.fetchone()[0])


def test_neither_the_number_nor_the_advice_nor_the_reporter_of_a_file_changes() -> None:
    kept = {"casino_id", "year", "serial", "number", "reported_at", "reported_by_id", "who", "department", "advice"}
    assert not kept & set(table_grants()["audits_incident"].update)
    assert not {"raised_at", "due_at", "law", "patron", "incident_id"} & set(table_grants()["audits_dispute"].update)
