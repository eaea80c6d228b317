"""Findings: what reconciliation found, and the steps that people took on it.

What was found is written once. A later run that finds the same updates the same row (`key`); what is no longer found
is marked as lapsed and kept. The steps that people take (acknowledge, assign, resolve, confirm) have a history.
"""

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import Q
from django.utils import timezone

from audits.reconciliation.models.run import Run
from games.database.grants import Grants
from games.history.records import History
from games.models import LimitSet, LiveRound, Round, Staff, Table


class Category(models.TextChoices):
    DISCREPANCY = "discrepancy"
    BREACH = "breach"
    IRREGULARITY = "irregularity"
    PROCEDURAL = "procedural"
    BY_RULING = "by-ruling", "By ruling"


class Severity(models.IntegerChoices):
    LOW = 1
    MEDIUM = 2
    HIGH = 3


#: Not lapsed, and not finished: open, acknowledged, or waiting for compliance.
NEEDS_ACTION = Q(lapsed_at__isnull=True) & (Q(state__in=["open", "acknowledged"]) | Q(needs_confirmation=True))
NOT_ACKNOWLEDGED = Q(lapsed_at__isnull=True, state="open")


class Finding(models.Model):
    class State(models.TextChoices):
        OPEN = "open"
        ACKNOWLEDGED = "acknowledged"
        RESOLVED = "resolved"

    class Outcome(models.TextChoices):
        RECOVERED = "recovered", "Recovered from the player"
        PAID = "paid", "Paid to the player"
        WRITTEN_OFF = "written-off", "Written off"
        NO_LOSS = "no-loss", "Nothing to pay or recover"
        RECORD_WRONG = "record-wrong", "The record was wrong, the payment right"

    grants = Grants(
        update=(
            "round", "gaming_day", "round_started_at",  # once, when its round is recorded: a trigger checks it
            "ordinal", "detail",
            "severity", "severity_found",  # never below the severity it was found with: a trigger checks it
            "lapsed_by", "lapsed_at", "state", "assigned_to", "acknowledged_by", "acknowledged_at", "outcome",
            "settled_amount", "resolution", "resolved_by", "resolved_at", "needs_confirmation", "confirmed_by",
            "confirmed_at",
        ),
    )  # fmt: skip
    table_path = "table"

    # --- What was found: written once ---
    category = models.CharField(max_length=12, choices=Category)
    key = models.TextField(help_text="What makes it the same finding in another run of the same round.")
    round = models.ForeignKey(
        Round, on_delete=models.PROTECT, null=True, blank=True, related_name="findings", db_index=False,
        help_text="Empty while the round is in play, and for ever where it was called off before betting.",
    )  # fmt: skip
    live_round = models.ForeignKey(
        LiveRound, on_delete=models.PROTECT, null=True, blank=True, related_name="findings", db_index=False,
        help_text="The round in play of which it was found first.",
    )  # fmt: skip
    table = models.ForeignKey(Table, on_delete=models.PROTECT, related_name="findings", db_index=False)
    gaming_day = models.DateField()
    round_started_at = models.DateTimeField()
    ordinal = models.PositiveIntegerField(help_text="Its place among the findings of its round.")
    kind = models.CharField(max_length=30, help_text="The kind; of an irregularity, what is to be done.")
    rule = models.TextField(null=True, blank=True)  # noqa: DJ001  empty: an irregularity without a rule
    rules = ArrayField(models.TextField(), default=list, blank=True)
    boxes = ArrayField(models.TextField(), default=list, blank=True)
    player = models.TextField(null=True, blank=True)  # noqa: DJ001  empty: no particular player
    position = models.PositiveIntegerField(null=True, blank=True, help_text="Of the bet, from 0.")
    stake = models.BigIntegerField(null=True, blank=True)
    expected = models.BigIntegerField("expected net", null=True, blank=True)
    recorded = models.BigIntegerField("recorded net", null=True, blank=True)
    placed = models.BigIntegerField(null=True, blank=True)
    permitted = models.BigIntegerField(null=True, blank=True)
    detail = models.TextField(default="", blank=True)
    amount = models.BigIntegerField(default=0, help_text="What is at stake: the difference, or the excess.")
    severity = models.PositiveSmallIntegerField(
        choices=Severity, help_text="By the stricter of the policy when it was found and the one in force now."
    )
    severity_found = models.PositiveSmallIntegerField(
        choices=Severity, null=True, blank=True, help_text="As it was found, where another policy has changed it since."
    )
    rulebook = models.CharField(max_length=64)
    limit_set = models.ForeignKey(
        LimitSet, on_delete=models.PROTECT, null=True, blank=True, related_name="+", db_index=False
    )
    engine = models.CharField(max_length=20)
    found_by = models.ForeignKey(Run, on_delete=models.PROTECT, related_name="found")
    found_at = models.DateTimeField(default=timezone.now)

    # --- Status: changed by steps and later runs ---
    lapsed_by = models.ForeignKey(
        Run, on_delete=models.PROTECT, null=True, blank=True, related_name="lapsed", db_index=False
    )
    lapsed_at = models.DateTimeField(null=True, blank=True)
    state = models.CharField(max_length=12, choices=State, default=State.OPEN)
    assigned_to = models.ForeignKey(Staff, on_delete=models.PROTECT, null=True, blank=True, related_name="findings")
    acknowledged_by = models.TextField(default="", blank=True)
    acknowledged_at = models.DateTimeField(null=True, blank=True)
    outcome = models.CharField(max_length=12, choices=Outcome, default="", blank=True)
    settled_amount = models.BigIntegerField(null=True, blank=True, help_text="What was recovered or paid.")
    resolution = models.TextField(default="", blank=True)
    resolved_by = models.ForeignKey(
        Staff, on_delete=models.PROTECT, null=True, blank=True, related_name="+", db_index=False
    )
    resolved_at = models.DateTimeField(null=True, blank=True)
    needs_confirmation = models.BooleanField(default=False, help_text="Resolved, and compliance has yet to confirm it.")
    confirmed_by = models.ForeignKey(
        Staff, on_delete=models.PROTECT, null=True, blank=True, related_name="+", db_index=False
    )
    confirmed_at = models.DateTimeField(null=True, blank=True)

    history = History()

    class Meta:
        ordering = ["-round_started_at", "-id"]
        constraints = [
            models.UniqueConstraint(fields=["round", "key"], name="finding_once"),
            models.UniqueConstraint(fields=["live_round", "key"], name="finding_once_a_live_round"),
            models.CheckConstraint(
                condition=Q(round__isnull=False) | Q(live_round__isnull=False), name="finding_of_a_round"
            ),
            models.CheckConstraint(condition=Q(category__in=Category.values), name="finding_category_known"),
            models.CheckConstraint(condition=Q(severity__in=Severity.values), name="finding_severity_known"),
            models.CheckConstraint(
                condition=Q(lapsed_at__isnull=True, lapsed_by__isnull=True)
                | Q(lapsed_at__isnull=False, lapsed_by__isnull=False),
                name="finding_lapsed_in_a_run",
            ),
            models.CheckConstraint(
                condition=Q(state="resolved", resolved_by__isnull=False, resolved_at__isnull=False)
                & ~Q(outcome="") & ~Q(resolution="")
                | Q(state__in=["open", "acknowledged"], resolved_by__isnull=True, outcome=""),
                name="finding_resolved_by_somebody",
            ),
            models.CheckConstraint(
                condition=Q(confirmed_by__isnull=True) | Q(state="resolved") & ~Q(confirmed_by=models.F("resolved_by")),
                name="finding_confirmed_by_another",
                violation_error_message="Nobody confirms what he resolved himself.",
            ),
            models.CheckConstraint(
                condition=Q(needs_confirmation=False) | Q(state="resolved", confirmed_by__isnull=True),
                name="finding_confirmation_is_of_a_resolution",
            ),
        ]  # fmt: skip
        indexes = [
            models.Index(fields=["-round_started_at", "-id"], name="finding_newest_first"),
            models.Index(fields=["gaming_day", "table", "category"], name="finding_by_day"),
            models.Index(fields=["-round_started_at", "-id"], condition=NEEDS_ACTION, name="finding_needs_somebody"),
            models.Index(fields=["found_at"], condition=NOT_ACKNOWLEDGED, name="finding_open_since"),
            models.Index(
                fields=["severity", "-round_started_at", "-id"],
                condition=NOT_ACKNOWLEDGED,
                name="finding_open_by_weight",
            ),
            models.Index(fields=["resolved_at"], condition=Q(needs_confirmation=True), name="finding_to_confirm"),
            models.Index(fields=["table"], condition=Q(round__isnull=True), name="finding_not_recorded"),
        ]

    def __str__(self) -> str:
        return f"{self.get_category_display().lower()} no. {self.pk}"

    @property
    def is_lapsed(self) -> bool:
        return self.lapsed_at is not None

    @property
    def round_ref(self) -> str:
        """Return the ref of the round, recorded or in play."""
        return self._played.ref

    @property
    def source(self) -> str:
        return self._played.source

    @property
    def _played(self) -> Round | LiveRound:
        played = self.round or self.live_round
        if played is None:  # a constraint of the database excludes it
            raise AssertionError
        return played
