"""What waits: handovers and disputes; and rounds by what they are called. By index only, and nothing is counted."""

from typing import Any

from django.db import connection
from django.db.models import QuerySet

from audits.models import Dispute, Handover
from games.models import Round
from games.services.gate import visible


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
