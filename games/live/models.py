"""Rounds in play. What a terminal sent is kept for good; once over, the round is recorded like any other."""

from django.db import models
from django.db.models import Q
from django.utils import timezone

from games.database.grants import WRITTEN_ONCE, Grants
from games.floor.models.casino import Casino
from games.floor.models.table import Table
from games.limits.models.limits import LimitSet
from games.rounds.models import Round
from games.terminals.models import Terminal, is_reserved


class LiveRound(models.Model):
    """A round that a terminal opened, at most one at a time per table. Its steps say what happened in it."""

    grants = Grants(
        update=(
            "rulebook", "layout", "chip_unit", "limit_set", "state", "steps_taken", "last_step_at", "ended_at",
            "recorded",
        ),
    )  # fmt: skip
    table_path = "table"

    source = models.CharField(max_length=200)
    ref = models.CharField(max_length=200)
    table = models.ForeignKey(Table, on_delete=models.PROTECT, related_name="live_rounds")
    casino = models.ForeignKey(
        Casino, on_delete=models.PROTECT, related_name="+", db_index=False, db_constraint=False, editable=False,
        help_text="Of the table, by a foreign key over both.",
    )  # fmt: skip
    terminal = models.ForeignKey(
        Terminal, on_delete=models.PROTECT, null=True, related_name="+", db_index=False,
        help_text="The key that opened it, where one did.",
    )  # fmt: skip
    dealer = models.CharField(max_length=200, null=True)  # noqa: DJ001  kept as sent; nothing was sent
    supervisor = models.CharField(max_length=200, null=True)  # noqa: DJ001
    opened_at = models.DateTimeField(default=timezone.now)
    who = models.TextField("opened by")
    # Rules and limits: first as at the opening, then as when betting opens.
    rulebook = models.CharField(max_length=64)
    layout = models.CharField(max_length=8)
    chip_unit = models.BigIntegerField()
    limit_set = models.ForeignKey(LimitSet, on_delete=models.PROTECT, null=True, related_name="+")
    state = models.CharField(max_length=20, default="new", help_text="By the order of play of its rulebook.")
    steps_taken = models.PositiveIntegerField(default=0)
    last_step_at = models.DateTimeField("last heard of", default=timezone.now)
    ended_at = models.DateTimeField(null=True)
    recorded = models.ForeignKey(Round, on_delete=models.PROTECT, null=True, related_name="live_rounds")

    class Meta:
        ordering = ["-opened_at", "-id"]
        constraints = [
            models.UniqueConstraint(fields=["casino", "source", "ref"], name="live_round_once_a_casino"),
            models.CheckConstraint(
                condition=Q(terminal__isnull=True) | ~is_reserved("source"), name="live_round_source_not_reserved"
            ),
            models.UniqueConstraint(fields=["table"], condition=Q(ended_at=None), name="live_round_one_at_a_table"),
            models.CheckConstraint(condition=Q(recorded=None) | Q(ended_at__isnull=False), name="live_round_ended"),
        ]

    def __str__(self) -> str:
        return self.ref

    @property
    def is_left_open(self) -> bool:
        """Say whether no step came for longer than the casino waits: the terminal failed or stopped."""
        return self.ended_at is None and timezone.now() - self.last_step_at > self.table.casino.patience


class LiveWarning(models.Model):
    """A fault of the table when a round was opened or its betting opened. Written once.

    The round is accepted all the same. audits makes a finding of each warning.
    """

    grants = WRITTEN_ONCE
    table_path = "live_round__table"

    class Kind(models.TextChoices):
        CLOSED = "table-closed", "Table closed"
        SUSPENDED = "table-suspended", "Table suspended"

    live_round = models.ForeignKey(LiveRound, on_delete=models.PROTECT, related_name="warnings", db_index=False)
    kind = models.CharField(max_length=30, choices=Kind)
    step = models.PositiveIntegerField(help_text="The step with which it came; 0 for the opening of the round.")
    at = models.DateTimeField(help_text="The moment that the table was not in play.")
    rules = models.JSONField(default=list, help_text="Citations, where there is a rule.")
    explain = models.TextField()

    class Meta:
        ordering = ["live_round", "step", "id"]
        constraints = [
            models.UniqueConstraint(fields=["live_round", "kind"], name="live_warning_once_a_kind"),
            models.CheckConstraint(
                condition=Q(kind__in=["table-closed", "table-suspended"]), name="live_warning_kind_known"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.live_round}: {self.kind}"


class LiveStep(models.Model):
    """One call of a terminal, or of the person who finished the round by hand."""

    grants = WRITTEN_ONCE

    live_round = models.ForeignKey(LiveRound, on_delete=models.PROTECT, related_name="steps", db_index=False)
    number = models.PositiveIntegerField()
    call = models.CharField(max_length=100, help_text="The terminal's own name for the call: a repeat is known by it.")
    kind = models.CharField(max_length=20)
    content = models.JSONField()
    is_refused = models.BooleanField(default=False)
    at = models.DateTimeField(default=timezone.now)
    who = models.TextField()

    class Meta:
        ordering = ["live_round", "number"]
        constraints = [
            models.UniqueConstraint(fields=["live_round", "number"], name="live_step_number_once"),
            models.UniqueConstraint(fields=["live_round", "call"], name="live_step_call_once"),
        ]

    def __str__(self) -> str:
        return f"{self.number} {self.kind}"
