"""Limits: what a sign says, who proposed it, who decided, and from when it is in force. Rows are written once.

A limit set ends where the next one of its table begins, so no row is ever updated. The sign at a moment is the limit
set with the latest `starts_at` up to then, in its latest revision, among those recorded by the known-at moment.
"""

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import F, Q
from django.utils import timezone

from games.access.models.staff import Staff
from games.database.grants import WRITTEN_ONCE
from games.engine.signs.limits import Limits, Range
from games.floor.models.casino import Casino, Pit
from games.floor.models.table import Table


class LimitSheet(models.Model):
    """The content of a sign: lines by bet type or box, and differentials. Several tables may share one."""

    grants = WRITTEN_ONCE

    created_at = models.DateTimeField(default=timezone.now)

    def __str__(self) -> str:
        return f"sheet {self.pk}"

    def limits(self, chip_unit: int = 1) -> Limits:
        """Return the limits as the engine takes them."""
        return Limits(
            {line.key: Range(line.minimum, line.maximum) for line in self.lines.all()},
            {line.type: line.amount for line in self.differentials.all()},
            chip_unit,
        )


class LimitLine(models.Model):
    """A minimum on one player's bet and a maximum on all bets, for a bet type or a box. In minor units."""

    grants = WRITTEN_ONCE

    sheet = models.ForeignKey(LimitSheet, on_delete=models.PROTECT, related_name="lines")
    key = models.CharField(max_length=20)
    minimum = models.BigIntegerField(null=True)
    maximum = models.BigIntegerField(null=True)

    class Meta:
        ordering = ["id"]
        constraints = [
            models.UniqueConstraint(fields=["sheet", "key"], name="limit_line_once"),
            models.CheckConstraint(
                condition=Q(minimum__gte=0) & Q(maximum__gte=0) & Q(minimum__lte=F("maximum")),
                name="limit_minimum_up_to_maximum",
            ),
        ]

    def __str__(self) -> str:
        return self.key


class DifferentialLine(models.Model):
    """The largest difference allowed between the totals of the two boxes of a bet type. In minor units."""

    grants = WRITTEN_ONCE

    sheet = models.ForeignKey(LimitSheet, on_delete=models.PROTECT, related_name="differentials")
    type = models.CharField(max_length=20)
    amount = models.BigIntegerField()

    class Meta:
        ordering = ["id"]
        constraints = [
            models.UniqueConstraint(fields=["sheet", "type"], name="differential_line_once"),
            models.CheckConstraint(condition=Q(amount__gte=0), name="differential_not_negative"),
        ]

    def __str__(self) -> str:
        return self.type


class LimitProposal(models.Model):
    """New limits proposed, with a reason, for one table or several of one pit."""

    grants = WRITTEN_ONCE
    casino_path, pit_path = "casino", "pit"

    casino = models.ForeignKey(Casino, on_delete=models.PROTECT, related_name="+")
    pit = models.ForeignKey(Pit, on_delete=models.PROTECT, related_name="limit_proposals")
    tables = models.ManyToManyField(Table, through="ProposedSign", related_name="limit_proposals")
    starts_at = models.DateTimeField(
        "from", null=True, help_text="Empty: as soon as it is approved and notice is given."
    )
    is_correction = models.BooleanField(
        "correction", default=False,
        help_text="States what the sign said from a moment that has passed, or that has its limits already.",
    )  # fmt: skip
    reason = models.TextField()
    proposed_by = models.ForeignKey(Staff, on_delete=models.PROTECT, related_name="limits_proposed")
    who = models.TextField("proposed by")
    proposed_at = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering = ["-proposed_at", "-id"]
        constraints = [
            models.UniqueConstraint(fields=["id", "proposed_by"], name="proposal_of_proposer"),
            models.CheckConstraint(condition=~Q(reason=""), name="proposal_has_a_reason"),
            models.CheckConstraint(
                condition=Q(is_correction=False) | Q(starts_at__isnull=False), name="proposal_correction_has_a_moment"
            ),
        ]

    def __str__(self) -> str:
        return f"no. {self.pk}, {self.pit}"

    @property
    def state(self) -> str:
        decision = getattr(self, "decision", None)
        return decision.outcome if decision else "pending"


