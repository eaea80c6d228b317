"""What a ruling may decide (RWS 5.14): what the rules leave open, and which reading of an unclear rule applies."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from audits.incidents.labels import ACTIONS, situation_label
from audits.models import Incident, Ruling, RulingKind
from audits.reconciliation.explain import recorded_round
from audits.reconciliation.terms import terms_of_day
from games.engine.errors import InputError
from games.engine.play.findings import RecordedRound
from games.engine.play.irregularities import Event, voiding_situations
from games.engine.rules.advice import advise
from games.engine.rules.citation import SEPARATOR
from games.engine.rules.loader import rulebooks
from games.engine.rules.readings import SETTLE, VOID, Reading, readings_that_set
from games.engine.rules.reopened_rounds import opens
from games.engine.rules.rulebook import Rulebook, Situation
from games.labels.rules import rulebook_label, rules_label
from games.models import Round

if TYPE_CHECKING:
    from audits.rulings.services.rulings import RulingDraft

OVER_LIMIT = "over-limit-unnoticed"
#: Situations in which the record itself is in question, and that no rule names.
WRONG_RECORD, OTHER = "wrong-result-entered", "other"
#: The reading by which an over-full box needs a ruling, although a rule says how its bets are cut.
MINIMUMS = "minimums-exceed-the-box"
MOST_ROUNDS = 50


@dataclass(frozen=True)
class Decided:
    """A rule that itself decides an incident."""

    book: Rulebook
    situation: Situation

    @property
    def rules(self) -> list[str]:
        return self.book.cite(*self.situation.rules)

    @property
    def action(self) -> str:
        return ACTIONS.get(self.situation.action, self.situation.action)

    def __str__(self) -> str:
        decision = f"{rules_label(self.rules)} decides this: {self.action}. {self.situation.explain}"
        return f"{decision} If the facts differ from the report, correct the situation of the incident."


def book_of(incident: Incident) -> Rulebook | None:
    """Return the rulebook of an incident, if it has one."""
    return rulebooks().get(incident.rulebook)


def situation_of(incident: Incident, book: Rulebook | None = None) -> Situation | None:
    """Return the rulebook's entry for an incident; None without a rulebook, or if a fact is missing."""
    book = book or book_of(incident)
    if book is None:
        return None
    try:
        return advise(book, incident.situation, incident.facts)
    except InputError:
        return None


def decided(incident: Incident, book: Rulebook | None = None) -> Decided | None:
    """Return the rule that decides an incident; None where it is left to a ruling or to discretion.

    `book` is the rulebook of a round; by default the incident's own.
    """
    book = book or book_of(incident)
    situation = situation_of(incident, book)
    return Decided(book, situation) if book and situation and situation.is_decided else None


def not_covered_fault(incident: Incident) -> str:
    """Say why an incident cannot be ruled on as not covered by the rules; empty where it can."""
    if book_of(incident) is None and incident.situation != OTHER:
        return f"{incident} has no table, so its rulebook is unknown. Enter the table first."
    found = decided(incident)
    return str(found) if found and not minimums_exceed(incident) else ""


def minimums_exceed(incident: Incident) -> bool:
    """Return whether 5.1.1 leaves a round to a ruling: the minimums of a box exceed what it may hold."""
    book = book_of(incident)
    if incident.situation != OVER_LIMIT or book is None or MINIMUMS not in book.readings:
        return False
    rounds = Round.objects.filter(incidents__incident=incident, rulebook=book.id).select_related("table")
    return any(needs_ruling(round_) for round_ in rounds.order_by("pk")[:MOST_ROUNDS])


def needs_ruling(round_: Round) -> bool:
    """Return whether the minimums of a box of this round exceed what the box may hold."""
    reckoning = _as_recorded(round_).reckoning
    return bool(reckoning and reckoning.needs_ruling)


def _as_recorded(round_: Round) -> RecordedRound:
    return recorded_round(round_, terms_of_day(round_.table).at(round_.assignment_id, round_.started_at))


# --- A draft ----------------------------------------------------------------------------------------


def remit_faults(incident: Incident, draft: "RulingDraft") -> dict[str, str]:
    """Say by field why a draft goes beyond what a ruling may decide; a withdrawal never does."""
    if draft.is_withdrawal:
        return {}
    if fault := _readings_fault(incident, draft):
        return {"readings": fault}
    if draft.kind == RulingKind.NOT_COVERED and (fault := not_covered_fault(incident)):
        return {"kind": fault}
    if draft.kind == RulingKind.INTERPRETATION and (fault := _interpretation_fault(incident, draft)):
        return {"rules": fault}
    if draft.kind == RulingKind.CONFIRMATION and (fault := _confirmation_fault(incident, draft)):
        return {"rules": fault}
    return {}


def _readings_fault(incident: Incident, draft: "RulingDraft") -> str:
    book = book_of(incident)
    if not draft.readings:
        return ""
    if draft.kind != RulingKind.INTERPRETATION:
        return "Only an interpretation takes a reading; leave it out."
    if book is None:
        return f"{incident} has no table with a rulebook, so there are no readings to choose from."
    unknown = [name for name in draft.readings if name not in book.readings]
    return (
        f"{unknown[0]!r:.60} is not a reading of {rulebook_label(book.id)}; choose {', '.join(book.readings)}."
        if unknown
        else ""
    )


def _interpretation_fault(incident: Incident, draft: "RulingDraft") -> str:
    """Say why a rule that decides the incident cannot be interpreted so: only by a reading of its situation.

    A standing interpretation may also set what the rulebook leaves open, whatever the incident is about.
    """
    book, found = book_of(incident), decided(incident)
    if book is None or found is None or readings_set(book, draft) or _readings_in_question(found, draft):
        return ""
    names = ", ".join(found.situation.readings)
    left = f"Its readings are {names}; choose one of these." if names else "No reading of it is left open."
    cited = ", ".join([*draft.readings, *draft.rules])[:200]
    return f"{found} The rulebook lists no reading of {cited} that could decide it differently. {left}"


