"""Terminals: keys that send the rounds of their own tables, and open nothing else."""

import hashlib
import io
import json
import re
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from django.core.exceptions import PermissionDenied, ValidationError
from django.core.management import CommandError, call_command
from django.db import DatabaseError, connection, connections, transaction
from django.http import HttpRequest, HttpResponse
from django.test import Client, RequestFactory
from rest_framework.request import Request
from rest_framework.response import Response
from structlog.testing import capture_logs

from games.access.gate import actor_name, authorize, can, capacities, entry_point, visible, within_reach
from games.api.views import GatedView
from games.floor.services.tables import table_create
from games.models import Casino, Denial, DiceFit, Pit, Table, TableAssignment, Terminal, TerminalTable, TerminalUse
from games.terminals.services import (
    TooManyCallsError,
    call_count,
    terminal_bind,
    terminal_create,
    terminal_of,
    terminal_revoke,
)
from tests.conftest import OPERATOR, House, build_house
from tests.games.engine.oracle import V6
from tests.games.floor_setup import MINUTE, NOON, SECOND, START, bare_table, ready_table
from tests.games.logins import logged_in
from tests.games.rules.test_commands import manage

MAKERS = ("administrator",)
VIEWERS = ("shift-manager", "casino-manager", "surveillance", "compliance", "auditor", "administrator")


def make(house: House, *tables: Table, name: str = "East 1", actor: Any = OPERATOR) -> tuple[Terminal, str]:
    return terminal_create(actor=actor, name=name, tables=tables, reason="New terminal")


def elsewhere(house: House, code: str = "LON-1") -> Table:
    """A table of the other casino."""
    return table_create(
        actor=OPERATOR, casino=house.other, pit=house.other_pit, code=code, rulebook=V6, layout="A", chip_unit="1.00",
        starts_at=START, reason="New table",
    )  # fmt: skip


def now(terminal: Terminal) -> Terminal:
    return Terminal.objects.get(pk=terminal.pk)


def bound(terminal: Terminal) -> set[str]:
    return {table.code for table in terminal.tables.all()}


@pytest.fixture
def tables(house: House) -> list[Table]:
    return [bare_table(house, "TS-01"), bare_table(house, "TS-02"), bare_table(house, "TS-03", pit="P2")]


# --- Keys ---


def test_a_key_is_256_random_bits_and_told_once(house: House, tables: list[Table]) -> None:
    terminal, key = make(house, *tables[:2])
    assert re.fullmatch(r"tsk_[A-Za-z0-9_-]{43}", key)
    assert (terminal.casino, terminal.name, bound(terminal)) == (house.casino, "East 1", {"TS-01", "TS-02"})
    assert key.startswith(terminal.key_hint)
    assert len(terminal.key_hint) == len("tsk_") + 6
    assert make(house, tables[0], name="East 2")[1] != key


def test_only_the_hash_of_a_key_is_in_the_database(house: House, tables: list[Table]) -> None:
    terminal, key = make(house, tables[0])
    assert now(terminal).key_hash == hashlib.sha256(key.encode()).hexdigest()
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT c.relname FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace "
            "WHERE n.nspname = 'public' AND c.relkind = 'r'"
        )
        names = [name for (name,) in cursor.fetchall()]
        rows = []
        for name in names:
            cursor.execute(f'SELECT row_to_json(t)::text FROM "{name}" t')
            rows += [text for (text,) in cursor.fetchall()]
    secret = key[len(terminal.key_hint) :]
    assert any(terminal.key_hint in row for row in rows)
    assert not [row for row in rows if secret in row]


def test_history_keeps_no_hash_of_a_key() -> None:
    fields = {field.name for field in Terminal.history.model._meta.get_fields()}
    assert not {"key_hash", "last_used_at"} & fields


def test_a_key_is_known_while_it_is_good(house: House, tables: list[Table]) -> None:
    terminal, key = make(house, tables[0])
    assert terminal_of(key) == terminal
    assert [terminal_of(other) for other in ("", "tsk_", key[:-1], key + "A", key.upper(), "é" * 47, key + "\n")] == (
        [None] * 7
    )
    terminal_revoke(actor=OPERATOR, terminal=terminal, reason="Lost")
    assert terminal_of(key) is None


