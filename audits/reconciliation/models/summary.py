"""Daily results of a table: updated with every reconciled round, and frozen when the gaming day is closed."""

import math

from django.db import models
from django.utils import timezone

from audits.reconciliation.models.run import Run
from games.database.grants import WRITTEN_ONCE, Grants
from games.models import Casino, Table

THROWS = 216
FIGURES = (
    "rounds", "settled", "voids", "unfinished", "bets", "turnover", "house_recorded", "house_expected", "mean_216",
    "variance_scaled", "by_ruling_amount",
)  # fmt: skip
COUNTS = ("discrepancies", "breaches", "irregularities", "procedural", "by_ruling")


class Figures(models.Model):
    """The figures that pages and reports read in place of the bets. Money is in minor units."""

    rounds = models.PositiveIntegerField(default=0)
    settled = models.PositiveIntegerField(default=0)
    voids = models.PositiveIntegerField(default=0)
    unfinished = models.PositiveIntegerField(default=0)
    bets = models.PositiveBigIntegerField(default=0, help_text="With the refused and late ones.")
    turnover = models.BigIntegerField(default=0, help_text="Stakes that counted, of settled rounds.")
    house_recorded = models.BigIntegerField(
        "house result, recorded", default=0, help_text="Of settled and void rounds."
    )
    house_expected = models.BigIntegerField("house result, expected", default=0)
    mean_216 = models.DecimalField(
        max_digits=30, decimal_places=0, default=0, help_text="The theoretical result of these very bets, times 216."
    )
    variance_scaled = models.DecimalField(
        max_digits=60, decimal_places=0, default=0,
        help_text="The variance of the theoretical result, times 216³: whole, so that no order of adding matters.",
    )  # fmt: skip
    by_ruling_amount = models.BigIntegerField(
        "decided otherwise by rulings", default=0,
        help_text="By how much rulings and discretion settled bets otherwise than the rules, up and down added up.",
    )  # fmt: skip
    discrepancies = models.PositiveIntegerField(default=0)
    breaches = models.PositiveIntegerField(default=0)
    irregularities = models.PositiveIntegerField(default=0)
    procedural = models.PositiveIntegerField(default=0)
    by_ruling = models.PositiveIntegerField(default=0)
    kinds = models.JSONField(default=dict, help_text="How many findings of each category and kind.")

    class Meta:
        abstract = True

    @property
    def theoretical(self) -> int:
        """Return the theoretical result, rounded to minor units."""
        return int((self.mean_216 / THROWS).to_integral_value())

    @property
    def deviation(self) -> float:
        """Return one standard deviation, in minor units."""
        return math.sqrt(self.variance_scaled / THROWS**3)

    @property
    def difference(self) -> int:
        return self.house_recorded - self.house_expected

    @property
    def findings(self) -> int:
        return sum(getattr(self, name) for name in COUNTS)


class DaySummary(Figures):
    """The current daily result. Its row is also the lock: one worker at a time reconciles a table's day."""

    grants = Grants(update=(*FIGURES, *COUNTS, "kinds", "changed_at"))
    table_path = "table"

    table = models.ForeignKey(Table, on_delete=models.PROTECT, related_name="summaries", db_index=False)
    gaming_day = models.DateField()
    changed_at = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering = ["-gaming_day", "table__code"]
        verbose_name_plural = "day summaries"
        constraints = [models.UniqueConstraint(fields=["table", "gaming_day"], name="summary_once_a_day")]
        indexes = [models.Index(fields=["-gaming_day", "table"], name="summary_newest_first")]

    def __str__(self) -> str:
        return f"{self.table} {self.gaming_day}"


class DayClose(models.Model):
    """A gaming day that the system closed, with the figures as of then. Each day is closed once."""

    grants = WRITTEN_ONCE
    casino_path, pit_path = "casino", None

    casino = models.ForeignKey(Casino, on_delete=models.PROTECT, related_name="closed_days")
    gaming_day = models.DateField()
    run = models.OneToOneField(Run, on_delete=models.PROTECT, related_name="closed")
    at = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering = ["-gaming_day"]
        constraints = [models.UniqueConstraint(fields=["casino", "gaming_day"], name="day_closed_once")]

    def __str__(self) -> str:
        return f"{self.casino.code} {self.gaming_day}"


class ClosedSummary(Figures):
    """A table's figures as frozen when the day was closed. Written once."""

    grants = WRITTEN_ONCE
    table_path = "table"

    close = models.ForeignKey(DayClose, on_delete=models.PROTECT, related_name="summaries")
    table = models.ForeignKey(Table, on_delete=models.PROTECT, related_name="+")

    class Meta:
        ordering = ["table__code"]
        verbose_name_plural = "closed summaries"
        constraints = [models.UniqueConstraint(fields=["close", "table"], name="closed_summary_once")]

    def __str__(self) -> str:
        return f"{self.table} {self.close.gaming_day}"
