"""Proposers are told what became of their limit proposals: once, in the app and by e-mail.

The decision is a fact of the game. A sweep by the clock finds the decisions of which the proposer was not told yet, so
that a killed worker or a lost message loses none; the database takes one row for each decision, so that none is told
twice.
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
#: What proposers withdrew themselves they need not be told.
TOLD = (Outcome.APPROVED, Outcome.REJECTED, Outcome.SUPERSEDED)
AT_ONCE = 500
LOCK = 0x7A15A3


@transaction.atomic
def proposers_tell(*, now: dt.datetime | None = None) -> list[Notice]:
    """Notify proposers of the decisions that they were not told of yet; one worker at a time."""
    if not _locked():
        return []
    untold = LimitDecision.objects.filter(outcome__in=TOLD, proposer_notice=None).order_by("at", "pk")
    decisions = untold.select_related("proposal__casino", "proposal__pit", "proposed_by")
    moment = now or timezone.now()
    told = [_tell(decision, moment) for decision in decisions.prefetch_related("limit_sets__table")[:AT_ONCE]]
    return told + [_tell_of_threshold(decision, moment) for decision in _thresholds_decided()]


def _thresholds_decided() -> list[ThresholdDecision]:
    """Approved and rejected threshold proposals of which the proposer was not notified yet."""
    decided = ThresholdDecision.objects.exclude(outcome=ThresholdDecision.Outcome.WITHDRAWN)
    untold = decided.filter(proposer_notice=None).select_related("change__casino", "proposed_by")
    return list(untold.order_by("at", "pk")[:AT_ONCE])


def _tell_of_threshold(decision: ThresholdDecision, now: dt.datetime) -> Notice:
    change, proposer = decision.change, decision.proposed_by
    casino = change.casino
    lines = [
        f"Your proposal {change} on the thresholds of {casino.code} ({kind_of(change.kind).title.lower()}) was "
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
    # SQL by hand: an advisory lock.
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_try_advisory_xact_lock(%s)", [LOCK])
        return bool(cursor.fetchone()[0])


def _tell(decision: LimitDecision, now: dt.datetime) -> Notice:
    """Write the notice and which decision it is about, both or neither."""
    proposal, proposer = decision.proposal, decision.proposed_by
    notice = Notice.objects.create(
        casino=proposal.casino, pit=proposal.pit, role=role_of(proposer.department, proposer.post).code, at=now,
        text=text_of(decision), people=[str(proposer)], recipients=[proposer.pk],
    )  # fmt: skip
    ProposerNotice.objects.create(decision=decision, notice=notice)
    return notice


def text_of(decision: LimitDecision) -> str:
    """Say what was decided, by whom and why, and from when new limits are in force."""
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
    """A moment by the casino's clock, as pages show it."""
    return date_format(moment.astimezone(zone_of(casino)), "DATETIME_FORMAT")
