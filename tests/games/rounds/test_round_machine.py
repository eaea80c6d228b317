"""Rounds recorded in any order and in every way, beside a model in memory: what is on record is what the model says."""

import datetime as dt
import gzip
import io
from itertools import count
from typing import Any

import pytest
from django.db import connections
from django.test import Client
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from games.engine.errors import InputError
from games.models import ImportedFile, RecordingConflict, Round
from games.rounds.services import imports
from games.rounds.services.imports import Imported, rounds_import
from games.rounds.services.recording import RoundConflictError, read_round, round_record
from games.rounds.terms import TermsCache
from games.terminals.services import terminal_create
from tests.conftest import OPERATOR, House, build_house
from tests.games.floor_setup import ready_table, sign
from tests.games.rounds.samples import line
from tests.ledgers import ask_django, verify_tables

Document = dict[str, Any]
Name = tuple[str, str]

#: Small, so that the files of this test have several chunks.
CHUNK = 3
START = dt.datetime.now(dt.UTC).replace(microsecond=0) - dt.timedelta(hours=1)
ENDINGS: list[list[tuple[str, Document]]] = [
    [("no-more-bets", {}), ("tumbler", {"tumbles": 3}), ("result", {"dice": [1, 3, 6]}), ("settled", {})],
    [("no-more-bets", {}), ("result", {"dice": [2, 2, 5]}), ("result-amended", {"dice": [2, 2, 6]}), ("settled", {})],
    [("no-more-bets", {}), ("interruption", {"known_dice": "2,?,?"})],
    [("void", {"rule": "ruling"})],
    [],
]
BOXES = ["small", "big", "total-4", "single-1"]

WAYS = st.sampled_from(["service", "api"])
SOURCES = st.sampled_from(["floor", "pit"])
REFS = st.sampled_from([f"R-{number}" for number in range(40)])


def events(ending: list[tuple[str, Document]]) -> list[Document]:
    return [
        {"kind": kind, "at": (START + dt.timedelta(seconds=second)).isoformat(), **more}
        for second, (kind, more) in enumerate([("place-bets", {}), *ending])
    ]


BETS = st.lists(
    st.fixed_dictionaries(
        {
            "player": st.sampled_from(["seat-1", "seat-2", "seat-3"]),
            "box": st.sampled_from(BOXES),
            "stake": st.sampled_from(["50", "100.00", "0.01"]),
            "net": st.sampled_from(["50.00", "-100", "0"]),
        }
    ),
    max_size=4,
    unique_by=lambda bet: (bet["player"], bet["box"]),
)
#: Sound rounds; the name of the table is filled in by the machine.
ROUNDS = st.fixed_dictionaries(
    {"source": SOURCES, "ref": REFS, "table": st.sampled_from("AB"), "events": st.sampled_from(ENDINGS).map(events),
     "bets": BETS},
    optional={"dealer": st.sampled_from(["D1", "dealer", "没有"])},
)  # fmt: skip
FAULTS: list[Any] = [
    b"{",
    b"null",
    b'{"source": "floor"}',
    {"table": "TS-99"},
    {"bets": [{"player": "seat-1", "box": "small", "stake": "0", "net": "0"}]},
    {"bets": [{"player": "seat-1", "box": "small", "stake": "5", "net": "5"}] * 2},
    {"events": events([("settled", {}), ("settled", {})])},
    {"events": []},
    {"ref": "\x00"},
]


def content_of(document: Document) -> str:
    """All that a round says, its bets in any order."""
    return repr(sorted((document | {"bets": sorted(map(repr, document["bets"]))}).items()))


