"""Recording rounds: each one once, whole or not at all, never changed; with its place in the outbox and the ledger."""

import datetime as dt
import gzip
import hashlib
import io
import json
from pathlib import Path
from typing import Any

import psycopg
import pytest
from django.core.management import CommandError, call_command
from django.db import IntegrityError, connection, transaction

from games.access.models.acting_appointment import ALL_PITS
from games.access.services.acting_appointments import duty_end, duty_grant
from games.engine.errors import InputError
from games.engine.signs.edits import Edits
from games.floor.services.tables import table_open
from games.limits.services.proposals import limits_approve, limits_edit
from games.models import ImportedFile, LedgerChain, LedgerLeaf, Outbox, RecordingConflict, Round, RoundBet, Table
from games.rounds import lines
from games.rounds.services.imports import Imported, rounds_import
from games.rounds.services.recording import RoundConflictError, round_record
from tests.conftest import OPERATOR, House, build_house
from tests.games.floor_setup import NOON
from tests.games.rounds.samples import EXAMPLE, bet, current, example, floor, line
from tests.threads import at_once


@pytest.fixture
def table(house: House, clock: Any) -> Table:
    clock.move_to(NOON - dt.timedelta(hours=8))
    found = floor(house)
    clock.move_to(NOON)
    return found


def record(document: Any, channel: str = "api") -> tuple[int, bool]:
    return round_record(actor=OPERATOR, line=line(document), channel=channel)


def load(*documents: Any, packed: bool = False, name: str = "rounds.ndjson") -> Imported:
    content = b"\n".join(document if isinstance(document, bytes) else line(document) for document in documents) + b"\n"
    return rounds_import(actor=OPERATOR, stream=io.BytesIO(gzip.compress(content) if packed else content), name=name)


def several(count: int, start: int = 0) -> list[dict[str, Any]]:
    return [example(ref=f"R-{number:04d}") for number in range(start, start + count)]


def everything() -> tuple[int, ...]:
    """Rounds, what waits in the outbox, leaves of rounds, files and conflicts."""
    leaves = LedgerLeaf.objects.filter(kind="round")
    return tuple(one.count() for one in (Round.objects, Outbox.objects, leaves, ImportedFile.objects,
                                         RecordingConflict.objects))  # fmt: skip


# --- One round ---


def test_1_7_a_round_is_pinned_to_what_applied_when_it_began(house: House, table: Table) -> None:
    key, is_new = record(EXAMPLE)
    assert is_new
    found = Round.objects.get(pk=key)
    assert (found.table, found.gaming_day, found.rulebook, found.layout) == (
        table, dt.date(2026, 11, 15), "rws-tai-sai-v6", "C",
    )  # fmt: skip
    assert found.limit_set == table.limit_sets.get()
    assert found.dice_set == table.dice_fits.get().dice_set
    assert (found.players, found.stakes, found.nets) == (["seat-3", "seat-4"], [10000, 5000], [10000, -5000])
    assert (found.status, found.dice, found.dealer, found.dealer_staff) == ("settled", [1, 3, 6], "D102", None)
    assert [event["kind"] for event in found.events] == [one["kind"] for one in EXAMPLE["events"]]
    assert (found.channel, found.who, found.recorded_at) == ("api", "Operator of the machine", NOON)
    assert Outbox.objects.get().round == found


def test_1_2_dealer_and_supervisor_are_linked_where_known(house: House, table: Table) -> None:
    key, _ = record(example(dealer="dealer", supervisor="PIT-SUPERVISOR"))
    found = Round.objects.get(pk=key)
    assert (found.dealer, found.dealer_staff) == ("dealer", house.people["dealer"])
    assert found.supervisor_staff == house.people["pit-supervisor"]


def test_the_same_round_again_changes_nothing(house: House, table: Table) -> None:
    key, _ = record(EXAMPLE)
    before = everything()
    assert record(example(bets=EXAMPLE["bets"][::-1])) == (key, False)
    assert everything() == before


