"""Names of rounds are unique within a casino, and a source belongs to the keys that may use it."""

import datetime as dt
import io
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.db import DatabaseError, IntegrityError, connection, transaction

from games.floor.services.tables import table_create
from games.models import Denial, LiveRound, RecordingConflict, Round, Staff, Table, Terminal
from games.rounds.services.imports import rounds_import
from games.rounds.services.recording import RoundConflictError, round_enter, round_record
from games.terminals.services import terminal_create, terminal_revoke
from tests.conftest import OPERATOR, House
from tests.games.engine.oracle import V6
from tests.games.floor_setup import NOON, START, bare_table, put_sign
from tests.games.logins import logged_in
from tests.games.rounds.samples import EXAMPLE, example, floor, line
from tests.games.rounds.test_round_api import send

OTHER = example(table="LON-1")


@pytest.fixture
def table(house: House, clock: Any) -> Table:
    clock.move_to(NOON - dt.timedelta(hours=8))
    found = floor(house)
    clock.move_to(NOON)
    return found


@pytest.fixture
def elsewhere(house: House, table: Table) -> Table:
    """A table of the other casino, which plays the same game."""
    found = table_create(
        actor=OPERATOR, casino=house.other, pit=house.other_pit, code="LON-1", rulebook=V6, layout="C",
        chip_unit="1.00", starts_at=START, reason="New table",
    )  # fmt: skip
    put_sign(found)
    return found


def key_for(*tables: Table, name: str = "East 1", source: str = "") -> str:
    return terminal_create(actor=OPERATOR, name=name, tables=tables, source=source, reason="New")[1]


def record(document: dict[str, Any]) -> tuple[int, bool]:
    return round_record(actor=OPERATOR, line=line(document), channel="api")


# --- Within a casino ---


def test_two_casinos_use_the_same_name_for_two_rounds(table: Table, elsewhere: Table) -> None:
    first, second = record(EXAMPLE), record(OTHER)
    assert (first[1], second[1]) == (True, True)
    assert [record(EXAMPLE), record(OTHER)] == [(first[0], False), (second[0], False)]
    assert Round.objects.filter(source="floor", ref=EXAMPLE["ref"]).count() == 2
    assert not RecordingConflict.objects.exists()


def test_another_content_is_a_conflict_with_the_round_of_the_same_casino_only(table: Table, elsewhere: Table) -> None:
    record(EXAMPLE)
    record(OTHER)
    with pytest.raises(RoundConflictError):
        record(OTHER | {"dealer": "D9"})
    assert RecordingConflict.objects.get().recorded.table == elsewhere


def test_a_table_of_the_same_casino_cannot_use_the_name_again(house: House, table: Table) -> None:
    put_sign(bare_table(house, "TS-02", layout="C"))
    record(EXAMPLE)
    with pytest.raises(RoundConflictError):
        record(example(table="TS-02"))


def test_one_file_holds_rounds_of_two_casinos_with_the_same_name(table: Table, elsewhere: Table) -> None:
    content = line(EXAMPLE) + b"\n" + line(OTHER) + b"\n"
    done = rounds_import(actor=OPERATOR, stream=io.BytesIO(content), name="both")
    assert (done.rounds, done.new) == (2, 2)
    again = rounds_import(actor=OPERATOR, stream=io.BytesIO(content + b"\n"), name="both again")
    assert (again.rounds, again.new, again.repeated) == (2, 0, 2)


def test_the_database_holds_a_round_to_its_tables_casino_and_to_one_name(
    house: House, table: Table, elsewhere: Table
) -> None:
    record(EXAMPLE)
    key, _ = record(OTHER)
    for changes, name in (
        ({}, "round_once_a_casino"),
        ({"casino_id": str(house.other.pk), "ref": "'another'"}, "games_round_of_its_tables_casino"),
    ):
        with pytest.raises(IntegrityError, match=name), transaction.atomic():
            copy_row("games_round", f"id <> {key}", changes)


def copy_row(name: str, which: str, changes: dict[str, str]) -> None:
    """Insert a row of a table once more, with other values in some columns."""
    with connection.cursor() as cursor:
        columns = [one.name for one in connection.introspection.get_table_description(cursor, name)]
        taken = {column: changes.get(column, column) for column in columns if column != "id"}
        cursor.execute(
            f"INSERT INTO {name} ({', '.join(taken)}) SELECT {', '.join(taken.values())} FROM {name} WHERE {which}"
        )
        connection.check_constraints()


