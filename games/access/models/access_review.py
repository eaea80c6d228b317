"""Access records and the quarterly review of accounts. Every row is written once."""

import datetime as dt

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import F, Q
from django.utils import timezone

from games.access.models.staff import Staff
from games.database.grants import WRITTEN_ONCE
from games.floor.models.casino import Casino


class AccessRecord(models.Model):
    """A record that a person read something confidential, opened evidence, searched for a player or exported data."""

    class Kind(models.TextChoices):
        CONFIDENTIAL = "confidential", "Confidential record"
        EVIDENCE = "evidence", "Evidence"
        SEARCH = "search", "Search"
        EXPORT = "export", "Export"

    grants = WRITTEN_ONCE
    casino_path, pit_path = "casino", None

    at = models.DateTimeField(default=timezone.now)
    staff = models.ForeignKey(Staff, on_delete=models.PROTECT, null=True, related_name="+", verbose_name="person")
    casino = models.ForeignKey(Casino, on_delete=models.PROTECT, null=True, related_name="+")
    who = models.TextField("who", help_text="With the post held at that moment.")
    kind = models.CharField(max_length=12, choices=Kind)
    thing = models.TextField("what")
    door = models.TextField(help_text="The page, call or command.")

    class Meta:
        ordering = ["-at", "-id"]
        indexes = [
            models.Index(fields=["-at", "-id"], name="access_newest_first"),
            models.Index(fields=["staff", "kind", "thing", "at"], name="access_of_person"),
        ]
        constraints = [
            models.CheckConstraint(
                condition=Q(kind__in=["confidential", "evidence", "search", "export"]), name="access_kind_known"
            ),
            models.CheckConstraint(condition=~Q(who="") & ~Q(thing=""), name="access_says_who_and_what"),
        ]

    def __str__(self) -> str:
        return f"{self.who}: {self.thing}"


class AccessReview(models.Model):
    """The review of a casino's accounts for one quarter, done by compliance."""

    grants = WRITTEN_ONCE
    casino_path, pit_path = "casino", None

    casino = models.ForeignKey(Casino, on_delete=models.PROTECT, related_name="access_reviews")
    quarter = models.DateField(help_text="Its first day.")
    opened_at = models.DateTimeField(default=timezone.now)
    due_on = models.DateField("due")

    class Meta:
        ordering = ["-quarter", "casino__code"]
        constraints = [
            models.UniqueConstraint(fields=["casino", "quarter"], name="access_review_once_a_quarter"),
            models.CheckConstraint(condition=Q(due_on__gt=F("quarter")), name="access_review_due_after_its_start"),
            models.CheckConstraint(
                condition=Q(quarter__day=1, quarter__month__in=[1, 4, 7, 10]), name="access_review_of_a_quarter"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.casino.code} {self.quarter_name}"

    @property
    def quarter_name(self) -> str:
        return f"{self.quarter.year} Q{(self.quarter.month + 2) // 3}"

    @property
    def is_signed(self) -> bool:
        return hasattr(self, "signature")

    def is_overdue(self, today: dt.date) -> bool:
        return not self.is_signed and today > self.due_on


class AccessReviewLine(models.Model):
    """One account as it was when the review was opened."""

    class Flag(models.TextChoices):
        LEFT = "left", "Active after the last day"
        UNUSED = "unused", "No sign-in for 90 days"
        PRIVILEGED = "privileged", "Privileged role"

    grants = WRITTEN_ONCE
    casino_path, pit_path = "review__casino", None

    review = models.ForeignKey(AccessReview, on_delete=models.PROTECT, related_name="lines")
    staff = models.ForeignKey(Staff, on_delete=models.PROTECT, related_name="+")
    name = models.TextField(help_text="Number and name.")
    role = models.TextField()
    reach = models.TextField()
    acting = models.TextField("acting appointments", blank=True)
    last_login = models.DateTimeField("last sign-in", null=True)
    flags = ArrayField(models.CharField(max_length=12, choices=Flag), default=list)

    class Meta:
        ordering = ["review", "name"]
        constraints = [
            models.UniqueConstraint(fields=["review", "staff"], name="access_review_line_once"),
        ]

    def __str__(self) -> str:
        return f"{self.review_id}: {self.name}"

    @property
    def flag_names(self) -> list[str]:
        return [str(self.Flag(flag).label) for flag in self.flags]


class AccessReviewMark(models.Model):
    """What compliance decided on an account. The latest counts, until the review is signed (a trigger enforces it)."""

    class Outcome(models.TextChoices):
        KEEP = "keep", "Keep"
        REMOVE = "remove", "Remove"

    grants = WRITTEN_ONCE

    line = models.ForeignKey(AccessReviewLine, on_delete=models.PROTECT, related_name="marks")
    outcome = models.CharField(max_length=10, choices=Outcome)
    note = models.TextField(blank=True)
    by = models.ForeignKey(Staff, on_delete=models.PROTECT, related_name="+")
    who = models.TextField("marked by")
    at = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering = ["-id"]
        constraints = [
            models.CheckConstraint(condition=Q(outcome__in=["keep", "remove"]), name="access_mark_known"),
            models.CheckConstraint(
                condition=Q(outcome="keep") | ~Q(note=""), name="access_removal_has_a_note",
                violation_error_message="Say why the account is to be removed.",
            ),
        ]  # fmt: skip

    def __str__(self) -> str:
        return f"{self.line_id}: {self.outcome}"


class AccessReviewSignature(models.Model):
    """The signature of a review whose accounts are all marked. Nothing changes afterwards (a trigger enforces it)."""

    grants = WRITTEN_ONCE

    review = models.OneToOneField(AccessReview, on_delete=models.PROTECT, related_name="signature")
    by = models.ForeignKey(Staff, on_delete=models.PROTECT, related_name="+")
    who = models.TextField("signed by")
    at = models.DateTimeField(default=timezone.now)
    note = models.TextField()

    class Meta:
        constraints = [models.CheckConstraint(condition=~Q(note=""), name="access_signature_has_a_note")]

    def __str__(self) -> str:
        return f"{self.review_id} signed by {self.who}"
