"""Findings in templates, with the names of `audits.findings.labels`. For money, boxes and rules load `labels`."""

from django import template

from audits.findings import labels
from audits.models import Consequence, Finding, Severity
from audits.rulings.corrections.damage import left_out
from games.access.roles import access_policy

register = template.Library()


@register.filter
def in_words(finding: Finding) -> str:
    """Write a finding as one sentence."""
    return labels.finding_text(finding)


@register.filter
def kind_name(finding: Finding) -> str:
    """Name the kind of a finding."""
    return labels.kind_name(finding.category, finding.kind)


@register.filter
def severity_name(severity: int) -> str:
    """Name a severity: `high`."""
    return Severity(severity).label.lower()


@register.filter
def left_out_count(order: Consequence) -> int:
    """Count the affected rounds that were added since the order was given."""
    return left_out(order).count()


@register.filter
def role_name(code: str) -> str:
    """Name a role: `Pit manager` for `pit-manager`."""
    return access_policy().roles[code].name