def test_a_name_is_used_once_a_casino_however_it_is_written(house: House, tables: list[Table]) -> None:
    terminal, _ = make(house, tables[0])
    terminal_revoke(actor=OPERATOR, terminal=terminal, reason="Lost")
    with pytest.raises(ValidationError, match="name of its own"):
        make(house, tables[0], name="EAST 1")
    make(house, elsewhere(house), name="East 1")


@pytest.mark.parametrize("name", ["", " ", " East", "East\n1", "x" * 61, "East\x00"])
def test_a_name_is_plain(house: House, tables: list[Table], name: str) -> None:
    with pytest.raises(ValidationError):
        make(house, tables[0], name=name)


def test_tables_are_at_least_one_and_of_one_casino(house: House, tables: list[Table]) -> None:
    with pytest.raises(ValidationError, match="at least one"):
        make(house)
    with pytest.raises(ValidationError, match="one casino"):
        make(house, tables[0], elsewhere(house))
    terminal, _ = make(house, tables[0])
    with pytest.raises(ValidationError, match="choose tables of this casino"):
        terminal_bind(actor=OPERATOR, terminal=terminal, tables=[elsewhere(house, "LON-2")], reason="Moved")
    with pytest.raises(ValidationError, match="at least one"):
        terminal_bind(actor=OPERATOR, terminal=terminal, tables=[], reason="Moved")
    assert Terminal.objects.count() == 1


@pytest.mark.parametrize("reason", ["", "  "])
def test_each_step_asks_why(house: House, tables: list[Table], reason: str) -> None:
    terminal, _ = make(house, tables[0])
    steps: list[Callable[[], Any]] = [
        lambda: terminal_create(actor=OPERATOR, name="East 2", tables=tables, reason=reason),
        lambda: terminal_bind(actor=OPERATOR, terminal=terminal, tables=tables, reason=reason),
        lambda: terminal_revoke(actor=OPERATOR, terminal=terminal, reason=reason),
    ]
    for step in steps:
        with pytest.raises(ValidationError, match="Enter a reason"):
            step()
    assert (Terminal.objects.count(), bound(terminal), now(terminal).is_active) == (1, {"TS-01"}, True)


def test_history_tells_the_tables_old_and_new_and_why(house: House, tables: list[Table]) -> None:
    terminal, _ = make(house, *tables[:2], actor=house["administrator"])
    assert terminal_bind(actor=house["administrator"], terminal=terminal, tables=tables[1:], reason="The pit was moved")
    assert bound(terminal) == {"TS-02", "TS-03"}
    changed, made = terminal.history.all()
    assert (made.history_type, made.table_codes) == ("+", "TS-01, TS-02")
    assert [(change.field, change.old, change.new) for change in changed.diff_against(made).changes] == [
        ("table_codes", "TS-01, TS-02", "TS-02, TS-03")
    ]
    client = logged_in(house["auditor"])
    page = client.get(f"/admin/games/terminal/{terminal.pk}/history/").content.decode()
    for words in (
        "TS-01, TS-02",
        "TS-02, TS-03",
        "The pit was moved",
        "ADMINISTRATOR Person ADMINISTRATOR, administrator",
    ):
        assert words in page


def test_the_same_tables_again_write_nothing(house: House, tables: list[Table]) -> None:
    terminal, _ = make(house, *tables[:2])
    again = [tables[1], tables[0], tables[0]]
    assert not terminal_bind(actor=OPERATOR, terminal=terminal, tables=again, reason="Again")
    assert terminal.history.count() == 1


def test_revoking_a_second_time_changes_nothing(house: House, tables: list[Table]) -> None:
    terminal, _ = make(house, tables[0])
    assert terminal_revoke(actor=OPERATOR, terminal=terminal, reason="Lost")
    first = now(terminal).revoked_at
    assert not terminal_revoke(actor=OPERATOR, terminal=terminal, reason="Lost again")
    assert (now(terminal).revoked_at, terminal.history.count()) == (first, 2)
    with pytest.raises(ValidationError, match="is revoked"):
        terminal_bind(actor=OPERATOR, terminal=terminal, tables=tables, reason="Found")


# --- Who may ---


