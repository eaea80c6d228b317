"""When the rounds of a table begin and how long they last, and the moments within a round."""

from dataclasses import dataclass
from functools import cache
from random import Random

SHORTEST = 8  # seconds: enough for a separate second for every event of a round
USUAL = 65
SPREAD = 25  # a round lasts 40 to 90 seconds, if there is time
OPENING = 60  # no round begins in the first minute of a gaming day
PEAK = 16 * 3600  # ten in the evening, from the start of the day


def most_rounds(seconds: int) -> int:
    """Return how many rounds fit into a day."""
    return (seconds - OPENING) // SHORTEST


def slots(random: Random, rounds: int, seconds: int) -> list[tuple[int, int]]:
    """Return when each round of a day begins, and its length, in seconds. A round ends before the next begins."""
    room = seconds - OPENING
    usual = min(USUAL, room // rounds)
    spread = min(SPREAD, usual - SHORTEST)
    lengths = [usual + random.randint(-spread, spread) for _ in range(rounds)]
    _shorten(lengths, sum(lengths) - room)
    free = room - sum(lengths)
    around_peak = min(max(PEAK - sum(lengths) // 2, 0), free)
    start = OPENING + int(random.triangular(0, free, around_peak)) if free > 0 else OPENING
    slots = []
    for length in lengths:
        slots.append((start, length))
        start += length
    return slots


def _shorten(lengths: list[int], excess: int) -> None:
    """Shorten the rounds by this many seconds in total, none below the shortest."""
    for index, length in enumerate(lengths):
        if excess <= 0:
            return
        less = min(length - SHORTEST, excess)
        lengths[index] -= less
        excess -= less


@dataclass(frozen=True)
class RoundMoments:
    """The moments of a round, in seconds from its beginning, in ascending order."""

    placed: int
    early: int  # while betting is open
    closed: int
    late: int
    tumbled: int
    between: int  # the tumbler has run, the result is not yet entered
    result: int
    amended: int
    settled: int
    after: int


@cache
def moments(length: int, tumbles_first: bool) -> RoundMoments:
    placed = 1 if tumbles_first else 0
    step = length // 20
    closed = max(placed + 2, int(length * 0.45))
    tumbled = closed + max(1, step)
    between = tumbled + step
    result = between + max(1, length // 10)
    amended = result + step
    settled = amended + max(1, length // 6)
    return RoundMoments(
        placed, placed + 1, closed, closed + 1, tumbled, between, result, amended, settled, settled + max(1, step)
    )