def test_the_same_name_with_another_content_is_refused_and_that_is_on_record(house: House, table: Table) -> None:
    record(EXAMPLE)
    other = example(dealer="D999")
    for _ in range(2):
        with pytest.raises(RoundConflictError, match="is on record with different content"):
            record(other)
    conflict = RecordingConflict.objects.get()
    assert (conflict.ref, conflict.content, conflict.recorded) == (other["ref"], other, Round.objects.get())
    assert everything() == (1, 1, 1, 0, 1)


def test_a_faulty_round_changes_nothing(house: House, table: Table) -> None:
    with pytest.raises(InputError):
        record(example(table="TS-99"))
    assert everything() == (0, 0, 0, 0, 0)


def test_a_round_of_a_closed_day_is_taken_and_marked(house: House, table: Table, clock: Any) -> None:
    clock.move_to(NOON + dt.timedelta(hours=15, minutes=59))  # six hours after 06:00 are not over
    first, _ = record(EXAMPLE)
    clock.shift(dt.timedelta(minutes=1))
    second, _ = record(example(ref="later"))
    assert [Round.objects.get(pk=key).after_close for key in (first, second)] == [False, True]


def test_a_table_that_is_closed_loses_no_round(house: House, table: Table) -> None:
    assert table.state == "closed"
    assert record(EXAMPLE)[1]


def test_1_6_the_view_has_a_row_a_bet_and_finds_a_player(house: House, table: Table) -> None:
    bets = [
        bet("seat-1", net="100.00", at="2026-11-15T19:07:31.5+08:00"),
        bet("seat-2", "total-4", "5.50", net="-5.50", house_placed=True),
        bet("seat-2", refused=True),
    ]
    record(example(bets=bets))
    record(example(ref="other"))
    rows = list(RoundBet.objects.filter(round__ref=EXAMPLE["ref"]))
    assert [(row.position, row.player, row.box, row.stake, row.net) for row in rows] == [
        (1, "seat-1", "small", 10000, 10000), (2, "seat-2", "total-4", 550, -550), (3, "seat-2", "small", 10000, None),
    ]  # fmt: skip
    assert [(row.late, row.refused, row.house_placed) for row in rows] == [
        (True, False, False), (False, False, True), (False, True, False),
    ]  # fmt: skip
    assert [round_bet.box for round_bet in RoundBet.objects.of_player("seat-2")] == ["total-4", "small"]


RARE = example(
    events=[
        *EXAMPLE["events"][:2],
        EXAMPLE["events"][2] | {"tumbles": 0, "activated": True},
        {"kind": "interruption", "at": "2026-11-15T19:07:35+08:00", "known_dice": "6,1,6"},
        {"kind": "void", "at": "2026-11-15T19:09:00+08:00", "rule": "5.5.1", "by": "S11"},
    ],
    bets=[
        bet("seat-1", withdrawn="2026-11-15T19:07:20+08:00"),
        bet("seat-1", withdrawn="2026-11-15T19:07:32+08:00"),
        bet("seat-2", "big", call=True, house_placed=True),
    ],
)


def test_5_7_withdrawn_and_called_bets_are_kept_and_known_again(house: House, table: Table) -> None:
    key, _ = record(RARE)
    found = Round.objects.get(pk=key)
    assert (found.withdrawn, found.call, found.dice) == ([True, False, False], [False, False, True], [6, 1, 6])
    assert [event.get("activated") for event in found.events] == [None, None, True, None, None]
    before = everything()
    assert record(RARE | {"bets": RARE["bets"][::-1], "events": RARE["events"][::-1]}) == (key, False)
    assert load(RARE) == Imported(1, 0, 1)
    assert everything()[:3] == before[:3]
    rows = [
        (round_bet.position, round_bet.withdrawn, round_bet.withdrawn_at is not None, round_bet.call)
        for round_bet in RoundBet.objects.all()
    ]
    assert rows == [(1, True, True, False), (2, False, True, False), (3, False, False, True)]


