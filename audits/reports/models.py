"""Reports that people or schedules requested: runs with their files, certificates and schedules."""

import uuid

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import F, Q
from django.utils import timezone

from games.database.grants import WRITTEN_ONCE, Grants
from games.history.records import History
from games.models import Casino, Pit, Staff, Table


class ReportFormat(models.TextChoices):
    PDF = "pdf", "PDF"
    XLSX = "xlsx", "Excel (XLSX)"
    CSV = "csv", "CSV"
    JSON = "json", "JSON"


#: Formats with room for a certificate.
CERTIFIED_FORMATS = (ReportFormat.PDF, ReportFormat.XLSX)


class ReportSchedule(models.Model):
    """A report that is made at fixed times, in the name and with the reach of its owner."""

    class Every(models.TextChoices):
        DAY = "day", "Every gaming day, at its close"
        WEEK = "week", "Every week, after Sunday's close"
        MONTH = "month", "Every month, after its last day's close"
        SHIFT = "shift", "Every shift, at its end"

    grants = Grants(update=("kind", "format", "table", "every", "recipients", "is_active", "from_at"))
    casino_path, pit_path = "casino", None

    casino = models.ForeignKey(Casino, on_delete=models.PROTECT, related_name="report_schedules")
    kind = models.CharField("report", max_length=20)
    format = models.CharField(max_length=4, choices=ReportFormat, default=ReportFormat.PDF)
    table = models.ForeignKey(Table, on_delete=models.PROTECT, null=True, blank=True, related_name="+")
    every = models.CharField(max_length=5, choices=Every, default=Every.DAY)
    owner = models.ForeignKey(Staff, on_delete=models.PROTECT, related_name="report_schedules")
    recipients = ArrayField(
        models.EmailField(), default=list, blank=True,
        help_text="E-mail addresses, one a line. They get a link; the file itself only where the casino allows it.",
    )  # fmt: skip
    is_active = models.BooleanField("active", default=True)
    from_at = models.DateTimeField("from", default=timezone.now, help_text="Periods that end later are made.")

    history = History()

    class Meta:
        ordering = ["casino", "kind", "every", "id"]
        constraints = [
            models.CheckConstraint(
                condition=Q(every__in=["day", "week", "month", "shift"]), name="schedule_every_known"
            )
        ]

    def __str__(self) -> str:
        return f"no. {self.pk}"


