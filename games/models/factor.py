"""Resets of a second factor: proposed by one administrator, confirmed by another. Both rows are written once."""

from django.db import models
from django.db.models import F, Q

from games.models.staff import Staff


class FactorReset(models.Model):
    """A proposal to remove all second factors of a person who lost theirs."""

    casino_path, pit_path = "staff__casino", None

    staff = models.ForeignKey(Staff, on_delete=models.PROTECT, related_name="factor_resets")
    proposed_by = models.ForeignKey(Staff, on_delete=models.PROTECT, related_name="+")
    proposed_at = models.DateTimeField()
    reason = models.CharField(max_length=500)

    class Meta:
        ordering = ["-proposed_at", "-id"]
        verbose_name = "second factor reset"
        constraints = [
            models.CheckConstraint(condition=~Q(staff=F("proposed_by")), name="factor_reset_not_own"),
            # what the confirmation refers to, so that it cannot name another proposer (migration)
            models.UniqueConstraint(fields=["id", "staff", "proposed_by"], name="factor_reset_of_proposer"),
        ]

    def __str__(self) -> str:
        return f"{self.staff}"


class FactorResetConfirmation(models.Model):
    """The word of the second administrator; with it the factors are gone."""

    casino_path, pit_path = "staff__casino", None

    reset = models.OneToOneField(
        FactorReset, on_delete=models.PROTECT, related_name="confirmation", db_constraint=False
    )
    staff = models.ForeignKey(Staff, on_delete=models.PROTECT, related_name="+")
    proposed_by = models.ForeignKey(Staff, on_delete=models.PROTECT, related_name="+")
    confirmed_by = models.ForeignKey(Staff, on_delete=models.PROTECT, related_name="+")
    confirmed_at = models.DateTimeField()

    class Meta:
        verbose_name = "confirmation of a second factor reset"
        constraints = [
            models.CheckConstraint(condition=~Q(confirmed_by=F("proposed_by")), name="factor_reset_by_two"),
            models.CheckConstraint(condition=~Q(confirmed_by=F("staff")), name="factor_reset_not_confirmed_by_own"),
        ]

    def __str__(self) -> str:
        return f"{self.reset}, confirmed by {self.confirmed_by}"