def test_only_administrators_make_bind_and_revoke_keys(house: House, tables: list[Table]) -> None:
    terminal, _ = make(house, tables[0])
    for role in house.people:
        actor = house[role]
        may = role in MAKERS
        assert {
            action: can(actor, action, terminal) for action in ("terminal.add", "terminal.change", "terminal.revoke")
        } == (dict.fromkeys(("terminal.add", "terminal.change", "terminal.revoke"), may))
        assert list(visible(actor, Terminal.objects.all())) == ([terminal] if role in VIEWERS else [])
    with pytest.raises(PermissionDenied):
        make(house, tables[0], name="Mine", actor=house["casino-manager"])
    with pytest.raises(PermissionDenied):
        terminal_bind(actor=house["auditor"], terminal=terminal, tables=tables, reason="Mine")
    with pytest.raises(PermissionDenied):
        terminal_revoke(actor=house["shift-manager"], terminal=terminal, reason="Mine")
    assert Denial.objects.filter(action__startswith="terminal.", casino=house.casino).count() == 3


def test_an_administrator_reaches_the_terminals_of_his_own_casino_only(house: House, tables: list[Table]) -> None:
    administrator = house["administrator"]
    table = elsewhere(house)
    foreign, _ = make(house, table, name="London 1")
    assert set(within_reach(administrator, "terminal.add", Table.objects.all())) == set(tables)
    assert not visible(administrator, Terminal.objects.all())
    for step in (
        lambda: make(house, table, name="London 2", actor=administrator),
        lambda: terminal_bind(actor=administrator, terminal=foreign, tables=[table], reason="Mine"),
        lambda: terminal_revoke(actor=administrator, terminal=foreign, reason="Mine"),
    ):
        with pytest.raises(PermissionDenied):
            step()
    assert now(foreign).is_active


# --- What a terminal may ---


def test_a_terminal_records_rounds_of_its_own_tables_and_does_nothing_else(house: House, tables: list[Table]) -> None:
    terminal, _ = make(house, tables[0])
    assert [str(capacity) for capacity in capacities(terminal)] == ["terminal"]
    assert can(terminal, "round.record")
    assert can(terminal, "round.record", tables[0])
    assert not can(terminal, "round.record", tables[1])
    assert not can(terminal, "table.view", tables[0])
    assert not can(terminal, "terminal.view", terminal)


def test_what_lies_at_a_table_is_covered_with_it_and_what_lies_at_none_is_not(house: House) -> None:
    own, other = ready_table(house, "TS-01"), ready_table(house, "TS-02")
    terminal, _ = make(house, own)
    assert can(terminal, "round.record", own.dice_fits.get())
    assert can(terminal, "round.record", TableAssignment(table=own))
    assert not can(terminal, "round.record", other.dice_fits.get())
    for thing in (house.casino, house.pits["P1"], terminal, house["dealer"], Denial()):
        assert not can(terminal, "round.record", thing)


def test_lists_show_a_terminal_the_same(house: House) -> None:
    own, other = ready_table(house, "TS-01"), ready_table(house, "TS-02")
    terminal, _ = make(house, own)

    def seen(queryset: Any) -> list[Any]:
        return list(within_reach(terminal, "round.record", queryset))

    assert seen(Table.objects.all()) == [own]
    assert seen(DiceFit.objects.all()) == [own.dice_fits.get()]
    assert [seen(model._default_manager.all()) for model in (Casino, Pit, Terminal, Denial)] == [[], [], [], []]
    assert other not in visible(terminal, Table.objects.all())


def test_bound_to_other_tables_it_reaches_these(house: House, tables: list[Table]) -> None:
    terminal, _ = make(house, tables[0])
    terminal_bind(actor=OPERATOR, terminal=terminal, tables=[tables[1]], reason="Moved")
    assert not can(terminal, "round.record", tables[0])
    assert can(terminal, "round.record", tables[1])


def test_a_revoked_terminal_is_nothing_even_where_it_was_read_before(house: House, tables: list[Table]) -> None:
    terminal, _ = make(house, tables[0])
    terminal_revoke(actor=OPERATOR, terminal=Terminal.objects.get(pk=terminal.pk), reason="Lost")
    assert terminal.is_active  # this object does not know it yet
    assert capacities(terminal) == []
    with pytest.raises(PermissionDenied):
        authorize(terminal, "round.record", tables[0])


def test_a_terminal_turned_away_is_on_record_by_its_name_and_as_no_person(house: House, tables: list[Table]) -> None:
    terminal, _ = make(house, tables[0])
    token = entry_point.set("POST /api/v1/rounds/")
    try:
        with pytest.raises(PermissionDenied, match="Terminal East 1 may not do this"), transaction.atomic():
            authorize(terminal, "round.record", tables[1])
    finally:
        entry_point.reset(token)
    denial = Denial.objects.get(who="Terminal East 1", casino=house.casino)
    assert denial.staff_id is None
    assert (denial.action, denial.thing, denial.door) == ("round.record", "table TS-02", "POST /api/v1/rounds/")
    assert actor_name(terminal) == "Terminal East 1"


