"""Input that is wrong in every way, on every door: a clear sentence, and nothing is changed."""

import datetime as dt
import gzip
import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import CommandError, call_command
from django.test import Client

from games.models import ImportedFile, ImportJob, LedgerLeaf, Outbox, RecordingConflict, Round, Table
from games.rounds.services.uploads import upload_accept, upload_take, uploads
from games.terminals.services import terminal_create
from tests.conftest import OPERATOR, House
from tests.games.floor_setup import NOON
from tests.games.logins import logged_in
from tests.games.rounds.samples import EXAMPLE, bet, event, example, floor, line

MEGABYTE = 1024 * 1024


def with_bet(**fields: Any) -> bytes:
    return line(example(bets=[bet(net="100.00") | fields]))


def with_events(*events: dict[str, Any]) -> bytes:
    return line(example(events=list(events)))


#: One round, or what should be one, and what is said of it.
ROUNDS: dict[str, tuple[bytes, str]] = {
    "nothing but a bracket": (b"{", "not readable as JSON"),
    "null": (b"null", "is not a JSON object"),
    "a list": (b"[]", "is not a JSON object"),
    "NaN": (line(EXAMPLE).replace(b'"100.00"', b"NaN", 1), "NaN"),
    "a key twice": (line(EXAMPLE).replace(b'"ref"', b'"source": "floor", "ref"'), "stands twice"),
    "an unknown field": (line(example(tables="TS-01")), "tables"),
    "brackets without end": (b"[" * 100_000, "nested"),
    "not UTF-8": (line(EXAMPLE).replace(b"D102", b"\xff"), "not UTF-8"),
    "UTF-16": (json.dumps(EXAMPLE).encode("utf-16"), "not UTF-8"),
    "a byte order mark": (b"\xef\xbb\xbf" + line(EXAMPLE), "byte order mark"),
    "NUL in a text": (line(example(ref="a\x00b")), "ref"),
    "NUL alone": (b"\x00", "not readable as JSON"),
    "half a surrogate": (line(EXAMPLE).replace(b"D102", b"\\ud800"), "dealer"),
    "a round that is cut off": (line(EXAMPLE)[:-20], "not readable as JSON"),
    "a stake as a number": (with_bet(stake=100), "bets[0].stake"),
    "a stake with a third decimal": (with_bet(stake="1.005"), "bets[0].stake"),
    "a stake of 0": (with_bet(stake="0.00"), "bets[0].stake"),
    "a stake below 0": (with_bet(stake="-5"), "bets[0].stake"),
    "a stake too large for a number": (with_bet(stake="9" * 30), "bets[0].stake"),
    "digits of another script": (with_bet(stake="١٠٠"), "bets[0].stake"),
    "a box that the layout lacks": (with_bet(box="four-5321"), "bets[0].box"),
    "a box that is none": (with_bet(box="large"), "bets[0].box"),
    "two bets of a player on a box": (line(example(bets=[bet(net="1"), bet(net="1")])), "bets[1]"),
    "dice of seven": (with_events(event("place-bets", 1), event("no-more-bets", 2), event("result", 3, dice=[1, 2, 7])),
                      "events[2].dice"),
    "two dice": (with_events(event("place-bets", 1), event("no-more-bets", 2), event("result", 3, dice=[1, 2])),
                 "events[2].dice"),
    "a time without an offset": (with_events({"kind": "place-bets", "at": "2026-11-15T19:07:02"}), "events[0].at"),
    "a result before betting closed": (with_events(event("place-bets", 1), event("result", 2, dice=[1, 2, 3])),
                                       "no-more-bets"),
    "a withdrawal that is no time": (with_bet(withdrawn="later"), "bets[0].withdrawn"),
    "a withdrawal before the bet": (with_bet(at="2026-11-15T19:07:20+08:00", withdrawn="2026-11-15T19:07:10+08:00"),
                                    "lies before the bet was placed"),
    "a withdrawal in the future": (with_bet(withdrawn="2027-11-15T19:07:20+08:00"), "bets[0].withdrawn"),
    "a call that is neither yes nor no": (with_bet(call="yes"), "bets[0].call"),
    "a tumbler that is activated by a word": (with_events(event("place-bets", 1),
                                                          event("tumbler", 2, tumbles=0, activated="yes")),
                                              "events[1].activated"),
    "a tumbler that tumbled and was not activated": (with_events(event("place-bets", 1),
                                                                 event("tumbler", 2, tumbles=3, activated=False)),
                                                     "a tumbler that tumbled was activated"),
    "an interruption that knows two dice": (with_events(event("place-bets", 1),
                                                        event("interruption", 2, known_dice="1,2")),
                                            "events[1].known_dice"),
    "a table that nobody has": (line(example(table="TS-99")), "TS-99"),
    "a void by another rulebook's rule": (with_events(event("place-bets", 1), event("void", 2, rule="7.1(a)")),
                                          "events[1].rule"),
}  # fmt: skip
#: What only a file can be.
FILES: dict[str, tuple[bytes, str]] = {
    "gzip that is cut off": (gzip.compress(line(EXAMPLE) * 50)[:-9], "not whole gzip data"),
    "gzip that is none": (b"\x1f\x8b\x08garbage", "not whole gzip data"),
    "a bomb in gzip": (gzip.compress(b" " * (200 * MEGABYTE), 1), "line 1: is longer than 10 MB"),
    "a bomb in gzip behind a sound line": (gzip.compress(line(EXAMPLE) + b"\n" + b"9" * (60 * MEGABYTE), 1),
                                           "line 2: is longer than 10 MB"),
    "a line of 50 MB": (b'{"source": "' + b"x" * (50 * MEGABYTE) + b'"}', "line 1: is longer than 10 MB"),
    "a ZIP archive": (b"PK\x03\x04" + b"\x00" * 200, "line 1: "),
    "a sound line and one that is cut off": (line(EXAMPLE) + b"\n" + line(example(ref="second"))[:-9], "line 2: "),
}  # fmt: skip
BAD_FILES = FILES | {f"{name}, behind a sound line": (line(EXAMPLE) + b"\n" + content, f"line 2: {{}}{said}")
                     for name, (content, said) in ROUNDS.items()}  # fmt: skip


