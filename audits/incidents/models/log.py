"""The daily log: what surveillance and the pit saw, by shift. Written once; a slip is mended by an addendum."""

from functools import reduce
from operator import or_

from django.contrib.postgres.indexes import GinIndex
from django.contrib.postgres.search import SearchVector, SearchVectorField
from django.db import models
from django.db.models import F, Q
from django.utils import timezone

from games.access.roles import access_policy
from games.database.grants import WRITTEN_ONCE, Grants
from games.history.records import History
from games.models import Casino, Pit, Staff, Table


def by_writers(record: str) -> Q:
    """Return the condition that a department wrote a record which may mark it as confidential."""
    departments = access_policy().confidential[record]
    return reduce(or_, (Q(department=department) for department in departments))


class Shift(models.Model):
    """When the shifts of a casino begin, by its own clock; each lasts until the next. Without any, the usual three."""

    grants = Grants(update=("name", "starts"), delete=True)
    casino_path, pit_path = "casino", None

    casino = models.ForeignKey(Casino, on_delete=models.PROTECT, related_name="shifts")
    name = models.CharField(max_length=40)
    starts = models.TimeField("starts at", help_text="In the casino's own time.")

    history = History()

    class Meta:
        ordering = ["casino", "starts"]
        constraints = [
            models.UniqueConstraint(fields=["casino", "name"], name="shift_name_once"),
            models.UniqueConstraint(fields=["casino", "starts"], name="shift_start_once"),
        ]

    def __str__(self) -> str:
        return self.name


class LogEntry(models.Model):
    """What somebody saw, as he wrote it down. Never changed from the moment it is saved."""

    grants = WRITTEN_ONCE
    casino_path, pit_path = "casino", "pit"
    confidential_path = "is_confidential"

    casino = models.ForeignKey(Casino, on_delete=models.PROTECT, related_name="+")
    pit = models.ForeignKey(Pit, on_delete=models.PROTECT, null=True, blank=True, related_name="+")
    table = models.ForeignKey(
        Table, on_delete=models.PROTECT, null=True, blank=True, related_name="log_entries", db_index=False
    )
    at = models.DateTimeField("seen at")
    gaming_day = models.DateField()
    shift = models.CharField(max_length=40)
    location = models.TextField(default="", blank=True)
    camera = models.CharField(max_length=60, default="", blank=True)
    time_code = models.CharField(max_length=40, default="", blank=True)
    recording = models.TextField("where the recording is", default="", blank=True)
    keep_until = models.DateField("keep the recording until", null=True, blank=True)
    was_monitored = models.BooleanField("monitored live", default=False)
    summary = models.TextField()
    is_confidential = models.BooleanField("confidential", default=False)
    addendum_to = models.ForeignKey("self", on_delete=models.PROTECT, null=True, blank=True, related_name="addenda")
    author = models.ForeignKey(Staff, on_delete=models.PROTECT, related_name="+")
    department = models.CharField(max_length=20)
    who = models.TextField("written by")
    recorded_at = models.DateTimeField(default=timezone.now)
    search = models.GeneratedField(
        expression=SearchVector("summary", "location", "camera", config="english"),
        output_field=SearchVectorField(), db_persist=True,
    )  # fmt: skip

    class Meta:
        ordering = ["-at", "-id"]
        verbose_name_plural = "log entries"
        constraints = [
            models.CheckConstraint(condition=~Q(summary=""), name="log_entry_says_something"),
            models.CheckConstraint(
                condition=Q(addendum_to__isnull=True) | ~Q(addendum_to=F("id")),
                name="log_entry_not_its_own_addendum",
            ),
            models.CheckConstraint(
                condition=Q(is_confidential=False) | by_writers("logentry"), name="log_entry_confidential_by_whom"
            ),
        ]
        indexes = [
            models.Index(fields=["casino", "-at", "-id"], name="log_entry_newest_first"),
            models.Index(fields=["casino", "gaming_day", "shift"], name="log_entry_by_shift"),
            models.Index(fields=["table", "-at", "-id"], name="log_entry_by_table"),
            GinIndex(fields=["search"], name="log_entry_by_words"),
        ]

    def __str__(self) -> str:
        return f"no. {self.pk}"


class Handover(models.Model):
    """What a shift leaves to the next: what is open, what to watch. Signed by who leaves."""

    grants = WRITTEN_ONCE
    casino_path, pit_path = "casino", "pit"
    confidential_path = "is_confidential"

    casino = models.ForeignKey(Casino, on_delete=models.PROTECT, related_name="+")
    pit = models.ForeignKey(Pit, on_delete=models.PROTECT, null=True, blank=True, related_name="+")
    department = models.CharField(max_length=20)
    gaming_day = models.DateField()
    shift = models.CharField(max_length=40)
    open_incidents = models.JSONField(
        default=list, blank=True, help_text="Numbers and states of what was open at that moment."
    )
    open_findings = models.PositiveIntegerField(default=0)
    watch = models.TextField("what to watch")
    is_confidential = models.BooleanField(default=False)
    left_by = models.ForeignKey(Staff, on_delete=models.PROTECT, related_name="+")
    who = models.TextField("signed by")
    at = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering = ["-at", "-id"]
        constraints = [
            models.UniqueConstraint(fields=["id", "left_by"], name="handover_of_who_leaves"),
            models.CheckConstraint(condition=~Q(watch=""), name="handover_says_what_to_watch"),
            models.CheckConstraint(
                condition=Q(is_confidential=False) | by_writers("handover"), name="handover_confidential_by_whom"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.gaming_day} {self.shift}"

    @property
    def is_taken(self) -> bool:
        return hasattr(self, "taken")


class HandoverTaken(models.Model):
    """Signed by who takes over: once, and by somebody else."""

    grants = WRITTEN_ONCE
    casino_path, pit_path = "handover__casino", "handover__pit"
    confidential_path = "handover__is_confidential"

    handover = models.OneToOneField(Handover, on_delete=models.PROTECT, related_name="taken")
    # stands here again for the CHECK; a foreign key over both together keeps it true (migration 0003)
    left_by = models.ForeignKey(Staff, on_delete=models.PROTECT, related_name="+")
    taken_by = models.ForeignKey(Staff, on_delete=models.PROTECT, related_name="+")
    who = models.TextField("signed by")
    at = models.DateTimeField(default=timezone.now)
    remarks = models.TextField(default="", blank=True)

    class Meta:
        constraints = [
            models.CheckConstraint(condition=~Q(taken_by=F("left_by")), name="handover_between_two",
                                   violation_error_message="Nobody takes over from himself."),
        ]  # fmt: skip

    def __str__(self) -> str:
        return str(self.handover)