def test_a_report_means_the_round_of_its_own_casino(house: House, table: Table, elsewhere: Table) -> None:
    record(EXAMPLE)
    record(OTHER)
    client = logged_in(house["shift-manager"])
    report = {
        "occurred_from": "2026-11-15T19:08:00+08:00", "situation": "other", "account": "A chip fell.",
        "rounds": [EXAMPLE["ref"]],
    }  # fmt: skip
    answer = client.post("/api/v1/incidents/", report, "application/json")
    assert answer.status_code == 201, answer.json()
    assert [one["table"] for one in answer.json()["rounds"]] == ["TS-01"]


def test_a_person_of_the_group_says_in_which_casino(house: House, table: Table, elsewhere: Table) -> None:
    record(EXAMPLE)
    record(OTHER)
    Staff.objects.filter(pk=house["compliance"].pk).update(casino=None)
    client = logged_in(house["compliance"])
    report = {
        "occurred_from": "2026-11-15T19:08:00+08:00", "situation": "other", "account": "A chip fell.",
        "rounds": [EXAMPLE["ref"]],
    }  # fmt: skip
    refused = client.post("/api/v1/incidents/", report, "application/json")
    assert refused.status_code == 400
    assert "say in which casino it was" in str(refused.json()["errors"])
    answer = client.post("/api/v1/incidents/", report | {"casino": "ELSE"}, "application/json")
    assert answer.status_code == 201, answer.json()
    assert [one["table"] for one in answer.json()["rounds"]] == ["LON-1"]


def test_replay_asks_for_the_casino_where_two_have_the_name(house: House, table: Table, elsewhere: Table) -> None:
    record(EXAMPLE)
    record(OTHER)
    with pytest.raises(CommandError, match="add --casino, one of ELSE, RWS"):
        call_command("replay", EXAMPLE["ref"], stdout=io.StringIO())
    for arguments, code in ((["--casino", "ELSE"], "LON-1"), (["--as", "SHIFT-MANAGER"], "TS-01")):
        out = io.StringIO()
        call_command("replay", EXAMPLE["ref"], *arguments, stdout=out)
        assert f'"{code}"' in out.getvalue()


def test_a_round_in_play_has_its_name_within_its_casino(house: House, table: Table, elsewhere: Table) -> None:
    here, there = key_for(table), key_for(elsewhere)
    opening = {"source": "floor", "ref": "R-1"}
    assert send(here, opening | {"table": "TS-01"}, "live-rounds/")[0] == 201
    assert send(there, opening | {"table": "LON-1"}, "live-rounds/")[0] == 201
    assert LiveRound.objects.count() == 2


# --- A source belongs to keys ---


def test_a_key_without_a_source_sends_what_belongs_to_no_other_key(house: House, table: Table) -> None:
    free = key_for(table)
    assert send(free, EXAMPLE)[0] == 201
    assert Round.objects.get().terminal == Terminal.objects.get()
    key_for(table, name="East 2", source="west")
    code, body = send(free, example(ref="R-2", source="West"))
    assert (code, body["title"]) == (403, "Not open to you")
    assert "belongs to other keys of this casino" in body["detail"]
    assert send(free, EXAMPLE)[0] == 200
    assert Round.objects.count() == 1


def test_a_key_with_a_source_sends_that_one_only_and_shares_it_with_others_that_name_it(
    house: House, table: Table
) -> None:
    first, second = key_for(table, source="west"), key_for(table, name="East 2", source="west")
    assert send(first, example(source="west"))[0] == 201
    assert send(second, example(source="west", ref="R-2"))[0] == 201
    code, body = send(first, EXAMPLE)
    assert code == 403
    assert "sends rounds of the source 'west', not 'floor'" in body["detail"]
    assert Denial.objects.filter(thing="source floor", who="Terminal East 1").exists()


def test_a_source_stays_with_its_keys_when_they_are_revoked(house: House, table: Table) -> None:
    key_for(table, source="west")
    terminal_revoke(actor=OPERATOR, terminal=Terminal.objects.get(), reason="Lost")
    assert send(key_for(table, name="East 2"), example(source="west"))[0] == 403
    assert send(key_for(table, name="East 3", source="west"), example(source="west"))[0] == 201


