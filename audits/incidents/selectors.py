"""Waiting handovers, disputes, and rounds by reference. Every query is answered from an index; nothing is counted."""

from typing import Any

from django.db import connection
from django.db.models import QuerySet

from audits.models import Dispute, Handover
from games.access.gate import visible
from games.models import Round


def waiting_handovers(actor: Any) -> QuerySet[Handover]:
    """Return the handovers that are signed off and not taken over."""
    return visible(actor, Handover.objects.filter(taken=None)).select_related("casino", "pit__casino")


def disputes_found(actor: Any, *, only_running: bool) -> QuerySet[Dispute]:
    """Return disputes; with `only_running` the open ones, those due first at the top."""
    disputes = visible(actor, Dispute.objects.select_related("incident__casino", "incident__table"))
    if only_running:
        disputes = disputes.filter(resolved_at=None)
        return disputes.exclude(notified_at__isnull=False, patron_told_at__isnull=False).order_by("due_at", "pk")
    return disputes.order_by("-raised_at", "-pk")


#: Every source that ever sent a round to a casino: only a few, found in as many steps over the index of round names.
SOURCES = """
WITH RECURSIVE sources AS (
    (SELECT casino_id, source FROM games_round ORDER BY casino_id, source LIMIT 1)
    UNION ALL
    SELECT following.casino_id, following.source FROM sources s CROSS JOIN LATERAL (
        SELECT r.casino_id, r.source FROM games_round r WHERE (r.casino_id, r.source) > (s.casino_id, s.source)
        ORDER BY r.casino_id, r.source LIMIT 1
    ) following
)
SELECT casino_id, source FROM sources
"""


def rounds_called(actor: Any, ref: str) -> QuerySet[Round]:
    """Return the visible rounds with this reference from any source, found by index however many rounds there are."""
    with connection.cursor() as cursor:
        cursor.execute(SOURCES)
        casinos, sources = zip(*cursor.fetchall(), strict=True) if cursor.rowcount else ((), ())
    named = Round.objects.filter(casino__in=set(casinos), source__in=set(sources), ref=ref)
    return visible(actor, named.select_related("table__casino"))
