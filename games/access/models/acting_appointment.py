"""Acting appointments (duties): who acts in which other post, where, from when to when (rule 1.5)."""

import datetime as dt
from dataclasses import dataclass
from enum import Enum
from itertools import combinations, pairwise

from django.contrib.postgres.constraints import ExclusionConstraint
from django.contrib.postgres.fields import RangeOperators
from django.db import models
from django.db.models import F, Func, Q, Value
from django.db.models.functions import Coalesce

from games.access.models.staff import Staff
from games.access.roles import access_policy, post_name
from games.database.grants import Grants
from games.floor.models.casino import Casino, Pit
from games.history.records import History
from games.thresholds.models import ThresholdDecision


class Everywhere(Enum):
    """Said in place of a pit: the appointment is for every pit of the casino."""

    ALL_PITS = "all-pits"


ALL_PITS = Everywhere.ALL_PITS
POLICY = access_policy()


@dataclass(frozen=True)
class ActingLimits:
    """What bounds acting appointments in a casino."""

    days: int
    other_departments: bool


def acting_limits_of(casino: Casino) -> ActingLimits:
    """Return the bounds in force now: as approved by two compliance people, else as the casino had them before."""
    found = ThresholdDecision.objects.in_force(casino, "acting")
    if found is None:
        return ActingLimits(casino.acting_days, casino.acting_other_departments)
    return ActingLimits(found.change.proposed["acting_days"], found.change.proposed["acting_other_departments"])


def one_step_up_or_down() -> Q:
    """From a permanent post to the next one up, or to any below it."""
    steps = Q()
    for own, acting in pairwise(POLICY.posts):
        steps |= Q(own_post=own, post=acting)
    for own, lower in combinations(reversed(POLICY.posts), 2):
        steps |= Q(own_post=own, post=lower)
    return steps


class Duty(models.Model):
    """From the first moment until, and not at, the last: then the person is back in the permanent post."""

    class Scope(models.TextChoices):
        PIT = "pit", "One pit"
        ALL_PITS = "all-pits", "All pits"

    grants = Grants(update=("ends_at",))
    casino_path, pit_path = "casino", "pit"

    staff = models.ForeignKey(Staff, on_delete=models.PROTECT, related_name="duties")
    post = models.CharField("acts as", max_length=20, choices=[(post, post_name(post)) for post in POLICY.posts])
    casino = models.ForeignKey(Casino, on_delete=models.PROTECT, related_name="duties")
    scope = models.CharField("pits", max_length=10, choices=Scope)
    pit = models.ForeignKey(
        Pit,
        on_delete=models.PROTECT,
        null=True,
        blank=True,
        related_name="duties",
        help_text="Where it is for one pit.",
    )
    starts_at = models.DateTimeField("from")
    ends_at = models.DateTimeField("to")
    department = models.CharField(
        max_length=20, default="", blank=True, editable=False,
        help_text="Of the person when appointed; empty in appointments from before this was recorded.",
    )  # fmt: skip
    own_post = models.CharField("permanent post", max_length=20, default="", blank=True, editable=False)
    granted_by = models.ForeignKey(Staff, on_delete=models.PROTECT, related_name="duties_granted", editable=False)
    granted_as = models.CharField("granted in the post of", max_length=20, editable=False)
    granted_at = models.DateTimeField(auto_now_add=True)
    reason = models.TextField(help_text="Why this person is needed in this post.")

    history = History()

    class Meta:
        ordering = ["-starts_at"]
        verbose_name = "acting appointment"
        constraints = [
            models.CheckConstraint(condition=Q(post__in=POLICY.posts), name="duty_post_known"),
            models.CheckConstraint(
                condition=Q(ends_at__gt=F("starts_at")), name="duty_ends_after_it_starts",
                violation_error_message="An acting appointment ends after it starts.",
            ),
            models.CheckConstraint(
                condition=~Q(granted_by=F("staff")), name="duty_granted_by_another",
                violation_error_message="Nobody appoints themselves.",
            ),
            models.CheckConstraint(
                condition=Q(scope="pit", pit__isnull=False) | Q(scope="all-pits", pit__isnull=True),
                name="duty_names_a_pit_or_all",
                violation_error_message="Choose one pit, or all pits.",
            ),
            models.CheckConstraint(
                condition=Q(department="") | Q(granted_as=POLICY.appoints_over_steps) | one_step_up_or_down(),
                name="duty_one_step_or_casino_manager",
                violation_error_message="More than one step of rank takes the casino manager.",
            ),
            models.CheckConstraint(
                condition=Q(department="") | ~Q(post=F("own_post")), name="duty_to_another_post",
                violation_error_message="An acting appointment is to another post than the permanent one.",
            ),
            ExclusionConstraint(
                name="duty_once_at_a_time",
                violation_error_message="This person already acts in this post, at this place, in a part of that time.",
                expressions=[
                    ("staff", RangeOperators.EQUAL),
                    ("post", RangeOperators.EQUAL),
                    ("casino", RangeOperators.EQUAL),
                    (Coalesce("pit", Value(0)), RangeOperators.EQUAL),
                    (Func("starts_at", "ends_at", function="tstzrange"), RangeOperators.OVERLAPS),
                ],
            ),
        ]  # fmt: skip

    def __str__(self) -> str:
        return f"{self.staff} as {self.get_post_display().lower()}, {self.place}"

    @property
    def place(self) -> str:
        return str(self.pit) if self.pit else f"{self.casino.code}, all pits"

    @property
    def own_post_name(self) -> str:
        return post_name(self.own_post) if self.own_post else ""

    @property
    def granted_as_name(self) -> str:
        return post_name(self.granted_as) if self.granted_as else ""

    @property
    def is_by_reading(self) -> bool:
        """Whether acting in this post rests on a reading of rule 1.5, which does not name it."""
        return self.post not in access_policy().posts_by_rule

    @property
    def lasts(self) -> dt.timedelta:
        return self.ends_at - self.starts_at

    @property
    def longest(self) -> dt.timedelta:
        """What the casino allows now, of one appointment and of several without a break."""
        return dt.timedelta(days=acting_limits_of(self.casino).days)

    @property
    def is_too_long(self) -> bool:
        """Longer than the casino allows now: from before the bound, or before it was lowered."""
        return self.lasts > self.longest
