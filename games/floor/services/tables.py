"""Tables: set up, given another game, and opened, closed, suspended and resumed."""

import datetime as dt
from collections.abc import Mapping
from typing import Any

from django.core.exceptions import ValidationError
from django.db import transaction
from django.db.backends.postgresql.psycopg_any import DateTimeTZRange
from django.utils import timezone

from games.access.gate import Actor, actor_name, authorize
from games.clauses import cited_for
from games.engine.errors import InputError
from games.engine.money import MoneyError, parse_positive_money
from games.engine.rules.loader import layout as layout_of
from games.engine.rules.loader import rulebook as rulebook_of
from games.engine.rules.rulebook import Rulebook
from games.floor.availability import STATE_AFTER
from games.floor.moments import as_text
from games.floor.services.casinos import verify_pit_of_casino
from games.floor.services.readiness import changed_since_opening, sign_faults, tumbler_of
from games.floor.services.remedies import rules_of_suspension, verified_remedy
from games.history.audited_save import OvertakenError, record_change, record_save, verify_reason
from games.ledger.services import LedgerEntry, ledger_append
from games.limits.services.limits_fit import verify_fit
from games.models import (
    Casino,
    DiceSet,
    OpeningCheck,
    Pit,
    Staff,
    Table,
    TableAssignment,
    TableState,
    TableStep,
)
from games.rounds.services.rounds_since import verify_no_round_since
from games.rounds.terms import terms_at

#: Checks are signed before a table is opened, not days before.
CHECKS_COUNT_FOR = dt.timedelta(hours=12)


@transaction.atomic
def table_create(
    *, actor: Actor, casino: Casino, pit: Pit, code: str, rulebook: str, layout: str, chip_unit: str,
    starts_at: dt.datetime, reason: str,
) -> Table:  # fmt: skip
    """A new table, closed, with what is played on it from a moment on."""
    authorize(actor, "table.add", pit)
    table = Table(casino=casino, code=code)
    record_save(table, actor=actor, reason=reason)
    assignment_record(
        actor=actor, table=table, pit=pit, rulebook=rulebook, layout=layout, chip_unit=chip_unit, starts_at=starts_at,
        reason=reason,
    )  # fmt: skip
    return table


@transaction.atomic
def table_assign(
    *, actor: Actor, table: Table, pit: Pit, rulebook: str, layout: str, chip_unit: str, starts_at: dt.datetime,
    reason: str,
) -> bool:  # fmt: skip
    """Another game, layout, chip unit or pit from a moment on. What is on record already changes nothing."""
    current = Table.objects.select_for_update().get(pk=table.pk)
    verify_game_may_change(current, rulebook=rulebook, layout=layout, starts_at=starts_at)
    changed = assignment_record(
        actor=actor, table=current, pit=pit, rulebook=rulebook, layout=layout, chip_unit=chip_unit,
        starts_at=starts_at, reason=reason,
    )  # fmt: skip
    verify_fit(current)
    return changed


def verify_game_may_change(table: Table, *, rulebook: str, layout: str, starts_at: dt.datetime) -> None:
    """Refuse another game under an open table: its sign and its opening checks were for the one in play."""
    now = timezone.now()
    current = terms_at(table, now).assignment
    if table.state != TableState.OPEN or starts_at > now or current is None:
        return
    if (current.rulebook, current.layout) != (rulebook, layout):
        fault = f"{table} is open with {current.game}; close it first, or choose a later moment."
        raise ValidationError({"starts_at": fault})


def assignment_record(
    *, actor: Actor, table: Table, pit: Pit, rulebook: str, layout: str, chip_unit: str, starts_at: dt.datetime,
    reason: str,
) -> bool:  # fmt: skip
    """Whether the limits still fit is asked by the caller, when all is written."""
    verify_pit_of_casino(pit, table.casino)
    book = verify_game(rulebook=rulebook, layout=layout, starts_at=starts_at)
    values = {"pit": pit, "rulebook": book.id, "layout": layout, "chip_unit": verified_unit(chip_unit)}
    same = table.assignments.filter(during__startswith=starts_at).first()
    if same is not None:
        if all(getattr(same, name) == value for name, value in values.items()):
            return False
        fault = f"{table} has another assignment from {as_text(starts_at, table.casino)}, {same.game}"
        raise ValidationError({"starts_at": f"{fault}; choose another moment, or leave it as it is."})
    authorize(actor, "table.assign", table)
    verify_no_round_since(table, starts_at)
    before = table.assignments.filter(during__contains=starts_at).first()
    after = table.assignments.filter(during__startswith__gt=starts_at).order_by("during").first()
    if before is not None:
        before.during = DateTimeTZRange(before.starts_at, starts_at)
        record_save(before, actor=actor, reason=reason, only=("during",))
    period = DateTimeTZRange(starts_at, after.starts_at if after else None)
    assignment = TableAssignment(table=table, casino=table.casino, during=period, **values)
    record_save(assignment, actor=actor, reason=reason)
    held = (starts_at.astimezone(dt.UTC), pit.code, book.id, layout, assignment.chip_unit, actor_name(actor), reason)
    ledger_append(table, LedgerEntry("game", assignment.pk, held))
    return True