class ReportRun(models.Model):
    """A report that was requested: its parameters, progress and file."""

    class State(models.TextChoices):
        WAITING = "waiting"
        RUNNING = "running"
        DONE = "done"
        FAILED = "failed"
        CANCELLED = "cancelled"

    grants = Grants(
        update=(
            "state", "attempts", "started_at", "ended_at", "ended_by", "fault", "retry_at", "rows_read", "row_count",
            "rows_sha256", "content", "sha256", "size", "is_reprint", "engine", "rulebooks", "as_of", "expires_at",
            "removed_at", "changed_at", "checked_at", "mailed_at", "mail_fault", "raised_at",
        ),
    )  # fmt: skip
    casino_path, pit_path = "casino", "pit"
    confidential_path = "is_confidential"

    # --- The request: written once ---
    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    kind = models.CharField("report", max_length=20)
    format = models.CharField(max_length=4, choices=ReportFormat)
    casino = models.ForeignKey(
        Casino, on_delete=models.PROTECT, null=True, related_name="+", help_text="Empty for all casinos."
    )
    pit = models.ForeignKey(
        Pit, on_delete=models.PROTECT, null=True, related_name="+", help_text="The reach of a person of one pit."
    )
    table = models.ForeignKey(Table, on_delete=models.PROTECT, null=True, related_name="+")
    first_day = models.DateField("from")
    last_day = models.DateField("to")
    shift = models.CharField(max_length=40, default="", blank=True)
    is_confidential = models.BooleanField("confidential", default=False)
    asked_by = models.ForeignKey(Staff, on_delete=models.PROTECT, null=True, related_name="+")
    who = models.TextField("asked for by")
    asked_at = models.DateTimeField(default=timezone.now)
    schedule = models.ForeignKey(ReportSchedule, on_delete=models.PROTECT, null=True, related_name="runs")
    again_of = models.ForeignKey("self", on_delete=models.PROTECT, null=True, related_name="again")

    # --- The progress and the result ---
    state = models.CharField(max_length=10, choices=State, default=State.WAITING)
    attempts = models.PositiveSmallIntegerField(default=0)
    started_at = models.DateTimeField(null=True)
    ended_at = models.DateTimeField(null=True)
    ended_by = models.TextField(default="")
    fault = models.TextField(default="")
    retry_at = models.DateTimeField(null=True)
    rows_read = models.PositiveBigIntegerField(default=0)
    row_count = models.PositiveBigIntegerField(null=True)
    rows_sha256 = models.CharField(max_length=64, default="", help_text="Over the rows, whatever the format.")
    content = models.JSONField(default=dict, help_text="What stands around the rows: totals, notes, charts.")
    sha256 = models.CharField(max_length=64, default="", help_text="Over the file.")
    size = models.PositiveBigIntegerField(null=True)
    is_reprint = models.BooleanField(default=False)
    engine = models.CharField(max_length=20, default="")
    rulebooks = ArrayField(models.TextField(), default=list)
    as_of = models.DateTimeField("true as of", null=True)
    expires_at = models.DateTimeField(null=True)
    removed_at = models.DateTimeField(null=True)
    changed_at = models.DateTimeField(null=True, help_text="When the figures were seen to have changed since.")
    checked_at = models.DateTimeField(null=True, help_text="When the figures were compared last.")
    mailed_at = models.DateTimeField(null=True)
    mail_fault = models.TextField(default="")
    raised_at = models.DateTimeField(null=True, help_text="When compliance was notified of a failure.")

    class Meta:
        ordering = ["-asked_at", "-id"]
        verbose_name = "report"
        constraints = [
            models.CheckConstraint(
                condition=Q(state__in=["waiting", "running", "done", "failed", "cancelled"]), name="report_state_known"
            ),
            models.CheckConstraint(condition=Q(first_day__lte=F("last_day")), name="report_period_forward"),
            models.CheckConstraint(
                condition=~Q(state="done")
                | Q(row_count__isnull=False, size__isnull=False, as_of__isnull=False) & ~Q(sha256=""),
                name="report_done_has_a_file",
            ),
            models.CheckConstraint(
                condition=Q(pit__isnull=True) | Q(casino__isnull=False), name="report_pit_of_casino"
            ),
            models.UniqueConstraint(
                fields=["schedule", "first_day", "last_day", "shift"], condition=Q(again_of=None),
                name="report_scheduled_once",
            ),
        ]  # fmt: skip
        indexes = [
            models.Index(fields=["-asked_at", "-id"], name="report_newest_first"),
            models.Index(fields=["state"], condition=Q(state__in=["waiting", "running"]), name="report_under_way"),
            models.Index(fields=["kind", "first_day", "last_day"], name="report_by_period"),
        ]

    def __str__(self) -> str:
        days = str(self.first_day) if self.first_day == self.last_day else f"{self.first_day} to {self.last_day}"
        return f"{self.kind}, {days}"

    @property
    def is_over(self) -> bool:
        return self.state not in (self.State.WAITING, self.State.RUNNING)

    @property
    def has_file(self) -> bool:
        return self.state == self.State.DONE and not self.is_expired

    @property
    def is_expired(self) -> bool:
        """Say whether the file has expired, even if it is not removed yet."""
        return self.removed_at is not None or (self.expires_at is not None and self.expires_at <= timezone.now())


class ReportCertificate(models.Model):
    """A compliance officer's certificate of a finished report. Written once."""

    grants = WRITTEN_ONCE
    casino_path, pit_path = "run__casino", "run__pit"
    confidential_path = "run__is_confidential"

    run = models.OneToOneField(ReportRun, on_delete=models.PROTECT, related_name="certificate")
    by = models.ForeignKey(Staff, on_delete=models.PROTECT, related_name="+")
    name = models.TextField()
    post = models.TextField()
    statement = models.TextField()
    at = models.DateTimeField(default=timezone.now)
    sha256 = models.CharField(max_length=64, help_text="Over the certified file.")
    size = models.PositiveBigIntegerField()

    class Meta:
        ordering = ["-at"]

    def __str__(self) -> str:
        return f"{self.run}, certified by {self.name}"
