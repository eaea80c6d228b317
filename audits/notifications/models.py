"""Escalation: whom the product told of findings that nobody had acknowledged. Written once."""

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.utils import timezone

from audits.findings.models.finding import Finding
from games.database.grants import WRITTEN_ONCE
from games.models import Casino, LimitDecision, Pit, Staff, ThresholdDecision


class Notice(models.Model):
    """What a post was told, at one moment, about one or many findings of a pit or casino."""

    grants = WRITTEN_ONCE
    casino_path, pit_path = "casino", "pit"

    casino = models.ForeignKey(Casino, on_delete=models.PROTECT, related_name="+")
    pit = models.ForeignKey(Pit, on_delete=models.PROTECT, null=True, related_name="+")
    role = models.CharField("told", max_length=20, help_text="The role: a post of the pit, or compliance.")
    at = models.DateTimeField(default=timezone.now)
    text = models.TextField()
    people = ArrayField(models.TextField(), default=list, help_text="Who held the post at that moment.")
    recipients = ArrayField(models.BigIntegerField(), default=list, help_text="The same people, by their ids.")

    class Meta:
        ordering = ["-at", "-id"]

    def __str__(self) -> str:
        return f"no. {self.pk}"


class Escalation(models.Model):
    """A finding that went to the next post for having been open too long."""

    grants = WRITTEN_ONCE
    table_path = "finding__table"

    finding = models.ForeignKey(Finding, on_delete=models.PROTECT, related_name="escalations", db_index=False)
    level = models.PositiveSmallIntegerField(help_text="From 1, one higher each time.")
    notice = models.ForeignKey(Notice, on_delete=models.PROTECT, related_name="escalations")

    class Meta:
        ordering = ["finding", "level"]
        constraints = [models.UniqueConstraint(fields=["finding", "level"], name="escalated_once_a_level")]

    def __str__(self) -> str:
        return f"{self.finding_id}/{self.level}"


class NoticeMail(models.Model):
    """An e-mail that a notice led to: sent, or why not."""

    grants = WRITTEN_ONCE

    notice = models.ForeignKey(Notice, on_delete=models.PROTECT, related_name="mails", db_index=False)
    staff = models.ForeignKey(Staff, on_delete=models.PROTECT, related_name="+", db_index=False)
    address = models.TextField()
    at = models.DateTimeField(default=timezone.now)
    fault = models.TextField(default="")

    class Meta:
        ordering = ["notice", "id"]
        constraints = [models.UniqueConstraint(fields=["notice", "staff"], name="mailed_once")]

    def __str__(self) -> str:
        return f"{self.notice_id} to {self.address}"


class ConsequenceNotice(models.Model):
    """The executed corrective action that compliance was notified of: each once. Written once."""

    grants = WRITTEN_ONCE

    consequence = models.OneToOneField("audits.Consequence", on_delete=models.PROTECT, related_name="compliance_notice")
    notice = models.OneToOneField(Notice, on_delete=models.PROTECT, related_name="consequence_notice")

    def __str__(self) -> str:
        return f"{self.consequence_id} in {self.notice_id}"


class ProposerNotice(models.Model):
    """The decision on a limit proposal that its proposer was told of: each once."""

    grants = WRITTEN_ONCE

    decision = models.OneToOneField(LimitDecision, on_delete=models.PROTECT, related_name="proposer_notice")
    notice = models.OneToOneField(
        Notice, on_delete=models.PROTECT, null=True, related_name="proposer_notice",
        help_text="None: decided before proposers were told.",
    )  # fmt: skip

    def __str__(self) -> str:
        return f"{self.decision_id} in {self.notice_id}"


class ThresholdNotice(models.Model):
    """The decision on a threshold proposal that its proposer was notified of: each once."""

    grants = WRITTEN_ONCE

    decision = models.OneToOneField(ThresholdDecision, on_delete=models.PROTECT, related_name="proposer_notice")
    notice = models.OneToOneField(Notice, on_delete=models.PROTECT, related_name="threshold_notice")

    def __str__(self) -> str:
        return f"{self.decision_id} in {self.notice_id}"


class FindingWeighing(models.Model):
    """A policy that came into force, and by which the findings on record have been weighed: each once."""

    grants = WRITTEN_ONCE

    decision = models.OneToOneField(ThresholdDecision, on_delete=models.PROTECT, related_name="weighing")
    at = models.DateTimeField(default=timezone.now)

    def __str__(self) -> str:
        return f"{self.decision_id} at {self.at}"
