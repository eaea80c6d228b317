"""Judge a round by its events: is it void, is it finished, and what was irregular, each with its rule."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from games.engine.dice import COUNT, Throw
from games.engine.rules.advice import situation_of
from games.engine.rules.rulebook import Rulebook, Situation
from games.engine.settlement import RULING

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
    activated: bool = False  # of a tumbler that was activated but did not tumble
    by: str | None = None  # of a void or an amended result: the staff number, as it was sent

    @property
    def is_running_tumbler(self) -> bool:
        return self.kind == TUMBLER and (bool(self.tumbles) or self.activated)


@dataclass(frozen=True)
class Irregularity:
    rule: str | None  # a bare number; None if the document is silent
    action: str
    detail: str = field(compare=False, default="")
    position: int | None = None  # of the bet concerned, from 0


@dataclass(frozen=True)
class Assessment:
    """The expected state of a round, judged by its events."""

    void_rules: tuple[str, ...]  # all rules that void it, the exact ones; for a ruling, the rulebook's own
    is_void: bool
    is_finished: bool
    throw: Throw | None  # the dice that count
    irregularities: tuple[Irregularity, ...]


def in_order(events: Sequence[Event]) -> list[Event]:
    """Sort events by time; equal times keep the order in which they were sent."""
    return sorted(events, key=lambda event: event.at)


def is_late(events: Sequence[Event], placed_at: datetime | None) -> bool:
    """Say whether a bet was placed after (not at) the call that closed betting."""
    closed = next((event.at for event in events if event.kind == NO_MORE_BETS), None)
    return closed is not None and placed_at is not None and placed_at > closed


def result_of(ordered: Sequence[Event]) -> Throw | None:
    """Return the dice that count: the last result, or else three dice known when play was interrupted."""
    results = [event.dice for event in ordered if event.kind in (RESULT, RESULT_AMENDED)]
    known = [event.known for event in ordered if event.known and is_result(event)]
    if results or not known:
        return results[-1] if results else None
    first, second, third = known[-1]
    return Throw((first, second, third))


def is_result(event: Event) -> bool:
    """Say whether an event established the dice: a result, or an interruption with all of them known."""
    return event.kind == RESULT or (event.kind == INTERRUPTION and len(event.known or ()) == COUNT)


def voids_of(book: Rulebook, ordered: Sequence[Event]) -> tuple[list[Event], list[Event]]:
    """Split the void events into those that void the round and those that came after its end and void nothing.

    After settlement the round can only be voided by a ruling, or where the dice were damaged (RWS 5.6).
    """
    effective: list[Event] = []
    too_late: list[Event] = []
    is_settled = False
    for event in ordered:
        is_settled |= event.kind == SETTLED
        if event.kind == VOID:
            (too_late if is_settled and not _reaches_back(book, event) else effective).append(event)
    return effective, too_late


def _reaches_back(book: Rulebook, event: Event) -> bool:
    voiding = book.voidings.get(event.rule or "")
    return event.rule == RULING or (voiding is not None and voiding.action == "void-affected")


def assess(
    book: Rulebook, events: Sequence[Event], of_bets: Sequence[Irregularity] = (), limits_need_ruling: bool = False
) -> Assessment:
    """Judge a round. `of_bets` are the irregularities of single bets, each listed separately."""
    ordered = in_order(events)
    situations = [pair for pair in _by_event(book, ordered) if pair[0].action != "stand"]
    voided, too_late = voids_of(book, ordered)
    exact = list(
        dict.fromkeys(rule for situation, _ in situations if situation.action == "void" for rule in situation.rules)
    )
    is_void = bool(exact or voided)
    throw = result_of(ordered)
    finished = is_void or (throw is not None and any(event.kind == SETTLED for event in ordered))
    listed = [
        *(_irregularity(situation, detail) for situation, detail in situations),
        *(_void_irregularity(book, event, exact) for event in voided),
        *(_ruling(book, f"Voided under {event.rule} after settlement; the round was over.") for event in too_late),
    ]
    once = list(dict.fromkeys(irregularity for irregularity in listed if irregularity is not None))
    once += of_bets
    if finished and not is_void and limits_need_ruling:
        ruling = _ruling(book, "The minimums of a box are more than it may hold.")
        once += [ruling] if ruling not in once else []
    if not finished:
        once.append(Irregularity(None, "unfinished", "The round has no result, or was not settled."))
    return Assessment(tuple(_voiding_rules(book, voided, exact)), is_void, finished, throw, tuple(once))


def voiding_situations(book: Rulebook, events: Sequence[Event]) -> list[Situation]:
    """Return the situations that void a round by its own events, whatever was done about it."""
    situations = [situation for situation, _ in _by_event(book, in_order(events)) if situation.action == "void"]
    return list({situation.code: situation for situation in situations}.values())


def _by_event(book: Rulebook, ordered: Sequence[Event]) -> Iterator[tuple[Situation, str]]:
    """Yield the situation each event shows, if the document has one for it."""
    closed = established = settled = False
    for event in ordered:
        if event.kind == TUMBLER and event.tumbles is not None:
            if not event.is_running_tumbler:
                yield situation_of(book, "tumbler-not-activated"), "The tumbler was not activated."
            elif event.tumbles < book.valid_tumbles:
                yield situation_of(book, "few-tumbles"), f"The tumbler turned {event.tumbles} times."
            if not closed and event.is_running_tumbler:
                yield situation_of(book, "tumbler-early"), "The tumbler ran before betting was closed."
        elif event.kind == DICE_EXPOSED and not closed:
            yield situation_of(book, "dice-exposed-early"), "The dice were seen before betting was closed."
        elif event.kind == DIE_NOT_FLAT:
            yield situation_of(book, "die-not-flat"), "A die did not rest flat."
        elif event.kind == INTERRUPTION:
            known = "some" if event.known or established else "none"
            yield situation_of(book, "interruption", known_dice=known), _interrupted(event, established)
        elif event.kind == RESULT_AMENDED:
            when = "after settlement" if settled else "before settlement"
            yield situation_of(book, "wrong-result-entered", settled="yes" if settled else "no"), f"Amended {when}."
        closed |= event.kind == NO_MORE_BETS
        established |= is_result(event)
        settled |= event.kind == SETTLED


def _interrupted(event: Event, established: bool) -> str:
    if established:
        return "Interrupted after the result."
    dice = ", ".join(map(str, event.known or ())) or "none"
    return f"Interrupted with dice known: {dice}."


def _irregularity(situation: Situation, detail: str) -> Irregularity:
    return Irregularity(situation.rules[0] if situation.rules else None, situation.action, detail)


def _void_irregularity(book: Rulebook, event: Event, exact: Sequence[str]) -> Irregularity | None:
    """Cite the exact rule that an event shows, where a general rule was named."""
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
