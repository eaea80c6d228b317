"""Ticks on the checklist of an incident: each tick and untick with person and time. Written once."""

from django.db import models
from django.db.models import F, Q
from django.db.models.lookups import Exact
from django.utils import timezone

from audits.incidents.models.incident import Incident
from games.database.grants import WRITTEN_ONCE
from games.models import Staff


class ChecklistTick(models.Model):
    """One tick or untick of a step. The first record of a step ticks it, the second unticks it, and so on."""

    grants = WRITTEN_ONCE
    casino_path, pit_path = "incident__casino", "incident__pit"

    incident = models.ForeignKey(Incident, on_delete=models.PROTECT, related_name="ticks")
    step = models.PositiveSmallIntegerField(help_text="Its place in the checklist, from 1.")
    text = models.TextField(help_text="What the step said.")
    ordinal = models.PositiveIntegerField(help_text="From 1: the first time the step was ticked or unticked.")
    is_done = models.BooleanField("ticked")
    at = models.DateTimeField(default=timezone.now)
    by = models.ForeignKey(Staff, on_delete=models.PROTECT, null=True, blank=True, related_name="+")
    who = models.TextField()

    class Meta:
        ordering = ["incident", "step", "ordinal"]
        constraints = [
            models.UniqueConstraint(fields=["incident", "step", "ordinal"], name="checklist_tick_one_after_the_other"),
            models.CheckConstraint(condition=Q(step__gte=1, ordinal__gte=1), name="checklist_tick_from_one"),
            models.CheckConstraint(condition=~Q(text=""), name="checklist_tick_says_of_what"),
            models.CheckConstraint(
                condition=Q(is_done=True) & Exact(F("ordinal") % 2, 1) | Q(is_done=False) & Exact(F("ordinal") % 2, 0),
                name="checklist_tick_and_untick_in_turn",
            ),
        ]  # fmt: skip

    def __str__(self) -> str:
        return f"{self.incident}, step {self.step}: {'ticked' if self.is_done else 'unticked'}"
