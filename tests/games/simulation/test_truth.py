"""The truth of simulated rounds: what the engine finds when it counts anew, and every kind of it."""

import datetime as dt
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import pytest

from games.floor.floor_file import read_floor
from games.simulation.closures import State, states_text
from games.simulation.house import GAMES, floor_text
from games.simulation.play import table_day
from games.simulation.played_floor import played_tables, tables_of
from games.simulation.writer import days_played, write
from taisai_backoffice.management.commands.demonstration import PATH as DEMONSTRATION
from tests.games.floors import CASINO, TABLE
from tests.games.simulation.recount import recount, rounds_in
from tests.games.simulation.runs import simulated, truth_of

V6, OPEN_COVER, DIVISION_9 = "rws-tai-sai-v6", "rws-tai-sai-open-cover-v5", "division-9-2008"
DAY = dt.date(2026, 11, 10)

DISCREPANCIES = {
    "overpaid", "underpaid", "unpaid-winner", "paid-loser", "not-collected", "over-collected", "void-not-returned",
}  # fmt: skip
BREACHES = {"box-maximum", "differential", "below-minimum"}
#: Rule and action, as the contract lists them; what RWS rulebooks have in common stands once.
RWS = {
    ("5.4.1", "conclude"), ("5.4.2", "void"), ("5.5", "void"), ("5.5.1", "void"), ("5.5.2", "void"), ("5.5.3", "void"),
    ("5.6", "void-affected"), ("5.7", "refuse"), ("5.14", "ruling"), ("3.8", "pay-by-dice"), (None, "unfinished"),
}  # fmt: skip
IRREGULARITIES = {
    V6: RWS,
    OPEN_COVER: RWS,
    DIVISION_9: {
        ("7.1", "void"), ("7.1(a)", "void"), ("7.1(b)", "void"), ("7.1(c)", "void"), ("7.1(d)", "void"),
        ("4.7", "refuse"), ("4.7(b)", "refuse"), ("7.2", "amend"), (None, "ruling"), (None, "unfinished"),
    },
}  # fmt: skip
#: What the sentences say, late bets left out: each begins like one of these.
COMMON = {
    "The tumbler turned 0", "The tumbler turned 1", "The tumbler turned 2", "The tumbler was not", "A die did not",
    "Interrupted with dice known: none", "Interrupted with dice known", "Interrupted after", "Amended before",
    "Amended after", "Voided at", "Voided by", "Voided under", "The round has no",
}  # fmt: skip
SENTENCES = {
    V6: COMMON | {"The dice were seen", "The minimums of"},
    OPEN_COVER: COMMON | {"The tumbler ran before", "The minimums of"},
    DIVISION_9: COMMON | {"The dice were seen"},
}
#: All of the contract's table: by the rounds themselves, and by the states of the table in the floor file.
EVERYWHERE = {
    "early-bet", "overlap", "table-closed", "table-suspended", "no-valid-tumble", "tumbler-out-of-order",
    "settled-before-result", "void-after-settlement", "void-without-authority", "dice-contradicted", "unknown-staff",
    "wrong-post",
}  # fmt: skip
PROCEDURAL = {
    V6: EVERYWHERE | {"sign-incomplete"},
    OPEN_COVER: EVERYWHERE | {"sign-incomplete"},
    DIVISION_9: EVERYWHERE | {"amendment-without-authority"},
}
MISPLACED = {"again after a valid tumble", "after the result", "again after a valid tumble and after the result"}
MISPLACED_IN = {
    V6: MISPLACED | {"before betting began"},
    OPEN_COVER: MISPLACED | {"before betting began", "while bets were open"},
    DIVISION_9: MISPLACED | {"while bets were open", "after betting was closed"},
}


@pytest.mark.parametrize(("seed", "faults"), [(1, 0.02), (2, 0.5), (3, 0.5), (4, 1), (5, 0)], ids=str)
def test_the_engine_finds_what_was_planted_and_nothing_else(tmp_path: Path, seed: int, faults: float) -> None:
    path = simulated(tmp_path / "rounds.ndjson", tables=9, days=2, seed=seed, faults=faults)
    truth = truth_of(path)
    assert recount(path) == truth
    assert any(truth.values()) == bool(faults)


