"""Notify proposers once of the decisions on their limit and threshold proposals, on the site and by e-mail.

A periodic task looks for decisions without a notification, so that a killed worker or a lost message loses none. The
database allows one notification for each decision, so that none is sent twice.
"""

import datetime as dt

from django.db import connection, transaction
from django.utils import timezone
from django.utils.formats import date_format

from audits.models import Notice, ProposerNotice, ThresholdNotice
from games.access.roles import role_of
from games.floor.moments import zone_of
from games.models import Casino, LimitDecision, ThresholdDecision
from games.thresholds.selectors import kind_of

Outcome = LimitDecision.Outcome
#: Decisions that proposers are notified of. They withdraw proposals themselves.
NOTIFIED = (Outcome.APPROVED, Outcome.REJECTED, Outcome.SUPERSEDED)
BATCH = 500
LOCK = 0x7A15A3


@transaction.atomic
def proposers_notify(*, now: dt.datetime | None = None) -> list[Notice]:
    """Notify proposers of new decisions, one worker at a time."""
    if not _locked():
        return []
    new = LimitDecision.objects.filter(outcome__in=NOTIFIED, proposer_notice=None).order_by("at", "pk")
    decisions = new.select_related("proposal__casino", "proposal__pit", "proposed_by")
    moment = now or timezone.now()
    notices = [_notify(decision, moment) for decision in decisions.prefetch_related("limit_sets__table")[:BATCH]]
    return notices + [_notify_of_threshold(decision, moment) for decision in _new_threshold_decisions()]


def _new_threshold_decisions() -> list[ThresholdDecision]:
    """List approved and rejected threshold proposals without a notification."""
    decided = ThresholdDecision.objects.exclude(outcome=ThresholdDecision.Outcome.WITHDRAWN)
    new = decided.filter(proposer_notice=None).select_related("change__casino", "proposed_by")
    return list(new.order_by("at", "pk")[:BATCH])


def _notify_of_threshold(decision: ThresholdDecision, now: dt.datetime) -> Notice:
    change, proposer = decision.change, decision.proposed_by
    casino = change.casino
    lines = [
        f"Your threshold proposal {change} for {casino.code} ({kind_of(change.kind).title.lower()}) was "
        f"{decision.outcome} by {decision.who} at {clock_text(decision.at, casino)}.",
        f"Reason: {decision.reason}",
        *([f"In force from {clock_text(decision.effective_from, casino)}"] if decision.effective_from else []),
    ]
    notice = Notice.objects.create(
        casino=casino, role=role_of(proposer.department, proposer.post).code, at=now, text="\n".join(lines),
        people=[str(proposer)], recipients=[proposer.pk],
    )  # fmt: skip
    ThresholdNotice.objects.create(decision=decision, notice=notice)
    return notice


def _locked() -> bool:
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_try_advisory_xact_lock(%s)", [LOCK])
        return bool(cursor.fetchone()[0])


def _notify(decision: LimitDecision, now: dt.datetime) -> Notice:
    """Write the notification and link it to its decision."""
    proposal, proposer = decision.proposal, decision.proposed_by
    notice = Notice.objects.create(
        casino=proposal.casino, pit=proposal.pit, role=role_of(proposer.department, proposer.post).code, at=now,
        text=text_of(decision), people=[str(proposer)], recipients=[proposer.pk],
    )  # fmt: skip
    ProposerNotice.objects.create(decision=decision, notice=notice)
    return notice


def text_of(decision: LimitDecision) -> str:
    """Write what was decided, by whom and why, and when new limits come into force."""
    casino, proposal = decision.proposal.casino, decision.proposal
    tables = ", ".join(table.code for table in proposal.tables.all())
    lines = [
        f"Your limit proposal no. {proposal.pk} for {tables} was {decision.outcome} by {decision.who} "
        f"at {clock_text(decision.at, casino)}.",
        f"Reason: {decision.reason}",
        *(
            f"{limit_set.table}: in force from {clock_text(limit_set.starts_at, casino)}"
            for limit_set in decision.limit_sets.all()
        ),
    ]
    return "\n".join(lines)


def clock_text(moment: dt.datetime, casino: Casino) -> str:
    """Write a moment by the casino's clock, as on pages."""
    return date_format(moment.astimezone(zone_of(casino)), "DATETIME_FORMAT")
