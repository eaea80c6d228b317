"""Access records: written before something is shown. What cannot be recorded is not shown."""

import datetime as dt
from collections.abc import Iterable
from typing import Any

from django.db import transaction
from django.db.models import Model
from django.utils import timezone

from games.access.gate import actor_name, entry_point, has_place, is_confidential, place_of
from games.models import AccessRecord, Casino, Staff
from games.rounds.selectors import RoundFilter

Kind = AccessRecord.Kind
#: The same person reading the same record again within this time is one access.
WINDOW = dt.timedelta(minutes=10)
LONGEST = 300


def confidential_read(actor: Any, things: Iterable[Model]) -> None:
    """Record the confidential records that a person is about to see. An error here refuses the read."""
    secret = {label_of(thing): thing for thing in things if is_confidential(thing)}
    _record(actor, Kind.CONFIDENTIAL, {label: casino_of(actor, thing) for label, thing in secret.items()})


def evidence_read(actor: Any, evidence: Model, how: str) -> None:
    """Record that an evidence file is opened or copied."""
    _record(actor, Kind.EVIDENCE, {f"{label_of(evidence)}, {how}": casino_of(actor, evidence)})


def record_player_search(actor: Any, wanted: RoundFilter) -> None:
    """Record a search for the rounds of a player."""
    if wanted.player:
        search_made(actor, f"rounds of player {wanted.player}")


def words_searched(actor: Any, words: str) -> None:
    """Record a search over incidents and the log, since it can find a patron."""
    if words.strip():
        search_made(actor, f"incidents and log: {words.strip()}")


def search_made(actor: Any, what: str) -> None:
    """Record a search for a player or for words."""
    _record(actor, Kind.SEARCH, {what: getattr(actor, "casino_id", None)})


def export_made(actor: Any, what: str, casino: Casino | None = None) -> None:
    """Record that data leaves the product as a file. Every export is recorded, however soon after the last."""
    place = casino.pk if casino else getattr(actor, "casino_id", None)
    _record(actor, Kind.EXPORT, {what: place}, window=dt.timedelta(0))


def label_of(thing: Model) -> str:
    words = str(thing)
    about = getattr(thing, "incident", None)
    name = f"{thing._meta.verbose_name} {words if str(thing.pk) in words else f'{thing.pk}: {words}'}"
    return f"{name} ({about})" if about is not None and str(about) not in words else name


def casino_of(actor: Any, thing: Model) -> int | None:
    """Return the casino of a record, so that its compliance sees who read it."""
    place = place_of(thing)[0] if has_place(type(thing)) else None
    return place if place is not None else getattr(actor, "casino_id", None)


@transaction.atomic
def _record(actor: Any, kind: str, labels: dict[str, int | None], *, window: dt.timedelta = WINDOW) -> None:
    """Write one row for each record, unless the same person accessed it just now."""
    places = {_plain(label): place for label, place in labels.items()}
    if not places:
        return
    staff = actor if isinstance(actor, Staff) else None
    who, now = actor_name(actor), timezone.now()
    lately = AccessRecord.objects.filter(staff=staff, who=who, kind=kind, thing__in=places, at__gt=now - window)
    known = set(lately.values_list("thing", flat=True))
    AccessRecord.objects.bulk_create(
        AccessRecord(
            staff=staff, casino_id=place, who=who, kind=kind, thing=label, door=_plain(entry_point.get()), at=now
        )
        for label, place in places.items()
        if label not in known
    )


def _plain(text: str) -> str:
    """Make a text storable: PostgreSQL stores no NUL, and an index no long text."""
    return text.replace("\x00", "\\x00").encode("utf-8", "replace").decode()[:LONGEST]
