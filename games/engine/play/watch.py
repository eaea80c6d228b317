"""What a dealer watches while betting is open: box totals, excess to return, bets below the minimum."""

from collections.abc import Sequence
from dataclasses import dataclass

from games.engine.exposure import Outlook, exposure
from games.engine.play.live_play import Chips, Play
from games.engine.rules.rulebook import Layout, Rulebook
from games.engine.signs.limits import Bet, Limits, Range, holdings


@dataclass(frozen=True)
class BoxWatch:
    """One box: its total, its limits, the room left (3.5), and what needs action (5.1, 5.2)."""

    box: str
    total: int
    limits: Range
    room: int | None  # None: no limit
    excess: tuple[tuple[str, int], ...]  # by player, the chips placed last first
    short: tuple[tuple[str, int], ...]  # players below the minimum, with their stakes


@dataclass(frozen=True)
class PairWatch:
    """Two boxes with a differential, the heavier first."""

    type: str
    heavier: str
    lighter: str
    difference: int
    limit: int


@dataclass(frozen=True)
class Watch:
    boxes: tuple[BoxWatch, ...]
    pairs: tuple[PairWatch, ...]
    worst: Outlook


def watch(book: Rulebook, layout: Layout, limits: Limits, play: Play) -> Watch:
    bets = play.bets()
    totals = dict.fromkeys(layout.boxes, 0)
    for bet in bets:
        totals[bet.box] += bet.stake
    held = holdings(layout, limits, bets)
    capped = {box: _capped(total, limits.of(layout, box)) for box, total in totals.items()}
    pairs = tuple(_pair(layout, totals, type_, limit) for type_, limit in limits.differential.items())
    boxes = []
    for box, total in totals.items():
        own = limits.of(layout, box)
        over = held[box].total - (held[box].permitted or 0) if box in held and held[box].is_over_full else 0
        boxes.append(
            BoxWatch(
                box, total, own, _room(box, total, own, pairs, capped), _last_first(play.chips, box, over),
                _short(bets, box, own),
            )
        )  # fmt: skip
    return Watch(tuple(boxes), pairs, exposure(book, layout, bets, limits).worst)


def _pair(layout: Layout, totals: dict[str, int], type_: str, limit: int) -> PairWatch:
    first, second = (box.code for box in layout.boxes_of(type_))
    if totals[first] < totals[second]:
        first, second = second, first
    return PairWatch(type_, first, second, totals[first] - totals[second], limit)


def _capped(total: int, own: Range) -> int:
    return total if own.maximum is None else min(total, own.maximum)


def _room(box: str, total: int, own: Range, pairs: Sequence[PairWatch], capped: dict[str, int]) -> int | None:
    """Return how much more the box may hold: up to its maximum and its differential."""
    bounds = [own.maximum] if own.maximum is not None else []
    for pair in pairs:
        if box in (pair.heavier, pair.lighter):
            other = pair.lighter if box == pair.heavier else pair.heavier
            bounds.append(capped[other] + pair.limit)
    return max(min(bounds) - total, 0) if bounds else None


def _last_first(chips: Sequence[Chips], box: str, over: int) -> tuple[tuple[str, int], ...]:
    excess_by_player: dict[str, int] = {}
    for chip in reversed(chips):
        if over <= 0:
            break
        if chip.box == box:
            part = min(over, chip.stake)
            excess_by_player[chip.player] = excess_by_player.get(chip.player, 0) + part
            over -= part
    return tuple(excess_by_player.items())


def _short(bets: Sequence[Bet], box: str, own: Range) -> tuple[tuple[str, int], ...]:
    if own.minimum is None:
        return ()
    return tuple((bet.player, bet.stake) for bet in bets if bet.box == box and bet.stake < own.minimum)
