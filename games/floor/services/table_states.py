"""Table states from a floor file: a table that was open, closed or suspended from a moment on.

A file states what was so. What a person needs before a table opens with this product (a complete sign, dice, signed
checks) is not asked of the past: a round that was played without it is a finding. The order of states is checked.
"""

from typing import Any

from django.core.exceptions import ValidationError
from django.db import transaction
from django.utils import timezone

from games.access.gate import Actor, authorize
from games.access.roles import role_of
from games.clauses import cited_for
from games.engine.rules.loader import rulebook
from games.floor.availability import STATE_AFTER
from games.floor.floor_file import StateEntry
from games.floor.moments import as_text
from games.floor.services.remedies import rules_of_suspension, verified_remedy
from games.floor.services.tables import step_record
from games.models import Staff, Table, TableAssignment, TableState, TableStep
from games.rounds.services.rounds_since import verify_no_round_since
from games.rounds.terms import terms_at

#: Which step leads from one state to another.
STEPS = {
    (TableState.CLOSED, TableState.OPEN): TableStep.Kind.OPEN,
    (TableState.SUSPENDED, TableState.OPEN): TableStep.Kind.RESUME,
    (TableState.OPEN, TableState.CLOSED): TableStep.Kind.CLOSE,
    (TableState.SUSPENDED, TableState.CLOSED): TableStep.Kind.CLOSE,
    (TableState.OPEN, TableState.SUSPENDED): TableStep.Kind.SUSPEND,
}
REMEDY = ("rectified", "rectified_by", "checked_by")


@transaction.atomic
def table_state_load(*, actor: Actor, table: Table, entry: StateEntry, source: str, reason: str) -> bool:
    """Record a state as a file states it, with the file as its origin; False where it is on record already."""
    current = Table.objects.select_for_update().select_related("casino").get(pk=table.pk)
    same = current.steps.filter(at=entry.starts_at).select_related("checks_by", "checked_by").first()
    if same is not None:
        verify_same(current, same, entry)
        return False
    authorize(actor, "tablestate.load", current)
    assignment = _game_at(current, entry)
    _verify_moment(current, entry)
    verify_no_round_since(current, entry.starts_at)
    kind = STEPS.get((TableState(current.state), TableState(entry.state)))
    if kind is None:
        raise ValidationError({"state": _no_step(current, entry)})
    values = _values(current, kind, entry, assignment)
    step_record(
        current, kind, actor=actor, at=entry.starts_at, reason=entry.reason or reason, source=source, by=None, **values
    )
    return True


def verify_same(table: Table, step: TableStep, entry: StateEntry) -> None:
    """Refuse an entry that says something else of a moment than is on record; what it leaves out is not compared."""
    given = {
        "reason": entry.reason.strip(), "cause": entry.cause, "notice_given_at": entry.notice_given_at,
        "rectified": entry.rectified.strip(), "rectified_by": entry.rectified_by.strip(),
    }  # fmt: skip
    people = ((entry.opening_checks_by, step.checks_by), (entry.checked_by, step.checked_by))
    is_same = (
        STATE_AFTER[TableStep.Kind(step.kind)] == entry.state
        and all(getattr(step, name) == value for name, value in given.items() if value)
        and all(person is not None and person.number.upper() == number.upper() for number, person in people if number)
    )
    if not is_same:
        moment = as_text(entry.starts_at, table.casino)
        fault = (
            f"{table} has another step at {moment}, {step.get_kind_display()} ({step.reason}), recorded by {step.who}"
        )
        raise ValidationError({"starts_at": f"{fault}; choose another moment, or leave it as it is."})


def _game_at(table: Table, entry: StateEntry) -> TableAssignment:
    assignment = terms_at(table, entry.starts_at).assignment
    if assignment is None:
        fault = f"{table} has no rulebook and layout in force at that moment; begin when it has."
        raise ValidationError({"starts_at": fault})
    return assignment


def _verify_moment(table: Table, entry: StateEntry) -> None:
    """A state is a fact: not one to come, and none behind the back of a later one."""
    if entry.starts_at > timezone.now():
        raise ValidationError({"starts_at": "This moment is still to come; load the state once it was so."})
    if table.state_since is not None and entry.starts_at <= table.state_since:
        since = as_text(table.state_since, table.casino)
        raise ValidationError({"starts_at": f"{table} is {table.state} since {since} by record; begin after it."})


def _no_step(table: Table, entry: StateEntry) -> str:
    if table.state_since is None:
        return f"{table} has no opening on record before this moment; begin with an entry that opens it."
    since = as_text(table.state_since, table.casino)
    if table.state == entry.state:
        return f"{table} is {table.state} since {since} by record; leave this entry out."
    return f"{table} is {table.state} since {since} by record; only an open table is suspended, so open it first."


def _values(table: Table, kind: TableStep.Kind, entry: StateEntry, assignment: TableAssignment) -> dict[str, Any]:
    """The fields of a step beside who, when and why."""
    if kind == TableStep.Kind.CLOSE:
        return {"notice_given_at": entry.notice_given_at}
    if kind == TableStep.Kind.SUSPEND:
        rules = cited_for(assignment.rulebook, "suspension") if entry.cause != TableStep.Cause.OTHER else ()
        return {"rules": list(rules), "cause": TableStep.Cause.MALFUNCTION.value if rules else entry.cause}
    given = {name: getattr(entry, name) for name in REMEDY}
    rules_broken = rules_of_suspension(table)
    values = {"rules": rules_broken, **verified_remedy(table, rules_broken, **given)}
    if entry.opening_checks_by:
        values |= {"checks_of": assignment.rulebook, "checks_by": _checked_by(table, kind, entry, assignment)}
    return values


def _checked_by(table: Table, kind: TableStep.Kind, entry: StateEntry, assignment: TableAssignment) -> Staff:
    """Who made the opening checks: somebody of the casino in a post that signs them (Division 9, 5.0)."""
    if kind != TableStep.Kind.OPEN:
        raise ValidationError({"opening_checks_by": f"{table} was suspended, not closed; leave it out."})
    if not rulebook(assignment.rulebook).opening_checks:
        fault = f"{assignment.rulebook} has no opening checks; leave it out."
        raise ValidationError({"opening_checks_by": fault})
    number = entry.opening_checks_by
    person = Staff.objects.filter(number__iexact=number).first()
    if person is None or person.casino_id != table.casino_id:
        fault = f"There is no staff number {number[:40]} at this casino; check the number."
        raise ValidationError({"opening_checks_by": fault})
    if "table.check" not in role_of(person.department, person.post).may:
        fault = f"{person} is in no post that signs opening checks; name a pit supervisor or above."
        raise ValidationError({"opening_checks_by": fault})
    return person
