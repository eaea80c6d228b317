"""Limits: proposed by one person, decided by another, in force from a moment on."""

import datetime as dt
from collections.abc import Iterable, Mapping, Sequence

from django.core.exceptions import ValidationError
from django.db import transaction
from django.db.models import Q
from django.utils import timezone

from games.access.gate import Actor, actor_name, authorize, deny
from games.engine.signs.edits import Edits, edited, named_figures
from games.engine.signs.limits import Limits
from games.floor.moments import as_text
from games.history.audited_save import OvertakenError, verify_reason
from games.labels.boxes import key_label
from games.ledger.services import ledger_append
from games.limits.services.drafts import (
    Confirmed,
    LimitDraft,
    base_at,
    drafts_now,
    drafts_of,
    drafts_then,
    needs_notice,
    next_minute,
    overtaken,
    verify_removals,
)
from games.limits.services.limits_fit import verify_fit
from games.limits.services.sheets import limits_entry, sheet_create, sheets_create
from games.limits.signs.changed import change_text
from games.models import (
    LimitDecision,
    LimitProposal,
    LimitSet,
    LimitSheet,
    Pit,
    ProposedSign,
    Staff,
    Table,
)
from games.rounds.services.outbox import requeue_since
from games.rounds.services.rounds_since import verify_no_round_since

Outcome = LimitDecision.Outcome
NONE: Confirmed = {}


@transaction.atomic
def limits_propose(
    *, actor: Staff, tables: Sequence[Table], limits: Limits, starts_at: dt.datetime | None = None,
    is_correction: bool = False, reason: str, remove: Confirmed = NONE,
) -> LimitProposal:  # fmt: skip
    """Propose one whole sign for a table, or for several of one pit; another person approves it.

    A limit that is on a sign now and missing in the new one is refused, unless `remove` names it.
    """
    pit = verify_may_propose(actor, tables, reason)
    now = timezone.now()
    drafts = drafts_of(tables, lambda table, old: limits, starts_at=starts_at, notice=notice_of(pit), now=now)
    return _propose(
        actor=actor, pit=pit, drafts=drafts, starts_at=starts_at, is_correction=is_correction, reason=reason,
        remove=remove, now=now,
    )  # fmt: skip


@transaction.atomic
def limits_edit(
    *, actor: Staff, edits: Mapping[Table, Edits], starts_at: dt.datetime | None = None, is_correction: bool = False,
    reason: str, remove: Confirmed = NONE,
) -> LimitProposal:  # fmt: skip
    """Propose single figures for tables of one pit. Every other value of every sign stays exactly as it is.

    A limit that `remove` names is removed; an edit that empties a figure must be named there too.
    """
    tables = list(edits)
    pit = verify_may_propose(actor, tables, reason)
    now = timezone.now()

    def make(table: Table, old: Limits) -> Limits:
        named = named_figures(old, remove.get(table.code, ()))
        return edited(old, Edits({**named, **edits[table].figures}, edits[table].free))

    drafts = drafts_of(tables, make, starts_at=starts_at, notice=notice_of(pit), now=now)
    return _propose(
        actor=actor, pit=pit, drafts=drafts, starts_at=starts_at, is_correction=is_correction, reason=reason,
        remove=remove, now=now,
    )  # fmt: skip


def _propose(
    *,
    actor: Staff,
    pit: Pit,
    drafts: list[LimitDraft],
    starts_at: dt.datetime | None,
    is_correction: bool,
    reason: str,
    remove: Confirmed,
    now: dt.datetime,
) -> LimitProposal:
    tables = [draft.table for draft in drafts]
    verify_moment(tables, starts_at=starts_at, is_correction=is_correction, now=now)
    for draft in drafts:
        verify_amounts(draft)
        verify_fit(draft.table, with_limits=draft.new, starts_at=starts_at or now)
    changed = [draft for draft in drafts if draft.is_change]
    if not changed:
        raise ValidationError("These limits are already in force. Change at least one value.")
    confirmed = verify_removals(changed, remove)
    proposal = LimitProposal.objects.create(
        casino=pit.casino, pit=pit, starts_at=starts_at, is_correction=is_correction, reason=reason.strip(),
        proposed_by=actor, who=actor_name(actor), proposed_at=now,
    )  # fmt: skip
    sheets = sheets_create(draft.new for draft in changed)
    ProposedSign.objects.bulk_create(
        ProposedSign(
            proposal=proposal, table=draft.table, sheet=sheet, base=draft.base, removals=confirmed[draft.table.code]
        )
        for draft, sheet in zip(changed, sheets, strict=True)
    )
    return proposal


def verify_may_propose(actor: Staff, tables: Sequence[Table], reason: str) -> Pit:
    for table in tables:
        authorize(actor, "limits.propose", table)
    verify_reason(reason)
    return verify_one_pit(tables)


def notice_of(pit: Pit) -> dt.timedelta:
    return dt.timedelta(minutes=pit.casino.notice_minutes)


