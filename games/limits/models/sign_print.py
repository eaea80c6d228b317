"""Printed signs: the second print of the same sign says REPRINT. Written once."""

from django.db import models
from django.utils import timezone

from games.access.models.staff import Staff
from games.database.grants import WRITTEN_ONCE
from games.floor.models.table import Table, TableAssignment
from games.limits.models.limits import LimitSet


class SignPrint(models.Model):
    grants = WRITTEN_ONCE
    table_path = "table"

    table = models.ForeignKey(Table, on_delete=models.PROTECT, related_name="sign_prints")
    limit_set = models.ForeignKey(LimitSet, on_delete=models.PROTECT, related_name="prints")
    assignment = models.ForeignKey(TableAssignment, on_delete=models.PROTECT, related_name="+")
    number = models.PositiveIntegerField(help_text="1 is the original; every later one is a reprint.")
    form = models.CharField(max_length=4, choices=[("html", "HTML"), ("pdf", "PDF")])
    at = models.DateTimeField(default=timezone.now)
    by = models.ForeignKey(Staff, on_delete=models.PROTECT, related_name="+")
    who = models.TextField("printed by")

    class Meta:
        ordering = ["-at", "-id"]
        constraints = [
            models.UniqueConstraint(fields=["limit_set", "assignment", "number"], name="sign_print_numbered_once")
        ]

    def __str__(self) -> str:
        return f"{self.table}: print {self.number}"

    @property
    def is_reprint(self) -> bool:
        return self.number > 1
