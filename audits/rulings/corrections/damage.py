"""Orders by 5.6: which incident they need, which rounds they reach, and the part of the time that was ordered."""

import datetime as dt
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from django.core.exceptions import ValidationError
from django.db.models import QuerySet

from audits.incidents.affected_rounds import DAMAGED, Radius, radius_of
from audits.models import Consequence, Incident
from games.engine.rules.loader import rulebooks
from games.floor.moments import as_text
from games.models import Round

VOID_AFFECTED = "void-affected"


@dataclass(frozen=True)
class Narrowing:
    """A part of the time in which rounds are affected, and why only this part."""

    starts_at: dt.datetime | None = None
    ends_at: dt.datetime | None = None
    reason: str = ""

    def __bool__(self) -> bool:
        return self.starts_at is not None or self.ends_at is not None or bool(self.reason.strip())


NOT_NARROWED = Narrowing()


@dataclass(frozen=True)
class Reach:
    """What an order covers of a radius."""

    radius: Radius
    starts_at: dt.datetime
    ends_at: dt.datetime
    narrowing: str

    def rounds(self) -> QuerySet[Round]:
        """Those of the part that was ordered; a round that was on at its beginning belongs to it."""
        rounds = self.radius.rounds()
        if self.starts_at > self.radius.starts_at:
            rounds = rounds.filter(ended_at__gte=self.starts_at)
        return rounds.filter(started_at__lte=self.ends_at)

    def kept(self) -> dict[str, Any]:
        """What the order keeps of it."""
        return {
            "dice_set": self.radius.dice_set, "radius_from": self.radius.starts_at, "radius_to": self.radius.ends_at,
            "affected_from": self.starts_at, "affected_to": self.ends_at, "narrowing": self.narrowing,
        }  # fmt: skip


def verify_damaged(incident: Incident) -> None:
    if incident.situation != DAMAGED:
        raise ValidationError(
            f"5.6 is about damaged dice, and {incident} is about {incident.situation!r}. If dice were damaged, correct "
            f"the situation of the incident to {DAMAGED!r} first."
        )


def radius_for(incident: Incident) -> Radius:
    """The radius of an incident with damaged dice, or a sentence that says what is missing."""
    verify_damaged(incident)
    if incident.table is None:
        raise ValidationError(f"{incident} is at no table; correct the incident and name the table first.")
    radius = radius_of(incident.table, incident.occurred_from, incident.occurred_to)
    if radius is None:
        raise ValidationError(
            f"No dice set is on record at {incident.table} when the damage of {incident} was found, or rounds were "
            "played there since the last one was taken out, so no round can be called affected. Record the fitting of "
            "the dice set, or correct the table or time of the incident; else have the incident ruled on and order the "
            "void by the ruling."
        )
    return radius


def reach_of(incident: Incident, narrowed: Narrowing = NOT_NARROWED) -> Reach:
    """The whole radius, or the part of it that was asked for."""
    radius = radius_for(incident)
    starts_at = _shown(narrowed.starts_at, radius.starts_at)
    ends_at = _shown(narrowed.ends_at, radius.ends_at)
    is_part = (starts_at, ends_at) != (radius.starts_at, radius.ends_at)
    if is_part or narrowed.reason.strip():
        verify_narrowing(incident, radius, starts_at, ends_at, narrowed.reason, is_part=is_part)
    return Reach(radius, starts_at, ends_at, narrowed.reason.strip())


def _shown(asked: dt.datetime | None, known: dt.datetime) -> dt.datetime:
    """Pages show seconds: who writes what is shown means the very moment."""
    return known if asked is None or asked == known.replace(microsecond=0) else asked


def verify_narrowing(
    incident: Incident, radius: Radius, starts_at: dt.datetime, ends_at: dt.datetime, reason: str, *, is_part: bool
) -> None:  # fmt: skip
    first, last = (as_text(moment, incident.casino) for moment in (radius.starts_at, radius.ends_at))
    faults = {}
    if not radius.starts_at <= starts_at <= radius.ends_at:
        faults["from"] = f"Choose a time from {first} to {last}: these are the affected rounds."
    if not radius.starts_at <= ends_at <= radius.ends_at:
        faults["to"] = f"Choose a time from {first} to {last}: these are the affected rounds."
    if not faults and ends_at < starts_at:
        faults["to"] = "The end is before the beginning; change one of the two."
    if is_part and not reason.strip():
        faults["narrowing"] = "Say why only a part of the affected rounds is voided; it stays on record with the order."
    if not is_part:
        faults["narrowing"] = "This covers all affected rounds; name a shorter time (from, to), or leave it out."
    if faults:
        raise ValidationError(dict(faults))


def rulebooks_with(rule: str) -> list[str]:
    """The documents in which this rule voids the rounds that damaged dice affected."""
    found = ((book.id, book.voidings.get(rule)) for book in rulebooks().values())
    return [key for key, voiding in found if voiding is not None and voiding.action == VOID_AFFECTED]


def verify_affected(incident: Incident, rounds: Iterable[Round]) -> Radius:
    """Rounds that were named one by one: 5.6 reaches them only if the damaged set was played with."""
    radius, named = radius_for(incident), {round_.pk: round_ for round_ in rounds}
    reached = set(radius.rounds().filter(pk__in=named).values_list("pk", flat=True))
    if outside := [round_ for key, round_ in named.items() if key not in reached]:
        first, last = (as_text(moment, incident.casino) for moment in (radius.starts_at, radius.ends_at))
        raise ValidationError({
            "rounds": f"{', '.join(map(str, outside[:5]))}: not played with dice set {radius.dice_set} from {first} to "
            f"{last}, so 5.6 does not reach {'it' if len(outside) == 1 else 'them'}. Leave it out, or correct the "
            "time of the incident."
        })  # fmt: skip
    return radius


# --- An order that waits ------------------------------------------------------------------------------


def verify_still_reached(order: Consequence) -> None:
    """Refuse to execute an order by 5.6 whose incident is now about another dice set or reaches other rounds."""
    rounds = Round.objects.filter(pk__in=order.round_ids)
    radius = verify_affected(order.incident, rounds)
    if radius.dice_set != order.dice_set or order.radius_from not in (None, radius.starts_at):
        raise ValidationError(
            f"{order.incident} was corrected since {order} was ordered: the dice set, or the time of its affected "
            "rounds, is another now. Decline this order and give a new one."
        )


def left_out(order: Consequence) -> QuerySet[Round]:
    """Rounds that the damaged dice affected and the order does not name: they came, or were played, since then."""
    if order.kind != Consequence.Kind.VOID_AFFECTED or order.incident.situation != DAMAGED or order.narrowing:
        return Round.objects.none()
    table = order.incident.table
    radius = radius_of(table, order.incident.occurred_from, order.incident.occurred_to) if table else None
    if radius is None:
        return Round.objects.none()
    covered = Consequence.objects.filter(incident=order.incident, kind=order.kind).values_list("round_ids", flat=True)
    named = {key for keys in covered for key in keys}
    books = {number.partition("#")[0] for number in order.rules}  # a rule reaches the rounds of its own document
    rounds = radius.rounds() if order.ruling_id else radius.rounds().filter(rulebook__in=books)
    return rounds.exclude(pk__in=named).exclude(status=Round.Status.VOID)