def verify_one_pit(tables: Sequence[Table]) -> Pit:
    if not tables:
        raise ValidationError({"tables": "Choose at least one table."})
    pits = {table.pit for table in tables}
    pit = pits.pop()
    if pits or pit is None:
        raise ValidationError({"tables": "Choose tables of one pit. Make a separate proposal for each pit."})
    return pit


def verify_moment(
    tables: Iterable[Table], *, starts_at: dt.datetime | None, is_correction: bool, now: dt.datetime
) -> None:
    """Refuse a start in the past or one that already has limits, unless the proposal is a correction."""
    if starts_at is None:
        if is_correction:
            raise ValidationError({"starts_at": "Enter the time from which the sign was different."})
        return
    taken = LimitSet.objects.filter(table__in=list(tables), starts_at=starts_at).select_related("table__casino").first()
    if is_correction and starts_at > now and taken is None:
        raise ValidationError({"is_correction": "This time is in the future and has no limits to correct."})
    if not is_correction and starts_at <= now:
        raise ValidationError(
            {"starts_at": "This time has passed. Choose a later one, or mark the proposal as a correction."}
        )
    if not is_correction and taken is not None:
        raise ValidationError(
            f"{taken.table} already has limits from {as_text(starts_at, taken.table.casino)}, recorded by {taken.who}. "
            "Choose another time, or mark the proposal as a correction."
        )


def verify_amounts(draft: LimitDraft) -> None:
    for key, line in draft.new.by_key.items():
        amounts = [amount for amount in (line.minimum, line.maximum) if amount is not None]
        if any(amount < 0 for amount in amounts) or amounts != sorted(amounts):
            raise ValidationError(
                f"{draft.table}: {key_label(key)}: minimum above the maximum, or a negative amount. Correct it."
            )
    if any(amount < 0 for amount in draft.new.differential.values()):
        raise ValidationError(f"{draft.table}: a differential is negative. Correct it.")


def limits_before(table: Table, moment: dt.datetime, known_at: dt.datetime | None = None) -> Limits:
    """Return the limits at a moment, as known now or then; no limits if there is no sign."""
    base = base_at(table, moment, known_at)
    return base.sheet.limits() if base else Limits()


# --- Deciding --------------------------------------------------------------------------------------


@transaction.atomic
def limits_approve(*, actor: Staff, proposal: LimitProposal, reason: str, remove: Confirmed = NONE) -> list[LimitSet]:
    """Approve a proposal: the sign changes at the proposed time, or as soon as notice allows.

    It is refused if a sign changed since the proposal was worked out: approving it would undo that change. `remove`
    must name every limit to be removed. Pending proposals for the same figures and time are superseded; others stay,
    and are refused later if they would undo this change.
    """
    tables = _locked_tables(proposal)
    verify_may_decide(actor=actor, proposal=proposal, action="limits.approve")
    verify_reason(reason)
    verify_open(proposal)
    now = timezone.now()
    verify_moment(tables, starts_at=proposal.starts_at, is_correction=proposal.is_correction, now=now)
    drafts = drafts_now(proposal, tables, now=now)
    verify_notice(proposal, drafts, now=now)
    verify_base(proposal, drafts)
    for draft in drafts:
        verify_fit(draft.table, with_limits=draft.new, starts_at=draft.moment)
    confirmed = verify_removals(drafts, remove)
    names = [f"{code} {name}" for code, removed in confirmed.items() for name in removed]
    decision = _decide(proposal, Outcome.APPROVED, actor, reason, now, removals=names)
    sheets = {sign.table_id: sign.sheet for sign in proposal.signs.select_related("sheet")}
    sets = [_record(draft.table, draft.moment, sheets[draft.table.pk], decision, now) for draft in drafts]
    _supersede_others(proposal, drafts, actor, now)
    return sets


def verify_notice(proposal: LimitProposal, drafts: Sequence[LimitDraft], *, now: dt.datetime) -> None:
    """Refuse stricter limits at a table that is not closed before the casino's notice period is over."""
    earliest = now + notice_of(proposal.pit)
    if proposal.starts_at and now < proposal.starts_at < earliest and needs_notice(drafts):
        raise ValidationError(
            f"These limits are stricter and need {proposal.casino.notice_minutes} minutes' notice: from "
            f"{as_text(next_minute(earliest), proposal.casino)} at the earliest. Reject them, and propose a later "
            "time or none; or close the tables first."
        )


def verify_base(proposal: LimitProposal, drafts: Sequence[LimitDraft]) -> None:
    """Refuse a proposal that would undo a later change of the sign."""
    if faults := overtaken_texts(proposal, drafts):
        remedy = "Approving this proposal would undo that. Reject it and propose the change again."
        raise OvertakenError(f"{' '.join(faults)} {remedy}")


def overtaken_texts(proposal: LimitProposal, drafts: Sequence[LimitDraft]) -> list[str]:
    """Describe for each table how its sign changed since the proposal, and who changed it."""
    texts = []
    for draft, since in overtaken(proposal, drafts):
        what = "; ".join(change_text(change) for change in since) or "same limits in other lines"
        who = f", recorded by {draft.base.who}" if draft.base else ""
        at = as_text(draft.moment, proposal.casino)
        texts.append(f"{draft.table}: the sign in force at {at} has changed since the proposal ({what}{who}).")
    return texts


