"""Duties: who acts in which higher post, where, from when to when (rule 1.5)."""

from django.contrib.postgres.constraints import ExclusionConstraint
from django.contrib.postgres.fields import RangeOperators
from django.db import models
from django.db.models import F, Func, Q, Value
from django.db.models.functions import Coalesce

from games.models.casino import Casino, Pit
from games.models.history import History
from games.models.staff import Staff
from games.roles import POSTS, post_name


class Duty(models.Model):
    """From the first moment until, and not at, the last: then the person is back in the permanent post."""

    casino_path, pit_path = "casino", "pit"

    staff = models.ForeignKey(Staff, on_delete=models.PROTECT, related_name="duties")
    post = models.CharField("acts as", max_length=20, choices=[(post, post_name(post)) for post in POSTS[1:]])
    casino = models.ForeignKey(Casino, on_delete=models.PROTECT, related_name="duties")
    pit = models.ForeignKey(
        Pit,
        on_delete=models.PROTECT,
        null=True,
        blank=True,
        related_name="duties",
        help_text="Empty for every pit of the casino.",
    )
    starts_at = models.DateTimeField("from")
    ends_at = models.DateTimeField("to")
    granted_by = models.ForeignKey(Staff, on_delete=models.PROTECT, related_name="duties_granted", editable=False)
    granted_as = models.CharField("granted in the post of", max_length=20, editable=False)
    granted_at = models.DateTimeField(auto_now_add=True)
    reason = models.TextField(help_text="Why this person is needed in this post.")

    history = History()

    class Meta:
        ordering = ["-starts_at"]
        verbose_name_plural = "duties"
        constraints = [
            models.CheckConstraint(condition=Q(post__in=POSTS[1:]), name="duty_post_known"),
            models.CheckConstraint(
                condition=Q(ends_at__gt=F("starts_at")), name="duty_ends_after_it_starts",
                violation_error_message="A duty ends after it starts.",
            ),
            models.CheckConstraint(
                condition=~Q(granted_by=F("staff")), name="duty_granted_by_another",
                violation_error_message="Nobody grants a duty to himself.",
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
        return f"{self.staff} as {self.get_post_display().lower()}, {self.pit or self.casino.code}"
