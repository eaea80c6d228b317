"""Patrons' disputes and the clock that the law sets."""

import datetime as dt
from collections import defaultdict
from typing import Any

from django.core.exceptions import ValidationError
from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone

from audits.findings.services.escalation import people_in
from audits.incidents.services.past_moment import verify_past
from audits.models import Dispute, DisputeRule, Incident, Notice, dispute_rule_of
from games.access.gate import authorize
from games.access.roles import access_policy
from games.floor.moments import as_text
from games.history.audited_save import record_change, record_save, verify_reason
from games.models import Casino, Staff

MARKS = ("notified_at", "patron_told_at")
#: What the law of a place can set.
SETTINGS = ("law", "authority", "days", "warn_days")


@transaction.atomic
def dispute_raise(*, actor: Staff, incident: Incident, patron: str, raised_at: dt.datetime, reason: str) -> Dispute:
    """A patron does not accept what was decided: from now on the clock runs."""
    authorize(actor, "dispute.change", incident)
    if not patron.strip():
        raise ValidationError({"patron": "Give the patron's reference."})
    verify_past("raised_at", raised_at)
    Incident.objects.select_for_update(of=("self",)).get(pk=incident.pk)  # a second click waits for the first
    if Dispute.objects.filter(incident=incident).exists():
        raise ValidationError(f"{incident} has a dispute on record already; nothing has changed.")
    rule = dispute_rule_of(incident.casino)
    dispute = Dispute(
        incident=incident, patron=patron.strip(), law=rule.law, raised_at=raised_at,
        due_at=raised_at + dt.timedelta(days=rule.days),
    )  # fmt: skip
    record_save(dispute, actor=actor, reason=reason)
    return dispute


@transaction.atomic
def dispute_mark(*, actor: Staff, dispute: Dispute, mark: str, at: dt.datetime, reason: str) -> Dispute:
    """The inspector was notified, or the patron was told of the right to go there."""
    current = _locked(dispute)
    authorize(actor, "dispute.change", current)
    if mark not in MARKS:
        raise ValidationError({"mark": f"{mark!r:.40} is not one of {', '.join(MARKS)}."})
    verify_past("at", at)
    if not current.raised_at <= at <= timezone.now():
        raise ValidationError({"at": "This is before the dispute was raised, or still to come; check the time."})
    if getattr(current, mark) is not None:
        known = as_text(getattr(current, mark), current.incident.casino)
        raise ValidationError({"mark": f"That was done at {known} already; nothing has changed."})
    record_change(current, {mark: at}, actor=actor, reason=reason)
    return current


@transaction.atomic
def dispute_resolve(*, actor: Staff, dispute: Dispute, reason: str) -> Dispute:
    current = _locked(dispute)
    authorize(actor, "dispute.change", current)
    verify_reason(reason)
    if current.resolved_at is not None:
        raise ValidationError("This dispute was resolved already; nothing has changed.")
    changes = {"resolved_at": timezone.now(), "resolution": reason.strip()}
    record_change(current, changes, actor=actor, reason=reason)
    return current


def _locked(dispute: Dispute) -> Dispute:
    records = Dispute.objects.select_for_update(of=("self",)).select_related("incident__casino", "incident__pit")
    return records.get(pk=dispute.pk)


def running() -> QuerySet[Dispute]:
    """Whose clock still runs, the most urgent first."""
    unresolved = Dispute.objects.filter(resolved_at=None)
    return unresolved.exclude(notified_at__isnull=False, patron_told_at__isnull=False).order_by("due_at")


def overdue(now: dt.datetime | None = None) -> QuerySet[Dispute]:
    return running().filter(due_at__lte=now or timezone.now())


@transaction.atomic
def overdue_tell(*, now: dt.datetime | None = None) -> list[Notice]:
    """Compliance is told of a dispute whose time has run out: once, in the app and by e-mail."""
    moment = now or timezone.now()
    untold = overdue(moment).filter(told=None).select_related("incident__casino", "incident__table")
    by_casino: dict[int, list[Dispute]] = defaultdict(list)
    for one in untold.select_for_update(of=("self",), skip_locked=True):
        by_casino[one.incident.casino_id].append(one)
    return [_tell(disputes, moment) for disputes in by_casino.values()]


def _tell(disputes: list[Dispute], now: dt.datetime) -> Notice:
    casino = disputes[0].incident.casino
    role = access_policy().notified["disputes"]
    people = people_in(role, casino)
    lines = [f"{dispute.incident}: due at {as_text(dispute.due_at, casino)} by {dispute.law}" for dispute in disputes]
    notice = Notice.objects.create(
        casino=casino, role=role, at=now, text="\n".join(["Patrons' disputes have run out of time.", *lines]),
        people=[str(person) for person in people], recipients=[person.pk for person in people],
    )  # fmt: skip
    Dispute.objects.filter(pk__in=[dispute.pk for dispute in disputes]).update(told=notice)
    return notice


@transaction.atomic
def dispute_rule_set(*, actor: Staff, casino: Casino, changes: dict[str, Any], reason: str) -> DisputeRule:
    """From now on; a dispute that runs keeps the deadline that it was raised with."""
    authorize(actor, "disputerule.change", DisputeRule(casino=casino))
    if unknown := sorted(changes.keys() - set(SETTINGS)):
        raise ValidationError(f"{', '.join(unknown)}: not one of {', '.join(SETTINGS)}.")
    Casino.objects.select_for_update().get(pk=casino.pk)  # the first rule of a casino is made once
    current = DisputeRule.objects.filter(casino=casino).first()
    rule = current or DisputeRule(casino=casino)
    if current is not None:
        record_change(rule, changes, actor=actor, reason=reason)
        return rule
    for name, value in changes.items():
        setattr(rule, name, value)
    record_save(rule, actor=actor, reason=reason)
    return rule