@pytest.mark.parametrize("number", [1, 2, 3])
def test_rounds_of_eight_seconds_hold_every_fault_too(tmp_path: Path, number: int) -> None:
    floor = floor_text(tables=3, day=DAY)
    table = list(tables_of(read_floor(floor.encode()), DAY))[number - 1]
    played = table_day(table=table, day=DAY, rounds=10_792, seed=8, faults=1)
    write(tmp_path / "rounds.ndjson.gz", floor=floor, played=islice(played, 150))
    assert recount(tmp_path / "rounds.ndjson.gz") == truth_of(tmp_path / "rounds.ndjson.gz")


def test_the_demonstration_floor_is_played_within_its_own_limits(tmp_path: Path) -> None:
    days = [DAY, DAY + dt.timedelta(days=1)]
    tables = list(played_tables(DEMONSTRATION, DAY))
    assert len(tables) == 13
    dealers = {table.casino.code: set[str | None]() for table in tables}
    for table in tables:
        dealers[table.casino.code] |= {table.dealer_at(hour) for hour in range(24)}
    assert dealers["RWS"] == {f"D{number}" for number in range(101, 113)}
    assert dealers["HBR"].isdisjoint(dealers["RWS"])
    path = tmp_path / "rounds.ndjson"
    played = days_played(tables=tables, days=days, rounds=30, seed=7, faults=0.4)
    rounds, bets = write(path, floor=DEMONSTRATION.read_text(), played=played)
    assert rounds == 13 * 2 * 30
    assert bets > rounds * 5
    assert recount(path) == truth_of(path)


