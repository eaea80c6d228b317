"""Orders under 5.6: the incident that they require, the rounds that they reach, and the part that was ordered."""

import datetime as dt
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from django.core.exceptions import ValidationError
from django.db.models import QuerySet

from audits.incidents.affected_rounds import DAMAGED, Radius, radius_of
from audits.incidents.labels import situation_label
from audits.models import Consequence, Incident
from games.engine.rules.loader import rulebooks
from games.floor.moments import as_text
from games.models import Round

VOID_AFFECTED = "void-affected"


@dataclass(frozen=True)
class Narrowing:
    """A part of the affected period, and why only this part."""

    starts_at: dt.datetime | None = None
    ends_at: dt.datetime | None = None
    reason: str = ""

    def __bool__(self) -> bool:
        return self.starts_at is not None or self.ends_at is not None or bool(self.reason.strip())


NOT_NARROWED = Narrowing()


@dataclass(frozen=True)
class Reach:
    """The part of an affected period that an order covers."""

    radius: Radius
    starts_at: dt.datetime
    ends_at: dt.datetime
    narrowing: str

    def rounds(self) -> QuerySet[Round]:
        """Return the rounds of the ordered part; a round in progress at its beginning belongs to it."""
        rounds = self.radius.rounds()
        if self.starts_at > self.radius.starts_at:
            rounds = rounds.filter(ended_at__gte=self.starts_at)
        return rounds.filter(started_at__lte=self.ends_at)

    def kept(self) -> dict[str, Any]:
        """Return the fields that the order keeps."""
        return {
            "dice_set": self.radius.dice_set, "radius_from": self.radius.starts_at, "radius_to": self.radius.ends_at,
            "affected_from": self.starts_at, "affected_to": self.ends_at, "narrowing": self.narrowing,
        }  # fmt: skip


def verify_damaged(incident: Incident) -> None:
    """Refuse an incident that is not about damaged dice."""
    if incident.situation != DAMAGED:
        raise ValidationError(
            f"5.6 is about damaged dice, but {incident} is about another situation "
            f"({situation_label(incident.situation)}). If dice were damaged, first correct the situation of the "
            f"incident to {situation_label(DAMAGED)}."
        )


def radius_for(incident: Incident) -> Radius:
    """Return the affected period of an incident with damaged dice; refuse with a sentence that says what is missing."""
    verify_damaged(incident)
    if incident.table is None:
        raise ValidationError(f"{incident} has no table; correct the incident and enter the table first.")
    radius = radius_of(incident.table, incident.occurred_from, incident.occurred_to)
    if radius is None:
        raise ValidationError(
            f"No dice set is on record at {incident.table} when the damage of {incident} was found, or rounds were "
            "played there since the last one was removed, so the affected rounds are unknown. Record the fitting of "
            "the dice set, or correct the table or time of the incident; otherwise have the incident ruled on and "
            "order the void by the ruling."
        )
    return radius


def reach_of(incident: Incident, narrowed: Narrowing = NOT_NARROWED) -> Reach:
    """Return what an order covers: the whole affected period, or the narrowed part."""
    radius = radius_for(incident)
    starts_at = _exact(narrowed.starts_at, radius.starts_at)
    ends_at = _exact(narrowed.ends_at, radius.ends_at)
    is_part = (starts_at, ends_at) != (radius.starts_at, radius.ends_at)
    if is_part or narrowed.reason.strip():
        verify_narrowing(incident, radius, starts_at, ends_at, narrowed.reason, is_part=is_part)
    return Reach(radius, starts_at, ends_at, narrowed.reason.strip())


def _exact(entered: dt.datetime | None, known: dt.datetime) -> dt.datetime:
    """Return the exact known moment if its whole seconds were entered, as pages show them."""
    return known if entered is None or entered == known.replace(microsecond=0) else entered


def verify_narrowing(
    incident: Incident, radius: Radius, starts_at: dt.datetime, ends_at: dt.datetime, reason: str, *, is_part: bool
) -> None:  # fmt: skip
    """Refuse a part outside the affected period, a part without a reason, or a reason without a part."""
    first, last = (as_text(moment, incident.casino) for moment in (radius.starts_at, radius.ends_at))
    faults = {}
    if not radius.starts_at <= starts_at <= radius.ends_at:
        faults["from"] = f"Choose a time from {first} to {last}: this is the affected period."
    if not radius.starts_at <= ends_at <= radius.ends_at:
        faults["to"] = f"Choose a time from {first} to {last}: this is the affected period."
    if not faults and ends_at < starts_at:
        faults["to"] = "The end is before the beginning; change one of the two."
    if is_part and not reason.strip():
        faults["narrowing"] = "Give a reason for voiding only a part of the affected rounds; it is kept on record."
    if not is_part:
        faults["narrowing"] = "This covers all affected rounds; enter a shorter period (from, to), or leave it out."
    if faults:
        raise ValidationError(dict(faults))


def rulebooks_with(rule: str) -> list[str]:
    """Return the rulebooks in which this rule voids the rounds affected by damaged dice."""
    found = ((book.id, book.voidings.get(rule)) for book in rulebooks().values())
    return [key for key, voiding in found if voiding is not None and voiding.action == VOID_AFFECTED]


def verify_affected(incident: Incident, rounds: Iterable[Round]) -> Radius:
    """Refuse rounds that were not played with the damaged set in the affected period; return the period."""
    radius, named = radius_for(incident), {round_.pk: round_ for round_ in rounds}
    reached = set(radius.rounds().filter(pk__in=named).values_list("pk", flat=True))
    if outside := [round_ for key, round_ in named.items() if key not in reached]:
        first, last = (as_text(moment, incident.casino) for moment in (radius.starts_at, radius.ends_at))
        raise ValidationError({
            "rounds":
            f"{', '.join(map(str, outside[:5]))}: not played with dice set {radius.dice_set} from {first} to "
            f"{last}, so 5.6 does not reach {'it' if len(outside) == 1 else 'them'}. Leave out, or correct the time of "
            "the incident."
        })  # fmt: skip
    return radius


# --- An order that waits ------------------------------------------------------------------------------


def verify_still_reached(order: Consequence) -> None:
    """Refuse to execute an order under 5.6 if its incident now has another dice set or affected period."""
    rounds = Round.objects.filter(pk__in=order.round_ids)
    radius = verify_affected(order.incident, rounds)
    if radius.dice_set != order.dice_set or order.radius_from not in (None, radius.starts_at):
        raise ValidationError(
            f"{order.incident} was corrected since {order} was ordered: its dice set or affected period has changed. "
            "Decline this order and give a new one."
        )


def left_out(order: Consequence) -> QuerySet[Round]:
    """Return affected rounds that the order does not include: recorded or played after it was given."""
    if order.kind != Consequence.Kind.VOID_AFFECTED or order.incident.situation != DAMAGED or order.narrowing:
        return Round.objects.none()
    table = order.incident.table
    radius = radius_of(table, order.incident.occurred_from, order.incident.occurred_to) if table else None
    if radius is None:
        return Round.objects.none()
    covered = Consequence.objects.filter(incident=order.incident, kind=order.kind).values_list("round_ids", flat=True)
    named = {key for keys in covered for key in keys}
    rulebook_ids = {rule.partition("#")[0] for rule in order.rules}  # a rule reaches the rounds of its own rulebook
    rounds = radius.rounds() if order.ruling_id else radius.rounds().filter(rulebook__in=rulebook_ids)
    return rounds.exclude(pk__in=named).exclude(status=Round.Status.VOID)
