"""Rounds while they are played. What a terminal sent stays for ever; a round that is over stands among the rounds."""

from django.db import models
from django.db.models import Q
from django.utils import timezone

from games.models.limits import LimitSet
from games.models.round import Round
from games.models.table import Table


class LiveRound(models.Model):
    """A round that a terminal opened. One at a time at a table; what has happened in it are its steps."""

    table_path = "table"

    source = models.CharField(max_length=200)
    ref = models.CharField(max_length=200)
    table = models.ForeignKey(Table, on_delete=models.PROTECT, related_name="live_rounds")
    dealer = models.CharField(max_length=200, null=True)  # noqa: DJ001  kept as sent; nothing was sent
    supervisor = models.CharField(max_length=200, null=True)  # noqa: DJ001
    opened_at = models.DateTimeField(default=timezone.now)
    who = models.TextField("opened by")
    # What it is played by: as it was when it was opened, then as it is when betting begins.
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
            models.UniqueConstraint(fields=["source", "ref"], name="live_round_once"),
            models.UniqueConstraint(fields=["table"], condition=Q(ended_at=None), name="live_round_one_at_a_table"),
            models.CheckConstraint(condition=Q(recorded=None) | Q(ended_at__isnull=False), name="live_round_ended"),
        ]

    def __str__(self) -> str:
        return self.ref

    @property
    def is_left_open(self) -> bool:
        """Nothing was heard of it for longer than the casino waits: the terminal died, or was forgotten."""
        return self.ended_at is None and timezone.now() - self.last_step_at > self.table.casino.patience


class LiveStep(models.Model):
    """One call of a terminal, or of the person who finished the round in its place."""

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
