"""Casinos and their pits."""

import datetime as dt
import zoneinfo
from functools import cache

from django.core.exceptions import ValidationError
from django.core.validators import MaxValueValidator, MinValueValidator, RegexValidator
from django.db import models
from django.db.models.functions import Upper

from games.database.grants import Grants
from games.history.records import History

code_validator = RegexValidator(
    r"^[A-Za-z0-9][A-Za-z0-9._-]*$",
    "Use letters, digits, dots, dashes and underscores, beginning with a letter or digit.",
)
currency_validator = RegexValidator(r"^[A-Z]{3}$", "Use the three capital letters of the currency, such as SGD.")
NOTICE_MINUTES = 20
OPEN_ROUND_MINUTES = 10
ACTING_DAYS, LONGEST_ACTING_DAYS = 31, 366
FLOOR_IDLE_MINUTES, OFFICE_IDLE_MINUTES, LONGEST_IDLE_MINUTES = 15, 60, 240

REPORT_DAYS, LONGEST_REPORT_DAYS = 90, 3650


@cache
def time_zones() -> frozenset[str]:
    """Return the names of all time zones, read once from hundreds of files."""
    return frozenset(zoneinfo.available_timezones())


def validate_time_zone(name: str) -> None:
    if name not in time_zones():
        raise ValidationError(f"{name!r} is not a time zone; use a name such as Asia/Singapore.")


class Casino(models.Model):
    """A casino. Its time zone decides how times are shown, its gaming day when a day ends."""

    grants = Grants(  # the acting limits are thresholds (games.thresholds.services)
        update=(
            "code", "name", "operator", "timezone", "currency", "gaming_day_starts", "notice_minutes",
            "open_round_minutes", "idle_minutes", "office_idle_minutes", "report_days", "report_files_by_email",
        ),
    )  # fmt: skip
    casino_path, pit_path = "pk", None  # its place, for the gate

    code = models.CharField(max_length=20, unique=True, validators=[code_validator])
    name = models.CharField(max_length=200)
    operator = models.CharField(
        max_length=200, blank=True,
        help_text="The company that runs the casino. It decides for which rule documents the casino has approval.",
    )  # fmt: skip
    timezone = models.CharField("time zone", max_length=64, validators=[validate_time_zone])
    currency = models.CharField(max_length=3, validators=[currency_validator])
    gaming_day_starts = models.TimeField("gaming day starts at", help_text="In the casino's own time.")
    notice_minutes = models.PositiveSmallIntegerField(
        "notice of stricter limits", default=NOTICE_MINUTES, validators=[MaxValueValidator(24 * 60)],
        help_text="Minutes from approval to effect where a minimum rises, a maximum or a differential falls.",
    )  # fmt: skip

    open_round_minutes = models.PositiveSmallIntegerField(
        "rounds left open", default=OPEN_ROUND_MINUTES, validators=[MinValueValidator(1), MaxValueValidator(24 * 60)],
        help_text="Minutes without a word from the terminal after which a round in play is shown as left open.",
    )  # fmt: skip

    acting_days = models.PositiveSmallIntegerField(
        "longest acting appointment", default=ACTING_DAYS,
        validators=[MinValueValidator(1), MaxValueValidator(LONGEST_ACTING_DAYS)],
        help_text="Days from the start to the end of one acting appointment.",
    )  # fmt: skip
    acting_other_departments = models.BooleanField(
        "other departments may act", default=False,
        help_text="People of surveillance, compliance, audit and IT may be appointed to act in a post of the pit. "
        "The rights of their own department rest meanwhile.",
    )  # fmt: skip

    idle_minutes = models.PositiveSmallIntegerField(
        "idle time on the floor", default=FLOOR_IDLE_MINUTES,
        validators=[MinValueValidator(1), MaxValueValidator(LONGEST_IDLE_MINUTES)],
        help_text="Minutes without a click after which a session of the pit department ends.",
    )  # fmt: skip
    office_idle_minutes = models.PositiveSmallIntegerField(
        "idle time in offices", default=OFFICE_IDLE_MINUTES,
        validators=[MinValueValidator(1), MaxValueValidator(LONGEST_IDLE_MINUTES)],
        help_text="Minutes without a click after which a session of any other department ends.",
    )  # fmt: skip

    report_days = models.PositiveSmallIntegerField(
        "reports are kept for", default=REPORT_DAYS,
        validators=[MinValueValidator(1), MaxValueValidator(LONGEST_REPORT_DAYS)],
        help_text="Days after which the file of a report is removed; its record and certificate stay.",
    )  # fmt: skip
    report_files_by_email = models.BooleanField(
        "report files by e-mail", default=False,
        help_text="A scheduled report is sent as a file. Otherwise its recipients get a link.",
    )  # fmt: skip

    history = History()

    class Meta:
        ordering = ["code"]
        constraints = [
            models.CheckConstraint(
                condition=models.Q(report_days__gte=1, report_days__lte=LONGEST_REPORT_DAYS),
                name="casino_report_days_bounded",
            ),
            models.CheckConstraint(
                condition=models.Q(
                    idle_minutes__gte=1,
                    idle_minutes__lte=LONGEST_IDLE_MINUTES,
                    office_idle_minutes__gte=1,
                    office_idle_minutes__lte=LONGEST_IDLE_MINUTES,
                ),
                name="casino_idle_minutes_bounded",
            ),
            models.CheckConstraint(
                condition=models.Q(acting_days__gte=1, acting_days__lte=LONGEST_ACTING_DAYS),
                name="casino_acting_days_within_a_year",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.code} {self.name}"

    @property
    def patience(self) -> dt.timedelta:
        """Return how long a round in play may be silent."""
        return dt.timedelta(minutes=self.open_round_minutes)


class Pit(models.Model):
    """A group of tables under one pit manager."""

    grants = Grants(update=("code", "name"))
    casino_path, pit_path = "casino", "pk"

    casino = models.ForeignKey(Casino, on_delete=models.PROTECT, related_name="pits")
    code = models.CharField(max_length=20, validators=[code_validator])
    name = models.CharField(max_length=200, blank=True)

    history = History()

    class Meta:
        ordering = ["casino__code", "code"]
        constraints = [
            models.UniqueConstraint("casino", Upper("code"), name="pit_code_once_a_casino"),
            # target of foreign keys over pit and casino together (migration 0002)
            models.UniqueConstraint(fields=["id", "casino"], name="pit_of_casino"),
        ]

    def __str__(self) -> str:
        return f"{self.casino.code} {self.code}"
