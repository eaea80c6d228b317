"""Which entries, files and disputes somebody looks for: by index only, and nothing is counted."""

import datetime as dt
from dataclasses import dataclass
from typing import Any

from django.contrib.postgres.search import SearchQuery
from django.db import connection
from django.db.models import QuerySet
from django.utils import timezone

from audits.incidents.states import UNFINISHED
from audits.models import Dispute, Handover, Incident, LogEntry
from games.models import Round
from games.services.gate import visible

DAY = dt.timedelta(days=1)


@dataclass(frozen=True)
class EntryFilter:
    """Which entries of all that somebody may see; every part may be left out."""

    day: dt.date | None = None
    shift: str = ""
    table: str = ""
    text: str = ""


def entries_found(actor: Any, wanted: EntryFilter) -> QuerySet[LogEntry]:
    entries = visible(actor, LogEntry.objects.select_related("casino", "table"))
    if wanted.day is not None:
        entries = entries.filter(gaming_day=wanted.day)
    if wanted.shift:
        entries = entries.filter(shift=wanted.shift)
    if wanted.table:
        entries = entries.filter(table__code__iexact=wanted.table.strip())
    return entries.filter(search=by_words(wanted.text)) if wanted.text.strip() else entries


@dataclass(frozen=True)
class IncidentFilter:
    """`state` is one of the states, "unfinished", or empty for all; the days are by the clock of the page."""

    state: str = "unfinished"
    table: str = ""
    first: dt.date | None = None
    last: dt.date | None = None
    text: str = ""


def incidents_found(actor: Any, wanted: IncidentFilter) -> QuerySet[Incident]:
    files = visible(actor, Incident.objects.select_related("casino", "table")).defer("advice")
    if wanted.state:
        states = UNFINISHED if wanted.state == "unfinished" else (wanted.state,)
        files = files.filter(state__in=states)
    if wanted.table:
        files = files.filter(table__code__iexact=wanted.table.strip())
    if wanted.first is not None:
        files = files.filter(occurred_from__gte=midnight(wanted.first))
    if wanted.last is not None:
        files = files.filter(occurred_from__lt=midnight(wanted.last + DAY))
    return files.filter(search=by_words(wanted.text)) if wanted.text.strip() else files


def by_words(text: str) -> SearchQuery:
    return SearchQuery(text, search_type="websearch", config="english")


def midnight(day: dt.date) -> dt.datetime:
    return timezone.make_aware(dt.datetime.combine(day, dt.time()))


def waiting_handovers(actor: Any) -> QuerySet[Handover]:
    """Signed by who left, and by nobody who took over."""
    return visible(actor, Handover.objects.filter(taken=None)).select_related("casino", "pit__casino")


def disputes_found(actor: Any, *, only_running: bool) -> QuerySet[Dispute]:
    """Those whose time ends first at the top; those that have run out stand before all others."""
    disputes = visible(actor, Dispute.objects.select_related("incident__casino", "incident__table"))
    if only_running:
        disputes = disputes.filter(resolved_at=None)
        return disputes.exclude(notified_at__isnull=False, patron_told_at__isnull=False).order_by("due_at", "pk")
    return disputes.order_by("-raised_at", "-pk")


#: Every source that ever sent a round: a handful, found by as many steps over the index of (source, ref).
SOURCES = """
WITH RECURSIVE sources AS (
    (SELECT source FROM games_round ORDER BY source LIMIT 1)
    UNION ALL
    SELECT (SELECT r.source FROM games_round r WHERE r.source > s.source ORDER BY r.source LIMIT 1)
    FROM sources s WHERE s.source IS NOT NULL
)
SELECT source FROM sources WHERE source IS NOT NULL
"""


def rounds_called(actor: Any, ref: str) -> QuerySet[Round]:
    """The rounds of this reference within sight, whoever sent them; by index, however many rounds there are."""
    with connection.cursor() as cursor:
        cursor.execute(SOURCES)
        sources = [source for (source,) in cursor.fetchall()]
    return visible(actor, Round.objects.filter(source__in=sources, ref=ref).select_related("table__casino"))
