"""Tables, limits, dice and signs: plain SQL as `app` breaks no rule of theirs and changes nothing written once."""

import datetime as dt
import re
from typing import Any

import pytest
from django.db import IntegrityError, ProgrammingError, connection, transaction
from django.utils import timezone

from games.access.models.acting_appointment import ALL_PITS
from games.access.services.acting_appointments import duty_grant
from games.database.role_grants import table_grants
from games.engine.signs.edits import Edits
from games.floor.services.dice import dice_inspect
from games.floor.services.tumblers import tumbler_inspect
from games.limits.services.presets import preset_add
from games.limits.services.proposals import limits_approve, limits_edit, limits_withdraw
from games.limits.services.sign_prints import sign_print
from games.live.services import live_open
from games.models import LimitProposal, LoginSession, Staff
from games.terminals.services import terminal_create
from tests.conftest import OPERATOR, House
from tests.games.engine.oracle import DIVISION_9
from tests.games.floor_setup import bare_table, dice_of, open_table, sign, tumbler_for

TABLES = (
    "games_diceset", "games_dicefit", "games_diceinspection", "games_differentialline", "games_limitdecision",
    "games_limitline", "games_limitpreset", "games_limitproposal", "games_limitset", "games_limitsheet",
    "games_openingcheck", "games_proposedsign", "games_signprint", "games_table", "games_tableassignment",
    "games_tablestep", "games_tumbler", "games_tumblerfit", "games_tumblerinspection",
)  # fmt: skip

WRITTEN_ONCE = sorted(
    table for table, grants in table_grants().items() if grants.by_trigger and table != "games_denial"
)
#: Tables of which some columns change, and which are filled here.
CHANGING = (
    "games_casino", "games_dicefit", "games_diceset", "games_duty", "games_ledgerchain", "games_limitpreset",
    "games_liveround", "games_loginsession", "games_pit", "games_staff", "games_table", "games_tableassignment",
    "games_terminal", "games_tumbler", "games_tumblerfit",
)  # fmt: skip
PERIODS = ["'empty'", "'(,2026-02-01)'", "'(,)'", "'(2026-01-01,)'", "'[2025-01-01,2025-02-01]'"]

