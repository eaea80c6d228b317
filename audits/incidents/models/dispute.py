"""Patron disputes and their legal deadline; law and deadline are set by each casino."""

import datetime as dt

from django.core.validators import MinValueValidator
from django.db import models
from django.db.models import F, Q
from django.utils import timezone

from audits.incidents.models.incident import Incident
from audits.notifications.models import Notice
from games.database.grants import Grants
from games.history.records import History
from games.models import Casino


class DisputeRule(models.Model):
    """What the law requires where a patron disputes. A casino without a rule of its own has these defaults."""

    grants = Grants(update=("law", "authority", "days", "warn_days"))
    casino_path, pit_path = "casino", None

    casino = models.OneToOneField(Casino, on_delete=models.PROTECT, related_name="dispute_rule")
    law = models.TextField(default="Casino Control Act (Singapore), section 111")
    authority = models.CharField("who is notified", max_length=100, default="inspector")
    days = models.PositiveSmallIntegerField(
        default=7,
        validators=[MinValueValidator(1)],
        help_text="Within how many days, from when the dispute was raised.",
    )
    warn_days = models.PositiveSmallIntegerField(default=2, help_text="Shown as urgent this many days before the end.")

    history = History()

    def __str__(self) -> str:
        return str(self.casino)


class Dispute(models.Model):
    """A patron's dispute, attached to an incident; open until it is resolved or both duties are done."""

    grants = Grants(update=("notified_at", "patron_told_at", "resolved_at", "resolution", "told"))
    casino_path, pit_path = "incident__casino", "incident__pit"

    incident = models.OneToOneField(Incident, on_delete=models.PROTECT, related_name="dispute")
    patron = models.CharField(max_length=200, help_text="By reference, never by name.")
    law = models.TextField(editable=False)
    raised_at = models.DateTimeField()
    due_at = models.DateTimeField(editable=False)
    notified_at = models.DateTimeField("inspector notified at", null=True, blank=True)
    patron_told_at = models.DateTimeField("patron told of the right at", null=True, blank=True)
    resolved_at = models.DateTimeField(null=True, blank=True)
    resolution = models.TextField(default="", blank=True)
    told = models.ForeignKey(
        Notice, on_delete=models.PROTECT, null=True, blank=True, related_name="disputes", editable=False
    )

    history = History(excluded_fields=("told",))

    class Meta:
        ordering = ["due_at", "id"]
        constraints = [
            models.CheckConstraint(condition=Q(due_at__gt=F("raised_at")), name="dispute_due_after_it_is_raised"),
            models.CheckConstraint(
                condition=Q(resolved_at__isnull=True, resolution="") | Q(resolved_at__isnull=False) & ~Q(resolution=""),
                name="dispute_resolved_with_words",
            ),
        ]
        indexes = [models.Index(fields=["due_at"], condition=Q(resolved_at__isnull=True), name="dispute_running")]

    def __str__(self) -> str:
        return f"{self.incident}: {self.patron}"

    @property
    def is_settled(self) -> bool:
        """Return whether it is resolved, or both duties are done: the law requires nothing more."""
        return self.resolved_at is not None or (self.notified_at is not None and self.patron_told_at is not None)

    @property
    def left(self) -> dt.timedelta:
        return self.due_at - timezone.now()


def dispute_rule_of(casino: Casino) -> DisputeRule:
    """Return the dispute rule of a casino, or the defaults."""
    return DisputeRule.objects.filter(casino=casino).first() or DisputeRule(casino=casino)
