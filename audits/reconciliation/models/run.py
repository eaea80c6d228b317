"""Reconciliation runs: their tables and days, progress, and counts of findings."""

from django.db import models
from django.db.models import F, Q
from django.utils import timezone

from games.database.grants import Grants
from games.models import Casino, Table


class Run(models.Model):
    """A run over arrivals, over a gaming day at a person's request, or over a gaming day to close it."""

    class Kind(models.TextChoices):
        ARRIVAL = "arrival", "Arrivals"
        DAY = "day", "Gaming day"
        CLOSE = "close", "Close of a day"

    class State(models.TextChoices):
        RUNNING = "running"
        DONE = "done"
        CANCELLED = "cancelled"

    grants = Grants(update=("state", "ended_at", "ended_by"))
    casino_path, pit_path = "casino", None

    kind = models.CharField(max_length=10, choices=Kind)
    casino = models.ForeignKey(Casino, on_delete=models.PROTECT, null=True, related_name="+")
    gaming_day = models.DateField(null=True, help_text="Empty for arrivals, which may be of several days.")
    state = models.CharField(max_length=10, choices=State, default=State.RUNNING)
    engine = models.CharField(max_length=20, help_text="The version of the engine that settled.")
    who = models.TextField("started by")
    started_at = models.DateTimeField(default=timezone.now)
    ended_at = models.DateTimeField(null=True)
    ended_by = models.TextField(default="", help_text="Who cancelled it.")

    class Meta:
        ordering = ["-started_at", "-id"]
        constraints = [
            models.CheckConstraint(condition=Q(kind__in=["arrival", "day", "close"]), name="run_kind_known"),
            models.CheckConstraint(condition=Q(state__in=["running", "done", "cancelled"]), name="run_state_known"),
            models.CheckConstraint(
                condition=Q(kind="arrival") | Q(gaming_day__isnull=False, casino__isnull=False), name="run_has_a_day"
            ),
            models.UniqueConstraint(
                fields=["casino", "gaming_day"], condition=Q(kind="close") & ~Q(state="cancelled"),
                name="run_closes_a_day_once",
            ),
        ]  # fmt: skip
        indexes = [
            models.Index(fields=["state"], condition=Q(state="running"), name="run_under_way"),
            models.Index(fields=["-id"], condition=~Q(kind="arrival"), name="run_over_a_day"),
        ]

    def __str__(self) -> str:
        return f"no. {self.pk}"

    @property
    def is_over(self) -> bool:
        return self.state != self.State.RUNNING


class RunPart(models.Model):
    """One table's day in a run. One worker reconciles it in one transaction, and marks it as done in the same."""

    grants = Grants(
        update=(
            "rounds_read", "is_done", "rounds", "bets", "discrepancies", "breaches", "irregularities", "procedural",
            "by_ruling", "seconds",
        ),
    )  # fmt: skip
    table_path = "table"

    run = models.ForeignKey(Run, on_delete=models.PROTECT, related_name="parts")
    table = models.ForeignKey(Table, on_delete=models.PROTECT, related_name="+")
    gaming_day = models.DateField()
    rounds_expected = models.PositiveIntegerField(help_text="Rounds on record when the run began.")
    rounds_read = models.PositiveIntegerField(default=0, help_text="How far it has come.")
    is_done = models.BooleanField(default=False)
    rounds = models.PositiveIntegerField(default=0)
    bets = models.PositiveBigIntegerField(default=0)
    discrepancies = models.PositiveIntegerField(default=0)
    breaches = models.PositiveIntegerField(default=0)
    irregularities = models.PositiveIntegerField(default=0)
    procedural = models.PositiveIntegerField(default=0)
    by_ruling = models.PositiveIntegerField(default=0)
    seconds = models.FloatField(null=True)

    class Meta:
        ordering = ["table__code", "gaming_day"]
        constraints = [models.UniqueConstraint(fields=["run", "table", "gaming_day"], name="run_part_once")]
        indexes = [models.Index(F("run"), condition=Q(is_done=False), name="run_part_waiting")]

    def __str__(self) -> str:
        return f"{self.table} {self.gaming_day}"