def verify_game(*, rulebook: str, layout: str, starts_at: dt.datetime) -> Rulebook:
    try:
        book = rulebook_of(rulebook)
        layout_of(book, layout)
    except InputError as error:
        raise ValidationError(list(error.faults)) from None
    if starts_at < book.in_force_from:
        fault = f"{book.id} is in force from {book.in_force_from.isoformat()}; begin then or later."
        raise ValidationError({"starts_at": fault})
    return book


def verified_unit(chip_unit: str) -> int:
    try:
        return parse_positive_money(chip_unit)
    except MoneyError as error:
        raise ValidationError({"chip_unit": f"{error}."}) from None


# --- Opening checks --------------------------------------------------------------------------------


@transaction.atomic
def opening_checks_sign(*, actor: Staff, table: Table, passed: Mapping[str, bool], remarks: str = "") -> OpeningCheck:
    """The rulebook's checks, each answered; a check that failed needs remarks, and the table stays closed."""
    current = Table.objects.select_for_update().get(pk=table.pk)
    authorize(actor, "table.check", current)
    if current.state != TableState.CLOSED:
        raise ValidationError(f"{current} is {current.state}; checks are signed before a table opens.")
    book = rulebook_of(in_force(current).rulebook)
    results = [
        {"check": check.name, "rules": book.cite(*check.rules), "text": check.text, "passed": passed[check.name]}
        for check in book.opening_checks
        if check.name in passed
    ]
    if len(results) < len(book.opening_checks) or len(passed) > len(results):
        raise ValidationError("Answer every check of the rulebook, and no others.")
    failed = [result["check"] for result in results if not result["passed"]]
    if failed and not remarks.strip():
        raise ValidationError({"remarks": f"Say what was found: {', '.join(map(str, failed))} did not pass."})
    return OpeningCheck.objects.create(
        table=current, rulebook=book.id, dice_set=fitted(current), tumbler=tumbler_of(current), at=timezone.now(),
        by=actor, who=actor_name(actor),
        results=results, passed=not failed, remarks=remarks.strip(),
    )  # fmt: skip


def in_force(table: Table) -> TableAssignment:
    assignment = terms_at(table, timezone.now()).assignment
    if assignment is None:
        raise ValidationError(f"{table} has no rulebook and layout in force now; wait until it has, or assign them.")
    return assignment


def fitted(table: Table) -> DiceSet:
    """The dice set under the dome, fit for play."""
    fit = terms_at(table, timezone.now()).dice
    if fit is None:
        raise ValidationError(f"{table} has no dice; fit a dice set first.")
    if fit.dice_set.state != DiceSet.State.FIT:
        raise ValidationError(
            f"The dice set {fit.dice_set} at {table} is not fit for play; take it out and fit another one."
        )
    return fit.dice_set


def checks_that_count(table: Table) -> OpeningCheck | None:
    """The last checks, if they count now: recent, since the last closing, of this game, these dice and this tumbler."""
    last = table.opening_checks.order_by("-at", "-id").first()
    if last is None or last.at < timezone.now() - CHECKS_COUNT_FOR:
        return None
    if table.state_since is not None and last.at < table.state_since:
        return None
    terms = terms_at(table, timezone.now())
    dice, tumbler = terms.dice, terms.tumbler
    same_dice = dice is not None and dice.dice_set_id == last.dice_set_id and dice.during.lower <= last.at
    same_tumbler = (tumbler.tumbler_id if tumbler else None) == last.tumbler_id
    return last if same_dice and same_tumbler and last.rulebook == in_force(table).rulebook else None


# --- Open, closed, suspended -----------------------------------------------------------------------


@transaction.atomic
def table_open(
    *, actor: Staff, table: Table, reason: str, rectified: str = "", rectified_by: str = "", checked_by: str = ""
) -> TableStep:
    """Open a table that has a complete sign, dice and signed checks; what is missing is named all at once.

    A table that was closed after a suspension by rule (Division 9, 7.4) needs its remedy on record, as at resuming.
    """
    current = _locked(table, actor, "table.open", TableState.CLOSED)
    assignment = in_force(current)
    faults = sign_faults(current, assignment)
    for verify in (fitted, tumbler_of):
        try:
            verify(current)
        except ValidationError as error:
            faults += error.messages
    signed = None
    if rulebook_of(assignment.rulebook).opening_checks:
        signed = checks_that_count(current)
        faults += check_faults(current, signed)
    if faults:
        raise ValidationError(faults)
    rules = rules_of_suspension(current)
    remedy = verified_remedy(current, rules, rectified=rectified, rectified_by=rectified_by, checked_by=checked_by)
    return _step(current, TableStep.Kind.OPEN, actor, reason, check_signed=signed, rules=rules, **remedy)


