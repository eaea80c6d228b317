"""Evidence: files, hashed when they are added, and camera references, each with its chain of custody."""

from django.db import models
from django.db.models import Q
from django.utils import timezone

from audits.incidents.models.incident import Incident
from audits.incidents.models.log import LogEntry
from games.database.grants import WRITTEN_ONCE
from games.models import Casino, Pit, Staff


class Evidence(models.Model):
    """A file or a camera reference. Written once. The file is stored outside the web root, under a random name."""

    grants = WRITTEN_ONCE
    casino_path, pit_path = "casino", "pit"
    confidential_path = "is_confidential"

    casino = models.ForeignKey(Casino, on_delete=models.PROTECT, related_name="+")
    pit = models.ForeignKey(Pit, on_delete=models.PROTECT, null=True, blank=True, related_name="+")
    incident = models.ForeignKey(Incident, on_delete=models.PROTECT, null=True, blank=True, related_name="evidence")
    entry = models.ForeignKey(LogEntry, on_delete=models.PROTECT, null=True, blank=True, related_name="evidence")
    description = models.TextField()
    is_confidential = models.BooleanField("confidential", default=False)
    name = models.CharField("file name", max_length=200, default="", blank=True)
    content_type = models.CharField(max_length=60, default="", blank=True)
    size = models.BigIntegerField(null=True, blank=True)
    sha256 = models.BinaryField(max_length=32, null=True, blank=True)
    stored = models.CharField(max_length=64, default="", blank=True)
    camera = models.CharField(max_length=60, default="", blank=True)
    time_code = models.CharField(max_length=40, default="", blank=True)
    recording = models.TextField("where the recording is", default="", blank=True)
    keep_until = models.DateField("keep the recording until", null=True, blank=True)
    by = models.ForeignKey(Staff, on_delete=models.PROTECT, related_name="+")
    who = models.TextField("added by")
    at = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering = ["at", "id"]
        verbose_name_plural = "evidence"
        constraints = [
            models.CheckConstraint(
                condition=Q(incident__isnull=False) | Q(entry__isnull=False), name="evidence_of_something"
            ),
            models.CheckConstraint(
                condition=Q(stored="", size__isnull=True, sha256__isnull=True) & ~Q(camera="")
                | ~Q(stored="") & Q(size__isnull=False, size__gt=0, sha256__isnull=False) & ~Q(content_type=""),
                name="evidence_is_a_file_or_a_camera",
            ),
        ]

    def __str__(self) -> str:
        return f"no. {self.pk}"

    @property
    def is_file(self) -> bool:
        return bool(self.stored)


class CustodyStep(models.Model):
    """Who added, opened or copied a piece of evidence, and through which page or call. Written once."""

    class What(models.TextChoices):
        ADDED = "added"
        OPENED = "opened"
        COPIED = "copied"

    grants = WRITTEN_ONCE
    casino_path, pit_path = "evidence__casino", "evidence__pit"
    confidential_path = "evidence__is_confidential"

    evidence = models.ForeignKey(Evidence, on_delete=models.PROTECT, related_name="custody")
    what = models.CharField(max_length=10, choices=What)
    at = models.DateTimeField(default=timezone.now)
    by = models.ForeignKey(Staff, on_delete=models.PROTECT, related_name="+")
    who = models.TextField()
    door = models.TextField(default="")

    class Meta:
        ordering = ["at", "id"]

    def __str__(self) -> str:
        return f"{self.evidence}: {self.what}"