def test_a_source_of_another_casino_is_free_here(house: House, table: Table, elsewhere: Table) -> None:
    key_for(elsewhere, source="west")
    assert send(key_for(table), example(source="west"))[0] == 201


@pytest.mark.parametrize("source", ["hand", "Hand", "practice"])
def test_no_key_sends_what_people_enter(house: House, table: Table, source: str) -> None:
    key = key_for(table)
    document = example(source=source)
    opening = {"source": source, "ref": "R-1", "table": "TS-01"}
    answers = [
        send(key, document), send(key, opening, "live-rounds/"),
        send(key, line(document), "rounds/import/", "application/x-ndjson"),
    ]  # fmt: skip
    assert [code for code, _ in answers] == [403, 403, 403]
    assert all("reserved for rounds entered by people" in body["detail"] for _, body in answers)
    assert not Round.objects.exists()
    assert not LiveRound.objects.exists()


def test_a_file_by_key_is_refused_whole_where_one_line_has_anothers_source(house: House, table: Table) -> None:
    key = key_for(table, source="west")
    body = line(example(source="west")) + b"\n" + line(example(ref="R-2")) + b"\n"
    assert send(key, body, "rounds/import/", "application/x-ndjson")[0] == 403
    assert not Round.objects.exists()


def test_people_still_enter_rounds_by_hand(house: House, table: Table) -> None:
    document = {name: value for name, value in EXAMPLE.items() if name not in ("source", "table")}
    key, is_new = round_enter(
        actor=house["pit-supervisor"], table=table, document=document, reason="The terminal is down"
    )
    assert is_new
    assert Round.objects.get(pk=key).source == "hand"


# --- Keys and their sources ---


def test_a_key_is_made_for_a_source_from_the_command_line(house: House, table: Table) -> None:
    out = io.StringIO()
    call_command("terminal_key", "create", "--name", "N", "--tables", "TS-01", stdout=out)
    assert send(out.getvalue().strip(), EXAMPLE)[0] == 201
    call_command("terminal_key", "create", "--name", "W", "--tables", "TS-01", "--source", "west", stdout=io.StringIO())
    listed = io.StringIO()
    call_command("terminal_key", "list", stdout=listed)
    assert '"source": "west"' in listed.getvalue()
    with pytest.raises(CommandError, match="This source is reserved"):
        call_command("terminal_key", "create", "--name", "H", "--tables", "TS-01", "--source", "Hand")
    assert Terminal.objects.count() == 2


def test_a_key_is_made_for_a_source_on_the_page(house: House, table: Table) -> None:
    client = logged_in(house["administrator"])
    form = {"name": "West 1", "tables": [table.pk], "source": "hand", "reason": "New"}
    refused = client.post("/admin/games/terminal/add/", form)
    assert "is reserved for rounds entered by people" in refused.content.decode()
    made = client.post("/admin/games/terminal/add/", form | {"source": "west"})
    assert made.status_code == 200
    assert Terminal.objects.get().source == "west"
    page = client.get(f"/admin/games/terminal/{Terminal.objects.get().pk}/change/").content.decode()
    assert "west" in page


def test_the_database_itself_refuses_what_a_key_may_not_send(house: House, table: Table) -> None:
    owner = key_for(table, source="west")
    free = Terminal.objects.get(pk=terminal_create(actor=OPERATOR, name="F", tables=[table], reason="New")[0].pk)
    send(owner, example(source="west"))
    owning = Terminal.objects.get(source="west")
    for key, source, name in (
        (free.pk, "west", "source_of_key"), (free.pk, "WEST", "source_of_key"), (owning.pk, "floor", "source_of_key"),
        (free.pk, "hand", "round_source_not_reserved"),
    ):  # fmt: skip
        changes = {"terminal_id": str(key), "source": f"'{source}'", "ref": "'R-9'"}
        with pytest.raises(DatabaseError, match=name), transaction.atomic():
            copy_row("games_round", "true", changes)
    with pytest.raises(IntegrityError, match="terminal_source_not_reserved"), transaction.atomic():
        copy_row("games_terminal", f"id = {free.pk}", {"source": "'HAND'", "name": "'x'", "key_hash": f"'{'a' * 64}'"})
    with pytest.raises(DatabaseError, match="permission denied"), transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("UPDATE games_terminal SET source = 'floor'")
