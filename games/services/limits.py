"""Limits: proposed by one person, decided by another, in force from a moment on."""

import datetime as dt
from collections.abc import Iterable, Sequence

from django.core.exceptions import ValidationError
from django.db import transaction
from django.utils import timezone

from games.engine.limits import Limits
from games.engine.loader import rulebook
from games.engine.sign_changes import Change, stricter
from games.models import (
    DifferentialLine,
    LimitDecision,
    LimitLine,
    LimitProposal,
    LimitSet,
    LimitSheet,
    Pit,
    Staff,
    Table,
    TableState,
)
from games.moments import as_text
from games.selectors import NoLimitsError, limits_at
from games.services.fitting import verify_fit
from games.services.gate import Actor, authorize, deny, name_of
from games.services.ledger import Entry, ledger_append
from games.services.rounds_since import verify_no_round_since
from games.services.saving import OvertakenError, verify_reason
from games.services.waking import rounds_again

Outcome = LimitDecision.Outcome
NOTHING = Limits()


@transaction.atomic
def limits_propose(
    *, actor: Staff, tables: Sequence[Table], limits: Limits, starts_at: dt.datetime | None = None,
    is_correction: bool = False, reason: str,
) -> LimitProposal:  # fmt: skip
    """New limits for a table, or for several of one pit; in force once somebody else has approved them."""
    for table in tables:
        authorize(actor, "limits.propose", table)
    verify_reason(reason)
    pit = verify_one_pit(tables)
    now = timezone.now()
    verify_moment(tables, starts_at=starts_at, is_correction=is_correction, now=now)
    verify_amounts(limits)
    for table in tables:
        verify_fit(table, with_limits=limits, starts_at=starts_at or now)
    if all(is_same_sign(limits_before(table, starts_at or now), limits) for table in tables):
        raise ValidationError("This is what the sign says already; change something, or leave it.")
    proposal = LimitProposal.objects.create(
        casino=pit.casino, pit=pit, sheet=sheet_create(limits), starts_at=starts_at, is_correction=is_correction,
        reason=reason.strip(), proposed_by=actor, who=name_of(actor), proposed_at=now,
    )  # fmt: skip
    proposal.tables.set(tables)
    return proposal


def verify_one_pit(tables: Sequence[Table]) -> Pit:
    if not tables:
        raise ValidationError({"tables": "Choose at least one table."})
    pits = {table.pit for table in tables}
    pit = pits.pop()
    if pits or pit is None:
        raise ValidationError({"tables": "Choose tables of one pit; each pit has a proposal of its own."})
    return pit


def verify_moment(
    tables: Iterable[Table], *, starts_at: dt.datetime | None, is_correction: bool, now: dt.datetime
) -> None:
    """New limits begin in the future, where none begin yet; whatever else is a correction, and marked as such."""
    if starts_at is None:
        if is_correction:
            raise ValidationError({"starts_at": "A correction says from which moment the sign was different."})
        return
    taken = LimitSet.objects.filter(table__in=list(tables), starts_at=starts_at).select_related("table__casino").first()
    if is_correction and starts_at > now and taken is None:
        raise ValidationError({"is_correction": "This moment is still to come, and has no limits to correct."})
    if not is_correction and starts_at <= now:
        raise ValidationError(
            {"starts_at": "This moment has passed; choose a later one, or mark the proposal as a correction."}
        )
    if not is_correction and taken is not None:
        raise ValidationError(
            f"{taken.table} has limits from {as_text(starts_at, taken.table.casino)} already, recorded by {taken.who}; "
            "choose another moment, or mark the proposal as a correction of them."
        )


def verify_amounts(limits: Limits) -> None:
    for key, line in limits.by_key.items():
        amounts = [amount for amount in (line.minimum, line.maximum) if amount is not None]
        if any(amount < 0 for amount in amounts) or amounts != sorted(amounts):
            raise ValidationError(f"{key}: the minimum is above the maximum, or an amount is negative; mend it.")
    if any(amount < 0 for amount in limits.differential.values()):
        raise ValidationError("A differential is negative; mend it.")


def limits_before(table: Table, moment: dt.datetime, known_at: dt.datetime | None = None) -> Limits:
    """What the sign says at a moment, as known now or then; nothing, where there is no sign."""
    try:
        return limits_at(table=table, at=moment, known_at=known_at).limits
    except NoLimitsError:
        return NOTHING


def is_same_sign(one: Limits, other: Limits) -> bool:
    """Line by line: an empty line for a box counts, since it replaces that of its type."""
    return (one.by_key, one.differential) == (other.by_key, other.differential)