#: What is tried: a copy of a row with something different, or a change; and the constraint that says no.
COPIES: list[tuple[str, dict[str, str], str]] = [
    ("table", {"code": "'ts-01'"}, "table_code_once"),
    ("table", {"code": "'TS-99'", "state": "'dancing'"}, "table_state_known"),
    # What is played on a table
    ("tableassignment", {"during": "'[2027-01-01,)'"}, "assignment_one_at_a_time"),
    ("tableassignment", {"during": "'[2025-12-31,2026-01-01 00:00:01Z)'"}, "assignment_one_at_a_time"),
    *(("tableassignment", {"during": period}, "assignment_begins_somewhen") for period in PERIODS),
    ("tableassignment", {"during": "'[2025-01-01,2025-02-01)'", "chip_unit": "0"}, "assignment_chip_unit_positive"),
    ("tableassignment", {"during": "'[2025-01-01,2025-02-01)'", "pit_id": "{other_pit}"},
     "games_tableassignment_pit_of_same_casino"),
    ("tableassignment", {"during": "'[2025-01-01,2025-02-01)'", "pit_id": "{other_pit}", "casino_id": "{other}"},
     "assignment_of_same_casino"),
    # Opened, closed
    ("tablestep", {"kind": "'close'", "notice_given_at": "NULL"}, "step_closing_after_notice"),
    ("tablestep", {"kind": "'close'", "notice_given_at": "at + interval '1 second'"}, "step_closing_after_notice"),
    ("tablestep", {"kind": "'dance'"}, "step_kind_known"),
    ("tablestep", {"reason": "''"}, "step_has_a_reason"),
    ("tablestep", {"cause": "'other'"}, "step_suspended_for_a_cause"),
    ("tablestep", {"kind": "'suspend'", "cause": "'weather'"}, "step_suspended_for_a_cause"),
    ("tablestep", {"rectified": "'A fuse'"}, "step_rectified_and_checked"),
    ("tablestep", {"kind": "'resume'", "rectified": "'A fuse'", "rectified_by": "'T'"}, "step_rectified_and_checked"),
    ("tablestep", {"kind": "'resume'", "rectified": "'A fuse'", "checked_by_id": "{proposer}"},
     "step_rectified_and_checked"),
    ("tablestep", {"kind": "'resume'", "rules": "'[\"division-9-2008#7.4\"]'"}, "step_resumed_after_a_remedy"),
    ("tablestep", {"source": "'floor.toml'"}, "step_by_a_person_or_a_file"),
    ("tablestep", {"by_id": "NULL"}, "step_by_a_person_or_a_file"),
    ("tablestep", {"kind": "'open'", "checks_of": "'division-9-2008'"}, "step_checks_of_a_file"),
    ("tablestep", {"kind": "'suspend'", "by_id": "NULL", "source": "'floor.toml'", "checks_of": "'division-9-2008'",
                   "checks_by_id": "{proposer}"}, "step_checks_of_a_file"),
    ("openingcheck", {"passed": "false", "remarks": "''"}, "check_failed_with_remarks"),
    # What a sign says
    ("limitline", {}, "limit_line_once"),
    ("limitline", {"key": "'total'", "minimum": "301", "maximum": "300"}, "limit_minimum_up_to_maximum"),
    ("limitline", {"key": "'total'", "minimum": "-1", "maximum": "300"}, "limit_minimum_up_to_maximum"),
    ("limitline", {"key": "'total'", "minimum": "-1", "maximum": "NULL"}, "limit_minimum_up_to_maximum"),
    ("limitline", {"key": "'total'", "minimum": "NULL", "maximum": "-1"}, "limit_minimum_up_to_maximum"),
    ("differentialline", {}, "differential_line_once"),
    ("differentialline", {"type": "'odd-even'", "amount": "-1"}, "differential_not_negative"),
    # Proposed by one, decided by another
    ("limitproposal", {"reason": "''"}, "proposal_has_a_reason"),
    ("limitproposal", {"is_correction": "true", "starts_at": "NULL"}, "proposal_correction_has_a_moment"),
    ("limitproposal", {"pit_id": "{other_pit}"}, "games_limitproposal_pit_of_same_casino"),
    ("limitproposal", {"casino_id": "{other}"}, "games_limitproposal_pit_of_same_casino"),
    ("proposedsign", {}, "proposed_sign_once_a_table"),
    ("proposedsign", {"table_id": "{second_table}", "removals": "'{{boxes.big-small.min}}'"},
     "proposed_sign_base_of_its_table"),
    ("limitpreset", {}, "limit_preset_name_once"),
    ("limitpreset", {"name": "'weekend 100'"}, "limit_preset_name_once"),
    ("limitpreset", {"name": "''"}, "limit_preset_has_a_name"),
    ("limitdecision", {}, "games_limitdecision_proposal_id_key"),
    ("limitdecision", {"outcome": "'rejected'"}, "games_limitdecision_proposal_id_key"),
    ("limitdecision", {"proposal_id": "{pending}", "outcome": "'maybe'"}, "decision_outcome_known"),
    ("limitdecision", {"proposal_id": "{pending}", "reason": "''"}, "decision_has_a_reason"),
    ("limitdecision", {"proposal_id": "{pending}", "decided_by_id": "proposed_by_id"}, "decision_by_another"),
    ("limitdecision", {"proposal_id": "{pending}", "decided_by_id": "proposed_by_id", "outcome": "'rejected'"},
     "decision_by_another"),
    ("limitdecision", {"proposal_id": "{pending}", "outcome": "'withdrawn'"}, "decision_withdrawn_by_proposer"),
    ("limitdecision", {"proposal_id": "{pending}", "proposed_by_id": "{stranger}"}, "decision_names_the_proposer"),
    ("limitdecision", {"proposal_id": "{pending}", "proposed_by_id": "{stranger}", "decided_by_id": "{proposer}"},
     "decision_names_the_proposer"),
    # In force
    ("limitset", {}, "limit_set_once_a_moment"),
    ("limitset", {"revision": "1", "origin": "'file'"}, "limit_set_from_a_file_or_approved"),
    ("limitset", {"revision": "1", "decision_id": "NULL"}, "limit_set_from_a_file_or_approved"),
    ("limitset", {"revision": "1", "origin": "'rumour'"}, "limit_set_from_a_file_or_approved"),
    ("limitset", {"revision": "-1"}, "games_limitset_revision_check"),
    ("signprint", {}, "sign_print_numbered_once"),
    ("signprint", {"number": "-1"}, "games_signprint_number_check"),
    # Dice
    ("diceset", {"code": "'d-ts-01'"}, "dice_set_code_once_a_casino"),
    ("diceset", {"code": "'X'", "state": "'lucky'"}, "dice_set_state_known"),
    ("diceset", {"code": "'X'", "seal": "''"}, "dice_set_has_a_seal"),
    ("diceset", {"code": "'X'", "pit_id": "{other_pit}"}, "games_diceset_pit_of_same_casino"),
    ("diceset", {"code": "'X'", "serials": "'{{a,b,c,d}}'"}, "dice_set_of_three"),
    *(("diceset", {"code": "'X'", "serials": serials}, "dice_set_of_different_dice")
      for serials in ("'{{}}'", "'{{a,b}}'", "'{{a,b,a}}'", "'{{a,a,b}}'", "'{{b,a,a}}'", "'{{a,b,\"\"}}'",
                      "'{{a,b,NULL}}'", "'{{NULL,b,c}}'", "'[7:9]={{a,a,a}}'", "'{{{{a}},{{a}},{{a}}}}'")),
    *(("dicefit", {"during": period}, "dice_fit_begins_somewhen") for period in PERIODS),
    ("dicefit", {"dice_set_id": "{second_set}"}, "dice_fit_one_set_a_table"),
    ("dicefit", {"table_id": "{second_table}"}, "dice_fit_one_table_a_set"),
    ("diceinspection", {"result": "'damaged'", "remarks": "''"}, "inspection_failed_with_remarks"),
    ("diceinspection", {"result": "'seal-broken'", "remarks": "''"}, "inspection_failed_with_remarks"),
    ("diceinspection", {"result": "'perfect'", "remarks": "'Shines'"}, "inspection_failed_with_remarks"),
    # Tumblers
    ("tumbler", {"code": "'t-ts-01'", "serial": "'X'"}, "tumbler_code_once_a_casino"),
    ("tumbler", {"code": "'X'", "serial": "lower(serial)"}, "tumbler_serial_once_a_casino"),
    ("tumbler", {"code": "'X'", "serial": "''"}, "tumbler_has_a_serial"),
    ("tumbler", {"code": "'X'", "serial": "'X'", "lock": "''"}, "tumbler_has_a_lock"),
    ("tumbler", {"code": "'X'", "serial": "'X'", "state": "'lucky'"}, "tumbler_state_known"),
    ("tumbler", {"code": "'X'", "serial": "'X'", "activation": "'by magic'"}, "tumbler_activation_known"),
    ("tumbler", {"code": "'X'", "serial": "'X'", "pit_id": "{other_pit}"}, "games_tumbler_pit_of_same_casino"),
    *(("tumblerfit", {"during": period}, "tumbler_fit_has_a_beginning") for period in PERIODS),
    ("tumblerfit", {"tumbler_id": "{second_tumbler}"}, "tumbler_fit_one_tumbler_a_table"),
    ("tumblerfit", {"table_id": "{second_table}"}, "tumbler_fit_one_table_a_tumbler"),
    ("tumblerinspection", {"result": "'faulty'", "remarks": "''"}, "tumbler_inspection_failed_with_remarks"),
    ("tumblerinspection", {"result": "'perfect'", "remarks": "'x'"}, "tumbler_inspection_failed_with_remarks"),
]  # fmt: skip

