"""Access denials: every attempt that the gate denied. Rows are written once (games.database.role_grants)."""

from django.db import models

from games.access.models.staff import Staff
from games.database.grants import WRITTEN_ONCE
from games.floor.models.casino import Casino


class Denial(models.Model):
    """Who tried what, on which record, where and in which post. Names are kept as text and outlive the records."""

    grants = WRITTEN_ONCE
    casino_path, pit_path = "casino", None

    at = models.DateTimeField(auto_now_add=True)
    # No constraint: a denial is written on its own connection, whatever happens to the caller's transaction.
    staff = models.ForeignKey(
        Staff, on_delete=models.DO_NOTHING, null=True, related_name="denials", db_constraint=False
    )
    casino = models.ForeignKey(Casino, on_delete=models.DO_NOTHING, null=True, related_name="+", db_constraint=False)
    who = models.TextField()
    action = models.TextField()
    thing = models.TextField()
    door = models.TextField()

    class Meta:
        ordering = ["-at", "-id"]
        verbose_name = "refused attempt"
        indexes = [models.Index(fields=["-at", "-id"], name="denial_newest_first")]

    def __str__(self) -> str:
        return f"{self.who}: {self.action}"