# --- The database holds it too ---


def run(statement: str) -> None:
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(statement)
        cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")


@pytest.mark.parametrize(
    ("statement", "refusal"),
    [
        ("UPDATE games_terminal SET key_hash = repeat('0', 64)", "permission denied"),
        ("UPDATE games_terminal SET key_hint = 'tsk_000000'", "permission denied"),
        ("UPDATE games_terminal SET name = 'Other'", "permission denied"),
        ("UPDATE games_terminal SET casino_id = casino_id", "permission denied"),
        ("DELETE FROM games_terminal", "permission denied"),
        ("UPDATE games_terminal SET revoked_at = NULL", "revoked for good"),
        ("UPDATE games_terminal SET revoked_at = now() + interval '1 day'", "revoked for good"),
        ("INSERT INTO games_terminal (casino_id, name, table_codes, key_hash, key_hint) "
         "SELECT casino_id, 'Other', table_codes, 'tsk_not-a-hash', key_hint FROM games_terminal",
         "terminal_key_is_a_hash"),
        ("INSERT INTO games_terminal (casino_id, name, table_codes, key_hash, key_hint) "
         "SELECT casino_id, upper(name), table_codes, repeat('0', 64), key_hint FROM games_terminal",
         "terminal_name_once_a_casino"),
        ("INSERT INTO games_terminal (casino_id, name, table_codes, key_hash, key_hint) "
         "SELECT casino_id, '', table_codes, repeat('0', 64), key_hint FROM games_terminal", "terminal_has_a_name"),
        ("INSERT INTO games_terminal (casino_id, name, table_codes, key_hash, key_hint) "
         "SELECT casino_id, 'Other', table_codes, key_hash, key_hint FROM games_terminal", "key_hash"),
        ("INSERT INTO games_terminaltable (terminal_id, table_id, casino_id) "
         "SELECT terminal_id, (SELECT id FROM games_table WHERE code = 'LON-1'), casino_id FROM games_terminaltable",
         "terminal_table_of_same_casino"),
        ("INSERT INTO games_terminaltable (terminal_id, table_id, casino_id) SELECT terminal_id, t.id, t.casino_id "
         "FROM games_terminaltable, games_table t WHERE t.code = 'LON-1'", "terminal_terminal_of_same_casino"),
        ("INSERT INTO games_terminaltable (terminal_id, table_id, casino_id) "
         "SELECT terminal_id, table_id, casino_id FROM games_terminaltable", "terminal_bound_once_to_a_table"),
    ],
)  # fmt: skip
def test_plain_sql_breaks_no_rule_of_theirs(house: House, tables: list[Table], statement: str, refusal: str) -> None:
    elsewhere(house)
    terminal, _ = make(house, tables[0])
    terminal_revoke(actor=OPERATOR, terminal=terminal, reason="Lost")
    with pytest.raises(DatabaseError, match=refusal):
        run(statement)


# --- Calls ---


class Echo(GatedView):
    """Stands in for the rounds: says who called."""

    terminals_may = True

    def post(self, request: Request) -> Response:
        sent: Any = request.data
        table = Table.objects.get(code=sent["table"])
        authorize(self.caller, "round.record", table)
        return Response({"caller": actor_name(self.caller)})


class Closed(GatedView):
    def post(self, request: Request) -> Response:
        return Response({"actor": str(self.actor)})


def call(
    view: type[GatedView], table: str = "TS-01", user: Any = None, **headers: str
) -> tuple[int, Any, HttpResponse]:
    """A POST as it comes in: no CSRF token, checks on."""
    from django.contrib.auth.models import AnonymousUser

    request: HttpRequest = RequestFactory(enforce_csrf_checks=True, headers=headers).post(
        "/api/v1/rounds/", json.dumps({"table": table}), content_type="application/json"
    )
    request.user = user or AnonymousUser()
    answer = view.as_view()(request)
    answer.render()
    return answer.status_code, json.loads(answer.content), answer


