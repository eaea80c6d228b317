"""Sound rounds for benchmarks: the same rounds for the same seed, on tables of layout C of the demonstration floor."""

import datetime as dt
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from random import Random

from games.engine.dice import Throw
from games.engine.money import format_money
from games.engine.rules.loader import rulebook
from games.engine.settlement import winning

TABLES = ("TS-02", "TS-03", "TS-10")
LAYOUT = rulebook("rws-tai-sai-v6").layouts["C"]
BOXES = tuple(LAYOUT.boxes)
FIRST = dt.datetime(2026, 1, 5, 4, tzinfo=dt.UTC)
A_ROUND = dt.timedelta(minutes=1)
SECONDS = (0, 29, 31, 39, 55)
BOXES_A_PLAYER = 3
MEMBERS = 5_000  # players return, so an index on them has repeated names
DEALER, SUPERVISOR = "D103", "S11"  # of the demonstration floor, too
STAKES = tuple(range(5_000, 50_001, 2_500))


@dataclass(frozen=True)
class Played:
    ref: str
    table: str
    started_at: dt.datetime
    dice: tuple[int, int, int]
    bets: list[tuple[str, str, int, int]]  # player, box, stake and net
    seconds: tuple[float, ...] = SECONDS  # of place-bets, no-more-bets, tumbler, result and settled

    def line(self) -> str:
        """Return the round as a table system sends it."""
        opened, closed, tumbled, shown, settled = (self._after(seconds) for seconds in self.seconds)
        events = (
            f'{{"kind":"place-bets","at":"{opened}"}},{{"kind":"no-more-bets","at":"{closed}"}},'
            f'{{"kind":"tumbler","at":"{tumbled}","tumbles":3}},'
            f'{{"kind":"result","at":"{shown}","dice":{list(self.dice)}}},{{"kind":"settled","at":"{settled}"}}'
        )
        bets = ",".join(
            f'{{"player":"{player}","box":"{box}","stake":"{money(stake)}","net":"{money(net)}"}}'
            for player, box, stake, net in self.bets
        )
        return (
            f'{{"source":"bench","ref":"{self.ref}","table":"{self.table}","dealer":"{DEALER}","supervisor":"{SUPERVISOR}",'
            f'"events":[{events}],"bets":[{bets}]}}'
        )

    def rows(self) -> Iterator[tuple[object, ...]]:
        """Return the round as rows, one a bet."""
        for position, bet in enumerate(self.bets, 1):
            yield self.ref, position, self.table, self.started_at, *bet

    def _after(self, seconds: float) -> str:
        return (self.started_at + dt.timedelta(seconds=seconds)).isoformat()


def rounds(count: int, bets: int, seed: int) -> Iterator[Played]:
    """Yield the rounds of every table, one a minute."""
    random = Random(seed)
    for number in range(count):
        dice = (random.randint(1, 6), random.randint(1, 6), random.randint(1, 6))
        place = number % len(TABLES)
        started_at = FIRST + number // len(TABLES) * A_ROUND
        yield Played(f"{seed}-{number:07d}", TABLES[place], started_at, dice, list(_bets(random, bets, dice)))


def _bets(random: Random, count: int, dice: tuple[int, int, int]) -> Iterator[tuple[str, str, int, int]]:
    """Yield the bets: each player on some adjacent boxes, the last player perhaps on fewer."""
    odds = _odds(dice)
    for place, member in enumerate(random.sample(range(MEMBERS), -(-count // BOXES_A_PLAYER))):
        first = random.randrange(len(BOXES))
        for step in range(min(BOXES_A_PLAYER, count - place * BOXES_A_PLAYER)):
            box, stake = BOXES[(first + step) % len(BOXES)], random.choice(STAKES)
            yield f"M-{100_000 + member}", box, stake, stake * odds[box] if box in odds else -stake


@cache
def _odds(dice: tuple[int, int, int]) -> dict[str, int]:
    return winning(LAYOUT, Throw(dice))


money = cache(format_money)


def write_file(path: Path, played: Iterable[Played]) -> None:
    with path.open("w") as file:
        file.writelines(played_round.line() + "\n" for played_round in played)
