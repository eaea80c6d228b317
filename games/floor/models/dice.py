"""Dice sets: three dice by serial number and under seal; where they are, and what inspections found."""

from django.contrib.postgres.constraints import ExclusionConstraint
from django.contrib.postgres.fields import ArrayField, DateTimeRangeField, RangeOperators
from django.core.exceptions import ValidationError
from django.db import models
from django.db.models import Q
from django.db.models.functions import Upper
from django.utils import timezone

from games.access.models.staff import Staff
from games.database.grants import WRITTEN_ONCE, Grants
from games.engine.dice import COUNT
from games.floor.models.casino import Casino, Pit, code_validator
from games.floor.models.table import Table
from games.history.records import History


class DiceSet(models.Model):
    """Three dice that are tumbled together. A set that failed an inspection or was retired is not fitted again."""

    class State(models.TextChoices):
        FIT = "fit", "Fit for play"
        UNFIT = "unfit", "Failed inspection"
        RETIRED = "retired", "Retired"

    grants = Grants(update=("code", "pit", "seal", "state"))
    casino_path, pit_path = "casino", "pit"

    casino = models.ForeignKey(Casino, on_delete=models.PROTECT, related_name="dice_sets")
    pit = models.ForeignKey(Pit, on_delete=models.PROTECT, related_name="dice_sets", help_text="Which keeps it.")
    code = models.CharField(max_length=20, validators=[code_validator])
    serials = ArrayField(
        models.CharField(max_length=40),
        size=COUNT,
        help_text="The serial numbers of its three dice, with commas between.",
    )
    seal = models.CharField(max_length=40, help_text="The number on the seal.")
    state = models.CharField(max_length=10, choices=State, default=State.FIT)

    history = History()

    class Meta:
        ordering = ["code"]
        constraints = [
            models.UniqueConstraint("casino", Upper("code"), name="dice_set_code_once_a_casino"),
            models.CheckConstraint(condition=Q(serials__len=COUNT), name="dice_set_of_three"),  # different: 0004
            models.CheckConstraint(condition=~Q(seal=""), name="dice_set_has_a_seal"),
            models.CheckConstraint(condition=Q(state__in=["fit", "unfit", "retired"]), name="dice_set_state_known"),
        ]  # fmt: skip

    def __str__(self) -> str:
        return self.code

    def clean(self) -> None:
        serials = self.serials or []  # None if the form had no value
        if len({serial.upper() for serial in serials}) != COUNT or len(serials) != COUNT or not all(serials):
            raise ValidationError({"serials": "A set has three dice, each with its own serial number."})


class DiceFit(models.Model):
    """A dice set at a table: one set per table, and one table per set, at a time."""

    grants = Grants(update=("during",))
    table_path = "table"

    dice_set = models.ForeignKey(DiceSet, on_delete=models.PROTECT, related_name="fits")
    table = models.ForeignKey(Table, on_delete=models.PROTECT, related_name="dice_fits")
    during = DateTimeRangeField(help_text="From when it was fitted until, and not at, when it was taken out.")

    history = History()

    class Meta:
        ordering = ["-during"]
        constraints = [
            models.CheckConstraint(
                condition=Q(during__isempty=False, during__lower_inf=False, during__lower_inc=True)
                & Q(during__upper_inc=False),
                name="dice_fit_begins_somewhen",
            ),
            ExclusionConstraint(
                name="dice_fit_one_set_a_table",
                violation_error_message="The table has another dice set in a part of that time.",
                expressions=[("table", RangeOperators.EQUAL), ("during", RangeOperators.OVERLAPS)],
            ),
            ExclusionConstraint(
                name="dice_fit_one_table_a_set",
                violation_error_message="The dice set is at another table in a part of that time.",
                expressions=[("dice_set", RangeOperators.EQUAL), ("during", RangeOperators.OVERLAPS)],
            ),
        ]

    def __str__(self) -> str:
        return f"{self.dice_set} at {self.table}"


class DiceInspection(models.Model):
    """What an inspection of a dice set found. Written once."""

    class Result(models.TextChoices):
        GOOD = "good", "Good"
        DAMAGED = "damaged", "Damaged or worn"
        SEAL = "seal-broken", "Seal broken or not the recorded one"

    grants = WRITTEN_ONCE
    casino_path, pit_path = "dice_set__casino", "dice_set__pit"

    dice_set = models.ForeignKey(DiceSet, on_delete=models.PROTECT, related_name="inspections")
    table = models.ForeignKey(Table, on_delete=models.PROTECT, null=True, blank=True, related_name="dice_inspections")
    at = models.DateTimeField(default=timezone.now)
    by = models.ForeignKey(Staff, on_delete=models.PROTECT, related_name="+")
    who = models.TextField("inspector")
    result = models.CharField(max_length=12, choices=Result)
    seal_found = models.CharField("seal found", max_length=40, blank=True)
    new_seal = models.CharField(max_length=40, blank=True, help_text="Where the set was sealed anew.")
    remarks = models.TextField(blank=True)

    class Meta:
        ordering = ["-at", "-id"]
        constraints = [
            models.CheckConstraint(
                condition=Q(result="good") | Q(result__in=["damaged", "seal-broken"]) & ~Q(remarks=""),
                name="inspection_failed_with_remarks",
            )
        ]

    def __str__(self) -> str:
        return f"{self.dice_set}: {self.get_result_display().lower()}"
