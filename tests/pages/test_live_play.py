"""A table played live against a real site: every event arrives, and a terminal that was stopped goes on."""

from collections import deque
from contextlib import closing
from threading import Timer

import pytest

from games.engine.rules.loader import rulebook
from games.models import LiveRound, Round
from games.simulation.live_table import LiveTable
from games.simulation.played_floor import PlayedTable
from games.simulation.playing_terminal import Caller, Stopped
from games.terminals.services import terminal_create
from tests.conftest import OPERATOR
from tests.games.floor_setup import ready_table, sign
from tests.pages.conftest import Site


@pytest.mark.parametrize(
    ("code", "book", "layout"), [("TS-71", "rws-tai-sai-v6", "C"), ("TS-72", "division-9-2008", "2")]
)
def test_a_table_is_played_round_after_round_and_goes_on_after_a_stop(
    site: Site, code: str, book: str, layout: str
) -> None:
    table = ready_table(site.house, code, rulebook=book, layout=layout, limits=sign({}))
    key = terminal_create(actor=OPERATOR, name=code, tables=[table], reason="New")[1]
    played = PlayedTable(code, table.casino, rulebook(book), rulebook(book).layouts[layout], 100, ())
    first = Caller(site.address, key)
    one = LiveTable(played, first, seed=1, speed=100)
    one.play_round()
    Timer(0.3, first.stopped.set).start()
    with closing(first), pytest.raises(Stopped):
        deque(iter(one.play_round, "never"))
    assert LiveRound.objects.filter(table=table, ended_at=None).count() == 1
    with closing(Caller(site.address, key)) as second:
        again = LiveTable(played, second, seed=2, speed=100)
        again.finish_open()
        again.play_round()
    assert not LiveRound.objects.filter(table=table, ended_at=None).exists()
    rounds = list(Round.objects.filter(table=table))
    assert len(rounds) == LiveRound.objects.filter(table=table).count() >= 3
    assert {round_.status for round_ in rounds} == {"settled"}
    assert any(round_.players for round_ in rounds)
