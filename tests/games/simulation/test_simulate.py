"""The command: the same bytes for the same call, all of its files or none, and rounds as a floor plays them."""

import datetime as dt
import gzip
from collections import Counter
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError

from games.engine.errors import InputError
from games.floor.floor_file import read_floor
from games.simulation.house import floor_text
from games.simulation.play import table_day
from games.simulation.played_floor import tables_of
from tests.games.floors import CASINO, TABLE, called, edited
from tests.games.simulation.recount import rounds_in
from tests.games.simulation.runs import floor_of, moments_of, simulated, truth_of


def bytes_of(path: Path) -> dict[str, bytes]:
    return {one.name: one.read_bytes() for one in path.parent.iterdir()}


# --- The same bytes ---


@pytest.mark.parametrize("name", ["rounds.ndjson", "rounds.ndjson.gz"])
def test_the_same_call_writes_the_same_bytes(tmp_path: Path, name: str) -> None:
    for folder in ("one", "other"):
        (tmp_path / folder).mkdir()
    one, other = (simulated(tmp_path / folder / name, faults=0.3, days=2) for folder in ("one", "other"))
    assert bytes_of(one) == bytes_of(other)
    assert len(bytes_of(one)) == 3


def test_another_seed_plays_otherwise(tmp_path: Path) -> None:
    assert simulated(tmp_path / "one").read_bytes() != simulated(tmp_path / "other", seed=2).read_bytes()


def test_a_table_plays_the_same_however_many_others_there_are(tmp_path: Path) -> None:
    few = simulated(tmp_path / "few", tables=2, days=2, faults=0.3)
    many = simulated(tmp_path / "many", tables=7, days=2, faults=0.3)
    assert list(rounds_in(few)) == [round_ for round_ in rounds_in(many) if round_["table"] in ("TS-01", "TS-02")]
    assert truth_of(few) == {
        kind: [row for row in rows if row["table"] in ("TS-01", "TS-02")] for kind, rows in truth_of(many).items()
    }


def test_a_day_is_the_same_whether_or_not_others_are_played(tmp_path: Path) -> None:
    both = simulated(tmp_path / "both", tables=2, days=2)
    second = simulated(tmp_path / "second", tables=2, day="2026-11-11")
    dealt = [round_ for round_ in rounds_in(both) if "-20261111-" in round_["ref"] and round_["table"] == "TS-01"]
    assert dealt == [round_ for round_ in rounds_in(second) if round_["table"] == "TS-01"]


def test_a_name_that_ends_in_gz_is_packed(tmp_path: Path) -> None:
    plain, packed = simulated(tmp_path / "rounds"), simulated(tmp_path / "rounds.gz")
    assert gzip.decompress(packed.read_bytes()) == plain.read_bytes()


# --- As a floor plays ---


def test_rounds_overlap_only_where_it_is_planted_and_lie_within_their_gaming_day(tmp_path: Path) -> None:
    path = simulated(tmp_path / "rounds", **{"rounds-per-table": 200}, tables=4, days=2, faults=0.6)
    by_table: dict[str, list[dict[str, Any]]] = {}
    for round_ in rounds_in(path):
        by_table.setdefault(round_["table"], []).append(round_)
    assert {table: len(rounds) for table, rounds in by_table.items()} == dict.fromkeys(by_table, 400)
    planted = {row["round_ref"] for row in truth_of(path)["procedural"] if row["kind"] == "overlap"}
    assert planted
    for rounds in by_table.values():
        overlapping = {other["ref"] for one, other in pairwise(rounds) if end(one) > start(other)}
        assert overlapping == planted & {round_["ref"] for round_ in rounds}
        assert all(gaming_days(round_) == {round_["ref"].split("-")[2]} for round_ in rounds)


def gaming_days(document: dict[str, Any]) -> set[str]:
    return {f"{moment - dt.timedelta(hours=6):%Y%m%d}" for moment in moments_of(document)}


@pytest.mark.parametrize("rounds", [1, 1250, 10_792])
def test_a_day_holds_few_and_many_rounds(rounds: int) -> None:
    day = dt.date(2026, 11, 10)
    (table,) = tables_of(read_floor(floor_text(tables=1, day=day).encode()), day)
    played = [one.started_at for one in table_day(table=table, day=day, rounds=rounds, seed=1, faults=0)]
    assert len(played) == rounds
    assert all(other - one >= dt.timedelta(seconds=8) for one, other in pairwise(played))
    assert played[-1] - played[0] < dt.timedelta(days=1)


def test_the_evening_is_full_and_the_morning_is_not(tmp_path: Path) -> None:
    path = simulated(tmp_path / "rounds", **{"rounds-per-table": 1200}, tables=2, faults=0)
    bets: Counter[str] = Counter()
    rounds: Counter[str] = Counter()
    for round_ in rounds_in(path):
        hour = round_["events"][0]["at"][11:13]
        bets[hour] += len(round_["bets"])
        rounds[hour] += 1
    assert bets["22"] / rounds["22"] > 3 * bets["08"] / rounds["08"]
    assert all(40 <= rounds[hour] / 2 <= 90 for hour in ("10", "15", "22"))
    liked = Counter(bet["box"] for round_ in rounds_in(path) for bet in round_["bets"])
    assert {box for box, _ in liked.most_common(2)} == {"big", "small"}
    assert any(bet.get("house_placed") for round_ in rounds_in(path) for bet in round_["bets"])


