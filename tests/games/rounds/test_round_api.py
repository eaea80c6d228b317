"""Rounds by API: a terminal sends what its tables played, once and whole; people read."""

import datetime as dt
import gzip
import json
from typing import Any

import pytest
from django.test import Client

from games.models import Denial, Outbox, RecordingConflict, Round, Table
from games.terminals.services import terminal_create, terminal_revoke
from tests.conftest import OPERATOR, House, build_house
from tests.games.floor_setup import NOON, ready_table
from tests.games.logins import logged_in
from tests.games.rounds.samples import EXAMPLE, bet, current, example, floor, line
from tests.threads import at_once


@pytest.fixture
def table(house: House, clock: Any) -> Table:
    clock.move_to(NOON - dt.timedelta(hours=8))
    found = floor(house)
    clock.move_to(NOON)
    return found


@pytest.fixture
def key(table: Table) -> str:
    return terminal_create(actor=OPERATOR, name="Floor", tables=[table], reason="New")[1]


def send(key: str, body: Any, path: str = "rounds/", kind: str = "application/json", **headers: str) -> tuple[int, Any]:
    content = body if isinstance(body, bytes) else line(body)
    answer = Client(headers={"Authorization": f"Bearer {key}", **headers}).post(f"/api/v1/{path}", content, kind)
    return answer.status_code, answer.json()


def test_a_round_is_new_then_repeated_and_both_answers_are_equal(table: Table, key: str) -> None:
    first = send(key, EXAMPLE)
    again = send(key, example(bets=EXAMPLE["bets"][::-1]))
    assert (first[0], again[0]) == (201, 200)
    assert first[1] == again[1]
    assert first[1]["bets"] == [
        {"player": "seat-3", "box": "small", "stake": "100.00", "net": "100.00"},
        {"player": "seat-4", "box": "big", "stake": "50.00", "net": "-50.00"},
    ]
    assert (first[1]["status"], first[1]["recorded_by"]) == ("settled", "Terminal Floor")


def test_another_content_under_the_same_name_is_a_conflict(table: Table, key: str) -> None:
    send(key, EXAMPLE)
    code, body = send(key, example(dealer="D9"))
    assert (code, body["title"]) == (409, "Conflict")
    assert RecordingConflict.objects.get().who == "Terminal Floor"
    assert Round.objects.get().dealer == "D102"


def test_a_faulty_round_is_told_with_its_fields(table: Table, key: str) -> None:
    code, body = send(key, example(bets=[bet(net="x"), bet("seat-2", stake="0", net="0")]))
    assert code == 400
    assert [error["field"] for error in body["errors"]] == ["bets[0].net", "bets[1].stake"]
    assert not Round.objects.exists()


@pytest.mark.parametrize(
    "body", [b"", b"{", b"null", b"\xff", "\ufeff{}".encode(), b'{"a": 1, "a": 2}', b"[" * 100_000]
)
def test_a_body_that_is_no_round_is_told(table: Table, key: str, body: bytes) -> None:
    assert send(key, body)[0] == 400


def test_a_body_that_is_too_large_is_told(table: Table, key: str) -> None:
    assert send(key, b" " * (1024 * 1024 + 1))[0] == 413


def test_the_key_of_one_table_cannot_write_another(house: House, table: Table, key: str) -> None:
    ready_table(house, "TS-02", layout="C")
    code, body = send(key, example(table="TS-02"))
    assert (code, body["title"]) == (403, "Not open to you")
    code, _ = send(key, line(EXAMPLE) + b"\n" + line(example(ref="x", table="TS-02")), "rounds/import/")
    assert code == 403
    assert not Round.objects.exists()
    assert Denial.objects.filter(action="round.record", who="Terminal Floor").count() == 2


def test_a_revoked_key_and_no_key_send_nothing(table: Table, key: str) -> None:
    assert Client().post("/api/v1/rounds/", line(EXAMPLE), "application/json").status_code == 401
    terminal = terminal_of(key)
    terminal_revoke(actor=OPERATOR, terminal=terminal, reason="Lost")
    assert send(key, EXAMPLE)[0] == 401
    assert not Round.objects.exists()


