"""Findings on pages, in the words of audits.findings.labels."""

from django import template

from audits.findings import labels
from audits.models import Consequence, Finding, Severity
from audits.rulings.corrections.damage import left_out
from games.access.roles import access_policy

register = template.Library()


@register.filter
def money(amount: float | None) -> str:
    return labels.money(amount)


@register.filter
def box_name(code: str) -> str:
    return labels.box_name(code)


@register.filter
def in_words(finding: Finding) -> str:
    return labels.finding_text(finding)


@register.filter
def kind_name(finding: Finding) -> str:
    return labels.kind_name(finding.category, finding.kind)


@register.filter
def severity_name(severity: int) -> str:
    return Severity(severity).label.lower()


@register.filter
def left_out_count(order: Consequence) -> int:
    """Affected rounds that came since the order was given."""
    return left_out(order).count()


@register.filter
def role_name(code: str) -> str:
    return access_policy().roles[code].name