def check_faults(table: Table, signed: OpeningCheck | None) -> list[str]:
    if signed is None:
        return [f"{table} has not passed its opening checks since it closed; sign them first."]
    if not signed.passed:
        return [f"{table} did not pass its opening checks ({signed.remarks}); mend it, then check again."]
    return []


@transaction.atomic
def table_close(*, actor: Staff, table: Table, notice_given_at: dt.datetime, reason: str) -> TableStep:
    """Players were told before."""
    current = _locked(table, actor, "table.close", TableState.OPEN, TableState.SUSPENDED)
    now = timezone.now()
    if notice_given_at > now:
        raise ValidationError(
            {"notice_given_at": "This moment is still to come; close the table once notice is given."}
        )
    opened = current.steps.filter(kind=TableStep.Kind.OPEN).order_by("-at", "-id").first()
    if opened is not None and notice_given_at < opened.at:
        raise ValidationError({"notice_given_at": "The table was not open yet at that moment; check the time."})
    return _step(current, TableStep.Kind.CLOSE, actor, reason, notice_given_at=notice_given_at)


@transaction.atomic
def table_suspend(*, actor: Staff, table: Table, reason: str, cause: str = "") -> TableStep:
    """Stop play until the table is resumed. A malfunction cites the rulebook's rule on it (Division 9, 7.4).

    Where no cause is given and there is such a rule, it counts as a malfunction: that is the stricter course.
    """
    current = _locked(table, actor, "table.suspend", TableState.OPEN)
    if cause not in ("", *TableStep.Cause.values):
        raise ValidationError({"cause": f"Choose why play stops: {' or '.join(TableStep.Cause.values)}."})
    rules = cited_for(in_force(current).rulebook, "suspension") if cause != TableStep.Cause.OTHER else ()
    cause = TableStep.Cause.MALFUNCTION.value if rules else cause
    return _step(current, TableStep.Kind.SUSPEND, actor, reason, rules=list(rules), cause=cause)


@transaction.atomic
def table_resume(
    *, actor: Staff, table: Table, reason: str, rectified: str = "", rectified_by: str = "", checked_by: str = ""
) -> TableStep:
    """Let play go on. After a malfunction by rule (Division 9, 7.4) it has to be on record what was rectified, or which
    procedures were introduced, by whom, and who checked it (a staff number)."""
    current = _locked(table, actor, "table.resume", TableState.SUSPENDED)
    verify_may_resume(current)
    rules = rules_of_suspension(current)
    remedy = verified_remedy(current, rules, rectified=rectified, rectified_by=rectified_by, checked_by=checked_by)
    return _step(current, TableStep.Kind.RESUME, actor, reason, rules=rules, **remedy)


def verify_may_resume(table: Table) -> None:
    """A complete sign, and what the opening checks were on: the same dice, the same tumbler, the same rulebook."""
    fitted(table)
    tumbler_of(table)
    assignment = in_force(table)
    if faults := [*sign_faults(table, assignment), *changed_since_opening(table, assignment)]:
        raise ValidationError(faults)


def _locked(table: Table, actor: Staff, action: str, *states: TableState) -> Table:
    current = Table.objects.select_for_update().select_related("casino").get(pk=table.pk)
    authorize(actor, action, current)
    if current.state not in states:
        since = f" since {as_text(current.state_since, current.casino)}" if current.state_since else ""
        raise OvertakenError(f"{current} is {current.state}{since}; that takes a table that is {' or '.join(states)}.")
    return current


def _step(table: Table, kind: TableStep.Kind, actor: Staff, reason: str, **values: Any) -> TableStep:
    return step_record(table, kind, actor=actor, at=timezone.now(), reason=reason, by=actor, **values)


def step_record(
    table: Table, kind: TableStep.Kind, *, actor: Actor, at: dt.datetime, reason: str, **values: Any
) -> TableStep:
    """Record a step of a locked table with its new state, its history and its place in the ledger."""
    verify_reason(reason)
    record_change(table, {"state": STATE_AFTER[kind], "state_since": at}, actor=actor, reason=reason)
    step = TableStep.objects.create(
        table=table, kind=kind, at=at, who=actor_name(actor), reason=reason.strip(), **values
    )
    held: tuple[Any, ...] = (kind.value, at.astimezone(dt.UTC), step.who, step.reason, step.rules)
    if step.cause:
        held += (step.cause,)
    if step.checked_by is not None:
        held += (step.rectified, step.rectified_by, step.checked_by.number)
    if step.source:
        held += ("file", step.source, step.checks_of, step.checks_by.number if step.checks_by else "")
    ledger_append(table, LedgerEntry("table", step.pk, held))
    return step