CHANGES = [
    ("UPDATE games_table SET state = 'dancing'", "table_state_known"),
    ("UPDATE games_diceset SET state = 'lucky'", "dice_set_state_known"),
    ("UPDATE games_diceset SET pit_id = {other_pit}", "games_diceset_pit_of_same_casino"),
]  # fmt: skip

#: True by what they point to, and tried elsewhere or not breakable alone.
SUPPORTS = {
    "proposal_of_proposer", "table_of_casino", "decision_with_outcome", "limit_set_of_an_approval",
    "limit_set_of_table",
}  # fmt: skip
NO_DIFFERENTIAL = {"TS-01": ["differential.big-small"]}
GENERATED = {"games_limitset": {"outcome"}}


@pytest.fixture
def floor(house: House, clock: Any) -> dict[str, int]:
    """One row in each of the tables at least, and the keys that the attempts name."""
    table = open_table(house, rulebook=DIVISION_9, layout="1", limits=sign(differential={"big-small": 1000}))
    manager, boss = house["pit-manager"], house["shift-manager"]
    proposal = limits_edit(actor=manager, edits={table: Edits()}, reason="Quiet night", remove=NO_DIFFERENTIAL)
    (limit_set,) = limits_approve(actor=boss, proposal=proposal, reason="Agreed", remove=NO_DIFFERENTIAL)
    pending = limits_edit(actor=manager, edits={table: Edits({("single", "max"): 200000})}, reason="Quieter")
    preset_add(actor=boss, casino=table.casino, name="Weekend 100", limits=sign(), reason="Every weekend")
    sign_print(actor=manager, table=table, limit_set=limit_set, assignment=table.assignments.get(), form="pdf")
    dice_inspect(actor=manager, dice_set=table.dice_fits.get().dice_set, result="good", seal_found="S-D-TS-01")
    tumbler = table.tumbler_fits.get().tumbler
    tumbler_inspect(actor=manager, tumbler=tumbler, result="good", lock_found=tumbler.lock)
    now = timezone.now()
    duty_grant(
        actor=house["casino-manager"], staff=manager, post="shift-manager", casino=house.casino, pit=ALL_PITS,
        starts_at=now, ends_at=now + dt.timedelta(hours=1), reason="A colleague is ill",
    )  # fmt: skip
    terminal_create(actor=OPERATOR, name="East 1", tables=[table], reason="New terminal")
    live_open(actor=OPERATOR, document={"source": "floor", "ref": "R-1", "table": table.code})
    return {
        "other": house.other.pk, "other_pit": house.other_pit.pk, "pending": pending.pk, "proposer": manager.pk,
        "stranger": house["casino-manager"].pk, "table": table.pk, "second_table": bare_table(house, "TS-02").pk,
        "second_set": dice_of(house, "D-02").pk, "second_tumbler": tumbler_for(house, "T-02").pk,
    }  # fmt: skip


