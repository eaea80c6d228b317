"""Dice tumblers (Division 9, 3.4(e)): by serial number and under lock; where they are, and what inspections found."""

from django.contrib.postgres.constraints import ExclusionConstraint
from django.contrib.postgres.fields import DateTimeRangeField, RangeOperators
from django.db import models
from django.db.models import Q
from django.db.models.functions import Upper
from django.utils import timezone

from games.access.models.staff import Staff
from games.database.grants import WRITTEN_ONCE, Grants
from games.floor.models.casino import Casino, Pit, code_validator
from games.floor.models.table import Table
from games.history.records import History


class Tumbler(models.Model):
    """A dice tumbler. One that failed an inspection or was retired is not fitted again."""

    class State(models.TextChoices):
        FIT = "fit", "Fit for play"
        UNFIT = "unfit", "Failed inspection"
        RETIRED = "retired", "Retired"

    class Activation(models.TextChoices):
        MECHANICAL = "mechanical", "Mechanical"
        ELECTRICAL = "electrical", "Electrical"
        ELECTRONIC = "electronic", "Electronic"

    grants = Grants(update=("code", "pit", "lock", "state"))
    casino_path, pit_path = "casino", "pit"

    casino = models.ForeignKey(Casino, on_delete=models.PROTECT, related_name="tumblers")
    pit = models.ForeignKey(Pit, on_delete=models.PROTECT, related_name="tumblers", help_text="Which keeps it.")
    code = models.CharField(max_length=20, validators=[code_validator])
    serial = models.CharField("serial number", max_length=40, help_text="As its maker gave it.")
    activation = models.CharField(max_length=10, choices=Activation, help_text="How it is activated.")
    lock = models.CharField(
        "lock or seal",
        max_length=40,
        help_text="The number of the lock or seal that closes the compartment of the dice.",
    )
    state = models.CharField(max_length=10, choices=State, default=State.FIT)

    history = History()

    class Meta:
        ordering = ["code"]
        constraints = [
            models.UniqueConstraint(
                "casino", Upper("code"), name="tumbler_code_once_a_casino",
                violation_error_message="There is a tumbler with this code already; choose another code.",
            ),
            models.UniqueConstraint(
                "casino", Upper("serial"), name="tumbler_serial_once_a_casino",
                violation_error_message="There is a tumbler with this serial number already; check the number.",
            ),
            models.CheckConstraint(condition=~Q(serial=""), name="tumbler_has_a_serial"),
            models.CheckConstraint(condition=~Q(lock=""), name="tumbler_has_a_lock"),
            models.CheckConstraint(condition=Q(state__in=["fit", "unfit", "retired"]), name="tumbler_state_known"),
            models.CheckConstraint(
                condition=Q(activation__in=["mechanical", "electrical", "electronic"]), name="tumbler_activation_known"
            ),
        ]  # fmt: skip

    def __str__(self) -> str:
        return self.code


class TumblerFit(models.Model):
    """A tumbler at a table: one tumbler per table, and one table per tumbler, at a time."""

    grants = Grants(update=("during",))
    table_path = "table"

    tumbler = models.ForeignKey(Tumbler, on_delete=models.PROTECT, related_name="fits")
    table = models.ForeignKey(Table, on_delete=models.PROTECT, related_name="tumbler_fits")
    during = DateTimeRangeField(help_text="From when it was fitted until, and not at, when it was removed.")

    history = History()

    class Meta:
        ordering = ["-during"]
        constraints = [
            models.CheckConstraint(
                condition=Q(during__isempty=False, during__lower_inf=False, during__lower_inc=True)
                & Q(during__upper_inc=False),
                name="tumbler_fit_has_a_beginning",
            ),
            ExclusionConstraint(
                name="tumbler_fit_one_tumbler_a_table",
                violation_error_message="The table has another tumbler in a part of that time.",
                expressions=[("table", RangeOperators.EQUAL), ("during", RangeOperators.OVERLAPS)],
            ),
            ExclusionConstraint(
                name="tumbler_fit_one_table_a_tumbler",
                violation_error_message="The tumbler is at another table in a part of that time.",
                expressions=[("tumbler", RangeOperators.EQUAL), ("during", RangeOperators.OVERLAPS)],
            ),
        ]

    def __str__(self) -> str:
        return f"{self.tumbler} at {self.table}"


class TumblerInspection(models.Model):
    """What an inspection of a tumbler found. Written once."""

    class Result(models.TextChoices):
        GOOD = "good", "Good"
        FAULTY = "faulty", "Does not work correctly"
        LOCK = "lock-broken", "Lock or seal open, broken or not the recorded one"

    grants = WRITTEN_ONCE
    casino_path, pit_path = "tumbler__casino", "tumbler__pit"

    tumbler = models.ForeignKey(Tumbler, on_delete=models.PROTECT, related_name="inspections")
    table = models.ForeignKey(
        Table, on_delete=models.PROTECT, null=True, blank=True, related_name="tumbler_inspections"
    )
    at = models.DateTimeField(default=timezone.now)
    by = models.ForeignKey(Staff, on_delete=models.PROTECT, related_name="+")
    who = models.TextField("inspector")
    result = models.CharField(max_length=12, choices=Result)
    lock_found = models.CharField("lock or seal found", max_length=40, blank=True)
    new_lock = models.CharField("new lock or seal", max_length=40, blank=True)
    remarks = models.TextField(blank=True)

    class Meta:
        ordering = ["-at", "-id"]
        constraints = [
            models.CheckConstraint(
                condition=Q(result="good") | Q(result__in=["faulty", "lock-broken"]) & ~Q(remarks=""),
                name="tumbler_inspection_failed_with_remarks",
            )
        ]

    def __str__(self) -> str:
        return f"{self.tumbler}: {self.get_result_display().lower()}"