def sheet_create(limits: Limits) -> LimitSheet:
    sheet = LimitSheet.objects.create()
    LimitLine.objects.bulk_create(
        LimitLine(sheet=sheet, key=key, minimum=one.minimum, maximum=one.maximum) for key, one in limits.by_key.items()
    )
    DifferentialLine.objects.bulk_create(
        DifferentialLine(sheet=sheet, type=type_, amount=amount) for type_, amount in limits.differential.items()
    )
    return sheet


# --- Deciding --------------------------------------------------------------------------------------


@transaction.atomic
def limits_approve(*, actor: Staff, proposal: LimitProposal, reason: str) -> list[LimitSet]:
    """The sign changes: at the proposed moment, or as soon as notice allows. Other proposals for it are superseded."""
    tables = _locked_tables(proposal)
    verify_may_decide(actor=actor, proposal=proposal, action="limits.approve")
    verify_reason(reason)
    verify_open(proposal)
    now = timezone.now()
    earliest = notice_ends(proposal, tables, now=now)
    starts_at = proposal.starts_at or _first_free_minute(tables, earliest)
    verify_moment(tables, starts_at=proposal.starts_at, is_correction=proposal.is_correction, now=now)
    if starts_at > now and starts_at < earliest:
        raise ValidationError(
            f"These limits are stricter and need {proposal.casino.notice_minutes} minutes' notice: from "
            f"{as_text(_next_minute(earliest), proposal.casino)} at the earliest. Reject them, and propose a later "
            "moment or none; or close the tables first."
        )
    for table in tables:
        verify_fit(table, with_limits=proposal.sheet.limits(), starts_at=starts_at)
    decision = _decide(proposal, Outcome.APPROVED, actor, reason, now)
    sets = [_record(table, starts_at, proposal.sheet, decision, now) for table in tables]
    _supersede_others(proposal, tables, actor, now)
    return sets


@transaction.atomic
def limits_reject(*, actor: Staff, proposal: LimitProposal, reason: str) -> LimitDecision:
    _locked_tables(proposal)
    verify_may_decide(actor=actor, proposal=proposal, action="limits.reject")
    verify_reason(reason)
    verify_open(proposal)
    return _decide(proposal, Outcome.REJECTED, actor, reason, timezone.now())


@transaction.atomic
def limits_withdraw(*, actor: Staff, proposal: LimitProposal, reason: str) -> LimitDecision:
    """Taken back by who proposed it."""
    _locked_tables(proposal)
    authorize(actor, "limits.withdraw", proposal)
    if actor != proposal.proposed_by:
        raise deny(actor, "limits.withdraw", proposal)
    verify_reason(reason)
    verify_open(proposal)
    return _decide(proposal, Outcome.WITHDRAWN, actor, reason, timezone.now())


def verify_may_decide(*, actor: Staff, proposal: LimitProposal, action: str) -> None:
    """Somebody else than the proposer, whose post reaches every one of the tables."""
    authorize(actor, action, proposal)
    for table in proposal.tables.all():
        authorize(actor, action, table)
    if actor == proposal.proposed_by:
        raise deny(actor, action, proposal)


def verify_open(proposal: LimitProposal) -> None:
    decision = LimitDecision.objects.filter(proposal=proposal).first()
    if decision is not None:
        at = as_text(decision.at, proposal.casino)
        raise OvertakenError(
            f"This proposal was {decision.outcome} by {decision.who} at {at} ({decision.reason}); nothing has changed."
        )


def stricter_changes(table: Table, limits: Limits, moment: dt.datetime) -> list[Change]:
    """What players at a table have to be told in time."""
    assignment = table.assignment_at(moment)
    if assignment is None:
        return []
    layout = rulebook(assignment.rulebook).layouts[assignment.layout]
    return stricter(layout, limits_before(table, moment), limits)


def notice_ends(proposal: LimitProposal, tables: Sequence[Table], *, now: dt.datetime) -> dt.datetime:
    """The earliest moment for these limits: after notice, where they are stricter and the table is not closed."""
    moment = max(proposal.starts_at or _first_free_minute(tables, now), now)
    limits = proposal.sheet.limits()
    due = any(table.state != TableState.CLOSED and stricter_changes(table, limits, moment) for table in tables)
    return now + dt.timedelta(minutes=proposal.casino.notice_minutes) if due else now


def _next_minute(moment: dt.datetime) -> dt.datetime:
    """A sign names whole minutes."""
    whole = moment.replace(second=0, microsecond=0)
    return whole if whole == moment else whole + dt.timedelta(minutes=1)