@pytest.mark.parametrize(
    "changes",
    [{"call": None}, {"withdrawn": "2026-11-15T19:07:21+08:00"}, {"call": None, "house_placed": None}],
)
def test_a_round_that_differs_only_in_a_withdrawal_or_a_call_is_a_conflict(
    house: House, table: Table, changes: dict[str, Any]
) -> None:
    record(RARE)
    with pytest.raises(RoundConflictError):
        record(RARE | {"bets": [*RARE["bets"][:2], RARE["bets"][2] | changes]})
    assert RecordingConflict.objects.count() == 1


def test_a_round_whose_tumbler_was_not_activated_after_all_is_a_conflict(house: House, table: Table) -> None:
    record(RARE)
    events = [{name: value for name, value in one.items() if name != "activated"} for one in RARE["events"]]
    with pytest.raises(RoundConflictError):
        record(RARE | {"events": events})


# --- A file ---


def test_a_file_is_taken_whole(house: House, table: Table) -> None:
    assert load(*several(1203)) == Imported(1203, 1203, 0)
    assert everything() == (1203, 1203, 1203, 1, 0)
    assert load(*several(1205)) == Imported(1205, 2, 1203)
    assert Round.objects.filter(channel="file", who="Operator of the machine").count() == 1205


def test_the_very_same_file_again_is_known_by_its_digest(house: House, table: Table) -> None:
    load(*several(3))
    before = everything()
    assert load(*several(3)) == Imported(3, 0, 3)
    assert load(*several(3), packed=True) == Imported(3, 0, 3)
    assert everything() == before


@pytest.mark.parametrize("packed", [False, True])
def test_a_file_with_a_fault_leaves_nothing_behind(house: House, table: Table, packed: bool) -> None:
    documents = [*several(700), example(ref="bad", table="TS-99"), b"{", *several(3, 700)]
    with pytest.raises(InputError) as found:
        load(*documents, packed=packed)
    assert [fault[:60].rstrip() for fault in found.value.faults] == [
        "line 701: table: there is no table TS-99; check the code, or",
        "line 702: line 1, column 2: not valid JSON (Expecting proper",
    ]
    assert everything() == (0, 0, 0, 0, 0)


def test_the_first_hundred_faults_are_told(house: House, table: Table) -> None:
    with pytest.raises(InputError) as found:
        load(*[example(ref=f"{number}", table="TS-99") for number in range(300)])
    assert len(found.value.faults) == 100


def test_a_conflict_in_a_file_refuses_the_file_and_is_on_record(house: House, table: Table) -> None:
    record(EXAMPLE)
    with pytest.raises(InputError, match=r"line 2: floor TS01-20261115-000123 is on record with different content"):
        load(example(ref="new"), example(dealer="D999"))
    assert everything() == (1, 1, 1, 0, 1)


def test_a_round_twice_in_a_file_is_one_and_with_two_contents_none(house: House, table: Table) -> None:
    assert load(EXAMPLE, example(bets=EXAMPLE["bets"][::-1])) == Imported(2, 1, 1)
    with pytest.raises(InputError, match=r"line 2: floor twice appears twice in the file"):
        load(example(ref="twice"), example(ref="twice", dealer="D999"))
    with pytest.raises(InputError, match=r"line 602: floor R-0001 appears twice in the file"):
        load(*several(601), example(ref="R-0001", dealer="D999"))
    assert not RecordingConflict.objects.exists()


@pytest.mark.parametrize(
    ("content", "fault"),
    [
        (gzip.compress(line(EXAMPLE) * 50)[:-9], "not complete gzip data"),
        (b"\x1f\x8b\x08garbage", "not complete gzip data"),
        (b"\x00" * 100, "line 1: "),
        ("\ufeff{}".encode(), "line 1: The input begins with a byte order mark"),
        (json.dumps(EXAMPLE).encode("utf-16"), "line 1: The input is not UTF-8"),
    ],
)
def test_a_file_that_is_none_is_told(house: House, table: Table, content: bytes, fault: str) -> None:
    with pytest.raises(InputError, match=fault):
        rounds_import(actor=OPERATOR, stream=io.BytesIO(content), name="x")
    assert everything() == (0, 0, 0, 0, 0)


