"""What the events of a round say about it: is it void, finished, and what was irregular, each with its rule."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from .advice import situation_of
from .dice import Throw
from .rulebook import Rulebook, Situation
from .settlement import RULING

PLACE_BETS, NO_MORE_BETS, TUMBLER = "place-bets", "no-more-bets", "tumbler"
DICE_EXPOSED, DIE_NOT_FLAT, INTERRUPTION = "dice-exposed", "die-not-flat", "interruption"
RESULT, RESULT_AMENDED, SETTLED, VOID = "result", "result-amended", "settled", "void"


@dataclass(frozen=True)
class Event:
    kind: str
    at: datetime
    tumbles: int | None = None
    dice: Throw | None = None
    known: tuple[int, ...] | None = None  # of an interruption
    rule: str | None = None  # of a void: a bare number, or "ruling"


@dataclass(frozen=True)
class Irregularity:
    rule: str | None  # a bare number; None where the document is silent
    action: str
    detail: str = field(compare=False, default="")


@dataclass(frozen=True)
class Assessment:
    """What a round should have been, by its events."""

    void_rules: tuple[str, ...]  # all that void it, exact ones; a ruling's are the rulebook's own
    is_void: bool
    is_finished: bool
    throw: Throw | None  # the dice that count
    irregularities: tuple[Irregularity, ...]


def in_order(events: Sequence[Event]) -> list[Event]:
    """By time; equal times in the order in which they were sent."""
    return sorted(events, key=lambda event: event.at)


def is_late(events: Sequence[Event], placed_at: datetime | None) -> bool:
    """Placed later than, not at, the call that closed the betting."""
    closed = next((event.at for event in events if event.kind == NO_MORE_BETS), None)
    return closed is not None and placed_at is not None and placed_at > closed


def assess(
    book: Rulebook, events: Sequence[Event], late_bets: Sequence[str] = (), limits_need_ruling: bool = False
) -> Assessment:
    """`late_bets` names the bets that came too late, refused ones too; each is an irregularity of its own."""
    ordered = in_order(events)
    shown = [found for found in _by_event(book, ordered) if found[0].action != "stand"]
    voided = [event for event in ordered if event.kind == VOID]
    exact = list(
        dict.fromkeys(rule for situation, _ in shown if situation.action == "void" for rule in situation.rules)
    )
    is_void = bool(exact or voided)
    results = [event.dice for event in ordered if event.kind in (RESULT, RESULT_AMENDED)]
    finished = is_void or (bool(results) and any(event.kind == SETTLED for event in ordered))
    listed = [
        *(_irregularity(situation, detail) for situation, detail in shown),
        *(_void_irregularity(book, event, exact) for event in voided),
    ]
    once = list(dict.fromkeys(one for one in listed if one is not None))
    late = situation_of(book, "late-bet")
    once += [Irregularity(late.rules[0], late.action, name) for name in late_bets]
    if finished and not is_void and limits_need_ruling:
        ruling = _ruling(book, "The minimums of a box are more than it may hold.")
        once += [ruling] if ruling not in once else []
    if not finished:
        once.append(Irregularity(None, "unfinished", "The round has no result, or was not settled."))
    return Assessment(
        tuple(_voiding_rules(book, voided, exact)), is_void, finished, results[-1] if results else None, tuple(once)
    )


def _by_event(book: Rulebook, ordered: Sequence[Event]) -> Iterator[tuple[Situation, str]]:
    """The situation that each event shows, as far as the document has one for it."""
    closed = settled = False
    for event in ordered:
        if event.kind == TUMBLER and event.tumbles is not None:
            if event.tumbles == 0:
                yield situation_of(book, "tumbler-not-activated"), "The tumbler was not activated."
            elif event.tumbles < book.valid_tumbles:
                yield situation_of(book, "few-tumbles"), f"The tumbler turned {event.tumbles} times."
            if not closed and event.tumbles > 0:
                yield situation_of(book, "tumbler-early"), "The tumbler ran before betting was closed."
        elif event.kind == DICE_EXPOSED and not closed:
            yield situation_of(book, "dice-exposed-early"), "The dice were seen before betting was closed."
        elif event.kind == DIE_NOT_FLAT:
            yield situation_of(book, "die-not-flat"), "A die did not rest flat."
        elif event.kind == INTERRUPTION:
            known = "some" if event.known else "none"
            yield situation_of(book, "interruption", known_dice=known), f"Interrupted with dice known: {known}."
        elif event.kind == RESULT_AMENDED:
            when = "after settlement" if settled else "before settlement"
            yield situation_of(book, "wrong-result-entered", settled="yes" if settled else "no"), f"Amended {when}."
        closed |= event.kind == NO_MORE_BETS
        settled |= event.kind == SETTLED


def _irregularity(situation: Situation, detail: str) -> Irregularity:
    return Irregularity(situation.rules[0] if situation.rules else None, situation.action, detail)


def _void_irregularity(book: Rulebook, event: Event, exact: Sequence[str]) -> Irregularity | None:
    """A general rule gives way to the exact one that an event shows."""
    voiding = book.voidings.get(event.rule or "")
    if voiding is None:
        return _ruling(book, "Voided by a ruling." if event.rule == RULING else f"Voided under {event.rule}.")
    if set(voiding.covers) & set(exact):
        return None
    return Irregularity(voiding.rule, voiding.action, "Voided at the table.")


def _voiding_rules(book: Rulebook, voided: Sequence[Event], exact: Sequence[str]) -> list[str]:
    rules = list(exact)
    for event in voided:
        voiding = book.voidings.get(event.rule or "")
        if voiding is None:
            rules += book.ruling_rules
        elif not set(voiding.covers) & set(exact):
            rules.append(voiding.rule)
    return list(dict.fromkeys(rules))


def _ruling(book: Rulebook, detail: str) -> Irregularity:
    return Irregularity(book.ruling_rules[0] if book.ruling_rules else None, "ruling", detail)
