"""Limit periods: the limit sets of a table, each from its moment until the next one takes over."""

import datetime as dt
from dataclasses import dataclass

from django.db.models import Q

from games.models import LimitSet, Table


@dataclass(frozen=True)
class LimitPeriod:
    """A limit set with the moment at which the next one takes over."""

    limit_set: LimitSet
    ends_at: dt.datetime | None

    @property
    def starts_at(self) -> dt.datetime:
        return self.limit_set.starts_at


def limit_periods(table: Table, known_at: dt.datetime | None = None) -> list[LimitPeriod]:
    """Return all limits of a table as known at a moment, the latest first.

    Of several revisions from the same moment the latest counts.
    """
    known = Q() if known_at is None else Q(recorded_at__lte=known_at)
    limit_sets = (
        LimitSet.objects.filter(known, table=table)
        .order_by("-starts_at", "-revision")
        .select_related("sheet", "decision__decided_by", "decision__proposal__proposed_by")
        .prefetch_related("sheet__lines", "sheet__differentials")
    )
    periods: list[LimitPeriod] = []
    for limit_set in limit_sets:
        if not periods or periods[-1].starts_at != limit_set.starts_at:
            periods.append(LimitPeriod(limit_set, periods[-1].starts_at if periods else None))
    return periods
