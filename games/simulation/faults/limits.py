"""Bets over and under the limits. Their effective stakes are known from how they are placed."""

from collections.abc import Iterator
from functools import partial
from random import Random

from games.simulation.faults import shapes
from games.simulation.faults.endings import leave_unfinished
from games.simulation.faults.fault import Fault, by_dice, pay_all_by_dice
from games.simulation.faults.shapes import Room, Shape
from games.simulation.faults.voids import call_off_at_random
from games.simulation.played_floor import PlayedTable
from games.simulation.round_draft import RoundDraft

#: How a bet relates to the limits when it was also settled wrongly.
MISPAID = (shapes.at_the_minimum, shapes.under_the_minimum, shapes.down_to_the_minimum)


def faults(table: PlayedTable) -> Iterator[Fault]:
    yield from (partial(over_the_maximum, shape) for shape in shapes.SHAPES)
    yield from (partial(over_the_differential, shape) for shape in shapes.SHAPES)
    yield at_the_differential
    yield below_the_minimum
    yield from (partial(mispaid, partial(over_the_maximum, shape)) for shape in MISPAID)
    yield partial(mispaid, below_the_minimum)
    yield in_a_void_round
    yield in_an_unfinished_round
    if shapes.gives_way(table):
        yield from (partial(paid_in_full, shape) for shape in (shapes.whale, shapes.even, shapes.to_nothing))


def over_the_maximum(shape: Shape, draft: RoundDraft, random: Random) -> bool:
    """Exceed the maximum of a box without a differential."""
    boxes = [box for box in draft.table.layout.boxes if draft.sign.of(box).maximum and not draft.partner(box)]
    return any(_fill(draft, random, shape, box, lighter=None) for box in random.sample(boxes, len(boxes)))


def over_the_differential(shape: Shape, draft: RoundDraft, random: Random) -> bool:
    """Exceed the differential; if the maximum of the heavier box is lower, that is exceeded as well."""
    boxes = [box for box in draft.table.layout.boxes if draft.partner(box)]
    for box in random.sample(boxes, len(boxes)):
        other, _ = draft.partner(box) or ("", 0)
        least, most = draft.sign.of(other).minimum or draft.table.usual_chip, draft.sign.of(other).maximum
        held = random.choice((0, least)) if most is None or least <= most else 0
        if _fill(draft, random, shape, box, lighter=held):
            return True
    return False


def at_the_differential(draft: RoundDraft, random: Random) -> bool:
    """Exceed the maximum, while the other box holds just enough to keep the differential."""
    for box in draft.table.layout.boxes:
        pair, maximum = draft.partner(box), draft.sign.of(box).maximum
        if pair is None or not maximum:
            continue
        other, allowed = pair
        stake = maximum + draft.table.chip_unit
        least, most = draft.sign.of(other).minimum or 1, draft.sign.of(other).maximum
        if least <= stake - allowed <= (most or stake) and maximum >= (draft.sign.of(box).minimum or 0):
            draft.clear(box, other)
            shapes.put(draft, box, [shapes.Laid(stake, maximum // draft.table.chip_unit * draft.table.chip_unit)])
            draft.put(other, stake - allowed)
            draft.breach("box-maximum", box, placed=stake, permitted=maximum)
            return True
    return False


def _fill(draft: RoundDraft, random: Random, shape: Shape, box: str, lighter: int | None) -> bool:
    """Fill a box beyond what it may hold; `lighter` is the total of the other box of its pair."""
    limits, pair = draft.sign.of(box), draft.partner(box)
    held = lighter or 0
    caps = [limits.maximum] if limits.maximum is not None else []
    if pair is not None:
        caps.append(held + pair[1])
    room = Room(min(caps), limits.minimum or 0, draft.table.chip_unit)
    bets = shape(room, random) if room.may_hold >= max(room.minimum, 1) else []
    if not bets:
        return False
    draft.clear(box, *([pair[0]] if pair else []))
    total = sum(bet.stake for bet in bets)
    if pair is not None and held:
        draft.put(pair[0], held)
    if limits.maximum is not None and total > limits.maximum:
        draft.breach("box-maximum", box, placed=total, permitted=limits.maximum)
    if pair is not None and total - held > pair[1]:
        draft.breach("differential", box, pair[0], placed=total - held, permitted=pair[1])
    shapes.put(draft, box, bets)
    draft.needs_ruling = shape is shapes.minimums and shapes.gives_way(draft.table)
    return True


def below_the_minimum(draft: RoundDraft, random: Random) -> bool:
    """Place a bet below the minimum, alone in its box: it is settled as placed."""
    boxes = [box for box in draft.table.layout.boxes if (draft.sign.of(box).minimum or 0) > 1]
    for box in random.sample(boxes, len(boxes)):
        pair, minimum = draft.partner(box), draft.sign.of(box).minimum or 0
        stake = random.choice((minimum // 2, minimum - 1))
        if pair is None or stake <= pair[1]:
            draft.clear(box, *([pair[0]] if pair else []))
            bet = draft.put(box, stake)
            bet.limit_rules = draft.table.book.limits.below_minimum
            draft.breach("below-minimum", box, placed=stake, permitted=minimum, player=bet.player)
            return True
    return False


def _any_breach(draft: RoundDraft, random: Random) -> bool:
    kinds: tuple[Fault, ...] = (
        partial(over_the_maximum, shapes.whale), partial(over_the_maximum, shapes.minimums),
        partial(over_the_differential, shapes.whale), below_the_minimum,
    )  # fmt: skip
    return any(kind(draft, random) for kind in random.sample(kinds, len(kinds)))


def in_a_void_round(draft: RoundDraft, random: Random) -> bool:
    return _any_breach(draft, random) and call_off_at_random(draft, random)


def in_an_unfinished_round(draft: RoundDraft, random: Random) -> bool:
    return _any_breach(draft, random) and leave_unfinished(draft, random)


def mispaid(breach: Fault, draft: RoundDraft, random: Random) -> bool:
    """Settle the last bet of the box for half its stake, or not at all."""
    if not breach(draft, random):
        return False
    bet, share = draft.bets[-1], random.choice((0, 2))

    def record(draft: RoundDraft) -> None:
        bet.net = by_dice(draft, bet) // share if share else 0

    draft.slips.append(record)
    return True


def paid_in_full(shape: Shape, draft: RoundDraft, random: Random) -> bool:
    """Settle a bet as placed that should have been cut."""
    kinds = [partial(over_the_maximum, shape), partial(over_the_differential, shape)]
    random.shuffle(kinds)
    if not any(kind(draft, random) for kind in kinds):
        return False
    draft.slips.append(pay_all_by_dice)
    return True
