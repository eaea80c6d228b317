"""Find which of our readings decide a finding: by the events of its round, its bet, its box, or its check."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from games.engine.play.findings import RecordedBet, RecordedRound
from games.engine.play.irregularities import (
    DICE_EXPOSED,
    DIE_NOT_FLAT,
    INTERRUPTION,
    NO_MORE_BETS,
    RESULT,
    RESULT_AMENDED,
    SETTLED,
    TUMBLER,
    VOID,
    Event,
    in_order,
    is_result,
    voids_of,
)
from games.engine.rules.advice import situation_of
from games.engine.rules.readings import EXCESS, ROUNDING, Reading
from games.engine.rules.rulebook import Rulebook, Situation
from games.engine.signs.limits import Holding

DISCREPANCY, BREACH, IRREGULARITY, PROCEDURAL = "discrepancy", "breach", "irregularity", "procedural"
VOID_AFFECTED, UNFINISHED, RULING = "void-affected", "unfinished", "ruling"

#: The readings that a check of the procedure rests on.
OF_CHECKS = {
    "overlap": "one-round-at-a-time",
    "amendment-without-authority": "supervisor-is-pit-supervisor",
    "void-without-authority": "shift-manager-decides",
    "void-after-settlement": "void-after-settlement",
    "sign-incomplete": "sign-names-every-bet",
}


@dataclass(frozen=True)
class Matter:
    """The subject of a finding, as far as it says which readings decide it."""

    category: str
    kind: str  # of an irregularity: the action
    rule: str | None = None  # of an irregularity: a bare number
    position: int | None = None  # of the bet, from 0
    boxes: tuple[str, ...] = ()
    player: str | None = None


class Shown(NamedTuple):
    """A reading that an event calls for, and the irregularity it decides: its rule and action, if any."""

    name: str
    rule: str | None = None
    action: str | None = None


def applied_readings(recorded: RecordedRound, matter: Matter) -> list[Reading]:
    """Return the readings that the finding depends on, in the order of the rulebook."""
    names = set(_names(recorded, matter))
    return [reading for name, reading in recorded.book.readings.items() if name in names]


def check_readings(book: Rulebook, kind: str) -> list[Reading]:
    """Return the readings that a check of the procedure rests on, whatever the round."""
    name = OF_CHECKS.get(kind, "")
    return [book.readings[name]] if name in book.readings else []


def _names(recorded: RecordedRound, matter: Matter) -> Iterator[str]:
    if matter.category == PROCEDURAL:
        yield from (reading.name for reading in check_readings(recorded.book, matter.kind))
    elif matter.category == BREACH:
        yield from _of_breach(recorded, matter)
    elif matter.category == IRREGULARITY:
        yield from _of_irregularity(recorded, matter)
    elif matter.position is not None:
        yield from _of_settled_bet(recorded, matter.position)


# --- Breaches and irregularities --------------------------------------------------------------------


def _of_breach(recorded: RecordedRound, matter: Matter) -> Iterator[str]:
    yield "limits-are-reported"
    if matter.kind == "below-minimum":
        yield "minimum-is-a-players"
    for bet in recorded.bets:
        if bet.box in matter.boxes and matter.player in (None, bet.player):
            yield from _of_bet(bet)
    if matter.kind == "box-maximum" and any(_is_printed_twice(recorded, box) for box in matter.boxes):
        yield "areas-printed-twice"


def _of_irregularity(recorded: RecordedRound, matter: Matter) -> Iterator[str]:
    if matter.position is not None:
        yield from _of_bet(recorded.bets[matter.position])
        return
    shown = _of_events(recorded.book, in_order(recorded.events))
    yield from (
        situation.name for situation in shown if (situation.rule, situation.action) == (matter.rule, matter.kind)
    )
    if matter.kind == RULING and not recorded.assessment.is_void:
        yield "settled-by-its-dice"
        if recorded.reckoning and recorded.reckoning.needs_ruling:
            yield "minimums-exceed-the-box"
    if matter.kind == VOID_AFFECTED:
        yield "affected-by-damaged-dice"


# --- Bets that were not settled as expected ----------------------------------------------------------


def _of_settled_bet(recorded: RecordedRound, position: int) -> Iterator[str]:
    book, bet = recorded.book, recorded.bets[position]
    yield from (shown.name for shown in _of_events(book, in_order(recorded.events)))
    yield from _of_bet(bet)
    if bet.is_timed and all(event.kind != NO_MORE_BETS for event in recorded.events):
        yield "no-call-on-record"
    if recorded.assessment.is_void:
        voidings = (book.voidings.get(rule) for rule in recorded.assessment.void_rules)
        if any(voiding is not None and voiding.action == VOID_AFFECTED for voiding in voidings):
            yield "affected-by-damaged-dice"
        return
    if any(irregularity.action == RULING for irregularity in recorded.assessment.irregularities):
        yield "settled-by-its-dice"
    if bet.counts:
        yield from _of_throw(recorded, bet)
        yield from _of_box(recorded, bet)


def _of_bet(bet: RecordedBet) -> Iterator[str]:
    if bet.is_late:
        yield "late-counts-as-never-placed"
    if bet.is_withdrawn or (bet.counts and bet.is_withdrawn_late):
        yield "withdrawn-in-time"
    if bet.is_at_the_call:
        yield "at-the-call-is-in-time"


def _of_throw(recorded: RecordedRound, bet: RecordedBet) -> Iterator[str]:
    """Yield the readings for dice on which the words of a bet can be read in two ways."""
    throw = recorded.assessment.throw
    type_, _, digits = bet.box.partition("-")
    if throw is None or not digits.isdigit():
        return
    shown, named = Counter(throw.faces), set(map(int, digits))
    if type_ == "four" and shown.keys() <= named and len(shown) < len(throw.faces):
        yield "four-needs-three-faces"
    if type_ == "domino" and shown.keys() == named:
        yield "domino-wins-once"
    if bet.box == "three-256":
        yield "2-5-and-6"


def _of_box(recorded: RecordedRound, bet: RecordedBet) -> Iterator[str]:
    """Yield the readings by which the bets of an over-full box were cut, or not."""
    holding = recorded.boxes[bet.box]
    if not holding.is_over_full:
        return
    yield from (reading.name for reading in recorded.book.readings.values() if reading.sets == EXCESS)
    if _is_printed_twice(recorded, bet.box):
        yield "areas-printed-twice"
    if recorded.policy == "in-full":
        return
    if recorded.reckoning and recorded.reckoning.needs_ruling:
        yield "minimums-exceed-the-box"
    is_over_maximum = holding.limits.maximum is not None and holding.total > holding.limits.maximum
    if holding.permitted != holding.limits.maximum:
        yield "heavier-box-is-cut"
    if holding.is_left(bet.stake):
        if bet.stake == holding.limits.minimum:
            yield "at-the-minimum"
        if not is_over_maximum:
            yield "minimum-under-differential"
        return
    yield "excess-is-returned"
    yield from (reading.name for reading in recorded.book.readings.values() if reading.sets == ROUNDING)
    if recorded.policy == "filled":  # what the other bets keep is taken from this one
        yield from _of_bets_left(recorded, holding, is_over_maximum=is_over_maximum)


def _of_bets_left(recorded: RecordedRound, holding: Holding, *, is_over_maximum: bool) -> Iterator[str]:
    stakes = [recorded.counting[position].stake for position in holding.bets]
    if holding.limits.minimum in stakes:
        yield "at-the-minimum"
    if not is_over_maximum and any(map(holding.is_left, stakes)):
        yield "minimum-under-differential"


def _is_printed_twice(recorded: RecordedRound, box: str) -> bool:
    return sum(area.box == box for area in recorded.layout.areas) > 1


# --- Events ------------------------------------------------------------------------------------------


def _of_events(book: Rulebook, ordered: Sequence[Event]) -> Iterator[Shown]:
    closed = established = settled = False
    is_closed_on_record = any(event.kind == NO_MORE_BETS for event in ordered)
    for place, event in enumerate(ordered):
        shown_readings = list(_of_event(book, event, closed=closed, established=established, settled=settled))
        if not is_closed_on_record and (event.is_running_tumbler or event.kind == DICE_EXPOSED):
            shown_readings.append(("no-call-on-record", _early(book, event)))
        yield from (_shown(name, situation) for name, situation in shown_readings if name)
        voided = [
            situation for _, situation in shown_readings if situation.action == "void" and event.kind != INTERRUPTION
        ]
        if any(_is_valid_tumble(book, later) for later in ordered[place + 1 :]):
            yield from (_shown("void-is-not-healed", situation) for situation in voided)
        closed |= event.kind == NO_MORE_BETS
        established |= is_result(event)
        settled |= event.kind == SETTLED
    yield from _of_voids(book, ordered)
    if any(event.kind == INTERRUPTION and event.known for event in ordered) and not any(
        event.kind == RESULT or is_result(event) for event in ordered
    ):
        yield Shown("open-boxes-need-the-result", None, UNFINISHED)


def _of_event(
    book: Rulebook, event: Event, *, closed: bool, established: bool, settled: bool
) -> Iterator[tuple[str, Situation]]:
    """Yield the situations that an event shows, each with the reading behind it; none for a plain rule."""
    if event.kind == TUMBLER:
        if not event.is_running_tumbler:
            yield "tumbler-never-started", situation_of(book, "tumbler-not-activated")
        elif (event.tumbles or 0) < book.valid_tumbles:
            name = "few-tumbles-is-incorrect" if event.tumbles else "activated-without-a-tumble"
            yield name, situation_of(book, "few-tumbles")
        if event.is_running_tumbler and not closed:
            yield "covered-tumble-before-the-call", situation_of(book, "tumbler-early")
    elif event.kind == DICE_EXPOSED and not closed:
        yield "dice-in-the-open", situation_of(book, "dice-exposed-early")
    elif event.kind == DIE_NOT_FLAT:
        yield "", situation_of(book, "die-not-flat")
    elif event.kind == INTERRUPTION:
        known = "some" if event.known or established else "none"
        yield _of_interruption(event, established), situation_of(book, "interruption", known_dice=known)
    elif event.kind == RESULT_AMENDED and settled:
        yield "last-result-counts", situation_of(book, "wrong-result-entered", settled="yes")


def _of_interruption(event: Event, established: bool) -> str:
    if established:
        return "result-before-interruption"
    return "all-dice-known" if is_result(event) else "a-known-die-decides"


def _of_voids(book: Rulebook, ordered: Sequence[Event]) -> Iterator[Shown]:
    rule = book.ruling_rules[0] if book.ruling_rules else None
    if voids_of(book, ordered)[1]:
        yield Shown("void-after-settlement", rule, RULING)
    for event in ordered:
        voiding = book.voidings.get(event.rule or "") if event.kind == VOID else None
        if voiding is not None and voiding.action == VOID_AFFECTED:
            yield Shown("affected-by-damaged-dice", voiding.rule, VOID_AFFECTED)


def _early(book: Rulebook, event: Event) -> Situation:
    return situation_of(book, "tumbler-early" if event.kind == TUMBLER else "dice-exposed-early")


def _is_valid_tumble(book: Rulebook, event: Event) -> bool:
    return event.kind == TUMBLER and (event.tumbles or 0) >= book.valid_tumbles


def _shown(name: str, situation: Situation) -> Shown:
    return Shown(name, situation.rules[0] if situation.rules else None, situation.action)
