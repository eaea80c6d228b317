"""Findings that nobody acknowledges: after a while the next higher post is told, and that is on record.

A finding that lies for as long as its casino allows goes up one post, and one more for each such time again. That time
begins anew with each notice: where nobody could be told for days, the posts are not all told within minutes.
"""

import datetime as dt
from collections import defaultdict
from collections.abc import Iterable

import structlog
from django.core.mail import send_mail
from django.db import connection, transaction
from django.db.models import F, OuterRef, Q, Subquery
from django.db.models.functions import Coalesce
from django.utils import timezone

from audits.models import (
    ConsequenceNotice,
    Escalation,
    Finding,
    Notice,
    NoticeMail,
    ProposerNotice,
    Severity,
    ThresholdNotice,
    policy_of,
)
from games.access.gate import capacities
from games.access.roles import ROLES
from games.engine.money import format_money
from games.models import Casino, Staff, Table

log = structlog.get_logger(__name__)

LADDER = ("pit-manager", "shift-manager", "casino-manager", "compliance")
AT_ONCE = 2000
NAMED = 10  # findings that a notice names; of the rest it says how many
MAILED_FOR = dt.timedelta(days=1)
LOCK = 0x7A15A2  # the first half of an advisory lock's key; the second is the notice's id, or
ESCALATING = 0

Group = tuple[int, int | None, str]  # casino, pit, role


@transaction.atomic
def findings_escalate(*, now: dt.datetime | None = None) -> list[Notice]:
    """Tell whoever is next; each finding goes up by one post at a time. Two of these at once tell nobody twice."""
    moment = now or timezone.now()
    if not _locked(ESCALATING):
        return []
    due: dict[Group, list[tuple[Finding, int]]] = defaultdict(list)
    for finding, level in _due(moment):
        role = LADDER[level - 1]
        pit = finding.table.pit if ROLES[role].reach == "pit" else None
        due[finding.table.casino_id, pit.pk if pit else None, role].append((finding, level))
    return [_tell(group, entries, moment) for group, entries in due.items()]


def _due(now: dt.datetime) -> Iterable[tuple[Finding, int]]:
    """Findings that have been open for longer than their casino allows, with the level they go to."""
    last = Escalation.objects.filter(finding=OuterRef("pk")).order_by("-level")
    waiting = Finding.objects.filter(state=Finding.State.OPEN, lapsed_at=None).annotate(
        level=Coalesce(Subquery(last.values("level")[:1]), 0),
        since=Coalesce(Subquery(last.values("notice__at")[:1]), F("found_at")),
    )
    due = waiting.filter(_too_long(now), level__lt=len(LADDER)).order_by("found_at", "pk")
    levels = dict(due.values_list("pk", "level")[:AT_ONCE])
    locked = Finding.objects.select_for_update(of=("self",), skip_locked=True).select_related("table__casino")
    for finding in locked.filter(pk__in=levels, state=Finding.State.OPEN, lapsed_at=None):
        yield finding, levels[finding.pk] + 1


def _too_long(now: dt.datetime) -> Q:
    """In each casino, for each severity: since a moment that lies too far back."""
    found = Q(pk__in=[])
    for casino in Casino.objects.all():
        policy = policy_of(casino)
        for severity in Severity:
            allowed = dt.timedelta(minutes=policy.patience(severity))
            found |= Q(table__casino=casino, severity=severity, since__lte=now - allowed)
    return found


def _locked(what: int) -> bool:
    """One at a time, until the transaction ends."""
    # SQL by hand: an advisory lock.
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_try_advisory_xact_lock(%s, %s)", [LOCK, what])
        return bool(cursor.fetchone()[0])


def _tell(group: Group, entries: list[tuple[Finding, int]], now: dt.datetime) -> Notice:
    casino_id, pit_id, role = group
    people = holders(role, Casino.objects.get(pk=casino_id), entries[0][0].table)
    notice = Notice.objects.create(
        casino_id=casino_id, pit_id=pit_id, role=role, at=now, text=text_of([finding for finding, _ in entries]),
        people=[str(person) for person in people], recipients=[person.pk for person in people],
    )  # fmt: skip
    Escalation.objects.bulk_create(
        [Escalation(finding=finding, level=level, notice=notice) for finding, level in entries], ignore_conflicts=True
    )
    return notice


def holders(role: str, casino: Casino, table: Table) -> list[Staff]:
    """Who is in this role at this moment, for this table: permanently or acting."""
    return [
        person
        for person in people_in(role, casino)
        if any(capacity.role.code == role and capacity.covers("finding.view", table) for capacity in capacities(person))
    ]


def people_in(role: str, casino: Casino) -> list[Staff]:
    """Who is in this role at this moment, in some place of a casino."""
    wanted = ROLES[role]
    here = Q(casino=casino) | Q(casino=None)
    now = timezone.now()
    acting = Q(duties__post=role, duties__starts_at__lte=now, duties__ends_at__gt=now)
    own = Q(department=wanted.department, post=wanted.post or "")
    return list(Staff.objects.filter(here & (own | acting), is_active=True).distinct())


def text_of(findings: list[Finding]) -> str:
    ranked = sorted(findings, key=lambda one: (-one.severity, -one.amount, one.pk))
    counted = "1 finding has" if len(findings) == 1 else f"{len(findings)} findings have"
    lines = [f"{counted} been open for too long and not been acknowledged."]
    for one in ranked[:NAMED]:
        weight = Severity(one.severity).label.lower()
        lines.append(f"{one.table}, {one.gaming_day}: {one} ({one.kind}, {weight}, {format_money(one.amount)})")
    if len(ranked) > NAMED:
        lines.append(f"and {len(ranked) - NAMED} more.")
    return "\n".join(lines)


def notices_mail(*, now: dt.datetime | None = None) -> int:
    """To those who were told and have an address, each once. What cannot be sent says why, and stays on the page."""
    since = (now or timezone.now()) - MAILED_FOR
    return sum(_mail(notice) for notice in Notice.objects.filter(at__gte=since).exclude(recipients=[]))


@transaction.atomic
def _mail(notice: Notice) -> int:
    """One worker at a time; one that dies after the sending and before the record sends it once more."""
    told = NoticeMail.objects.filter(notice=notice).values("staff")
    if not _locked(notice.pk % 2**31):
        return 0
    people = list(Staff.objects.filter(pk__in=notice.recipients).exclude(email="").exclude(pk__in=told))
    for person in people:
        NoticeMail.objects.create(notice=notice, staff=person, address=person.email, fault=_sent(notice, person.email))
    return len(people)


def _sent(notice: Notice, address: str) -> str:
    """What went wrong; nothing, where it was sent."""
    try:
        send_mail(_subject(notice), notice.text, None, [address])
    except OSError as error:  # of the server, or of the way to it
        log.warning("notice not mailed", notice=notice.pk, error=str(error))
        return str(error) or type(error).__name__
    return ""


def _subject(notice: Notice) -> str:
    if told := ProposerNotice.objects.filter(notice=notice).select_related("decision").first():
        return f"Limit proposal no. {told.decision.proposal_id}: {told.decision.outcome}"
    if made := ConsequenceNotice.objects.filter(notice=notice).select_related("consequence__incident").first():
        return f"{made.consequence} on {made.consequence.incident}: executed"
    if decided := ThresholdNotice.objects.filter(notice=notice).select_related("decision__change").first():
        return f"Threshold proposal {decided.decision.change}: {decided.decision.outcome}"
    if notice.disputes.exists():
        return f"Disputes at {notice.casino.code} have run out of time"
    return f"Findings at {notice.casino.code} wait"