def test_a_bomb_is_stopped_at_its_first_line(house: House, table: Table, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lines, "LONGEST_LINE", 1_000_000)
    with pytest.raises(InputError, match="line 1: is longer than"):
        rounds_import(actor=OPERATOR, stream=io.BytesIO(gzip.compress(b" " * 60_000_000)), name="bomb.gz")
    monkeypatch.setattr(lines, "LARGEST_FILE", 5_000)
    with pytest.raises(InputError, match="The file holds more than"):
        load(*several(20))


def test_an_empty_file_holds_no_rounds(house: House, table: Table) -> None:
    assert rounds_import(actor=OPERATOR, stream=io.BytesIO(b"\n \n"), name="x") == Imported(0, 0, 0)


def test_the_command_counts_and_stops_at_a_faulty_file(house: House, table: Table, tmp_path: Path, capsys: Any) -> None:
    good, bad, unread = tmp_path / "a.ndjson", tmp_path / "b.ndjson", tmp_path / "c.ndjson"
    good.write_bytes(line(EXAMPLE))
    bad.write_bytes(line(example(ref="b", bets=[bet(net="x")])))
    unread.write_bytes(line(example(ref="c")))
    call_command("import_rounds", good, "--json")
    assert json.loads(capsys.readouterr().out) == {"files": 1, "rounds": 1, "new": 1, "repeated": 0}
    with pytest.raises(CommandError, match=r"b\.ndjson: line 1: bets\[0\]\.net: 'x' is not an amount"):
        call_command("import_rounds", bad, unread)
    with pytest.raises(CommandError, match=r"nowhere: cannot be read"):
        call_command("import_rounds", tmp_path / "nowhere")
    assert Round.objects.count() == 1


# --- The ledger ---


def test_a_chain_holds_every_round_of_its_table(house: House, table: Table) -> None:
    record(EXAMPLE)
    load(*several(3))
    chain = LedgerChain.objects.get(name=f"table:{table.pk}")
    leaves = list(chain.leaves.filter(kind="round"))
    assert [leaf.subject for leaf in leaves] == list(Round.objects.order_by("pk").values_list("pk", flat=True))
    head = bytes(32)
    for position, leaf in enumerate(chain.leaves.order_by("position"), 1):
        assert (leaf.position, bytes(leaf.previous)) == (position, head)
        head = hashlib.sha256(head + bytes(leaf.content)).digest()
        assert bytes(leaf.hash) == head
    assert (chain.length, bytes(chain.head)) == (position, head)
    content = json.loads(bytes(leaves[0].content))
    assert content[:6] == [1, "round", leaves[0].subject, "floor", EXAMPLE["ref"], "TS-01"]
    assert content[-1] == bytes(Round.objects.get(ref=EXAMPLE["ref"]).fingerprint).hex()


# --- At once ---


@pytest.mark.usefixtures("clone")
class TestAtOnce:
    def test_the_same_round_a_hundred_times_at_once_is_one(self) -> None:
        floor(build_house())
        today = current()
        answers = at_once(*[lambda: round_record(actor=OPERATOR, line=line(today), channel="api")] * 20)
        assert len({key for key, _ in answers}) == 1
        assert sorted(is_new for _, is_new in answers) == [False] * 19 + [True]
        assert everything() == (1, 1, 1, 0, 0)

    def test_two_files_at_once_that_share_rounds(self) -> None:
        floor(build_house())
        rounds = [current(ref=f"R-{number}") for number in range(300)]
        first, second = (b"\n".join(map(line, one)) for one in (rounds, rounds[::-1]))
        answers = at_once(
            lambda: rounds_import(actor=OPERATOR, stream=io.BytesIO(first), name="a"),
            lambda: rounds_import(actor=OPERATOR, stream=io.BytesIO(second), name="b"),
        )
        assert sorted((one.new, one.repeated) for one in answers) == [(0, 300), (300, 0)]
        assert everything()[:3] == (300, 300, 300)


# --- By SQL ---