def terminal_of(key: str) -> Any:
    from games.models import Terminal

    return Terminal.objects.get()


@pytest.mark.parametrize("packed", [False, True])
def test_a_file_is_taken_whole_and_counted(table: Table, key: str, packed: bool) -> None:
    content = b"\n".join(line(example(ref=f"R-{number}")) for number in range(3))
    sent = gzip.compress(content) if packed else content
    expected = {"files": 1, "rounds": 3, "new": 3, "repeated": 0}
    assert send(key, sent, "rounds/import/", "application/x-ndjson") == (201, expected)
    assert send(key, sent, "rounds/import/", "application/x-ndjson")[1]["repeated"] == 3
    assert Outbox.objects.count() == 3


def test_a_file_with_a_fault_is_told_by_line_and_leaves_nothing(table: Table, key: str) -> None:
    content = line(EXAMPLE) + b"\n" + line(example(ref="x", bets=[bet(net="x")]))
    code, body = send(key, content, "rounds/import/")
    assert (code, body["errors"][0]["field"]) == (400, "line 2")
    assert "bets[0].net" in body["errors"][0]["message"]
    assert not Round.objects.exists()


def test_people_read_rounds_and_terminals_do_not(house: House, table: Table, key: str) -> None:
    number = send(key, EXAMPLE)[1]["id"]
    client = logged_in(house["auditor"])
    listed = client.get("/api/v1/rounds/", {"player": "seat-3", "day": "2026-11-15", "status": "settled"}).json()
    assert [one["ref"] for one in listed["results"]] == [EXAMPLE["ref"]]
    assert client.get("/api/v1/rounds/", {"player": "nobody"}).json()["results"] == []
    assert client.get("/api/v1/rounds/", {"day": "today"}).status_code == 400
    assert client.get(f"/api/v1/rounds/{number}/").json()["ref"] == EXAMPLE["ref"]
    assert client.post("/api/v1/rounds/", line(EXAMPLE), "application/json").status_code == 403
    terminal = Client(headers={"Authorization": f"Bearer {key}"})
    assert terminal.get("/api/v1/rounds/").status_code == 403


def test_pages_of_rounds_follow_each_other(house: House, table: Table, key: str) -> None:
    for number in range(5):
        send(key, example(ref=f"R-{number}"))
    client = logged_in(house["auditor"])
    first = client.get("/api/v1/rounds/", {"page_size": "3"}).json()
    second = client.get(first["next"]).json()
    refs = [one["ref"] for one in first["results"] + second["results"]]
    assert refs == ["R-4", "R-3", "R-2", "R-1", "R-0"]
    assert second["next"] is None


@pytest.mark.usefixtures("clone")
def test_a_hundred_posts_of_the_same_round_at_once_are_one_row_and_a_hundred_equal_answers() -> None:
    house = build_house()
    key = terminal_create(actor=OPERATOR, name="T", tables=[floor(house)], reason="New")[1]
    document = current()
    answers = at_once(*[lambda: send(key, document)] * 25) + [send(key, document) for _ in range(75)]
    assert sorted({code for code, _ in answers}) == [200, 201]
    assert [code for code, _ in answers].count(201) == 1
    assert len({json.dumps(body) for _, body in answers}) == 1
    assert Round.objects.count() == 1


@pytest.mark.usefixtures("clone")
def test_one_ref_with_two_contents_at_once_is_one_row_and_conflicts() -> None:
    house = build_house()
    key = terminal_create(actor=OPERATOR, name="T", tables=[floor(house)], reason="New")[1]
    document = current()
    other = document | {"dealer": "D9"}
    answers = at_once(*[lambda: send(key, document), lambda: send(key, other)] * 6)
    codes = sorted(code for code, _ in answers)
    assert codes == [200] * 5 + [201] + [409] * 6
    assert Round.objects.count() == RecordingConflict.objects.count() == 1
