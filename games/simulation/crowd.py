"""Players: they come, stay and leave over the hours, and bet by habit, always within the limits."""

from dataclasses import dataclass, field
from random import Random

from games.simulation.played_floor import PlayedSign, PlayedTable
from games.simulation.round_draft import Wager

#: How full a table is, hour by hour from six in the morning.
BY_HOUR = (15, 12, 12, 14, 18, 24, 32, 38, 42, 45, 48, 52, 58, 66, 78, 90, 100, 98, 88, 72, 55, 40, 28, 20)
SEATS = 14
MEMBERS = 5_000
#: How likely players are to bet on a box of each type.
LIKED = {
    "big-small": 60, "odd-even": 30, "single": 14, "total": 5, "domino": 3, "double": 3, "four": 3, "any-triple": 5,
    "three": 1, "pair": 0.6, "triple": 0.8,
}  # fmt: skip
CHIPS = (5_00, 10_00, 25_00, 50_00, 100_00, 500_00, 1_000_00, 5_000_00, 10_000_00)
MULTIPLES = (1, 1, 1, 2, 2, 2, 3, 4, 5, 8, 10, 20)
SHARE = 4  # a player takes at most a quarter of what a box may hold by habit
LEAVES = 0.02
MEMBER = 0.4
ENDLESS = 10**13


@dataclass(slots=True)
class Habit:
    """A favourite box, and the stakes that the player places there."""

    box: str
    stakes: tuple[int, ...]
    most: int


@dataclass(slots=True)
class Player:
    name: str
    seat: int
    sits_out: float
    boxes: int  # at a time
    favourites: list[tuple[str, int, int]]  # box, chip, multiple
    habits: list[Habit] = field(default_factory=list)

    def read(self, table: PlayedTable, sign: PlayedSign) -> None:
        """Fit the favourites to the limits of a sign; a box with too high a minimum is left out."""
        habits = [_habit(table, sign, *favourite) for favourite in self.favourites]
        self.habits = [habit for habit in habits if habit is not None]


def _habit(table: PlayedTable, sign: PlayedSign, box: str, chip: int, multiple: int) -> Habit | None:
    limits = sign.of(box)
    chip = -(-chip // table.chip_unit) * table.chip_unit
    most = ENDLESS if limits.maximum is None else limits.maximum
    least = max(1, -(-(limits.minimum or 0) // chip))
    if least * chip > most:
        return None
    usual = max(least, min(multiple, most // SHARE // chip)) * chip
    double = usual * 2 if usual * 2 <= most // SHARE else usual
    return Habit(box, (usual, usual, double), most)


class Crowd:
    """The players at one table through a day."""

    def __init__(self, table: PlayedTable, random: Random) -> None:
        self.table, self.random = table, random
        self.players: list[Player] = []
        self.sign: PlayedSign | None = None
        self.popularity = random.uniform(0.6, 1.3)
        self.boxes = list(table.layout.boxes)
        weights = (LIKED.get(box.type, 1) for box in table.layout.boxes.values())
        self.weights = list(weights)

    def gather(self, hour: int, sign: PlayedSign) -> None:
        """Let some players leave and others come, by the hour."""
        target = max(1, round(BY_HOUR[hour % len(BY_HOUR)] / 100 * SEATS * self.popularity))
        if self.sign is None:  # some wait for the table to open
            for _ in range(target // 2):
                self.players.append(self._player(sign))
        if sign is not self.sign:
            self.sign = sign
            for player in self.players:
                player.read(self.table, sign)
        random = self.random.random
        self.players = [player for player in self.players if random() > LEAVES]
        if len(self.players) > target and random() < 1 / 4:
            self.players.pop(0)
        if not self.players or (len(self.players) < target and random() < 1 / 2):
            self.players.append(self._player(sign))

    def _player(self, sign: PlayedSign) -> Player:
        random = self.random
        taken = {player.seat for player in self.players}
        seat = next(number for number in range(1, len(taken) + 2) if number not in taken)
        name = f"M-{100_000 + random.randrange(MEMBERS)}" if random.random() < MEMBER else f"seat-{seat}"
        if any(player.name == name for player in self.players):
            name = f"seat-{seat}"
        liked = dict.fromkeys(random.choices(self.boxes, self.weights, k=random.randint(3, 9)))
        dear = (sign.of(next(iter(self.boxes))).minimum or self.table.usual_chip) * 2
        chip = random.choice([chip for chip in CHIPS if chip <= dear][-4:] or CHIPS[:1])
        favourites = [(box, chip, random.choice(MULTIPLES)) for box in liked]
        found = Player(name, seat, random.uniform(0.02, 0.4), random.choice((1, 2, 2, 3, 4)), favourites)
        found.read(self.table, sign)
        return found

    def bets(self) -> list[Wager]:
        """Return the bets of a round; a player leaves out a box that has no room."""
        random = self.random.random
        bets: list[Wager] = []
        totals: dict[str, int] = {}
        for player in self.players:
            habits = player.habits
            count = len(habits)
            if not count or random() < player.sits_out:
                continue
            first = int(random() * random() * count)
            for step in range(first, first + min(player.boxes, count)):
                habit = habits[step % count]
                box, stake = habit.box, habit.stakes[int(random() * 3)]
                total = totals.get(box, 0) + stake
                if total <= habit.most:
                    totals[box] = total
                    bets.append(Wager(player.name, box, stake, stake))
        return self._balanced(bets, totals)

    def _balanced(self, bets: list[Wager], totals: dict[str, int]) -> list[Wager]:
        """Remove the last bets on the heavier side of a pair until the differential is kept."""
        for type_, allowed in (self.sign.differential if self.sign else {}).items():
            first, second = self.table.pairs[type_]
            while abs(difference := totals.get(first, 0) - totals.get(second, 0)) > allowed:
                heavier = first if difference > 0 else second
                last = next(place for place in reversed(range(len(bets))) if bets[place].box == heavier)
                totals[heavier] -= bets.pop(last).stake
        return bets
