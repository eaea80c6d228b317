"""Counters for numbers such as IN-2026-000123, gapless in each casino and year."""

from django.db import models

from games.database.grants import Grants
from games.models import Casino


class NumberCounter(models.Model):
    """The last number of a series in a casino's year. Locked while a number is taken, so there are no gaps."""

    grants = Grants(update=("last",))

    casino = models.ForeignKey(Casino, on_delete=models.PROTECT, related_name="+")
    series = models.CharField(max_length=4)
    year = models.PositiveSmallIntegerField()
    last = models.PositiveIntegerField(default=0)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["casino", "series", "year"], name="number_counter_once")]

    def __str__(self) -> str:
        return f"{self.series}-{self.year}: {self.last}"