@pytest.fixture(scope="module")
def medium(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return simulated(
        tmp_path_factory.mktemp("medium") / "rounds.ndjson", **{"rounds-per-table": 500}, faults=0.8, seed=6
    )


@pytest.mark.parametrize("book", [V6, OPEN_COVER, DIVISION_9])
def test_every_kind_of_finding_is_planted_for_each_rulebook(medium: Path, book: str) -> None:
    tables = {f"TS-{number:02d}" for number, (one, _) in enumerate(GAMES, 1) if one == book}
    truth = {kind: [row for row in rows if row["table"] in tables] for kind, rows in truth_of(medium).items()}
    assert {row["kind"] for row in truth["discrepancies"]} == DISCREPANCIES
    assert {row["kind"] for row in truth["breaches"]} == BREACHES
    found = {(row["rule"] and row["rule"].removeprefix(f"{book}#"), row["action"]) for row in truth["irregularities"]}
    assert found == IRREGULARITIES[book]
    said = {row["detail"] for row in truth["irregularities"] if row["action"] != "refuse"}
    assert {start for start in SENTENCES[book] if any(one.startswith(start) for one in said)} == SENTENCES[book]
    assert all(one.startswith(tuple(SENTENCES[book])) for one in said)


@pytest.mark.parametrize("book", [V6, OPEN_COVER, DIVISION_9])
def test_every_procedural_kind_is_planted_for_each_rulebook(medium: Path, book: str) -> None:
    tables = {f"TS-{number:02d}" for number, (one, _) in enumerate(GAMES, 1) if one == book}
    rows = [row for row in truth_of(medium)["procedural"] if row["table"] in tables]
    assert {row["kind"] for row in rows} == PROCEDURAL[book]
    misplaced = {row["detail"] for row in rows if row["kind"] == "tumbler-out-of-order"}
    assert misplaced == {f"The tumbler ran {when}." for when in MISPLACED_IN[book]}
    rulings = {row["detail"].count(" and ") for row in rows if row["kind"] == "void-without-authority"}
    assert rulings == {0, 1}  # by a shift manager or no one named, and by others
    cited = {row["rule"] for row in rows if row["kind"] not in ("table-closed", "table-suspended")}
    assert all(rule is None or rule.startswith(f"{book}#") for rule in cited)
    assert (None in cited) == (book == DIVISION_9)


@pytest.mark.parametrize("seed", [31, 32, 33])
def test_rounds_at_closed_and_suspended_tables_are_known_in_every_way_that_a_table_is_out_of_play(
    tmp_path: Path, seed: int
) -> None:
    path = simulated(tmp_path / "rounds.ndjson", tables=16, days=2, seed=seed)
    rows = [row for row in truth_of(path)["procedural"] if row["kind"] in ("table-closed", "table-suspended")]
    assert rows == [row for row in recount(path)["procedural"] if row["kind"] in ("table-closed", "table-suspended")]
    by_book = {f"TS-{number:02d}": GAMES[(number - 1) % len(GAMES)][0] for number in range(1, 17)}
    said = {(by_book[row["table"]], row["rule"], row["detail"].split(" from ")[0].split(" at ")[0]) for row in rows}
    closed, suspended, opened = "The table was closed", "The table was suspended", "The table was opened"
    assert said == {
        (V6, None, closed), (V6, None, suspended), (OPEN_COVER, None, closed), (OPEN_COVER, None, suspended),
        (DIVISION_9, f"{DIVISION_9}#5.0", closed), (DIVISION_9, f"{DIVISION_9}#5.0", opened),
        (DIVISION_9, f"{DIVISION_9}#7.4", suspended), (DIVISION_9, None, suspended),
    }  # fmt: skip
    days = {(row["table"], row["kind"], row["round_ref"].split("-")[2]) for row in rows}
    assert len(days) == 16 * 2 * 2  # each table is closed once and suspended once, every day
    assert len(rows) < 4 * 16 * 2 * 2  # for a few rounds


@pytest.mark.parametrize("rounds", [1, 2, 9])
def test_a_short_day_has_one_of_both_and_the_tables_take_turns(tmp_path: Path, rounds: int) -> None:
    path = simulated(tmp_path / "rounds.ndjson", tables=4, **{"rounds-per-table": rounds}, seed=5)
    rows = [row for row in truth_of(path)["procedural"] if row["kind"] in ("table-closed", "table-suspended")]
    assert recount(path) == truth_of(path)
    assert len({row["round_ref"] for row in rows}) == 4
    assert {row["kind"] for row in rows} == {"table-closed", "table-suspended"}


def test_the_rounds_themselves_are_the_same_with_and_without_the_states(tmp_path: Path) -> None:
    floor = floor_text(tables=3, day=DAY)
    tables = list(tables_of(read_floor(floor.encode()), DAY))
    options: dict[str, Any] = {"tables": tables, "days": [DAY], "rounds": 40, "seed": 3, "faults": 0.5}
    states: list[State] = []
    without, closed = list(days_played(**options)), list(days_played(**options, states=states))
    assert [one.document for one in without] == [one.document for one in closed]
    assert [one.findings.discrepancies for one in without] == [one.findings.discrepancies for one in closed]
    assert read_floor((floor + states_text(states)).encode()).states


def test_an_incomplete_sign_is_told_once_a_table_and_day(tmp_path: Path) -> None:
    path = simulated(tmp_path / "rounds.ndjson", days=2, seed=9)
    rows = [row for row in truth_of(path)["procedural"] if row["kind"] == "sign-incomplete"]
    days = sorted((row["table"], row["round_ref"].split("-")[2], row["detail"]) for row in rows)
    assert days == [
        ("TS-07", day, "The sign lacked a minimum for four; a maximum for three.") for day in ("20261110", "20261111")
    ] + [
        ("TS-08", day, "The sign lacked a differential for big-small; a maximum for total-4; a minimum for four.")
        for day in ("20261110", "20261111")
    ]


@pytest.mark.parametrize("book", [V6, OPEN_COVER, DIVISION_9])
def test_interruptions_late_voids_and_withdrawals_come_in_all_their_variants(medium: Path, book: str) -> None:
    tables = {f"TS-{number:02d}" for number, (one, _) in enumerate(GAMES, 1) if one == book}
    truth = truth_of(medium)
    wrong = {row["round_ref"]: row["kind"] for row in truth["discrepancies"]}
    seen = {seen for round_ in rounds_in(medium) if round_["table"] in tables for seen in variants(round_, wrong)}
    late_voids = {"late void stands", "late void stands, given back", "late void by a ruling"}
    assert seen - {"withdrawn in time"} == {
        "one die known, with a result", "one die known, no result", "none known", "none known, after the result",
        "all known, a loser paid", "withdrawn late", "withdrawn in time, settled", "jammed",
        "refused in time, settled", *late_voids, *(() if book == DIVISION_9 else ("late void by 5.6",)),
    }  # fmt: skip


def variants(one: dict[str, Any], wrong: dict[str, str]) -> Iterator[str]:
    """What a round shows, by its document."""
    events = one["events"]
    kinds = [event["kind"] for event in events]
    if "interruption" in kinds:
        known = events[kinds.index("interruption")]["known_dice"].count("?")
        place = kinds.index("interruption")
        if known == 2:
            yield f"one die known, {'with a' if 'result' in kinds[place:] else 'no'} result"
        if known == 3:
            yield "none known" + (", after the result" if "result" in kinds[:place] else "")
        if known == 0 and "result" not in kinds and wrong.get(one["ref"]) == "paid-loser":
            yield "all known, a loser paid"
    if "void" in kinds and "settled" in kinds[: kinds.index("void")]:
        rule = events[kinds.index("void")]["rule"]
        if rule in ("ruling", "5.6"):
            yield f"late void by {'a ruling' if rule == 'ruling' else rule}"
        else:
            yield "late void stands" + (", given back" if one["ref"] in wrong else "")
    if any(event.get("activated") for event in events):
        yield "jammed"
    yield from of_bets(one)


def of_bets(one: dict[str, Any]) -> Iterator[str]:
    closed = next((event["at"] for event in one["events"] if event["kind"] == "no-more-bets"), "9")
    for bet in one["bets"]:
        is_settled = bet.get("net", "0.00") != "0.00"
        if "withdrawn" in bet and bet["withdrawn"] > closed:
            yield "withdrawn late"
        elif "withdrawn" in bet:
            yield "withdrawn in time" + (", settled" if is_settled else "")
        if bet.get("refused") and bet.get("at", "9") <= closed and is_settled:
            yield "refused in time, settled"


def test_discrepancies_cite_every_rule_on_limits_and_triples(medium: Path) -> None:
    cited = {rule for row in truth_of(medium)["discrepancies"] for rule in row["rules"]}
    assert cited >= {
        f"{V6}#{number}" for number in ("3.10", "4.1.1", "4.1.2", "4.1.3", "5.1", "5.1.1", "5.1.2", "5.2.1", "5.12")
    }
    assert f"{DIVISION_9}#4.10" in cited


def test_rounds_have_more_than_one_breach_and_void_and_unfinished_ones_have_some(medium: Path) -> None:
    truth = truth_of(medium)
    kinds: dict[str, list[str]] = {}
    for row in truth["breaches"]:
        kinds.setdefault(row["round_ref"], []).append(row["kind"])
    assert ["box-maximum", "differential"] in kinds.values()
    assert ["box-maximum", "below-minimum"] in kinds.values()
    actions = {row["action"] for row in truth["irregularities"] if row["round_ref"] in kinds}
    assert {"void", "unfinished", "ruling"} <= actions


def test_the_columns_are_those_of_the_reports(medium: Path) -> None:
    columns = {
        "discrepancies": "round_ref, table, kind, player, box, stake, expected_net, recorded_net, rules, source",
        "breaches": "round_ref, table, kind, boxes, player, placed, permitted, rules, source",
        "irregularities": "round_ref, table, rule, action, detail, source",
        "procedural": "round_ref, table, kind, rule, detail, source",
    }
    truth = truth_of(medium)
    assert {kind: {", ".join(row) for row in rows} for kind, rows in truth.items()} == {
        kind: {names} for kind, names in columns.items()
    }


def test_a_table_without_sign_and_people_is_played_all_the_same(tmp_path: Path) -> None:
    floor, path = CASINO + TABLE, tmp_path / "rounds.ndjson"
    tables = list(tables_of(read_floor(floor.encode()), DAY))
    write(path, floor=floor, played=days_played(tables=tables, days=[DAY], rounds=80, seed=4, faults=0.9))
    truth = truth_of(path)
    assert recount(path) == truth
    assert truth["discrepancies"]
    assert not truth["breaches"]
    assert [row["detail"] for row in truth["procedural"] if row["kind"] == "sign-incomplete"] == [
        "No sign with limits was on record for this table."
    ]
    assert not any("dealer" in round_ or "supervisor" in round_ for round_ in rounds_in(path))


def test_a_sign_that_changes_in_the_evening_is_kept_from_then_on(tmp_path: Path) -> None:
    floor, path = floor_text(tables=3, day=DAY), tmp_path / "rounds.ndjson"
    assert floor.count('tables = ["TS-03"]') == 2
    third = list(tables_of(read_floor(floor.encode()), DAY))[2]
    write(path, floor=floor, played=days_played(tables=[third], days=[DAY], rounds=1000, seed=11, faults=0.1))
    starts = [round_["events"][0]["at"][11:13] for round_ in rounds_in(path)]
    assert "18" in starts
    assert "21" in starts
    assert recount(path) == truth_of(path)
