"""What looks like a fault and is none: it is played, and nothing is found."""

import datetime as dt
from pathlib import Path
from typing import Any

import pytest

from games.engine.money import parse_money
from games.simulation.played_floor import PlayedTable, played_tables
from tests.games.simulation.recount import recount, rounds_in
from tests.games.simulation.runs import DAY, floor_of, simulated, truth_of

NOTHING: dict[str, list[Any]] = {"discrepancies": [], "breaches": [], "irregularities": [], "procedural": []}


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("clean")
    return simulated(folder / "rounds.ndjson", **{"rounds-per-table": 500}, faults=0)


@pytest.fixture(scope="module")
def tables(path: Path) -> dict[str, PlayedTable]:
    return {table.code: table for table in played_tables(floor_of(path), dt.date.fromisoformat(DAY))}


def test_nothing_is_wrong_with_any_of_them(path: Path) -> None:
    assert truth_of(path) == NOTHING
    assert recount(path) == NOTHING


def test_tumbler_and_dice_where_the_rulebook_lets_the_round_stand(path: Path) -> None:
    early, late = set(), set()
    for round_ in rounds_in(path):
        kinds = [event["kind"] for event in round_["events"]]
        early |= {(round_["table"], kind) for kind in kinds[: kinds.index("no-more-bets")]}
        late |= set(kinds[kinds.index("no-more-bets") :])
    assert ("TS-01", "tumbler") in early  # covered: version 6, 3.7
    assert ("TS-02", "dice-exposed") in early  # open cover, 3.7
    assert ("TS-03", "tumbler") in early  # Division 9, 6.1
    assert ("TS-02", "tumbler") not in early
    assert "dice-exposed" in late


def test_bets_at_the_very_call_and_refused_and_withdrawn_ones_with_and_without_a_net(path: Path) -> None:
    at_the_call, refused, withdrawn = 0, set(), set()
    for round_ in rounds_in(path):
        closed = next(event["at"] for event in round_["events"] if event["kind"] == "no-more-bets")
        at_the_call += sum(bet.get("at") == closed for bet in round_["bets"])
        refused |= {(bet.get("net"), "at" in bet) for bet in round_["bets"] if bet.get("refused")}
        withdrawn |= {(bet.get("net"), bet["withdrawn"] == closed) for bet in round_["bets"] if "withdrawn" in bet}
    assert at_the_call
    assert refused == withdrawn == {(net, is_so) for net in ("0.00", None) for is_so in (True, False)}


def test_boxes_exactly_at_their_limits(path: Path, tables: dict[str, PlayedTable]) -> None:
    seen = set()
    for round_ in rounds_in(path):
        table = tables[round_["table"]]
        sign = table.sign_at(dt.datetime.fromisoformat(round_["events"][0]["at"]))
        for bet in round_["bets"]:
            stake, limits = parse_money(bet["stake"]), sign.of(bet["box"])
            apart = sign.differential.get(table.layout.boxes[bet["box"]].type)
            met = {"minimum": limits.minimum, "maximum": limits.maximum, "differential": apart}
            seen |= {name for name, amount in met.items() if stake == amount}
    assert seen == {"minimum", "maximum", "differential"}