COPY = "INSERT INTO games_round ({names}) SELECT {values} FROM games_round LIMIT 1"
ATTEMPTS = [
    ({}, "round_once_a_casino"),
    ({"players": "'{seat-1}'"}, "round_bets_side_by_side"),
    ({"nets_given": "'{t}'"}, "round_bets_side_by_side"),
    ({"late": "'{t,f,t}'"}, "round_bets_side_by_side"),
    ({"call": "'{t}'"}, "round_withdrawals_side_by_side"),
    ({"withdrawn_at": "ARRAY[started_at]", "withdrawn": "'{t,f}'"}, "round_withdrawals_side_by_side"),
    ({"withdrawn_at": "ARRAY[started_at, NULL]", "withdrawn": "'{t,f,f}'"}, "round_withdrawals_side_by_side"),
    ({"stakes": "'{0,5}'"}, "round_stakes_positive"),
    ({"stakes": "'{NULL,5}'"}, "round_stakes_positive"),
    ({"players": "'{NULL,x}'"}, "round_nothing_missing"),
    ({"boxes": "'{1,88}'", "layout": "'A'"}, "round_boxes_of_the_layout"),
    ({"boxes": "'{1,999}'"}, "round_boxes_of_the_layout"),
    ({"layout": "'Z'"}, "round_boxes_of_the_layout"),
    ({"dice": "'{1,2}'"}, "round_three_dice"),
    ({"dice": "'{1,2,7}'"}, "round_three_dice"),
    ({"fingerprint": "'x'"}, "round_fingerprint"),
    ({"status": "'merry'"}, "round_status_known"),
    ({"channel": "'dove'"}, "round_channel_known"),
    ({"ended_at": "started_at - interval '1 second'"}, "round_in_time"),
]


@pytest.mark.parametrize(("different", "constraint"), ATTEMPTS)
def test_no_round_that_makes_no_sense_is_added(
    house: House, table: Table, different: dict[str, str], constraint: str
) -> None:
    record(EXAMPLE)
    with connection.cursor() as cursor:
        names = [one.name for one in connection.introspection.get_table_description(cursor, "games_round")]
        taken = {name: different.get(name, "'other'" if name == "ref" and different else name) for name in names}
        del taken["id"]
        with pytest.raises(IntegrityError, match=constraint), transaction.atomic():
            cursor.execute(COPY.format(names=", ".join(taken), values=", ".join(taken.values())))


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE games_round SET ref = 'x'",
        "DELETE FROM games_round",
        "UPDATE games_ledgerleaf SET hash = 'x'",
        "TRUNCATE games_round CASCADE",
    ],
)
def test_no_round_and_no_leaf_is_changed_or_taken_away(house: House, table: Table, statement: str) -> None:
    record(EXAMPLE)
    with connection.cursor() as cursor, pytest.raises(Exception, match="permission denied") as refusal:
        cursor.execute(statement)
    assert isinstance(refusal.value.__cause__, psycopg.errors.InsufficientPrivilege)


def test_the_ledger_holds_signs_games_steps_and_duties_as_well(house: House, table: Table) -> None:
    manager = house["shift-manager"]
    table_open(actor=manager, table=table, reason="Start")
    edits = {table: Edits({("big-small", "min"): 500})}
    proposal = limits_edit(actor=house["pit-manager"], edits=edits, reason="Quiet")
    limits_approve(actor=manager, proposal=proposal, reason="Agreed")
    duty = duty_grant(
        actor=manager, staff=house["dealer"], post="pit-supervisor", casino=house.casino, pit=ALL_PITS, starts_at=NOON,
        ends_at=NOON + dt.timedelta(hours=1), reason="Stands in",
    )  # fmt: skip
    duty_end(actor=manager, duty=duty, reason="Back")
    kinds = LedgerLeaf.objects.order_by("chain", "position").values_list("chain__name", "kind")
    of_table, of_casino = f"table:{table.pk}", f"casino:{house.casino.pk}"
    assert sorted(kinds) == sorted(
        [
            (of_table, "game"), (of_table, "limits"), (of_table, "table"), (of_table, "limits"), (of_casino, "duty"),
            (of_casino, "duty"),
        ]
    )  # fmt: skip