def refused(statement: str, constraint: str) -> None:
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")
        with pytest.raises(IntegrityError, match=f'"{constraint}"'), transaction.atomic():
            cursor.execute(statement)


def columns(table: str) -> list[str]:
    with connection.cursor() as cursor:
        return [column.name for column in connection.introspection.get_table_description(cursor, table)]


def test_no_row_that_makes_no_sense_is_added(floor: dict[str, int]) -> None:
    for model, different, constraint in COPIES:
        own = {"id"} | GENERATED.get(f"games_{model}", set())
        taken = {name: different.get(name, name) for name in columns(f"games_{model}") if name not in own}
        statement = (
            f"INSERT INTO games_{model} ({', '.join(taken)}) "
            f"SELECT {', '.join(taken.values())} FROM games_{model} ORDER BY id DESC LIMIT 1"
        )
        refused(statement.format(**floor), constraint)


def test_no_row_is_changed_into_one_that_makes_no_sense(floor: dict[str, int]) -> None:
    for statement, constraint in CHANGES:
        refused(statement.format(**floor), constraint)


def test_every_constraint_of_these_tables_is_tried(db: None) -> None:
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT conname FROM pg_constraint WHERE conrelid::regclass::text = ANY(%(tables)s) "
            "AND (contype IN ('c', 'u', 'x') OR contype = 'f' AND conname NOT LIKE '%%\\_fk\\_%%') UNION "
            "SELECT indexrelid::regclass::text FROM pg_index WHERE indrelid::regclass::text = ANY(%(tables)s) "
            "AND indisunique AND NOT indisprimary",
            {"tables": list(TABLES)},
        )
        found = {name for (name,) in cursor.fetchall()}
    tried = {*(constraint for _, _, constraint in COPIES), *(constraint for _, constraint in CHANGES)}
    assert {name for name in found if not any(re.fullmatch(pattern, name) for pattern in tried)} == SUPPORTS


def test_limits_that_were_not_approved_are_not_put_on_a_sign(floor: dict[str, int], house: House) -> None:
    pending = LimitProposal.objects.get(pk=floor["pending"])
    decision = limits_withdraw(actor=house["pit-manager"], proposal=pending, reason="A slip")
    refused(
        "INSERT INTO games_limitset (table_id, starts_at, revision, sheet_id, recorded_at, origin, source, who, "
        f"decision_id) VALUES ({floor['table']}, now(), 0, {pending.signs.get().sheet_id}, now(), 'proposal', '', '', "
        f"{decision.pk})",
        "limit_set_of_an_approval",
    )


def test_limits_in_force_are_those_that_were_proposed_for_the_table(floor: dict[str, int]) -> None:
    other = LimitProposal.objects.get(pk=floor["pending"]).signs.get()
    refused(
        "INSERT INTO games_limitset (table_id, starts_at, revision, sheet_id, recorded_at, origin, source, who, "
        f"decision_id) SELECT table_id, starts_at, 7, {other.sheet_id}, recorded_at, origin, source, who, decision_id "
        "FROM games_limitset WHERE decision_id IS NOT NULL",
        "limit_set_as_proposed",
    )


