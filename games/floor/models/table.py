"""Tables: what is played on them from when to when, and whether they are open."""

import datetime as dt

from django.contrib.postgres.constraints import ExclusionConstraint
from django.contrib.postgres.fields import DateTimeRangeField, RangeOperators
from django.db import models
from django.db.models import OuterRef, Q, Subquery
from django.db.models.functions import Coalesce, Upper
from django.utils import timezone

from games.access.models.staff import Staff
from games.database.grants import WRITTEN_ONCE, Grants
from games.engine.money import format_money
from games.floor.models.casino import Casino, Pit, code_validator
from games.history.records import History


class TableState(models.TextChoices):
    CLOSED = "closed"
    OPEN = "open"
    SUSPENDED = "suspended"


#: How a table is shown that was never opened, closed, suspended or resumed with this product.
NEVER_OPENED = "no opening on record"


class TableQuerySet(models.QuerySet["Table"]):
    def standing_in(self, pit_id: int) -> "TableQuerySet":
        """The tables that stand in a pit at this moment."""
        return self.placed().filter(Q(pit_now=pit_id))

    def placed(self) -> "TableQuerySet":
        """With `pit_now`: the pit of the assignment in force, or of the first one to come."""
        of_table = TableAssignment.objects.filter(table=OuterRef("pk"))
        begun = of_table.filter(during__startswith__lte=timezone.now()).order_by("-during")
        return self.annotate(
            pit_now=Coalesce(Subquery(begun.values("pit")[:1]), Subquery(of_table.order_by("during").values("pit")[:1]))
        )


class Table(models.Model):
    """A gaming table, known to every other program by its code alone."""

    grants = Grants(update=("state", "state_since"))
    table_path = "pk"  # it lies where it stands, for the gate

    casino = models.ForeignKey(Casino, on_delete=models.PROTECT, related_name="tables")
    code = models.CharField(max_length=20, validators=[code_validator])
    # not `editable=False`: the history compares editable fields only
    state = models.CharField(max_length=10, choices=TableState, default=TableState.CLOSED)
    state_since = models.DateTimeField(null=True, blank=True, help_text="Empty until it is first opened.")

    history = History()
    objects = TableQuerySet.as_manager()

    class Meta:
        ordering = ["code"]
        constraints = [
            models.UniqueConstraint(
                Upper("code"), name="table_code_once",
                violation_error_message="There is a table with this code already; every table has a code of its own.",
            ),
            models.UniqueConstraint(fields=["id", "casino"], name="table_of_casino"),
            models.CheckConstraint(condition=Q(state__in=TableState.values), name="table_state_known"),
        ]  # fmt: skip

    def __str__(self) -> str:
        return self.code

    @property
    def condition(self) -> str:
        """The state as people read it: of a table without any step nothing is on record."""
        return self.state if self.state_since else NEVER_OPENED

    @property
    def pit(self) -> Pit | None:
        """Where it stands now, or will first stand."""
        assignments = self.assignments.select_related("pit__casino")
        begun = assignments.filter(during__startswith__lte=timezone.now()).order_by("-during").first()
        assignment = begun or assignments.order_by("during").first()
        return assignment.pit if assignment else None


class TableAssignment(models.Model):
    """What is played on a table, and where it stands, from one moment until the next assignment."""

    grants = Grants(update=("during",))
    table_path = "table"

    table = models.ForeignKey(Table, on_delete=models.PROTECT, related_name="assignments")
    casino = models.ForeignKey(Casino, on_delete=models.PROTECT, related_name="+", editable=False)
    pit = models.ForeignKey(Pit, on_delete=models.PROTECT, related_name="assignments")
    rulebook = models.CharField(max_length=64)
    layout = models.CharField(max_length=8)
    chip_unit = models.BigIntegerField(help_text="In minor units: what a pro-rated stake is rounded down to.")
    during = DateTimeRangeField(help_text="From its first moment until, and not at, the next assignment's.")
    recorded_at = models.DateTimeField(default=timezone.now, editable=False)

    history = History()

    class Meta:
        ordering = ["-during"]
        constraints = [
            models.CheckConstraint(condition=Q(chip_unit__gt=0), name="assignment_chip_unit_positive"),
            models.CheckConstraint(
                condition=Q(during__isempty=False, during__lower_inf=False, during__lower_inc=True)
                & Q(during__upper_inc=False),
                name="assignment_begins_somewhen",
            ),
            ExclusionConstraint(
                name="assignment_one_at_a_time",
                violation_error_message="The table has another assignment in a part of that time.",
                expressions=[("table", RangeOperators.EQUAL), ("during", RangeOperators.OVERLAPS)],
            ),
        ]  # fmt: skip

    def __str__(self) -> str:
        return f"{self.table}: {self.rulebook} {self.layout} from {self.starts_at:%Y-%m-%d %H:%M} UTC"

    @property
    def starts_at(self) -> dt.datetime:
        lower: dt.datetime = self.during.lower
        return lower

    @property
    def game(self) -> str:
        return f"{self.rulebook}, layout {self.layout}, chip unit {format_money(self.chip_unit)}"