@transaction.atomic
def limits_reject(*, actor: Staff, proposal: LimitProposal, reason: str) -> LimitDecision:
    _locked_tables(proposal)
    verify_may_decide(actor=actor, proposal=proposal, action="limits.reject")
    verify_reason(reason)
    verify_open(proposal)
    return _decide(proposal, Outcome.REJECTED, actor, reason, timezone.now())


@transaction.atomic
def limits_withdraw(*, actor: Staff, proposal: LimitProposal, reason: str) -> LimitDecision:
    """Withdraw your own proposal."""
    _locked_tables(proposal)
    authorize(actor, "limits.withdraw", proposal)
    if actor != proposal.proposed_by:
        raise deny(actor, "limits.withdraw", proposal)
    verify_reason(reason)
    verify_open(proposal)
    return _decide(proposal, Outcome.WITHDRAWN, actor, reason, timezone.now())


def verify_may_decide(*, actor: Staff, proposal: LimitProposal, action: str) -> None:
    """Verify that another person than the proposer decides, and reaches every one of the tables."""
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
            f"This proposal was {decision.outcome} by {decision.who} at {at} ({decision.reason}). Nothing was changed."
        )


def _locked_tables(proposal: LimitProposal) -> list[Table]:
    """Lock the tables, always in the same order, so that two decisions never block each other."""
    keys = proposal.tables.values_list("pk", flat=True)
    return list(
        Table.objects.select_for_update(of=("self",)).select_related("casino").filter(pk__in=keys).order_by("pk")
    )


def _decide(
    proposal: LimitProposal, outcome: LimitDecision.Outcome, actor: Staff, reason: str, now: dt.datetime, *,
    removals: Sequence[str] = (),
) -> LimitDecision:  # fmt: skip
    decision = _decision(proposal, outcome, actor, reason, now)
    decision.removals = list(removals)
    decision.save(force_insert=True)
    return decision


def _decision(
    proposal: LimitProposal, outcome: LimitDecision.Outcome, actor: Staff, reason: str, now: dt.datetime
) -> LimitDecision:
    return LimitDecision(
        proposal=proposal, proposed_by=proposal.proposed_by, outcome=outcome, decided_by=actor, who=actor_name(actor),
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
    requeue_since(table, since=starts_at)
    return limit_set


def superseded_with(proposal: LimitProposal, drafts: Sequence[LimitDraft]) -> list[tuple[LimitProposal, list[str]]]:
    """List the pending proposals in conflict with this one, with the figures that both change.

    They change the same figure of the same table from the same moment, or both once approved.
    """
    own = {f"{draft.table.code} {change.name}" for draft in drafts for change in draft.changes}
    tables = [draft.table for draft in drafts]
    others = LimitProposal.objects.filter(decision=None, tables__in=tables).exclude(pk=proposal.pk)
    same_moment = Q(starts_at=proposal.starts_at) if proposal.starts_at else Q(starts_at__isnull=True)
    found = []
    for other in others.filter(same_moment).select_related("casino", "pit__casino", "proposed_by").distinct():
        theirs = [f"{draft.table.code} {change.name}" for draft in drafts_then(other) for change in draft.changes]
        if both := [name for name in theirs if name in own]:
            found.append((other, both))
    return found


def _supersede_others(proposal: LimitProposal, drafts: Sequence[LimitDraft], actor: Staff, now: dt.datetime) -> None:
    """Mark the proposals that this approval replaces as superseded.

    A proposal for several tables may be superseded at two of them at once; the first record counts.
    """
    when = "from the same moment" if proposal.starts_at else "as soon as approved"
    LimitDecision.objects.bulk_create(
        [
            _decision(
                other, Outcome.SUPERSEDED, actor,
                f"Proposal {proposal} was approved and changes the same limits {when}: {', '.join(both)}", now,
            )
            for other, both in superseded_with(proposal, drafts)
        ],
        ignore_conflicts=True,
    )  # fmt: skip


# --- From a file -----------------------------------------------------------------------------------


def limit_set_load(
    *, actor: Actor, table: Table, limits: Limits, sheet: LimitSheet | None, starts_at: dt.datetime, source: str
) -> LimitSheet | None:
    """Record limits from a file, with the file as their origin; None if they are already on record."""
    recorded = list(table.limit_sets.filter(starts_at=starts_at).select_related("sheet"))
    if any(known.sheet.limits() == limits for known in recorded):
        return None
    for known in recorded:
        fault = f"{table} has other limits from {as_text(starts_at, table.casino)}, recorded by {known.who}"
        raise ValidationError({"starts_at": f"{fault}; choose another time, or keep those limits."})
    authorize(actor, "limits.load", table)
    verify_no_round_since(table, starts_at)
    sheet = sheet or sheet_create(limits)
    limit_set = LimitSet.objects.create(
        table=table, starts_at=starts_at, sheet=sheet, origin=LimitSet.Origin.FILE, source=source, who=actor_name(actor)
    )
    ledger_append(table, limits_entry(limit_set))
    return sheet
