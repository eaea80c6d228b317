"""What `simulate` writes is what `load_floor` and `import_rounds` take."""

import json
from pathlib import Path
from typing import Any

import pytest
from django.db.models import Q

from games.models import Round, RoundBet
from tests.games.floors import called
from tests.games.simulation.recount import rounds_in
from tests.games.simulation.runs import floor_of, simulated, truth_of


@pytest.mark.parametrize(("seed", "name"), [(21, "rounds.ndjson"), (22, "rounds.ndjson.gz")])
def test_floor_and_rounds_load_and_a_second_time_nothing_is_new(
    db: None, clock: Any, tmp_path: Path, seed: int, name: str
) -> None:
    path = simulated(tmp_path / name, tables=8, days=2, seed=seed, faults=0.7, **{"rounds-per-table": 25})
    called("load_floor", str(floor_of(path)))
    assert called("load_floor", str(floor_of(path))).endswith("nothing has changed.")
    count = 8 * 2 * 25
    assert json.loads(called("import_rounds", str(path), "--json")) == {
        "files": 1, "rounds": count, "new": count, "repeated": 0,
    }  # fmt: skip
    assert json.loads(called("import_rounds", str(path), "--json"))["repeated"] == count
    rounds = list(rounds_in(path))
    assert RoundBet.objects.count() == sum(len(round_["bets"]) for round_ in rounds)
    assert set(Round.objects.values_list("status", flat=True)) == {"settled", "void", "unfinished"}
    assert not Round.objects.filter(limit_set=None).exists()
    unknown = {row["round_ref"] for row in truth_of(path)["procedural"] if row["kind"] == "unknown-staff"}
    assert unknown
    unlinked = Round.objects.filter(Q(dealer_staff=None) | Q(supervisor_staff=None))
    assert set(unlinked.values_list("ref", flat=True)) == unknown
    unfinished = {row["round_ref"] for row in truth_of(path)["irregularities"] if row["action"] == "unfinished"}
    assert set(Round.objects.filter(status="unfinished").values_list("ref", flat=True)) == unfinished
