"""The report of access: who had which role and acting appointment when, with remarks on accounts."""

import datetime as dt
from collections.abc import Iterator
from itertools import chain

from django.db.models import QuerySet
from django.utils import timezone

from audits.exports.document import Column, ColumnKind, Row
from audits.reports.kinds.accounts import Accounts
from audits.reports.kinds.role_spans import RoleSpan, acting_spans, histories, role_spans
from audits.reports.report_kind import ReportKind, ReportRequest, Shelf
from games.floor.moments import gaming_day
from games.models import Denial

PERMANENT, ACTING, INACTIVE = "Permanent", "Acting", "None (inactive)"
MICROSECOND = dt.timedelta(microseconds=1)


class Access(ReportKind):
    """One row for each person and role, and for each acting appointment, by staff number, then by time."""

    kind, title, things = "access", "Access", "accounts"
    shelf = Shelf.AUDIT
    about = (
        "For audit and compliance: who had which role and acting appointment when, the last login, accounts that "
        "should no longer be active, and access denials."
    )
    needs = ("staff.view", "denial.view", "accessrecord.view")
    rules = ("RWS 1.5",)
    reconciles = False
    columns = (
        Column("number", "Staff number", width=12), Column("name", "Name", width=22),
        Column("appointment", "Appointment", width=13), Column("role", "Role", width=16),
        Column("place", "Place", width=14), Column("from", "From", ColumnKind.MOMENT, 17),
        Column("to", "To", ColumnKind.MOMENT, 17), Column("granted_by", "Granted by", width=30),
        Column("active", "Active", ColumnKind.YES_NO, 7), Column("last_day", "Last day", ColumnKind.DATE, 11),
        Column("last_login", "Last login", ColumnKind.MOMENT, 17), Column("remarks", "Remarks", width=34),
        Column("denials", "Denials", ColumnKind.INTEGER, 8),
        Column("last_denial", "Last denial", ColumnKind.MOMENT, 17),
    )  # fmt: skip

    def __init__(self, request: ReportRequest) -> None:
        super().__init__(request)
        self.casino_id = request.casino.pk if request.casino else request.capacity.casino_id
        #: Accounts are described as of the end of the period, or as of now if that is earlier.
        self.at = min(request.bounds()[1] - MICROSECOND, timezone.now())

    def rows(self) -> Iterator[Row]:
        begins, ends = self.request.bounds()
        acting = list(acting_spans(self.casino_id, begins, ends))
        acted = {span.staff_id for span in acting}
        people = histories(self.casino_id, also=acted)
        casino = self.request.casino
        day = gaming_day(casino, self.at) if casino else self.at.astimezone(dt.UTC).date()
        accounts = Accounts(people, self.at, day, self._denials())
        permanent = chain.from_iterable(role_spans(versions, self.casino_id) for versions in people.values())
        listed = [span for span in permanent if span.is_in(begins, ends) and is_listed(span, accounts, acted)]
        for span in sorted([*listed, *acting], key=lambda span: self._order(span, accounts)):
            yield self._row(span, accounts)

    def nil(self) -> str:
        return "No account had a role or an acting appointment in the period."

    def notes(self) -> tuple[str, ...]:
        zone = self.request.timezone
        notes = [
            f"Account, last login and remarks are as of {self.at.astimezone(zone):%Y-%m-%d %H:%M} ({zone.key}). "
            "People who work for all casinos are included. People without rights, password and appointment have no "
            "account and no row."
        ]
        if unknown := self._denials().filter(staff=None).count():
            notes.append(f"Access denials of callers who were not logged in: {unknown:,}.")
        return tuple(notes)

    def _denials(self) -> QuerySet[Denial]:
        begins, ends = self.request.bounds()
        return Denial.objects.filter(self.request.capacity.within(Denial), at__gte=begins, at__lt=ends)

    def _order(self, span: RoleSpan, accounts: Accounts) -> tuple[str, dt.datetime, bool, str, str]:
        return accounts.people[span.staff_id].number, span.starts_at, span.is_acting, span.role, span.place

    def _row(self, span: RoleSpan, accounts: Accounts) -> Row:
        staff, now = accounts.people[span.staff_id], accounts.versions.get(span.staff_id)
        appointment = ACTING if span.is_acting else PERMANENT if span.is_active else INACTIVE
        spent = (appointment, span.role, span.place, span.starts_at, span.ends_at, span.granted_by)
        if now is None or (self.casino_id is not None and now.casino_id not in (None, self.casino_id)):
            return (staff.number, staff.name, *spent, *(None,) * 6)  # added later, or at another casino by then
        count, last = accounts.denials.get(staff.pk, (0, None))
        is_counted = self.request.capacity.casino_id in (None, now.casino_id)  # denials at other casinos do not count
        remarks = "; ".join(accounts.remarks(span)) or None
        account = (now.is_active, now.leaves_on, accounts.last_login(staff.pk), remarks)
        return (staff.number, staff.name, *spent, *account, count if is_counted else None, last)


def is_listed(span: RoleSpan, accounts: Accounts, acted: set[int]) -> bool:
    """Say whether a permanent role has a row: if there is an account, or a remark on an inactive one."""
    if not span.is_active:
        return bool(accounts.remarks(span))
    return span.has_rights or span.staff_id in acted or accounts.can_log_in(span.staff_id)
