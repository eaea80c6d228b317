"""The finding policy of a casino: severity by amount, confirmation by compliance, and time until escalation."""

import datetime as dt
from typing import cast

from django.core.exceptions import ValidationError
from django.core.validators import MinValueValidator
from django.db import models
from django.db.models import F, Q

from audits.findings.models.finding import Severity
from games.database.grants import READ_ONLY
from games.history.records import History
from games.models import Casino
from games.thresholds.selectors import ThresholdKind, register, thresholds_in_force

#: The default severity of each kind of procedural finding.
PROCEDURAL_SEVERITY = {
    "early-bet": Severity.MEDIUM, "overlap": Severity.MEDIUM, "table-closed": Severity.HIGH,
    "table-suspended": Severity.HIGH, "no-valid-tumble": Severity.HIGH, "tumbler-out-of-order": Severity.MEDIUM,
    "settled-before-result": Severity.MEDIUM, "void-after-settlement": Severity.HIGH,
    "void-without-authority": Severity.HIGH, "amendment-without-authority": Severity.HIGH,
    "dice-contradicted": Severity.HIGH, "unknown-staff": Severity.MEDIUM, "wrong-post": Severity.MEDIUM,
    "sign-incomplete": Severity.MEDIUM,
}  # fmt: skip


def validate_procedural(value: object) -> None:
    """Check a mapping of procedural kinds to severities."""
    if not isinstance(value, dict):
        raise ValidationError("Give a severity for each kind of procedural finding, as a JSON object.")
    for kind, severity in value.items():
        if kind not in PROCEDURAL_SEVERITY:
            raise ValidationError(
                f"{kind} is not a kind of procedural finding; choose {', '.join(PROCEDURAL_SEVERITY)}."
            )
        if severity not in Severity.values:
            raise ValidationError(f"{kind}: {severity} is not a severity; choose 1, 2 or 3.")


class FindingPolicy(models.Model):
    """The policy of a casino, with amounts in minor units. A casino without its own policy has these defaults.

    The table holds settings from before changes needed two people, and is only read. Changes are threshold proposals.
    """

    grants = READ_ONLY
    casino_path, pit_path = "casino", None

    casino = models.OneToOneField(Casino, on_delete=models.PROTECT, related_name="finding_policy")
    medium_from = models.BigIntegerField("medium from", default=50_000, validators=[MinValueValidator(0)])
    high_from = models.BigIntegerField("high from", default=500_000, validators=[MinValueValidator(0)])
    confirm_from = models.BigIntegerField(
        "confirmed by compliance from", default=200_000, validators=[MinValueValidator(0)]
    )
    procedural = models.JSONField(
        "severity of procedural findings", default=dict, blank=True, validators=[validate_procedural],
        help_text="By kind, where it is not the default.",
    )  # fmt: skip
    escalate_low_after = models.PositiveIntegerField(
        "a low one may lie for", default=24 * 60, validators=[MinValueValidator(1)], help_text="Minutes."
    )
    escalate_medium_after = models.PositiveIntegerField(
        "a medium one may lie for", default=4 * 60, validators=[MinValueValidator(1)], help_text="Minutes."
    )
    escalate_high_after = models.PositiveIntegerField(
        "a high one may lie for", default=30, validators=[MinValueValidator(1)], help_text="Minutes."
    )

    history = History()

    class Meta:
        verbose_name_plural = "finding policies"
        constraints = [
            models.CheckConstraint(
                condition=Q(medium_from__gte=0, medium_from__lte=F("high_from")), name="policy_medium_up_to_high",
                violation_error_message="High begins at or above medium.",
            )
        ]  # fmt: skip

    def __str__(self) -> str:
        return str(self.casino)

    def severity_of(self, amount: int) -> Severity:
        """Return the severity of a finding by its amount."""
        if amount >= self.high_from:
            return Severity.HIGH
        return Severity.MEDIUM if amount >= self.medium_from else Severity.LOW

    def procedural_severity(self, kind: str) -> Severity:
        """Return the severity of a kind of procedural finding."""
        return Severity(self.procedural.get(kind, PROCEDURAL_SEVERITY[kind]))

    def patience(self, severity: int) -> int:
        """Return for how many minutes a finding may stay open before it is escalated."""
        return {
            Severity.LOW: self.escalate_low_after,
            Severity.MEDIUM: self.escalate_medium_after,
            Severity.HIGH: self.escalate_high_after,
        }[Severity(severity)]


def policy_before(casino: Casino) -> FindingPolicy:
    """Return the policy before the first approved change: the casino's own, or the defaults."""
    return FindingPolicy.objects.filter(casino=casino).first() or FindingPolicy(casino=casino)


FINDINGS = ThresholdKind(
    "findings", "Findings",
    ("medium_from", "high_from", "confirm_from", "escalate_low_after", "escalate_medium_after", "escalate_high_after",
     "procedural"),
    before=policy_before,
)  # fmt: skip
register(FINDINGS)


def policy_of(casino: Casino, at: dt.datetime | None = None) -> FindingPolicy:
    """Return the policy in force at a moment. The moment defaults to now."""
    return cast(FindingPolicy, thresholds_in_force(casino, FINDINGS.code, at))