class ProposedSign(models.Model):
    """A proposal's sign for one table: the whole sheet, and the sign that it was worked out from."""

    grants = WRITTEN_ONCE

    proposal = models.ForeignKey(LimitProposal, on_delete=models.PROTECT, related_name="signs")
    table = models.ForeignKey(Table, on_delete=models.PROTECT, related_name="proposed_signs")
    sheet = models.ForeignKey(LimitSheet, on_delete=models.PROTECT, related_name="proposed_signs")
    base = models.ForeignKey(
        "LimitSet", on_delete=models.PROTECT, null=True, related_name="proposed_signs",
        help_text="The sign in force at the moment of the change, as known at the proposal; none: no sign yet.",
    )  # fmt: skip
    removals = ArrayField(
        models.TextField(), default=list, help_text="The limits of the base that the proposer agreed to remove."
    )

    class Meta:
        ordering = ["table__code"]
        constraints = [models.UniqueConstraint(fields=["proposal", "table"], name="proposed_sign_once_a_table")]

    def __str__(self) -> str:
        return f"{self.proposal}: {self.table}"

    def limits(self) -> Limits:
        return self.sheet.limits()

    def base_limits(self) -> Limits:
        return self.base.sheet.limits() if self.base else Limits()


class LimitDecision(models.Model):
    """The decision on a proposal. There is one each; no one approves or rejects their own proposal."""

    class Outcome(models.TextChoices):
        APPROVED = "approved"
        REJECTED = "rejected"
        WITHDRAWN = "withdrawn"
        SUPERSEDED = "superseded"

    grants = WRITTEN_ONCE
    casino_path, pit_path = "proposal__casino", "proposal__pit"

    proposal = models.OneToOneField(LimitProposal, on_delete=models.PROTECT, related_name="decision")
    # repeated here for the CHECK; a foreign key over both keeps it correct (migration 0004)
    proposed_by = models.ForeignKey(Staff, on_delete=models.PROTECT, related_name="+")
    outcome = models.CharField(max_length=10, choices=Outcome)
    decided_by = models.ForeignKey(Staff, on_delete=models.PROTECT, related_name="limits_decided")
    who = models.TextField("decided by")
    at = models.DateTimeField(default=timezone.now)
    reason = models.TextField()
    removals = ArrayField(
        models.TextField(), default=list,
        help_text="The limits that the approver agreed to remove: the table's code and the limit's name.",
    )  # fmt: skip

    class Meta:
        constraints = [
            models.CheckConstraint(condition=Q(outcome__in=["approved", "rejected", "withdrawn", "superseded"]),
                                   name="decision_outcome_known"),
            models.CheckConstraint(
                condition=~Q(outcome__in=["approved", "rejected"]) | ~Q(decided_by=F("proposed_by")),
                name="decision_by_another",
                violation_error_message="Nobody decides on his own proposal.",
            ),
            models.CheckConstraint(
                condition=~Q(outcome="withdrawn") | Q(decided_by=F("proposed_by")),
                name="decision_withdrawn_by_proposer",
            ),
            models.CheckConstraint(condition=~Q(reason=""), name="decision_has_a_reason"),
        ]  # fmt: skip

    def __str__(self) -> str:
        return f"{self.proposal}: {self.outcome}"


class LimitSet(models.Model):
    """The limits of one table from a moment on. A correction of the same moment is its next revision."""

    class Origin(models.TextChoices):
        FILE = "file"
        PROPOSAL = "proposal"

    grants = WRITTEN_ONCE
    table_path = "table"

    table = models.ForeignKey(Table, on_delete=models.PROTECT, related_name="limit_sets")
    starts_at = models.DateTimeField("from")
    revision = models.PositiveSmallIntegerField(default=0)
    sheet = models.ForeignKey(LimitSheet, on_delete=models.PROTECT, related_name="limit_sets")
    recorded_at = models.DateTimeField(default=timezone.now)
    origin = models.CharField(max_length=10, choices=Origin)
    source = models.TextField(help_text="The file, or the proposal's reason.")
    who = models.TextField("recorded by")
    decision = models.ForeignKey(LimitDecision, on_delete=models.PROTECT, null=True, related_name="limit_sets")

    class Meta:
        ordering = ["-starts_at", "-revision"]
        constraints = [
            models.UniqueConstraint(
                fields=["table", "starts_at", "revision"], name="limit_set_once_a_moment",
                violation_error_message="The table has limits from this moment already.",
            ),
            models.CheckConstraint(
                condition=Q(origin="file", decision__isnull=True) | Q(origin="proposal", decision__isnull=False),
                name="limit_set_from_a_file_or_approved",
            ),
            # target of a foreign key over base and table together (migration of proposed signs)
            models.UniqueConstraint(fields=["id", "table"], name="limit_set_of_table"),
        ]  # fmt: skip

    def __str__(self) -> str:
        return f"{self.table} from {self.starts_at:%Y-%m-%d %H:%M} UTC"

    @property
    def is_correction(self) -> bool:
        """Return whether it was recorded after its own start, or replaces another of the same moment."""
        return self.revision > 0 or (self.decision is not None and self.decision.proposal.is_correction)

    @property
    def proposed_by(self) -> Staff | None:
        return self.decision.proposal.proposed_by if self.decision else None

    @property
    def approved_by(self) -> Staff | None:
        return self.decision.decided_by if self.decision else None