def test_rounds_come_in_order_of_time_and_so_does_the_truth(tmp_path: Path) -> None:
    path = simulated(tmp_path / "rounds", days=2, faults=0.5)
    dealt = [(round_["ref"], start(round_)) for round_ in rounds_in(path)]
    assert [ref for ref, _ in sorted(dealt, key=lambda pair: pair[::-1])] == [ref for ref, _ in dealt]
    place = {ref: index for index, (ref, _) in enumerate(dealt)}
    for rows in truth_of(path).values():
        found = [place[row["round_ref"]] for row in rows]
        assert found == sorted(found)


def start(document: dict[str, Any]) -> str:
    return str(next(event["at"] for event in document["events"] if event["kind"] == "place-bets"))


def end(document: dict[str, Any]) -> str:
    """A round is over once it is settled, or else called off: a void or another spin after that is not play."""
    ends = {event["kind"]: event["at"] for event in document["events"] if event["kind"] in ("settled", "void")}
    return str(ends.get("settled") or ends.get("void") or max(event["at"] for event in document["events"]))


def test_the_share_of_faulty_rounds_is_about_the_rate_and_dealers_differ(tmp_path: Path) -> None:
    path = simulated(tmp_path / "rounds", **{"rounds-per-table": 300}, faults=0.2)
    faulty = {row["round_ref"] for rows in truth_of(path).values() for row in rows}
    rounds = list(rounds_in(path))
    assert 0.14 < len(faulty) / len(rounds) < 0.26
    by_dealer = Counter(round_["dealer"] for round_ in rounds)
    rates = [
        sum(round_["ref"] in faulty for round_ in rounds if round_["dealer"] == dealer) / count
        for dealer, count in by_dealer.items()
        if count > 50
    ]
    assert max(rates) > 2 * min(rates)


def test_nobody_deals_at_two_tables_at_once(tmp_path: Path) -> None:
    path = simulated(tmp_path / "rounds", tables=6, faults=0)
    seen: dict[tuple[str, str], set[str]] = {}
    for round_ in rounds_in(path):
        seen.setdefault((round_["dealer"], f"{min(moments_of(round_)):%d %H}"), set()).add(round_["table"])
    assert {len(tables) for tables in seen.values()} == {1}


def test_a_table_whose_game_changes_in_the_day_is_refused() -> None:
    later = edited(TABLE, ("2026-11-01T06", "2026-11-10T20"), ('layout = "C"', 'layout = "A"'))
    with pytest.raises(InputError, match="TS-01: gets another game in the middle of 2026-11-10"):
        list(tables_of(read_floor((CASINO + TABLE + later).encode()), dt.date(2026, 11, 10)))


# --- Wrong calls ---


@pytest.mark.parametrize(
    ("options", "fault"),
    [
        ({"day": "yesterday"}, "--day: 'yesterday' is not a day; write it as 2026-11-15."),
        ({"day": "2026-13-01"}, "--day: '2026-13-01' is not a day"),
        ({"day": "2023-10-06"}, "--day: on 2023-10-06 not every rulebook is in force yet; choose 2023-10-07 or later."),
        ({"day": "2999-06-01"}, "is out of range"),
        ({"days": 0}, "--days: 0 is not a number of days"),
        ({"days": 10**9}, "is out of range"),
        ({"tables": 0}, "--tables: 0 is not a number of tables"),
        ({"tables": 1000}, "write 1 to 999"),
        ({"rounds-per-table": 0}, "--rounds-per-table: 0 is not a number of rounds"),
        ({"rounds-per-table": 10_793}, "write at most 10792"),
        ({"faults": -0.1}, "--faults: -0.1 is not a share"),
        ({"faults": 1.1}, "--faults: 1.1 is not a share"),
        ({"faults": "nan"}, "--faults: nan is not a share"),
        ({"tables": "two"}, "invalid int value"),
    ],
)
def test_a_wrong_call_says_so_and_writes_nothing(tmp_path: Path, options: dict[str, Any], fault: str) -> None:
    with pytest.raises(CommandError, match=fault.replace(".", r"\.")) as refusal:
        simulated(tmp_path / "rounds", **options)
    assert "\n" not in str(refusal.value)
    assert not list(tmp_path.iterdir())


def test_a_folder_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(CommandError, match=r"-o: there is no folder .*nowhere; create it first"):
        simulated(tmp_path / "nowhere" / "rounds")


@pytest.mark.parametrize(
    ("name", "fault"), [(".", "is a folder"), ("x" * 300, "cannot be written"), ("a\nb", "is not a file name")]
)
def test_a_name_that_no_file_can_have_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, fault: str
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(CommandError, match=fault):
        simulated(Path(name))
    assert not list(tmp_path.iterdir())


def test_a_folder_in_the_place_of_a_file_is_left_alone(tmp_path: Path) -> None:
    floor_of(tmp_path / "rounds").mkdir()
    with pytest.raises(CommandError, match=r"rounds\.floor\.toml is a folder; name a file"):
        simulated(tmp_path / "rounds")
    assert [one.name for one in tmp_path.iterdir()] == ["rounds.floor.toml"]


def test_a_run_that_breaks_off_leaves_what_was_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = simulated(tmp_path / "rounds")
    before = bytes_of(path)

    def full(*arguments: object, **options: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("games.simulation.writer.json.dumps", full)
    with pytest.raises(CommandError, match=r"cannot be written \(No space left on device\); choose another file"):
        simulated(path, seed=2)
    assert bytes_of(path) == before


def test_it_says_what_it_wrote(tmp_path: Path) -> None:
    said = called(
        "simulate", "--day=2026-11-10", "--tables=1", "--rounds-per-table=5", "--seed=1", f"-o{tmp_path / 'a'}"
    )
    assert said.startswith(f"{tmp_path / 'a'}: rounds 5, bets ")
    assert said.endswith("beside it a.floor.toml and a.truth.json.")
