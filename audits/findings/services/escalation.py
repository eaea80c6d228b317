"""Escalation: findings that are not acknowledged in time go to the next higher post, with a notification on record.

A finding goes up one post each time the casino's waiting time has passed. The time starts again with each
notification: after days without a worker, the posts are not all notified within minutes.
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
from django.utils.formats import date_format

from audits.findings.labels import finding_text
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
from games.access.roles import access_policy
from games.models import Casino, Staff, Table

log = structlog.get_logger(__name__)

BATCH = 2000
NAMED = 10  # findings that a notification names; it counts the rest
MAILED_FOR = dt.timedelta(days=1)
LOCK = 0x7A15A2  # the first half of an advisory lock's key; the second is a notification's id, or
ESCALATING = 0

Group = tuple[int, int | None, str]  # casino, pit, role


@transaction.atomic
def findings_escalate(*, now: dt.datetime | None = None) -> list[Notice]:
    """Notify the next post of each finding that is due. A lock prevents two workers from notifying twice."""
    moment = now or timezone.now()
    if not _locked(ESCALATING):
        return []
    due: dict[Group, list[tuple[Finding, int]]] = defaultdict(list)
    for finding, level in _due(moment):
        role = access_policy().escalation[level - 1]
        pit = finding.table.pit if access_policy().roles[role].reach == "pit" else None
        due[finding.table.casino_id, pit.pk if pit else None, role].append((finding, level))
    return [_notify(group, entries, moment) for group, entries in due.items()]


def _due(now: dt.datetime) -> Iterable[tuple[Finding, int]]:
    """Yield the findings that have been open longer than their casino allows, with the level they go to."""
    last = Escalation.objects.filter(finding=OuterRef("pk")).order_by("-level")
    waiting = Finding.objects.filter(state=Finding.State.OPEN, lapsed_at=None).annotate(
        level=Coalesce(Subquery(last.values("level")[:1]), 0),
        since=Coalesce(Subquery(last.values("notice__at")[:1]), F("found_at")),
    )
    due = waiting.filter(_open_too_long(now), level__lt=len(access_policy().escalation)).order_by("found_at", "pk")
    levels = dict(due.values_list("pk", "level")[:BATCH])
    locked = Finding.objects.select_for_update(of=("self",), skip_locked=True).select_related("table__casino")
    for finding in locked.filter(pk__in=levels, state=Finding.State.OPEN, lapsed_at=None):
        yield finding, levels[finding.pk] + 1


def _open_too_long(now: dt.datetime) -> Q:
    """Return the condition that a finding is overdue by its casino's policy for its severity."""
    overdue = Q(pk__in=[])
    for casino in Casino.objects.all():
        policy = policy_of(casino)
        for severity in Severity:
            allowed = dt.timedelta(minutes=policy.patience(severity))
            overdue |= Q(table__casino=casino, severity=severity, since__lte=now - allowed)
    return overdue


def _locked(what: int) -> bool:
    """Try to take a lock until the transaction ends; False if another worker holds it."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_try_advisory_xact_lock(%s, %s)", [LOCK, what])
        return bool(cursor.fetchone()[0])


def _notify(group: Group, entries: list[tuple[Finding, int]], now: dt.datetime) -> Notice:
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
    """List the people who hold a role now for a table, permanently or acting."""
    return [
        person
        for person in people_in(role, casino)
        if any(capacity.role.code == role and capacity.covers("finding.view", table) for capacity in capacities(person))
    ]


def people_in(role: str, casino: Casino) -> list[Staff]:
    """List the people who hold a role now anywhere in a casino, permanently or acting."""
    wanted = access_policy().roles[role]
    here = Q(casino=casino) | Q(casino=None)
    now = timezone.now()
    held = Q(department=wanted.department, post=wanted.post or "")
    if wanted.post:
        held |= Q(duties__post=wanted.post, duties__starts_at__lte=now, duties__ends_at__gt=now)
    return list(Staff.objects.filter(here & held, is_active=True).distinct())


def text_of(findings: list[Finding]) -> str:
    """Write the notification of findings that are not acknowledged, the most severe first."""
    ranked = sorted(findings, key=lambda finding: (-finding.severity, -finding.amount, finding.pk))
    counted = "1 finding was" if len(findings) == 1 else f"{len(findings)} findings were"
    lines = [f"{counted} not acknowledged in time."]
    for finding in ranked[:NAMED]:
        severity = Severity(finding.severity).label.lower()
        day = date_format(finding.gaming_day, "DATE_FORMAT")
        lines.append(f"{finding.table}, {day}, no. {finding.pk}, {severity} severity: {finding_text(finding)}")
    if len(ranked) > NAMED:
        lines.append(f"and {len(ranked) - NAMED} more.")
    return "\n".join(lines)


def notices_mail(*, now: dt.datetime | None = None) -> int:
    """E-mail each new notification once to every recipient with an address. Failures are recorded with their reason."""
    since = (now or timezone.now()) - MAILED_FOR
    return sum(_mail(notice) for notice in Notice.objects.filter(at__gte=since).exclude(recipients=[]))


@transaction.atomic
def _mail(notice: Notice) -> int:
    """E-mail one notification, one worker at a time; return the number of e-mails.

    If a worker dies after sending and before the record is saved, the e-mail is sent a second time.
    """
    mailed = NoticeMail.objects.filter(notice=notice).values("staff")
    if not _locked(notice.pk % 2**31):
        return 0
    people = list(Staff.objects.filter(pk__in=notice.recipients).exclude(email="").exclude(pk__in=mailed))
    for person in people:
        NoticeMail.objects.create(notice=notice, staff=person, address=person.email, fault=_sent(notice, person.email))
    return len(people)


def _sent(notice: Notice, address: str) -> str:
    """Send an e-mail; return why it failed, or an empty text."""
    try:
        send_mail(_subject(notice), notice.text, None, [address])
    except OSError as error:  # from the mail server or the network
        log.warning("notification not mailed", notice=notice.pk, error=str(error))
        return str(error) or type(error).__name__
    return ""


def _subject(notice: Notice) -> str:
    if limits := ProposerNotice.objects.filter(notice=notice).select_related("decision").first():
        return f"Limit proposal no. {limits.decision.proposal_id}: {limits.decision.outcome}"
    if action := ConsequenceNotice.objects.filter(notice=notice).select_related("consequence__incident").first():
        return f"{action.consequence} on {action.consequence.incident}: executed"
    if thresholds := ThresholdNotice.objects.filter(notice=notice).select_related("decision__change").first():
        return f"Threshold proposal {thresholds.decision.change}: {thresholds.decision.outcome}"
    if notice.disputes.exists():
        return f"Disputes at {notice.casino.code} are overdue"
    return f"Findings at {notice.casino.code} not acknowledged in time"
