"""Accounts at a moment: active or not, last login, remarks, and the denials of a period."""

import datetime as dt

from django.db.models import Count, Max, Q, QuerySet

from audits.reports.kinds.role_spans import Histories, RoleSpan, Version, version_at
from games.access.services.access_reviews import UNUSED_AFTER
from games.accounts.services.sessions import ABSOLUTE
from games.models import AccessReviewLine, Denial, LoginSession, Staff, Terminal

LEFT, UNUSED = str(AccessReviewLine.Flag.LEFT.label), str(AccessReviewLine.Flag.UNUSED.label)
NEVER = "Never signed in"
OUTLIVED = "Acting appointment outlived the permanent post"
OPEN_SESSION = "Inactive, with an open session"
KEYS = "Inactive, made terminal keys that are still in use"


class Accounts:
    """The accounts of all people of a report, read with a fixed number of queries."""

    def __init__(self, people: Histories, at: dt.datetime, day: dt.date, denials: QuerySet[Denial]) -> None:
        """Read the accounts. `day` is the gaming day at the moment: people work until the end of their last day."""
        self.at, self.day = at, day
        self.people = Staff.objects.in_bulk(people)
        self.versions: dict[int, Version] = {
            staff_id: version for staff_id, versions in people.items() if (version := version_at(versions, at))
        }
        logins = LoginSession.objects.filter(started_at__lte=at).order_by().values("staff")
        before = Max("passed_at", filter=Q(passed_at__lte=at))
        self._logins: dict[int, dt.datetime | None] = dict(logins.annotate(last=before).values_list("staff", "last"))
        open_ones = Q(started_at__gt=at - ABSOLUTE) & (Q(ended_at=None) | Q(ended_at__gt=at))
        self._with_session = set(logins.filter(open_ones).values_list("staff", flat=True))
        in_use = Terminal.objects.filter(Q(revoked_at=None) | Q(revoked_at__gt=at))
        made = Terminal.history.filter(history_type="+", history_date__lte=at, id__in=in_use.values("id"))
        self._with_keys = set(made.order_by().values_list("history_user", flat=True))
        counted = denials.exclude(staff=None).order_by().values("staff").annotate(count=Count("pk"), last=Max("at"))
        self.denials = {counts["staff"]: (counts["count"], counts["last"]) for counts in counted}

    def last_login(self, staff_id: int) -> dt.datetime | None:
        """Return the last login up to the moment, from sessions, or from the account if no session is on record."""
        if staff_id in self._logins:
            return self._logins[staff_id]
        noted = self.people[staff_id].last_login
        return noted if noted and noted <= self.at else None

    def can_log_in(self, staff_id: int) -> bool:
        return self.people[staff_id].has_usable_password() or self.last_login(staff_id) is not None

    def remarks(self, span: RoleSpan) -> list[str]:
        """Return the remarks on an account or appointment whose span includes the moment."""
        version = self.versions.get(span.staff_id)
        if version is None or not span.has(self.at):
            return []
        if span.is_acting:
            has_other = span.own not in (("", ""), (version.department, version.post))
            return [OUTLIVED] if has_other or not version.is_active else []
        if not version.is_active:
            remarks = ((OPEN_SESSION, self._with_session), (KEYS, self._with_keys))
            return [remark for remark, people in remarks if span.staff_id in people]
        return [*self._left(version), *self._unused(span.staff_id)]

    def _left(self, version: Version) -> list[str]:
        return [LEFT] if version.leaves_on is not None and version.leaves_on < self.day else []

    def _unused(self, staff_id: int) -> list[str]:
        last = self.last_login(staff_id)
        if last is None:
            return [NEVER]
        return [UNUSED] if last < self.at - UNUSED_AFTER else []