def _first_free_minute(tables: Sequence[Table], moment: dt.datetime) -> dt.datetime:
    """The next whole minute from which none of the tables has limits yet."""
    minute = _next_minute(moment)
    taken = set(LimitSet.objects.filter(table__in=tables, starts_at__gte=minute).values_list("starts_at", flat=True))
    while minute in taken:
        minute += dt.timedelta(minutes=1)
    return minute


def _locked_tables(proposal: LimitProposal) -> list[Table]:
    """One decision on a table at a time; always in the same order, so that two never wait for each other."""
    keys = proposal.tables.values_list("pk", flat=True)
    return list(
        Table.objects.select_for_update(of=("self",)).select_related("casino").filter(pk__in=keys).order_by("pk")
    )


def _decide(
    proposal: LimitProposal, outcome: LimitDecision.Outcome, actor: Staff, reason: str, now: dt.datetime
) -> LimitDecision:
    decision = _decision(proposal, outcome, actor, reason, now)
    decision.save(force_insert=True)
    return decision


def _decision(
    proposal: LimitProposal, outcome: LimitDecision.Outcome, actor: Staff, reason: str, now: dt.datetime
) -> LimitDecision:
    return LimitDecision(
        proposal=proposal, proposed_by=proposal.proposed_by, outcome=outcome, decided_by=actor, who=name_of(actor),
        at=now, reason=reason.strip(),
    )  # fmt: skip


def _record(
    table: Table, starts_at: dt.datetime, sheet: LimitSheet, decision: LimitDecision, now: dt.datetime
) -> LimitSet:
    latest = table.limit_sets.filter(starts_at=starts_at).order_by("-revision").first()
    limit_set = LimitSet.objects.create(
        table=table, starts_at=starts_at, revision=latest.revision + 1 if latest else 0, sheet=sheet, recorded_at=now,
        origin=LimitSet.Origin.PROPOSAL, source=decision.proposal.reason, who=decision.who, decision=decision,
    )  # fmt: skip
    ledger_append(table, limits_entry(limit_set))
    rounds_again(table, since=starts_at)
    return limit_set


def limits_entry(limit_set: LimitSet) -> Entry:
    """What the ledger holds of a sign: what it says, from when, and whose word it is."""
    limits = limit_set.sheet.limits()
    lines = [(key, line.minimum, line.maximum) for key, line in limits.by_key.items()]
    decision = limit_set.decision
    people = (decision.proposal.who, decision.who, decision.reason) if decision else (None, limit_set.who, None)
    values = (limit_set.starts_at.astimezone(dt.UTC), limit_set.revision, lines, list(limits.differential.items()))
    return Entry("limits", limit_set.pk, (*values, str(limit_set.origin), limit_set.source, *people))


def _supersede_others(proposal: LimitProposal, tables: list[Table], actor: Staff, now: dt.datetime) -> None:
    """Proposals for the same table and moment cannot stand beside this one.

    A proposal for several tables may be superseded at two of them at once: the first to say so has said it.
    """
    others = LimitProposal.objects.filter(decision=None, tables__in=tables, starts_at=proposal.starts_at)
    if proposal.starts_at is None:
        others = LimitProposal.objects.filter(decision=None, tables__in=tables, starts_at__isnull=True)
    reason = f"Proposal {proposal} was approved for the same moment"
    LimitDecision.objects.bulk_create(
        [
            _decision(other, Outcome.SUPERSEDED, actor, reason, now)
            for other in others.exclude(pk=proposal.pk).distinct()
        ],
        ignore_conflicts=True,
    )


# --- From a file -----------------------------------------------------------------------------------


def limit_set_load(
    *, actor: Actor, table: Table, limits: Limits, sheet: LimitSheet | None, starts_at: dt.datetime, source: str
) -> LimitSheet | None:
    """Limits as a file states them, with the file as their origin; None where they are on record already."""
    recorded = list(table.limit_sets.filter(starts_at=starts_at).select_related("sheet"))
    if any(known.sheet.limits() == limits for known in recorded):
        return None
    for known in recorded:
        fault = f"{table} has other limits from {as_text(starts_at, table.casino)}, recorded by {known.who}"
        raise ValidationError({"starts_at": f"{fault}; choose another moment, or leave them as they are."})
    authorize(actor, "limits.load", table)
    verify_no_round_since(table, starts_at)
    sheet = sheet or sheet_create(limits)
    limit_set = LimitSet.objects.create(
        table=table, starts_at=starts_at, sheet=sheet, origin=LimitSet.Origin.FILE, source=source, who=name_of(actor)
    )
    ledger_append(table, limits_entry(limit_set))
    return sheet