class Recording(RuleBasedStateMachine):
    """Each run has two tables, two sources and a terminal of its own in a database that all runs share."""

    house: House
    numbers = count(1)

    @initialize()
    def begin(self) -> None:
        self.number = next(self.numbers)
        tables = {name: ready_table(self.house, f"M{self.number}-{name}", limits=sign()) for name in "AB"}
        self.codes = {name: table.code for name, table in tables.items()}
        self.table_ids = [table.pk for table in tables.values()]
        key = terminal_create(actor=OPERATOR, name=f"T{self.number}", tables=list(tables.values()), reason="New")[1]
        self.client = Client(headers={"Authorization": f"Bearer {key}"})
        self.books = TermsCache()
        self.fingerprints: dict[str, bytes] = {}
        self.on_record: dict[Name, Document] = {}
        self.conflicts: set[tuple[str, str, bytes]] = set()
        self.files: list[tuple[bytes, int]] = []
        self.taken_files = 0

    # --- Steps ---

    @rule(document=ROUNDS, way=WAYS)
    def record(self, document: Document, way: str) -> None:
        self.send(self.named(document), way)

    @precondition(lambda self: self.on_record)
    @rule(data=st.data(), way=WAYS)
    def repeat(self, data: st.DataObject, way: str) -> None:
        """In the same words, or with its bets in another order."""
        known = self.known(data)
        assert self.send(known | {"bets": data.draw(st.permutations(known["bets"]))}, way) == "repeated"

    @precondition(lambda self: self.on_record)
    @rule(data=st.data(), way=WAYS, other=st.sampled_from(["dealer", "bets", "table", "events"]))
    def contradict(self, data: st.DataObject, way: str, other: str) -> None:
        known = self.known(data)
        table = next(code for code in self.codes.values() if code != known["table"])
        more = {"player": "seat-9", "box": "big", "stake": "1", "net": "-1"}
        shifted = [one | {"at": one["at"].replace("+00:00", ".000001+00:00")} for one in known["events"]]
        change: Document = {"dealer": "D9", "bets": [*known["bets"], more], "table": table, "events": shifted}
        assert self.send(known | {other: change[other]}, way) == "conflict"

    @rule(document=ROUNDS, fault=st.sampled_from(FAULTS), way=WAYS)
    def record_faulty(self, document: Document, fault: Any, way: str) -> None:
        faulty = self.spoiled(self.named(document), fault)
        if way == "api":
            assert self.post("rounds/", faulty)[0] == 400
        else:
            with pytest.raises(InputError):
                round_record(actor=OPERATOR, line=faulty, channel="api")

    @rule(documents=st.lists(ROUNDS, min_size=1, max_size=10), packed=st.booleans(), way=WAYS)
    def load(self, documents: list[Document], packed: bool, way: str) -> None:
        """New ones, ones on record, contradictions and the same name twice, as they come."""
        self.file([self.named(document) for document in documents], [], packed, way)

    @precondition(lambda self: self.on_record)
    @rule(data=st.data(), fresh=st.lists(ROUNDS, min_size=1, max_size=6), packed=st.booleans(), way=WAYS)
    def load_overlapping(self, data: st.DataObject, fresh: list[Document], packed: bool, way: str) -> None:
        """What is on record and what is not, each name once: taken."""
        own = {self.name(one): one for one in map(self.named, fresh) if self.name(one) not in self.on_record}
        known = [self.known(data) for _ in range(data.draw(st.integers(1, 5)))]
        lines = data.draw(st.permutations([*own.values(), *known]))
        assert self.file(lines, [], packed, way)

    @rule(
        documents=st.lists(ROUNDS, min_size=1, max_size=10),
        fault=st.sampled_from(FAULTS),
        place=st.integers(0, 10),
        packed=st.booleans(),
        way=WAYS,
    )
    def load_faulty(self, documents: list[Document], fault: Any, place: int, packed: bool, way: str) -> None:
        lines = [self.named(document) for document in documents]
        assert not self.file(lines, [(place % (len(lines) + 1), self.spoiled(lines[0], fault))], packed, way)

    @rule(fresh=st.lists(ROUNDS, min_size=1, max_size=6), way=WAYS)
    def load_cut_short(self, fresh: list[Document], way: str) -> None:
        """A gzip file that does not end: whatever could be read of it is not taken."""
        lines = [one for one in map(self.named, fresh) if self.name(one) not in self.on_record]
        content = gzip.compress(b"\n".join(map(line, lines)), mtime=0)
        assert self.load_bytes(content[:-5], way) is None

    @precondition(lambda self: self.files)
    @rule(data=st.data(), way=WAYS)
    def load_again(self, data: st.DataObject, way: str) -> None:
        content, rounds = data.draw(st.sampled_from(self.files))
        assert self.load_bytes(content, way) == Imported(rounds, 0, rounds)

    @rule()
    def restart(self) -> None:
        connections.close_all()

    # --- What is on record is what the model says ---

    @invariant()
    def each_round_is_on_record_once_with_its_leaf_and_its_place_in_the_outbox(self) -> None:
        found = verify_tables(ask_django, self.table_ids)
        assert found == {name: self.fingerprint(document) for name, document in self.on_record.items()}

    @invariant()
    def each_round_is_as_it_was_first_sent(self) -> None:
        rows = Round.objects.filter(table__in=self.table_ids).select_related("table")
        found = {(row.source, row.ref): (row.table.code, row.dealer, row.players, row.stakes) for row in rows}
        assert found == {
            name: (
                one["table"], one.get("dealer"), [bet["player"] for bet in one["bets"]],
                [round(float(bet["stake"]) * 100) for bet in one["bets"]],
            )
            for name, one in self.on_record.items()
        }  # fmt: skip

    @invariant()
    def conflicts_are_on_record_once_a_content(self) -> None:
        rows = RecordingConflict.objects.filter(source__endswith=f"-{self.number}")
        found = [(row.source, row.ref, bytes(row.fingerprint)) for row in rows]
        assert len(found) == len(self.conflicts)
        assert set(found) == self.conflicts

    @invariant()
    def a_refused_file_left_nothing(self) -> None:
        files = ImportedFile.objects.filter(name=f"M{self.number}").count()
        by_api = ImportedFile.objects.filter(name="API", who=f"Terminal T{self.number}").count()
        assert files + by_api == self.taken_files
        assert not Round.objects.filter(imported__isnull=True, channel="file").exists()

    # --- Doing it, and what the model makes of it ---

    def named(self, document: Document) -> Document:
        code = self.codes[document["table"]]
        return document | {"source": f"{document['source']}-{self.number}", "table": code}

    def name(self, document: Document) -> Name:
        return document["source"], document["ref"]

    def known(self, data: st.DataObject) -> Document:
        return self.on_record[data.draw(st.sampled_from(sorted(self.on_record)))]

    def spoiled(self, document: Document, fault: Any) -> bytes:
        return fault if isinstance(fault, bytes) else line(document | fault)

    def fingerprint(self, document: Document) -> bytes:
        """Read once a content: the books of a table are the same from its first round on."""
        content = content_of(document)
        if content not in self.fingerprints:
            ready = read_round(line(document), self.books, now=dt.datetime.now(dt.UTC))
            self.fingerprints[content] = ready.fingerprint
        return self.fingerprints[content]

    def post(self, path: str, content: bytes) -> tuple[int, Any]:
        answer = self.client.post(f"/api/v1/{path}", content, "application/json")
        return answer.status_code, answer.json()

    def send(self, document: Document, way: str) -> str:
        known = self.on_record.setdefault(self.name(document), document)
        if content_of(known) != content_of(document):
            expected = "conflict"
            self.conflicts.add((*self.name(document), self.fingerprint(document)))
        else:
            expected = "new" if known is document else "repeated"
        assert self.answer(document, way) == expected
        return expected

    def answer(self, document: Document, way: str) -> str:
        if way == "api":
            return {201: "new", 200: "repeated", 409: "conflict"}[self.post("rounds/", line(document))[0]]
        try:
            _, is_new = round_record(actor=OPERATOR, line=line(document), channel="api")
        except RoundConflictError:
            return "conflict"
        return "new" if is_new else "repeated"

    def file(self, documents: list[Document], faults: list[tuple[int, bytes]], packed: bool, way: str) -> bool:
        """Whether it is taken. Contradictions of what is on record are noted, whatever else is wrong with the file."""
        fresh: dict[Name, Document] = {}
        sound = not faults
        for document in documents:
            name = self.name(document)
            known = self.on_record.get(name)
            if known is not None and content_of(known) != content_of(document):
                self.conflicts.add((*name, self.fingerprint(document)))
                sound = False
            elif known is None and content_of(fresh.setdefault(name, document)) != content_of(document):
                sound = False
        lines = [line(document) for document in documents]
        for place, fault in faults:
            lines.insert(place, fault)
        content = b"\n".join(lines)
        if packed:
            content = gzip.compress(content, mtime=0)
        new, repeated = len(fresh), len(documents) - len(fresh)
        assert self.load_bytes(content, way) == (Imported(len(documents), new, repeated) if sound else None)
        if sound:
            self.on_record |= fresh
            self.taken_files += bool(fresh)
            self.files += [(content, len(documents))] if fresh else []
        return sound

    def load_bytes(self, content: bytes, way: str) -> Imported | None:
        if way == "api":
            code, body = self.post("rounds/import/", content)
            assert code in (201, 400), body
            return Imported(body["rounds"], body["new"], body["repeated"]) if code == 201 else None
        try:
            return rounds_import(actor=OPERATOR, stream=io.BytesIO(content), name=f"M{self.number}")
        except InputError:
            return None


@pytest.mark.usefixtures("clone")
def test_whatever_is_sent_in_whatever_order_the_record_is_what_the_model_says(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(imports, "CHUNK", CHUNK)
    Recording.house = build_house()
    run_state_machine_as_test(
        Recording,
        settings=settings(
            max_examples=10, stateful_step_count=25, derandomize=True, database=None, deadline=None,
            suppress_health_check=list(HealthCheck),
            phases=[Phase.generate],  # shrinking a failure would take minutes of what others wait for
        ),
    )  # fmt: skip
