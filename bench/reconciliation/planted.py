"""A gaming day on a floor of twenty tables, with planted wrong payments and limit breaches, and the list of them.

Sound rounds fit the limits of their table. The planted findings are calculated here from the dice alone, without the
code that settles. Nothing else is wrong: every round has its tumble in turn, staff hold their posts, and the signs are
complete.
"""

import datetime as dt
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cache, cached_property
from itertools import cycle, islice
from pathlib import Path
from random import Random

from bench.played import BOXES_A_PLAYER, DEALER, MEMBERS, STAKES, SUPERVISOR, Played, money
from games.engine.rules.loader import rulebook
from games.engine.rules.rulebook import Layout
from games.simulation.payout import winners

DAY = dt.date(2026, 1, 5)
BEGINS = dt.datetime(2026, 1, 5, 6, tzinfo=dt.UTC)
A_DAY = 24 * 60 * 60  # seconds
BETS = 50  # per round
WRONG, BREACHED = 0.002, 0.01  # share of the rounds
GAMES = (
    ("rws-tai-sai-v6", "A"), ("rws-tai-sai-v6", "C"), ("rws-tai-sai-v6", "E"), ("division-9-2008", "1"),
    ("rws-tai-sai-open-cover-v5", "C"), ("division-9-2008", "2"), ("rws-tai-sai-open-cover-v5", "E"),
)  # fmt: skip
#: When each event of a round comes, in fractions of the time between two rounds; the third is the tumbler's.
MOMENTS = (0.0, 0.4, 0.42, 0.6, 0.9)
TUMBLED_FIRST = -0.05
MINIMUM = STAKES[0]
#: All players of a round on one box stay below its maximum, and below the differential.
MOST = -(-BETS // BOXES_A_PLAYER) * STAKES[-1]
MAXIMUMS = (MOST + 150_000, MOST + 650_000)
BELOW_MAXIMUM = 100_000  # how much lower the differential is
EVEN_MONEY = ("big-small", "odd-even")

Bet = tuple[str, str, int, int]  # player, box, stake, net
Dice = tuple[int, int, int]


@dataclass(frozen=True)
class Truth:
    """A finding that must be made; the amounts are expected and recorded net, or placed and permitted stake."""

    ref: str
    kind: str
    boxes: tuple[str, ...]
    player: str | None
    first: int
    second: int


@dataclass(frozen=True)
class PlantedTable:
    code: str
    rulebook: str
    layout_code: str
    maximum: int

    @property
    def layout(self) -> Layout:
        return rulebook(self.rulebook).layouts[self.layout_code]

    @property
    def differential(self) -> int:
        return self.maximum - BELOW_MAXIMUM

    @property
    def pays_in_full(self) -> bool:
        """Say whether the rulebook settles bets in full: Division 9 has no rule that cuts a bet."""
        return self.rulebook == "division-9-2008"

    @cached_property
    def moments(self) -> tuple[float, ...]:
        """Return the moments by the document: the tumbler runs before betting opens, or after it closed."""
        is_first = any(step.kind == "tumbler" and step.before == "new" for step in rulebook(self.rulebook).play)
        opened, closed, tumbled, *rest = MOMENTS
        return opened, closed, TUMBLED_FIRST if is_first else tumbled, *rest

    @property
    def pairs(self) -> list[tuple[str, str]]:
        pairs = [tuple(box.code for box in self.layout.boxes_of(type_)) for type_ in EVEN_MONEY]
        return [(pair[0], pair[1]) for pair in pairs if pair]

    def text(self) -> str:
        """Write the table as an entry of a floor file."""
        limits = f'{{ min = "{money(MINIMUM)}", max = "{money(self.maximum)}" }}'
        boxes = ", ".join(f'"{type_}" = {limits}' for type_ in sorted(self.layout.types))
        differentials = ", ".join(
            f'"{type_}" = "{money(self.differential)}"' for type_ in EVEN_MONEY if type_ in self.layout.types
        )
        return (
            f'[[table]]\ncasino = "BEN"\npit = "P1"\ncode = "{self.code}"\nrulebook = "{self.rulebook}"\n'
            f'layout = "{self.layout_code}"\nchip_unit = "0.01"\nfrom = {BEGINS.isoformat()}\n\n'
            f'[[limits]]\ntables = ["{self.code}"]\nfrom = {BEGINS.isoformat()}\nboxes = {{ {boxes} }}\n'
            f"differential = {{ {differentials} }}\n"
        )


TABLES = tuple(
    PlantedTable(f"BN-{number:02d}", *game, maximum)
    for number, game, maximum in islice(zip(range(1, 21), cycle(GAMES), cycle(MAXIMUMS), strict=False), 20)
)
FLOOR = (
    '[[casino]]\ncode = "BEN"\nname = "Bench"\ntimezone = "UTC"\ncurrency = "SGD"\ngaming_day_starts = "06:00"\n\n'
    + "\n".join(table.text() for table in TABLES)
    + "".join(
        f'\n[[staff]]\nnumber = "{number}"\nname = "{number}"\ncasino = "BEN"\ndepartment = "pit"\npost = "{post}"\n'
        for number, post in ((DEALER, "dealer"), (SUPERVISOR, "pit-supervisor"))
    )
)


@dataclass
class PlantedDay:
    """A number of rounds, one after the other; once all are written, their findings and sums."""

    rounds: int
    seed: int = 1
    wrong: float = WRONG
    breached: float = BREACHED
    truth: set[Truth] = field(default_factory=set)
    bets: int = 0
    turnover: int = 0  # effective stakes, as `DaySummary` has them: as placed
    house: int = 0

    def write(self, path: Path) -> None:
        with path.open("w") as file:
            file.writelines(played_round.line() + "\n" for played_round in self.played())

    def played(self) -> Iterator[Played]:
        random = Random(self.seed)
        chosen = random.sample(range(self.rounds), round(self.rounds * (self.wrong + self.breached)))
        wrong = set(chosen[: round(self.rounds * self.wrong)])
        breached = set(chosen) - wrong
        between = A_DAY / (self.rounds // len(TABLES))
        for number in range(self.rounds):
            table = TABLES[number % len(TABLES)]
            dice = (random.randint(1, 6), random.randint(1, 6), random.randint(1, 6))
            ref = f"{self.seed}-{number:07d}"
            if number in breached:
                bets, truth = PLANTS[number % len(PLANTS)](random, table, dice, ref)
            else:
                bets, truth = list(sound_bets(random, BETS, table, dice)), None
            if number in wrong:
                truth = pay_wrongly(random, bets, ref)
            self._add(bets, truth)
            started_at = BEGINS + dt.timedelta(seconds=number // len(TABLES) * between)
            yield Played(ref, table.code, started_at, dice, bets, tuple(share * between for share in table.moments))

    def _add(self, bets: list[Bet], truth: Truth | None) -> None:
        self.bets += len(bets)
        self.turnover += sum(stake for _, _, stake, _ in bets)
        self.house -= sum(net for _, _, _, net in bets)
        if truth is not None:
            self.truth.add(truth)


def sound_bets(
    random: Random, count: int, table: PlantedTable, dice: Dice, without: tuple[str, ...] = ()
) -> Iterator[Bet]:
    """Yield sound bets: each player on some adjacent boxes, the last player perhaps on fewer."""
    boxes, odds = _boxes(table, without), _odds(table, dice)
    for place, member in enumerate(random.sample(range(MEMBERS), -(-count // BOXES_A_PLAYER))):
        first = random.randrange(len(boxes))
        for step in range(min(BOXES_A_PLAYER, count - place * BOXES_A_PLAYER)):
            box, stake = boxes[(first + step) % len(boxes)], random.choice(STAKES)
            yield f"M-{100_000 + member}", box, stake, stake * odds.get(box, -1)


@cache
def _boxes(table: PlantedTable, without: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(box for box in table.layout.boxes if box not in without)


@cache
def _odds(table: PlantedTable, dice: Dice) -> dict[str, int]:
    return winners(table.layout, dice)


# --- What is planted ---


def pay_wrongly(random: Random, bets: list[Bet], ref: str) -> Truth:
    """Pay one of the bets wrongly, in one of the possible ways."""
    place = random.randrange(len(bets))
    player, box, stake, net = bets[place]
    if net > 0:
        ways = [("overpaid", net + 500), ("underpaid", net - 500), ("unpaid-winner", 0), ("unpaid-winner", -stake)]
    else:
        ways = [
            ("paid-loser", stake),
            ("not-collected", 0),
            ("not-collected", net + 500),
            ("over-collected", net - 500),
        ]
    kind, recorded = random.choice(ways)
    bets[place] = (player, box, stake, recorded)
    return Truth(ref, kind, (box,), player, net, recorded)


def over_maximum(random: Random, table: PlantedTable, dice: Dice, ref: str) -> tuple[list[Bet], Truth]:
    """Exceed a maximum: some players with the same stake on one box, each cut to an equal share."""
    type_ = random.choice(sorted(table.layout.types - set(EVEN_MONEY)))
    box = random.choice(table.layout.boxes_of(type_)).code
    players, stake = random.randint(1, 3), table.maximum + random.choice(STAKES)
    counts = stake if table.pays_in_full else table.maximum // players
    bets = list(sound_bets(random, BETS - players, table, dice, without=(box,)))
    bets += [(f"P-{seat}", box, stake, counts * _odds(table, dice).get(box, -1)) for seat in range(players)]
    return bets, Truth(ref, "box-maximum", (box,), None, players * stake, table.maximum)


def over_differential(random: Random, table: PlantedTable, dice: Dice, ref: str) -> tuple[list[Bet], Truth]:
    """Exceed a differential: one player on each box, the heavier cut to the other's stake plus the differential."""
    pair = random.choice(table.pairs)
    heavier, lighter = random.sample(pair, 2)
    low, more = random.choice(STAKES), random.randrange(2_500, 50_001, 2_500)
    high = low + table.differential + more
    counts = high if table.pays_in_full else high - more
    odds = _odds(table, dice)
    bets = list(sound_bets(random, BETS - 2, table, dice, without=pair))
    bets += [("P-0", heavier, high, counts * odds.get(heavier, -1)), ("P-1", lighter, low, low * odds.get(lighter, -1))]
    return bets, Truth(ref, "differential", (heavier, lighter), None, high - low, table.differential)


def below_minimum(random: Random, table: PlantedTable, dice: Dice, ref: str) -> tuple[list[Bet], Truth]:
    """Place a bet below the minimum; it is settled as placed."""
    box, stake = random.choice(_boxes(table, ())), MINIMUM - 2_500
    bets = list(sound_bets(random, BETS - 1, table, dice))
    bets.append(("P-0", box, stake, stake * _odds(table, dice).get(box, -1)))
    return bets, Truth(ref, "below-minimum", (box,), "P-0", stake, MINIMUM)


PLANTS = (over_maximum, over_differential, below_minimum)


def differences(truth: Iterable[Truth], findings: Iterable[Truth]) -> list[str]:
    """List some of the findings that were missed, and some that are false."""
    wanted, given = set(truth), set(findings)
    missing, wrong = sorted(wanted - given, key=repr), sorted(given - wanted, key=repr)
    return [f"not found: {finding}" for finding in missing[:3]] + [
        f"found, and not true: {finding}" for finding in wrong[:3]
    ]