def bearer(key: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {key}"}


def test_a_terminal_comes_in_with_its_key_and_needs_no_csrf_token(house: House, tables: list[Table]) -> None:
    _, key = make(house, tables[0])
    assert call(Echo, **bearer(key))[:2] == (200, {"caller": "Terminal East 1"})
    assert call(Echo, Authorization=f"bearer  {key}")[0] == 200
    assert call(Echo, table="TS-02", **bearer(key))[0] == 403


@pytest.mark.parametrize(
    "header", ["Bearer", "Bearer ", "Bearer x", "Bearer {key} more", "Bearer {key}x", "Bearer tsk_é", "BEARER {other}"]
)
def test_a_key_that_is_none_is_401_and_says_how_to_come_in(house: House, tables: list[Table], header: str) -> None:
    _, key = make(house, tables[0])
    code, body, answer = call(Echo, Authorization=header.format(key=key, other="tsk_" + "A" * 43))
    assert (code, answer.headers["WWW-Authenticate"]) == (401, "Bearer")
    assert answer.headers["Content-Type"] == "application/problem+json"
    assert body == {
        "type": "about:blank", "title": "Unauthorized", "status": 401,
        "detail": "This key is unknown or revoked; ask for a new one.",
    }  # fmt: skip
    assert not TerminalUse.objects.exists()


def test_a_revoked_key_is_401_like_one_that_never_was(house: House, tables: list[Table]) -> None:
    terminal, key = make(house, tables[0])
    terminal_revoke(actor=OPERATOR, terminal=terminal, reason="Lost")
    assert call(Echo, **bearer(key))[:2] == call(Echo, **bearer("tsk_" + "A" * 43))[:2]
    assert call(Echo, **bearer(key))[0] == 401


def test_another_scheme_or_none_is_asked_for_a_session(house: House, tables: list[Table]) -> None:
    for headers in ({}, {"Authorization": "Basic eDp5"}):
        code, _, answer = call(Echo, **headers)
        assert (code, answer.headers["WWW-Authenticate"]) == (401, "Session")


def test_a_view_lets_terminals_in_only_where_it_says_so(house: House, tables: list[Table]) -> None:
    _, key = make(house, tables[0])
    code, body, _ = call(Closed, **bearer(key))
    assert (code, body["title"]) == (403, "Not open to you")
    denial = Denial.objects.get(action="api.open", who="Terminal East 1", casino=house.casino)
    assert (denial.staff_id, denial.thing) == (None, "/api/v1/rounds/")


def test_no_route_of_today_lets_a_terminal_in(house: House, tables: list[Table]) -> None:
    _, key = make(house, tables[0])
    for path in ("tables/", "tables/TS-01/", "limit-proposals/", "dice-sets/"):
        answer = Client().get(f"/api/v1/{path}", headers=bearer(key))
        assert (path, answer.status_code) == (path, 403)
    assert Client().get("/admin/", headers=bearer(key)).status_code == 302


def test_people_still_come_with_their_session_and_a_csrf_token(house: House, tables: list[Table]) -> None:
    client = logged_in(house["auditor"])
    assert client.get("/api/v1/tables/").status_code == 200
    code, body, _ = call(Echo, user=house["auditor"])
    assert (code, "CSRF" in body["detail"]) == (403, True)


def test_a_key_counts_before_a_session(house: House, tables: list[Table]) -> None:
    _, key = make(house, tables[0])
    assert call(Echo, user=house["auditor"], **bearer(key))[:2] == (200, {"caller": "Terminal East 1"})
    assert call(Echo, user=house["auditor"], **bearer("tsk_wrong"))[0] == 401


def test_the_log_names_the_terminal_and_tells_neither_its_key_nor_a_number_as_of_a_person(
    house: House, tables: list[Table], caplog: pytest.LogCaptureFixture
) -> None:
    _, key = make(house, tables[0])
    with caplog.at_level("INFO"):
        Client().get("/api/v1/tables/", headers=bearer(key))
    lines = [record.msg for record in caplog.records if isinstance(record.msg, dict)]
    finished = next(line for line in lines if line["event"] == "request_finished")
    assert (finished["terminal"], finished["user_id"]) == ("East 1", None)
    assert key not in caplog.text


# --- How often ---


def test_the_last_use_is_noted_once_a_minute_and_leaves_no_history(
    house: House, tables: list[Table], clock: Any
) -> None:
    terminal, key = make(house, tables[0])
    assert now(terminal).last_used_at is None
    for passed, noted in [(0 * SECOND, NOON), (59 * SECOND, NOON), (MINUTE, NOON + MINUTE)]:
        clock.move_to(NOON + passed)
        assert call(Echo, **bearer(key))[0] == 200
        assert now(terminal).last_used_at == noted
    assert terminal.history.count() == 1


def test_minutes_that_have_passed_are_not_kept(house: House, tables: list[Table], clock: Any) -> None:
    terminal, key = make(house, tables[0])
    other, _ = make(house, tables[1], name="East 2")
    call_count(other)
    for _ in range(3):
        clock.shift(MINUTE)
        call(Echo, **bearer(key))
        call(Echo, **bearer(key))
    assert [
        (terminal_use.minute, terminal_use.count) for terminal_use in TerminalUse.objects.filter(terminal=terminal)
    ] == [(NOON + 3 * MINUTE, 2)]
    assert TerminalUse.objects.get(terminal=other).count == 1


def test_too_many_calls_in_a_minute_are_429_until_the_next(
    house: House, tables: list[Table], clock: Any, settings: Any
) -> None:
    settings.TERMINAL_CALLS_A_MINUTE = 2
    terminal, key = make(house, tables[0])
    clock.move_to(NOON + 48 * SECOND)
    assert [call(Echo, **bearer(key))[0] for _ in range(2)] == [200, 200]
    code, body, answer = call(Echo, **bearer(key))
    assert (code, answer.headers["Retry-After"]) == (429, "12")
    assert answer.headers["Content-Type"] == "application/problem+json"
    assert body == {
        "type": "about:blank", "title": "Too Many Requests", "status": 429,
        "detail": "More than 2 calls in this minute. Expected available in 12 seconds.",
    }  # fmt: skip
    other = make(house, tables[0], name="East 2")[1]
    assert call(Echo, **bearer(other))[0] == 200  # each has its own
    clock.shift(12 * SECOND)
    assert call(Echo, **bearer(key))[0] == 200
    assert TerminalUse.objects.get(terminal=terminal).count == 1


def test_calls_at_once_count_each_and_no_more_come_in_than_may(clone: str, clock: Any, settings: Any) -> None:
    threads, each, may = 8, 25, 150
    settings.TERMINAL_CALLS_A_MINUTE = may
    house = build_house()
    terminal, _ = make(house, bare_table(house))

    def calls(_: int) -> list[bool]:
        def came_in() -> bool:
            try:
                call_count(terminal)
            except TooManyCallsError:
                return False
            return True

        try:
            return [came_in() for _ in range(each)]
        finally:
            connections.close_all()

    with ThreadPoolExecutor(threads) as pool:
        answers = [answer for part in pool.map(calls, range(threads)) for answer in part]
    assert TerminalUse.objects.get(terminal=terminal).count == threads * each
    assert (answers.count(True), answers.count(False)) == (may, threads * each - may)


def test_one_name_made_twice_at_once_is_one_terminal(clone: str) -> None:
    house = build_house()
    table = bare_table(house)

    def one(_: int) -> str:
        try:
            return make(house, table)[1]
        except ValidationError as error:
            return " ".join(error.messages)
        finally:
            connections.close_all()

    with ThreadPoolExecutor(6) as pool:
        answers = list(pool.map(one, range(6)))
    assert len([answer for answer in answers if answer.startswith("tsk_")]) == 1
    assert len([answer for answer in answers if "name of its own" in answer]) == 5
    assert TerminalTable.objects.count() == 1


# --- From the command line ---


def command(*arguments: str) -> str:
    out = io.StringIO()
    call_command("terminal_key", *arguments, stdout=out)
    return out.getvalue()


def test_create_prints_the_key_and_nothing_else_and_list_never_does(
    house: House, tables: list[Table], clock: Any
) -> None:
    printed = command("create", "--name=East 1", "--tables=TS-01, ts-02,")
    key = printed.strip()
    assert printed == f"{key}\n"
    terminal = terminal_of(key)
    assert terminal is not None
    assert bound(terminal) == {"TS-01", "TS-02"}
    made = terminal.history.get()
    assert (made.history_author, made.history_change_reason) == (
        "Operator of the machine",
        "Created on the command line",
    )
    call_count(terminal)
    listed = command("list")
    assert json.loads(listed) == [
        {
            "name": "East 1", "casino": "RWS", "tables": ["TS-01", "TS-02"], "source": None, "key_hint": key[:10],
            "revoked_at": None,
            "last_used_at": "2026-11-15T20:00:00+08:00",
        }
    ]  # fmt: skip
    assert key not in listed


def test_bind_and_revoke_by_name(house: House, tables: list[Table]) -> None:
    key = command("create", "--name=East 1", "--tables=TS-01").strip()
    assert command("bind", "east 1", "--tables=TS-02", "--reason=Moved") == "East 1 has other tables.\n"
    assert command("revoke", "EAST 1", "--reason=Lost", "--as=administrator") == "East 1 is revoked.\n"
    assert command("--as=administrator", "revoke", "EAST 1", "--reason=Lost") == "East 1 was already revoked.\n"
    assert terminal_of(key) is None
    assert json.loads(command("list", "--as=auditor"))[0]["tables"] == ["TS-02"]


def test_a_name_of_several_casinos_asks_for_the_casino(house: House, tables: list[Table]) -> None:
    here, _ = make(house, tables[0])
    there, _ = make(house, elsewhere(house))
    with pytest.raises(CommandError, match="several casinos have a terminal East 1; choose one with --casino"):
        command("revoke", "East 1", "--reason=Lost")
    command("revoke", "East 1", "--reason=Lost", "--as=administrator")
    assert (now(here).is_active, now(there).is_active) == (False, True)
    with pytest.raises(CommandError, match="may not do this"):
        command("revoke", "East 1", "--casino=ELSE", "--reason=Lost", "--as=administrator")
    command("revoke", "East 1", "--casino=ELSE", "--reason=Lost")
    assert not now(there).is_active


@pytest.mark.parametrize(
    ("arguments", "fault"),
    [
        (["create", "--name=N", "--tables=TS-01,TS-98,TS-99"],
         "--tables: there is no table TS-98; check the code.\n--tables: there is no table TS-99; check the code."),
        (["create", "--name=N", "--tables=,"], "tables: Choose at least one table."),
        (["create", "--name= ", "--tables=TS-01"], "name: This field cannot be blank."),
        (["create", "--name=N", "--tables=TS-01", "--reason="], "reason: Enter a reason. It is kept in the history."),
        (["revoke", "Nobody", "--reason=x"], "NAME: there is no terminal Nobody; see `terminal_key list`."),
        (["revoke", "Nobody", "--casino=MOON", "--reason=x"], "--casino: there is no casino MOON; check the code."),
    ],
)  # fmt: skip
def test_a_fault_is_a_sentence(house: House, tables: list[Table], arguments: list[str], fault: str) -> None:
    with pytest.raises(CommandError) as refusal:
        command(*arguments)
    assert str(refusal.value) == fault
    assert not Terminal.objects.exists()


def test_who_may_not_make_keys_is_turned_away_on_record(house: House, tables: list[Table]) -> None:
    with pytest.raises(CommandError, match="may not do this"):
        command("create", "--name=Mine", "--tables=TS-01", "--as=PIT-MANAGER")
    with pytest.raises(CommandError, match="may not do this"):
        command("list", "--as=PIT-MANAGER")
    assert {denial.door for denial in Denial.objects.filter(staff_id=house["pit-manager"].pk)} == {
        "command terminal_key"
    }


def test_from_a_shell_the_key_stands_alone_on_standard_output(clone: str) -> None:
    bare_table(build_house())
    made = manage("terminal_key", "create", "--name", "East 1", "--tables", "TS-01", database=clone)
    assert (made.returncode, made.stderr) == (0, "")
    assert terminal_of(made.stdout.removesuffix("\n")) is not None
    refused = manage("terminal_key", "create", "--name", "East 1", "--tables", "TS-01", database=clone)
    assert (refused.returncode, refused.stdout) == (1, "")
    assert refused.stderr == "There is, or was, a terminal of this name; every key has a name of its own.\n"


# --- In the admin ---


@pytest.fixture
def browser(house: House) -> Client:
    return logged_in(house["administrator"])


def test_a_new_key_is_shown_once_in_the_answer_and_nowhere_else(
    house: House, tables: list[Table], browser: Client, caplog: pytest.LogCaptureFixture
) -> None:
    values = {"name": "East 1", "tables": [tables[0].pk, tables[1].pk], "reason": "New terminal"}
    with caplog.at_level("DEBUG"), capture_logs() as logged:
        answer = browser.post("/admin/games/terminal/add/", values)
    page = answer.content.decode()
    (key,) = re.findall(r"tsk_[A-Za-z0-9_-]{43}", page)
    terminal = Terminal.objects.get()
    assert answer.status_code == 200
    assert terminal_of(key) == terminal
    assert bound(terminal) == {"TS-01", "TS-02"}
    assert "no-store" in answer.headers["Cache-Control"]
    secret = key[10:]
    assert secret not in str(answer.cookies) + str(dict(browser.session)) + caplog.text + str(logged)
    for path in ("", f"{terminal.pk}/change/", f"{terminal.pk}/history/", "add/", f"{terminal.pk}/bind/"):
        assert secret not in browser.get(f"/admin/games/terminal/{path}").content.decode()
    listed = browser.get("/admin/games/terminal/").content.decode()
    for words in ("East 1", "TS-01, TS-02", f"{terminal.key_hint}…", "in use"):
        assert words in listed
    assert terminal.key_hash not in listed


@pytest.mark.parametrize(
    ("changes", "fault"),
    [
        ({"name": "east 1"}, "every key has a name of its own"),
        ({"tables": []}, "This field is required"),
        ({"tables": ["nonsense"]}, "is not a valid value"),
        ({"tables": ["\x00"]}, "Null characters are not allowed"),
        ({"tables": ["9" * 30]}, "is not one of the available choices"),
        ({"tables": ["9" * 5000]}, "is not a valid value"),
        ({"reason": ""}, "This field is required"),
        ({"name": "East\u200b1"}, "Use a plain name"),
    ],
)
def test_what_cannot_be_stands_on_the_form(
    house: House, tables: list[Table], browser: Client, changes: dict[str, Any], fault: str
) -> None:
    make(house, tables[0])
    values = {"name": "East 2", "tables": [tables[0].pk], "reason": "New terminal"} | changes
    answer = browser.post("/admin/games/terminal/add/", values)
    assert fault in answer.content.decode()
    assert Terminal.objects.count() == 1


def test_tables_of_another_casino_cannot_be_chosen(house: House, tables: list[Table], browser: Client) -> None:
    table = elsewhere(house)
    values = {"name": "East 2", "tables": [table.pk], "reason": "New terminal"}
    assert "LON-1" not in browser.get("/admin/games/terminal/add/").content.decode()
    assert "is not one of the available choices" in browser.post("/admin/games/terminal/add/", values).content.decode()
    terminal, _ = make(house, tables[0])
    answer = browser.post(f"/admin/games/terminal/{terminal.pk}/bind/", values)
    assert "is not one of the available choices" in answer.content.decode()
    assert bound(terminal) == {"TS-01"}


def test_bind_and_revoke_from_the_page(house: House, tables: list[Table], browser: Client) -> None:
    terminal, _ = make(house, tables[0])
    page = f"/admin/games/terminal/{terminal.pk}"
    shown = browser.get(f"{page}/change/").content.decode()
    assert f"{page}/bind/" in shown
    assert f"{page}/revoke/" in shown
    asked = browser.get(f"{page}/bind/").content.decode()
    assert re.search(rf'value="{tables[0].pk}"[^>]* checked[\s>]', asked)
    assert not re.search(rf'value="{tables[1].pk}"[^>]* checked[\s>]', asked)
    values = {"tables": [tables[1].pk, tables[2].pk], "reason": "Moved"}
    assert browser.post(f"{page}/bind/", values).status_code == 302
    assert bound(terminal) == {"TS-02", "TS-03"}
    assert browser.post(f"{page}/revoke/", {"reason": "Lost"}).status_code == 302
    assert not now(terminal).is_active
    assert [version.history_change_reason for version in terminal.history.all()] == ["Lost", "Moved", "New terminal"]
    assert f"{page}/revoke/" not in browser.get(f"{page}/change/").content.decode()
    assert "revoked" in browser.get("/admin/games/terminal/").content.decode()


def test_no_filter_in_the_address_tells_the_hash_of_a_key(house: House, tables: list[Table], browser: Client) -> None:
    terminal, _ = make(house, tables[0])
    for lookup in ("key_hash", "key_hash__startswith"):
        answer = browser.get("/admin/games/terminal/", {lookup: terminal.key_hash[:3]})
        assert (lookup, answer.status_code) in [(lookup, 302), (lookup, 400)]
    assert browser.get("/admin/games/table/", {"terminals__key_hash__startswith": "a"}).status_code in (302, 400, 403)
