"""Readiness of a table: what has to be there before it opens and while it is open."""

from django.core.exceptions import ValidationError
from django.utils import timezone

from games.clauses import cited_for
from games.engine.rules.loader import rulebook
from games.engine.signs.completeness import missing_on_sign
from games.engine.signs.limits import Limits
from games.limits.signs.sign import missing_text
from games.models import Table, TableAssignment, TableState, TableStep, Tumbler
from games.rounds.terms import terms_at


def sign_faults(table: Table, assignment: TableAssignment) -> list[str]:
    """Name the limits that the sign lacks for the layout in force (RWS 3.3)."""
    terms = terms_at(table, timezone.now())
    if terms.limit_set is None:
        return [f"{table} has no limits in force{_by_sign_rule(assignment)}; have some approved first."]
    named = lacking_text(assignment, terms.limit_set.sheet.limits())
    by_rule = _by_sign_rule(assignment)
    fault = f"The sign of {table} is incomplete{by_rule}. It lacks: {named}. Have these limits approved first."
    return [fault] if named else []


def _by_sign_rule(assignment: TableAssignment) -> str:
    cited = ", ".join(cited_for(assignment.rulebook, "sign"))
    return f" ({cited})" if cited else ""


def lacking_text(assignment: TableAssignment, limits: Limits) -> str:
    """Name what a sign with these limits would lack for a game; empty where it is complete."""
    book = rulebook(assignment.rulebook)
    lacking = missing_on_sign(book, book.layouts[assignment.layout], limits)
    return missing_text(lacking) if lacking else ""


def incomplete_text(table: Table, assignment: TableAssignment, limits: Limits) -> str:
    """Warn that new limits would leave a table that is not closed without a complete sign; empty otherwise."""
    named = lacking_text(assignment, limits) if table.state != TableState.CLOSED else ""
    if not named:
        return ""
    return f"{table} is {table.state}, and its sign would be incomplete{_by_sign_rule(assignment)}. It lacks: {named}."


def tumbler_of(table: Table) -> Tumbler | None:
    """Find the tumbler that is fitted to a table, fit for play.

    None where none is on record; refused where the rulebook has opening checks, since one of them is on the tumbler.
    """
    terms = terms_at(table, timezone.now())
    fit = terms.tumbler
    if fit is None:
        if terms.assignment is not None and terms.book.opening_checks:
            raise ValidationError(f"{table} has no tumbler on record; fit one first.")
        return None
    if fit.tumbler.state != Tumbler.State.FIT:
        raise ValidationError(
            f"The tumbler {fit.tumbler} at {table} is not fit for play; remove it and fit another one."
        )
    return fit.tumbler


# --- While a table is open or suspended ------------------------------------------------------------


def changed_since_opening(table: Table, assignment: TableAssignment) -> list[str]:
    """Name what the signed opening checks no longer cover: other dice, another tumbler, another rulebook."""
    if not rulebook(assignment.rulebook).opening_checks:
        return []
    opened = table.steps.filter(kind=TableStep.Kind.OPEN).select_related("check_signed").order_by("-at", "-id").first()
    terms = terms_at(table, timezone.now())
    dice, tumbler = terms.dice, terms.tumbler
    remedy = "close it, and open it after its checks."
    faults = []
    if opened is None or opened.check_signed is None or opened.check_signed.rulebook != assignment.rulebook:
        faults.append(f"{table} was not opened with the checks of {assignment.rulebook}; {remedy}")
    if opened is not None and dice is not None and dice.during.lower > opened.at:
        faults.append(f"The dice of {table} were changed; {remedy}")
    if opened is not None and tumbler is not None and tumbler.during.lower > opened.at:
        faults.append(f"The tumbler of {table} was changed; {remedy}")
    return faults


def play_faults(table: Table, assignment: TableAssignment) -> list[str]:
    """Name what a table lacks for play in its present state: its sign, its tumbler, and checks that still count."""
    faults = sign_faults(table, assignment)
    try:
        tumbler_of(table)
    except ValidationError as error:
        faults += error.messages
    if table.state != TableState.CLOSED:
        faults += changed_since_opening(table, assignment)
    return faults
