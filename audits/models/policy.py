"""How a casino weighs its findings: from which amount one is grave, who has to confirm, and how long one may lie."""

from django.core.validators import MinValueValidator
from django.db import models
from django.db.models import F, Q

from audits.models.finding import Severity
from games.models import Casino
from games.models.history import History


class FindingPolicy(models.Model):
    """Amounts in minor units. A casino without a policy of its own has these defaults."""

    casino_path, pit_path = "casino", None

    casino = models.OneToOneField(Casino, on_delete=models.PROTECT, related_name="finding_policy")
    medium_from = models.BigIntegerField("medium from", default=50_000, validators=[MinValueValidator(0)])
    high_from = models.BigIntegerField("high from", default=500_000, validators=[MinValueValidator(0)])
    confirm_from = models.BigIntegerField(
        "confirmed by compliance from", default=200_000, validators=[MinValueValidator(0)]
    )
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
        if amount >= self.high_from:
            return Severity.HIGH
        return Severity.MEDIUM if amount >= self.medium_from else Severity.LOW

    def patience(self, severity: int) -> int:
        """Minutes that a finding may stay open."""
        return {
            Severity.LOW: self.escalate_low_after,
            Severity.MEDIUM: self.escalate_medium_after,
            Severity.HIGH: self.escalate_high_after,
        }[Severity(severity)]


def policy_of(casino: Casino) -> FindingPolicy:
    """The casino's own, or the defaults."""
    return FindingPolicy.objects.filter(casino=casino).first() or FindingPolicy(casino=casino)
