"""Thresholds of a casino: proposed by one compliance person, decided by another, in force from a gaming day on.

Rows are written once. In force at a moment is the approved change with the latest `effective_from` up to then; if
nothing was approved yet, the values that the casino had before (games.thresholds.selectors).
"""

import datetime as dt

from django.db import models
from django.db.models import F, Q
from django.utils import timezone

from games.access.models.staff import Staff
from games.database.grants import WRITTEN_ONCE
from games.floor.models.casino import Casino


class ThresholdChange(models.Model):
    """New values for one kind of thresholds, proposed with a reason: all values of the kind, changed or not."""

    grants = WRITTEN_ONCE
    casino_path, pit_path = "casino", None

    casino = models.ForeignKey(Casino, on_delete=models.PROTECT, related_name="threshold_changes")
    kind = models.CharField(max_length=20)
    proposed = models.JSONField("proposed values")
    reason = models.TextField()
    proposed_by = models.ForeignKey(Staff, on_delete=models.PROTECT, related_name="+")
    who = models.TextField("proposed by")
    at = models.DateTimeField("proposed at", default=timezone.now)

    class Meta:
        ordering = ["-at", "-id"]
        constraints = [
            models.UniqueConstraint(fields=["id", "proposed_by"], name="threshold_change_of_proposer"),
            models.CheckConstraint(condition=~Q(reason=""), name="threshold_change_has_a_reason"),
        ]
        indexes = [models.Index(fields=["casino", "kind"], name="threshold_change_by_kind")]

    def __str__(self) -> str:
        return f"no. {self.pk}"

    @property
    def state(self) -> str:
        decision = getattr(self, "decision", None)
        return decision.outcome if decision else "pending"


class ThresholdDecisionQuerySet(models.QuerySet["ThresholdDecision"]):
    def approved(self, casino: Casino, kind: str) -> "ThresholdDecisionQuerySet":
        """Select the approved changes of a kind, the latest in force first."""
        found = self.filter(change__casino=casino, change__kind=kind, outcome=ThresholdDecision.Outcome.APPROVED)
        return found.select_related("change").order_by("-effective_from", "-pk")

    def in_force(self, casino: Casino, kind: str, at: dt.datetime | None = None) -> "ThresholdDecision | None":
        """Return the approved change in force at a moment (defaults to now); None if none was approved."""
        return self.approved(casino, kind).filter(effective_from__lte=at or timezone.now()).first()


class ThresholdDecision(models.Model):
    """The decision on a change: approved or rejected by another person, or withdrawn by the proposer."""

    class Outcome(models.TextChoices):
        APPROVED = "approved"
        REJECTED = "rejected"
        WITHDRAWN = "withdrawn"

    grants = WRITTEN_ONCE
    casino_path, pit_path = "change__casino", None

    change = models.OneToOneField(ThresholdChange, on_delete=models.PROTECT, related_name="decision")
    # repeated here for the CHECK; a foreign key over both keeps it correct (migration 0023)
    proposed_by = models.ForeignKey(Staff, on_delete=models.PROTECT, related_name="+")
    outcome = models.CharField(max_length=10, choices=Outcome)
    decided_by = models.ForeignKey(Staff, on_delete=models.PROTECT, related_name="+")
    who = models.TextField("decided by")
    at = models.DateTimeField("decided at", default=timezone.now)
    reason = models.TextField()
    effective_from = models.DateTimeField("in force from", null=True, blank=True)

    objects = ThresholdDecisionQuerySet.as_manager()

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=Q(outcome__in=["approved", "rejected", "withdrawn"]), name="threshold_outcome_known"
            ),
            models.CheckConstraint(
                condition=Q(outcome="withdrawn") | ~Q(decided_by=F("proposed_by")), name="threshold_decided_by_another",
                violation_error_message="Another compliance person decides on this proposal.",
            ),
            models.CheckConstraint(
                condition=~Q(outcome="withdrawn") | Q(decided_by=F("proposed_by")),
                name="threshold_withdrawn_by_proposer",
            ),
            models.CheckConstraint(
                condition=Q(outcome="approved", effective_from__isnull=False, effective_from__gt=F("at"))
                | ~Q(outcome="approved") & Q(effective_from__isnull=True),
                name="threshold_in_force_later",
            ),
            models.CheckConstraint(condition=~Q(reason=""), name="threshold_decision_has_a_reason"),
        ]  # fmt: skip

    def __str__(self) -> str:
        return f"{self.change}: {self.outcome}"