def test_no_limit_is_removed_that_proposer_and_approver_did_not_confirm(floor: dict[str, int]) -> None:
    refused(
        "INSERT INTO games_proposedsign (proposal_id, table_id, sheet_id, base_id, removals) "
        f"SELECT {floor['pending']}, table_id, sheet_id, base_id, '{{}}' FROM games_proposedsign "
        "WHERE 'differential.big-small' = ANY (removals)",
        "proposed_sign_confirmed",
    )
    with connection.cursor() as cursor:  # an approval without a tick, which no service writes
        cursor.execute(
            "INSERT INTO games_limitproposal (casino_id, pit_id, is_correction, reason, proposed_by_id, who, "
            "proposed_at) SELECT casino_id, pit_id, is_correction, reason, proposed_by_id, who, proposed_at "
            "FROM games_limitproposal WHERE id = %s RETURNING id",
            [floor["pending"]],
        )
        (proposal,) = cursor.fetchone()
        cursor.execute(
            "INSERT INTO games_proposedsign (proposal_id, table_id, sheet_id, base_id, removals) SELECT %s, table_id, "
            "sheet_id, base_id, removals FROM games_proposedsign WHERE 'differential.big-small' = ANY (removals)",
            [proposal],
        )
        cursor.execute(
            "INSERT INTO games_limitdecision (proposal_id, proposed_by_id, outcome, decided_by_id, who, at, reason, "
            "removals) SELECT %s, proposed_by_id, outcome, decided_by_id, who, at, reason, '{}' "
            "FROM games_limitdecision WHERE outcome = 'approved' RETURNING id",
            [proposal],
        )
        (decision,) = cursor.fetchone()
    refused(
        "INSERT INTO games_limitset (table_id, starts_at, revision, sheet_id, recorded_at, origin, source, who, "
        f"decision_id) SELECT table_id, now(), 0, sheet_id, now(), origin, source, who, {decision} "
        "FROM games_limitset WHERE decision_id IS NOT NULL",
        "limit_set_removals_confirmed",
    )


@pytest.mark.parametrize("table", ["games_tableassignment", "games_dicefit", "games_tumblerfit"])
@pytest.mark.parametrize("period", ["'empty'", "'(,)'", "'[2020-01-01,)'", "'[2026-06-01,)'"])
def test_a_period_gets_its_end_and_nothing_else_of_it_changes(floor: dict[str, int], table: str, period: str) -> None:
    with connection.cursor() as cursor, pytest.raises(ProgrammingError, match="gets its end, and nothing else"):
        cursor.execute(f"UPDATE {table} SET during = {period}")


# --- Written once ---


@pytest.mark.parametrize("table", WRITTEN_ONCE)
def test_what_is_written_once_is_neither_changed_nor_taken_away(db: None, table: str) -> None:
    key = columns(table)[0]
    for statement in (f"UPDATE {table} SET {key} = {key}", f"DELETE FROM {table}", f"TRUNCATE {table}"):
        denied(statement)


@pytest.mark.parametrize("table", ["games_limitset", "games_limitdecision", "games_tablestep", "games_limitline"])
def test_what_is_written_once_stays_with_its_rows_in_place(floor: dict[str, int], table: str) -> None:
    denied(f"UPDATE {table} SET id = id WHERE id = (SELECT min(id) FROM {table})")


@pytest.mark.parametrize("table", CHANGING)
def test_only_the_columns_that_may_change_do(floor: dict[str, int], table: str) -> None:
    if table == "games_loginsession":
        now = timezone.now()
        LoginSession.objects.create(staff=Staff.objects.all()[0], started_at=now, seen_at=now)
    for column in columns(table):
        if column not in table_grants()[table].update:
            denied(f'UPDATE {table} SET "{column}" = "{column}"')
    if not table_grants()[table].delete:
        denied(f"DELETE FROM {table}")
    denied(f"TRUNCATE {table}")
    with connection.cursor() as cursor:
        for column in table_grants()[table].update:
            value = "tstzrange(lower(during), '2030-01-01')" if column == "during" else f'"{column}"'
            cursor.execute(f'UPDATE {table} SET "{column}" = {value}')
            assert cursor.rowcount > 0


def test_a_changed_rulebook_layout_or_table_is_refused_by_name(floor: dict[str, int]) -> None:
    denied("UPDATE games_tableassignment SET rulebook = 'rws-tai-sai-v6'")
    denied("UPDATE games_tableassignment SET layout = '2'")
    denied(f"UPDATE games_table SET casino_id = {floor['other']} WHERE id = {floor['table']}")
    denied(f"UPDATE games_dicefit SET table_id = {floor['second_table']}")


def denied(statement: str) -> None:
    with (
        pytest.raises(ProgrammingError, match="permission denied"),
        transaction.atomic(),
        connection.cursor() as cursor,
    ):
        cursor.execute(statement)
