"""Settlement policies: how a casino settles where a document leaves room, by a standing ruling. Written once."""

from django.db import models
from django.db.models import Q
from django.utils import timezone

from games.database.grants import WRITTEN_ONCE
from games.floor.models.casino import Casino
from games.labels.rules import rulebook_label

EXCESS = ("proportional", "filled", "in-full")


class SettlementPolicy(models.Model):
    """A setting from a moment on. What it leaves open stays as an earlier policy or the document has it.

    A policy that replaces another takes its place from its own start on; one that sets nothing only cancels it.
    """

    grants = WRITTEN_ONCE
    casino_path, pit_path = "casino", None

    casino = models.ForeignKey(Casino, on_delete=models.PROTECT, related_name="settlement_policies", db_index=False)
    rulebook = models.CharField(max_length=64)
    starts_at = models.DateTimeField("from")
    excess = models.CharField(
        "bets of an over-full box", max_length=20, blank=True, default="",
        help_text="How they give way, and with it how the exception for bets at the minimum is read.",
    )  # fmt: skip
    rounding = models.PositiveBigIntegerField(
        null=True, blank=True, help_text="A cut stake is rounded down to this, in place of the table's chip unit."
    )
    ruling = models.CharField(max_length=20, help_text="The number of the ruling that set it.")
    replaces = models.OneToOneField("self", on_delete=models.PROTECT, null=True, blank=True, related_name="replaced_by")
    recorded_at = models.DateTimeField(default=timezone.now)
    who = models.TextField("set by")

    class Meta:
        ordering = ["starts_at", "id"]
        verbose_name_plural = "settlement policies"
        constraints = [
            models.UniqueConstraint(fields=["casino", "ruling"], name="settlement_policy_once_a_ruling"),
            models.CheckConstraint(condition=Q(excess__in=["", *EXCESS]), name="settlement_policy_excess_known"),
            models.CheckConstraint(
                condition=Q(rounding__isnull=True) | Q(rounding__gt=0), name="settlement_policy_rounds_to_something"
            ),
            models.CheckConstraint(condition=~Q(ruling=""), name="settlement_policy_by_a_ruling"),
        ]
        indexes = [models.Index(fields=["casino", "rulebook", "starts_at"], name="settlement_policy_by_start")]

    def __str__(self) -> str:
        return f"{self.ruling}: {self.rulebook_name}"

    @property
    def rulebook_name(self) -> str:
        return rulebook_label(self.rulebook)