def _confirmation_fault(incident: Incident, draft: "RulingDraft") -> str:
    """Refuse a confirmation that does not name the rule that decides the incident."""
    found = decided(incident)
    if found is None or set(found.rules) & set(draft.rules):
        return ""
    return f"{found} Confirm that rule: name {' or '.join(found.rules)}."


def _readings_in_question(found: Decided, draft: "RulingDraft") -> list[str]:
    """Return the readings of the situation that the draft is about: by name, or by their rules if none is named."""
    about = draft.readings or readings_on(found.book, draft.rules)
    return [name for name in found.situation.readings if name in about]


def readings_recorded(incident: Incident, draft: "RulingDraft") -> list[str]:
    """Return the readings recorded with the ruling: those named or cited, and those that it sets."""
    book, found = book_of(incident), decided(incident)
    if book is None or draft.is_withdrawal:
        return list(draft.readings)
    named = [*draft.readings, *readings_set(book, draft)]
    if draft.kind == RulingKind.INTERPRETATION and found and not named:
        named = _readings_in_question(found, draft)
    if draft.kind == RulingKind.NOT_COVERED and found:  # it was verified that the minimums exceed the box
        named.append(MINIMUMS)
    return list(dict.fromkeys(named))


def readings_set(book: Rulebook, draft: "RulingDraft") -> list[str]:
    """Return the readings that the draft's setting changes."""
    return readings_that_set(book, draft.setting.excess, draft.setting.rounding)


def readings_on(book: Rulebook, citations: Sequence[str]) -> list[str]:
    """Return the names of the readings of any of these rules."""
    numbers = {number for id_, _, number in (citation.partition(SEPARATOR) for citation in citations) if id_ == book.id}
    return [reading.name for reading in book.readings.values() if numbers & set(reading.rules)]


def readings_shown(incident: Incident) -> list[Reading]:
    """Return all readings of an incident's rulebook, those of its situation first."""
    book, situation = book_of(incident), situation_of(incident)
    if book is None:
        return []
    first = book.readings_of(situation) if situation else []
    return [*first, *(reading for reading in book.readings.values() if reading not in first)]


# --- Corrective actions under a ruling ---------------------------------------------------------------

VOIDS = ("void", "void-affected")


def order_fault(
    ruling: Ruling,
    round_: Round,
    *,
    voids: bool,
    dice: Sequence[int] | None = None,
    nets: Mapping[int, int] | None = None,
) -> str:
    """Say why this round cannot be voided or settled so by a ruling: its own rulebook and events decide it."""
    book, incident = rulebooks()[round_.rulebook], ruling.incident
    found = decided(incident, book)
    if found is None:
        return "" if voids or incident.situation == WRONG_RECORD else _void_by_record_fault(ruling, book, round_)
    if found.situation.action in VOIDS and not voids and not _is_opened(ruling, found, SETTLE, round_):
        return f"{found} {round_} cannot be settled by {ruling}; order a void."
    if voids:
        is_open = found.situation.action in VOIDS or _is_opened(ruling, found, VOID, round_)
        return "" if is_open else f"{found} {round_} cannot be voided by {ruling}."
    if ruling.kind == RulingKind.CONFIRMATION and (nets or _are_other(dice, round_)):
        return f"{found} {ruling} confirms that rule: {round_} is settled by it and by its own dice; enter no others."
    if ruling.kind == RulingKind.NOT_COVERED and not (incident.situation == OVER_LIMIT and needs_ruling(round_)):
        return (
            f"{found} In {round_} no box has minimums above what it may hold, so {ruling} has nothing to decide there."
        )
    return _void_by_record_fault(ruling, book, round_)


def _void_by_record_fault(ruling: Ruling, book: Rulebook, round_: Round) -> str:
    """Refuse to settle a round as valid if its own events void it, whatever the incident is about."""
    for situation in voiding_situations(book, _events(round_)):
        if not _is_opened(ruling, Decided(book, situation), SETTLE, round_):
            return (
                f"By its own record, {round_} is void under {rules_label(book.cite(*situation.rules))}: "
                f"{situation.explain} Order a void. If that event was recorded wrongly, correct the situation of "
                f"{ruling.incident} to {situation_label(WRONG_RECORD)}."
            )
    return ""


def _is_opened(ruling: Ruling, found: Decided, outcome: str, round_: Round) -> bool:
    """Return whether the ruling interprets a reading of the situation whose alternative allows this outcome."""
    if ruling.kind != RulingKind.INTERPRETATION:
        return False
    about = [reading for reading in found.book.readings_of(found.situation) if reading.name in ruling.readings]
    return any(opens(found.book, reading, outcome, _events(round_)) for reading in about)


def _are_other(dice: Sequence[int] | None, round_: Round) -> bool:
    throw = _as_recorded(round_).assessment.throw
    return bool(dice) and (throw is None or sorted(dice or ()) != sorted(throw.faces))


def _events(round_: Round) -> Sequence[Event]:
    return _as_recorded(round_).events


def place_fault(incident: Incident, round_: Round) -> str:
    """Say why a ruling on an incident does not reach a round: it was played at another table and is not named."""
    if incident.table_id == round_.table_id or incident.rounds.filter(round=round_).exists():
        return ""
    if incident.table_id is not None:
        return (
            f"{round_} was not played at {incident.table}, and {incident} does not name it; add the round there first."
        )
    return f"{incident} has no table and does not name {round_}; add the round to the incident first."
