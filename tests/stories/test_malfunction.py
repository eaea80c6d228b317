"""A table whose lights fail (Division 9, 7.4): suspended, played on all the same, found at once, mended, resumed."""

import json
from pathlib import Path
from typing import Any

from audits.findings.selectors import alerts
from audits.findings.services.findings import finding_acknowledge
from audits.models import Finding, Severity
from audits.tasks import take_arrivals, take_warnings
from games.floor.services.tables import table_resume, table_suspend
from games.models import Round, TableState
from tests.audits.playing import Happened, played
from tests.conftest import House
from tests.games.floor_setup import HOUR, MINUTE, NOON, open_table
from tests.games.floors import called
from tests.games.live.playing import Player

DIVISION: dict[str, Any] = {"rulebook": "division-9-2008", "layout": "1"}
RULE = "division-9-2008#7.4"


def test_7_4_a_table_suspended_for_a_malfunction_that_plays_on(house: House, clock: Any, tmp_path: Path) -> None:
    clock.move_to(NOON - HOUR)
    table = open_table(house, **DIVISION)
    manager = house["pit-manager"]
    clock.move_to(NOON)
    table_suspend(actor=manager, table=table, reason="Two areas do not light", cause="malfunction")

    # a terminal opens a round all the same: taken, warned of, and an alert before a single bet is placed
    clock.shift(MINUTE)
    player = Player(table)
    code, body = player.open(dealer="D102")
    assert (code, [one["rules"] for one in body["warnings"]]) == (201, [[RULE]])
    take_warnings()
    (alert,) = alerts(manager)
    assert (alert.kind, alert.severity, alert.rule, alert.round) == ("table-suspended", Severity.HIGH, RULE, None)
    finding_acknowledge(actor=manager, finding=alert, reason="On my way")

    # the round is played to its end and recorded: the same finding, now of the round on record
    player.do("tumbler", tumbles=3)
    player.do("place-bets")
    player.bet("seat-1", "small", "100")
    player.do("no-more-bets")
    player.do("result", dice=[1, 2, 3])
    last = player.do("settled", nets=[{"player": "seat-1", "box": "small", "net": "100"}])
    assert last["warnings"] == body["warnings"]
    take_arrivals()
    found = Finding.objects.get(kind="table-suspended")
    assert (found.pk, found.round, found.state) == (alert.pk, Round.objects.get(), "acknowledged")

    # a round of the same time that comes by file is found, too
    clock.shift(10 * MINUTE)
    events: list[Happened] = [
        ("tumbler", -5, {"tumbles": 3}), ("place-bets", 0, {}), ("no-more-bets", 30, {}),
        ("result", 40, {"dice": [1, 3, 6]}), ("settled", 60, {}),
    ]  # fmt: skip
    file = tmp_path / "rounds.ndjson"
    file.write_text(json.dumps(played("R-2", at=NOON + 5 * MINUTE, events=events)) + "\n")
    called("import_rounds", str(file))
    take_arrivals()
    by_file = Finding.objects.get(kind="table-suspended", round__ref="R-2")
    assert (by_file.severity, by_file.rules) == (Severity.HIGH, [RULE])

    # mended, by whom, and checked by whom: only then does the table play on
    table_resume(
        actor=manager, table=table, reason="Lights work", rectified="The cable of the display was replaced",
        rectified_by="Technician of the maker", checked_by="PIT-SUPERVISOR",
    )  # fmt: skip
    table.refresh_from_db()
    assert table.state == TableState.OPEN
    clock.shift(MINUTE)
    assert player.open("R-3")[1]["warnings"] == []
