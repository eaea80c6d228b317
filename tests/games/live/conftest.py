"""A table at noon, and a terminal that has begun a round there."""

from typing import Any

import pytest

from games.models import Table
from tests.conftest import House
from tests.games.floor_setup import HOUR, NOON, open_table, sign
from tests.games.live.playing import Player


@pytest.fixture
def table(house: House, clock: Any) -> Table:
    clock.move_to(NOON - HOUR)
    limits = sign({"big-small": (50, 3000), "single": (25, 1000)}, {"big-small": 2000})
    found = open_table(house, limits=limits)
    clock.move_to(NOON)
    return found


@pytest.fixture
def player(table: Table) -> Player:
    player = Player(table)
    player.open(dealer="D102")
    player.do("place-bets")
    player.bet("seat-1", "small", "100")
    player.bet("seat-2", "single-3", "10")
    return player