class TableStep(models.Model):
    """A table opened, closed, suspended or resumed: who (or which floor file), when and why. Written once."""

    class Kind(models.TextChoices):
        OPEN = "open"
        CLOSE = "close"
        SUSPEND = "suspend"
        RESUME = "resume"

    class Cause(models.TextChoices):
        MALFUNCTION = "malfunction", "Equipment malfunction"
        OTHER = "other", "Another reason"

    grants = WRITTEN_ONCE
    table_path = "table"

    table = models.ForeignKey(Table, on_delete=models.PROTECT, related_name="steps")
    kind = models.CharField(max_length=10, choices=Kind)
    at = models.DateTimeField()
    by = models.ForeignKey(
        Staff, on_delete=models.PROTECT, null=True, blank=True, related_name="+", help_text="Empty if a file says so."
    )
    who = models.TextField()
    reason = models.TextField()
    source = models.TextField(default="", blank=True, help_text="The floor file that says so, in place of a person.")
    rules = models.JSONField(default=list, help_text="Citations, where a rule asks for the step.")
    notice_given_at = models.DateTimeField(null=True, help_text="When players were told that the table closes.")
    check_signed = models.ForeignKey(
        "OpeningCheck", on_delete=models.PROTECT, null=True, related_name="openings", verbose_name="opening checks"
    )
    # An opening that a file states: its checks (Division 9, 5.0) are on record as the file's word
    checks_of = models.CharField(
        max_length=64, default="", blank=True, help_text="The rulebook whose opening checks were made and passed."
    )
    checks_by = models.ForeignKey(
        Staff, on_delete=models.PROTECT, null=True, blank=True, related_name="+", help_text="Who made the checks."
    )
    cause = models.CharField(
        max_length=12, choices=Cause, default="", blank=True, help_text="Of a suspension: why play stopped."
    )
    # A table resumed, or closed and opened again, after an equipment malfunction (Division 9, 7.4)
    rectified = models.TextField(
        default="", blank=True, help_text="What was rectified, or which procedures were introduced."
    )
    rectified_by = models.TextField(default="", blank=True, help_text="Who rectified it; perhaps a technician.")
    checked_by = models.ForeignKey(
        Staff, on_delete=models.PROTECT, null=True, blank=True, related_name="+", help_text="Who checked that it works."
    )

    class Meta:
        ordering = ["-at", "-id"]
        indexes = [models.Index(fields=["table", "-at", "-id"], name="table_steps_newest_first")]
        constraints = [
            models.CheckConstraint(
                condition=Q(kind__in=["open", "close", "suspend", "resume"]), name="step_kind_known"
            ),
            models.CheckConstraint(
                condition=~Q(kind="close") | Q(notice_given_at__isnull=False, notice_given_at__lte=models.F("at")),
                name="step_closing_after_notice",
            ),
            models.CheckConstraint(condition=~Q(reason=""), name="step_has_a_reason"),
            models.CheckConstraint(
                condition=Q(cause="") | Q(kind="suspend", cause__in=["malfunction", "other"]),
                name="step_suspended_for_a_cause",
            ),
            models.CheckConstraint(
                condition=Q(rectified="", rectified_by="", checked_by__isnull=True)
                | Q(kind__in=["open", "resume"], checked_by__isnull=False) & ~Q(rectified="") & ~Q(rectified_by=""),
                name="step_rectified_and_checked",
            ),
            models.CheckConstraint(
                condition=Q(by__isnull=False, source="") | Q(by__isnull=True) & ~Q(source=""),
                name="step_by_a_person_or_a_file",
            ),
            models.CheckConstraint(
                condition=Q(checks_of="", checks_by__isnull=True)
                | Q(kind="open", checks_by__isnull=False) & ~Q(checks_of="") & ~Q(source=""),
                name="step_checks_of_a_file",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.table}: {self.get_kind_display().lower()}"


class OpeningCheck(models.Model):
    """The checks before a table opens (Division 9, 5.0), signed one by one. Written once."""

    grants = WRITTEN_ONCE
    table_path = "table"

    table = models.ForeignKey(Table, on_delete=models.PROTECT, related_name="opening_checks")
    rulebook = models.CharField(max_length=64)
    dice_set = models.ForeignKey("DiceSet", on_delete=models.PROTECT, related_name="+")
    tumbler = models.ForeignKey("Tumbler", on_delete=models.PROTECT, null=True, blank=True, related_name="+")
    at = models.DateTimeField()
    by = models.ForeignKey(Staff, on_delete=models.PROTECT, related_name="+")
    who = models.TextField()
    results = models.JSONField(help_text="Each check with its rule, what was found, and whether it passed.")
    passed = models.BooleanField()
    remarks = models.TextField(blank=True)

    class Meta:
        ordering = ["-at", "-id"]
        constraints = [
            models.CheckConstraint(condition=Q(passed=True) | ~Q(remarks=""), name="check_failed_with_remarks")
        ]

    def __str__(self) -> str:
        return f"{self.table}: {'passed' if self.passed else 'not passed'}"