@pytest.fixture
def table(house: House, clock: Any) -> Table:
    clock.move_to(NOON - dt.timedelta(hours=8))
    found = floor(house)
    clock.move_to(NOON)
    return found


def on_record() -> list[int]:
    """How many there are of all that recording writes."""
    return [model.objects.count() for model in (Round, RecordingConflict, ImportedFile, Outbox, LedgerLeaf)]


def terminal(table: Table) -> Client:
    key = terminal_create(actor=OPERATOR, name=f"Floor {uuid4()}", tables=[table], reason="New")[1]
    return Client(headers={"Authorization": f"Bearer {key}"})


# --- Doors: each takes a file and answers what it says of it ---


def by_command(house: House, table: Table, content: bytes, folder: Path) -> str:
    path = folder / "rounds.ndjson"
    path.write_bytes(content)
    with pytest.raises(CommandError) as caught:
        call_command("import_rounds", path)
    return str(caught.value)


def by_api(house: House, table: Table, content: bytes, folder: Path) -> str:
    answer = terminal(table).post("/api/v1/rounds/import/", content, "application/x-ndjson")
    assert answer.status_code == 400
    assert answer["Content-Type"] == "application/problem+json"
    return json.dumps(answer.json(), ensure_ascii=False)


def by_upload(house: House, table: Table, content: bytes, folder: Path) -> str:
    file = SimpleUploadedFile("rounds.ndjson", content)
    job = upload_accept(actor=house["shift-manager"], name="rounds.ndjson", content=file)
    upload_take(key=job.pk)
    assert not (uploads() / job.stored).exists()
    return "\n".join(ImportJob.objects.get(pk=job.pk, state="refused").faults)


@pytest.mark.parametrize("door", [by_command, by_api, by_upload])
def test_a_bad_file_is_told_and_changes_nothing(
    house: House, table: Table, tmp_path: Path, door: Callable[..., str]
) -> None:
    before = on_record()
    for name, (content, said) in BAD_FILES.items():
        answer = door(house, table, content, tmp_path)
        assert all(part in answer for part in said.split("{}")), f"{name}: {answer[:500]}"
        assert "Traceback" not in answer
        assert on_record() == before, name


def test_a_bad_round_is_told_and_changes_nothing(house: House, table: Table) -> None:
    client = terminal(table)
    before = on_record()
    for name, (content, said) in ROUNDS.items():
        answer = client.post("/api/v1/rounds/", content, "application/json")
        assert answer.status_code == 400, name
        assert said in json.dumps(answer.json(), ensure_ascii=False), name
        assert on_record() == before, name


@pytest.mark.parametrize(
    "name", ["", "\x00", "a" * 300, "../../etc/passwd", "<script>alert(1)</script>", "\u202egpj.ndjson"]
)
def test_whatever_an_uploaded_file_is_called_the_page_shows_it_harmlessly(
    house: House, table: Table, name: str
) -> None:
    client = logged_in(house["shift-manager"])
    file = io.BytesIO(line(EXAMPLE))
    file.name = name
    answer = client.post("/admin/games/importjob/add/", {"file": file}, follow=True)
    assert answer.status_code == 200
    assert "<script>alert" not in answer.content.decode()
    assert not any(".." in import_job.name or "\x00" in import_job.name for import_job in ImportJob.objects.all())


@pytest.mark.parametrize(
    "bets",
    ["seat-1 small 100", "seat-1 small 100 1e9", "seat-1 small ١٠٠ 1", "seat-1 large 100 1", "\x00", "x" * 100_000,
     "seat-1 small 100 100 at", "seat-1 small 100 100 withdrawn soon", "seat-1 small 100 100 taken",
     "seat-1 small 100 100 at 19:07:20 withdrawn 19:07:10", "seat-1 small 100 withdrawn 19:08:01",
     "seat-1 small 0 0", "seat-1 small 100 100\nseat-1 small 100 100", "seat-1 small 1.005 1"],
)  # fmt: skip
def test_a_bad_entry_by_hand_is_told_and_changes_nothing(house: House, table: Table, bets: str) -> None:
    client = logged_in(house["pit-supervisor"])
    before = on_record()
    entry = {"started_at": "19:07", "closed_at": "19:08", "settled_at": "19:09", "dice": "1 3 6", "void": "",
             "dealer": "", "supervisor": "", "bets": bets, "reason": "The terminal is down"}  # fmt: skip
    answer = client.post(f"/admin/games/table/{table.pk}/enter/", entry)
    assert answer.status_code == 200
    assert answer.context["form"].errors
    assert on_record() == before
