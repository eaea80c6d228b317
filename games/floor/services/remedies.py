"""Remedies of a malfunction: what must be on record before a table plays on (Division 9, 7.4)."""

from typing import Any

from django.core.exceptions import ValidationError

from games.history.audited_save import verify_text
from games.labels.rules import rules_label
from games.models import Staff, Table, TableStep


def rules_of_suspension(table: Table) -> list[str]:
    """List the rules of the last suspension that has no remedy on record. Closing a table is not a remedy."""
    for step in table.steps.order_by("-at", "-id").only("kind", "rules", "checked_by").iterator(chunk_size=50):
        if step.kind == TableStep.Kind.RESUME or step.checked_by_id is not None:
            return []
        if step.kind == TableStep.Kind.SUSPEND and step.rules:
            return list(step.rules)
    return []


def verified_remedy(
    table: Table, rules: list[str], *, rectified: str, rectified_by: str, checked_by: str
) -> dict[str, Any]:
    """Check the remedy of a resumption or opening: all fields after a malfunction by rule, else all or none."""
    given = {"rectified": rectified.strip(), "rectified_by": rectified_by.strip(), "checked_by": checked_by.strip()}
    checked_by = given["checked_by"]
    if not rules and not any(given.values()):
        return {}
    missing = {
        "rectified": "Enter what was rectified, or which procedures were introduced.",
        "rectified_by": "Enter who rectified it, or who introduced the procedures.",
        "checked_by": "Enter the staff number of the person who checked it.",
    }
    cited = f" {table} was suspended by {rules_label(rules)}." if rules else ""
    faults = {name: f"{text}{cited}" for name, text in missing.items() if not given[name]}
    checker = Staff.objects.filter(number__iexact=checked_by, is_active=True).first() if checked_by else None
    if checked_by and (checker is None or checker.casino_id not in (None, table.casino_id)):
        faults["checked_by"] = f"There is no staff number {checked_by[:40]} at this casino; check the number."
    if faults:
        raise ValidationError(faults)
    for name, text in given.items():
        verify_text(name, text)
    return {**given, "checked_by": checker}
