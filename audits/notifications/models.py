"""Notifications on record: of findings that were not acknowledged in time, and of decisions. Written once."""

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.utils import timezone

from audits.findings.models.finding import Finding
from games.database.grants import WRITTEN_ONCE
from games.models import Casino, LimitDecision, Pit, Staff, ThresholdDecision


class Notice(models.Model):
    """A notification to the holders of a post, or to one person, for a pit or casino."""

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
    """A finding that went to the next post because it was open for too long."""

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
    """An e-mail of a notification: sent, or the reason why not."""

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
    """An executed corrective action with the one notification that compliance received of it."""

    grants = WRITTEN_ONCE

    consequence = models.OneToOneField("audits.Consequence", on_delete=models.PROTECT, related_name="compliance_notice")
    notice = models.OneToOneField(Notice, on_delete=models.PROTECT, related_name="consequence_notice")

    def __str__(self) -> str:
        return f"{self.consequence_id} in {self.notice_id}"


class ProposerNotice(models.Model):
    """A decision on a limit proposal with the one notification that its proposer received of it."""

    grants = WRITTEN_ONCE

    decision = models.OneToOneField(LimitDecision, on_delete=models.PROTECT, related_name="proposer_notice")
    notice = models.OneToOneField(
        Notice, on_delete=models.PROTECT, null=True, related_name="proposer_notice",
        help_text="None: decided before proposers were told.",
    )  # fmt: skip

    def __str__(self) -> str:
        return f"{self.decision_id} in {self.notice_id}"


class ThresholdNotice(models.Model):
    """A decision on a threshold proposal with the one notification that its proposer received of it."""

    grants = WRITTEN_ONCE

    decision = models.OneToOneField(ThresholdDecision, on_delete=models.PROTECT, related_name="proposer_notice")
    notice = models.OneToOneField(Notice, on_delete=models.PROTECT, related_name="threshold_notice")

    def __str__(self) -> str:
        return f"{self.decision_id} in {self.notice_id}"


class FindingWeighing(models.Model):
    """A finding policy in force, by which the severity of findings on record has been updated once."""

    grants = WRITTEN_ONCE

    decision = models.OneToOneField(ThresholdDecision, on_delete=models.PROTECT, related_name="weighing")
    at = models.DateTimeField(default=timezone.now)

    def __str__(self) -> str:
        return f"{self.decision_id} at {self.at}"
