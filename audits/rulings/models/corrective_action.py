"""Corrective actions on an incident or a ruling: voided rounds, amended settlements, suspended tables. Written once.

A change of a settled round's money takes two people: one orders, another executes.

A round on record never changes; a correction is kept beside it, with what it adds to the net of each bet.
"""

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import F, Q
from django.utils import timezone

from audits.incidents.models.incident import Incident
from audits.rulings.models.ruling import Discretion, Ruling
from games.database.grants import WRITTEN_ONCE
from games.models import Casino, DiceSet, LiveRound, Round, Staff, Table, TableStep


class Consequence(models.Model):
    """A corrective action as it was ordered, and whether a second person must execute it."""

    class Kind(models.TextChoices):
        VOID = "void", "Void of a round"
        VOID_AFFECTED = "void-affected", "Void of all affected rounds"
        SETTLEMENT = "settlement", "Amended settlement"
        DISCRETION = "discretion", "Amended settlement by discretion"
        RESULT = "result", "Amended result"
        SUSPENSION = "suspension", "Suspension of a table"

    grants = WRITTEN_ONCE
    casino_path, pit_path = "incident__casino", "incident__pit"

    casino = models.ForeignKey(Casino, on_delete=models.PROTECT, related_name="+")
    incident = models.ForeignKey(Incident, on_delete=models.PROTECT, related_name="consequences")
    ruling = models.ForeignKey(Ruling, on_delete=models.PROTECT, null=True, blank=True, related_name="consequences")
    discretion = models.ForeignKey(
        Discretion, on_delete=models.PROTECT, null=True, blank=True, related_name="consequences"
    )
    kind = models.CharField(max_length=20, choices=Kind)
    rules = ArrayField(models.TextField(), default=list, blank=True, help_text="By which it is so, as citations.")
    round_ids = ArrayField(models.BigIntegerField(), default=list, blank=True)
    asked = models.JSONField(default=dict, blank=True, help_text="The dice or nets that were decided.")
    table = models.ForeignKey(Table, on_delete=models.PROTECT, null=True, blank=True, related_name="+")
    # Damaged dice (5.6): the set, the whole affected period, and the part that was ordered.
    dice_set = models.ForeignKey(DiceSet, on_delete=models.PROTECT, null=True, blank=True, related_name="+")
    radius_from = models.DateTimeField(null=True, blank=True)
    radius_to = models.DateTimeField(null=True, blank=True)
    affected_from = models.DateTimeField(null=True, blank=True)
    affected_to = models.DateTimeField(null=True, blank=True)
    narrowing = models.TextField("why only a part", default="", blank=True)
    needs_second = models.BooleanField("takes a second person", default=False)
    amount = models.BigIntegerField(default=0, help_text="What it moves, to players and back, added up.")
    fingerprint = models.CharField(
        max_length=64, default="", blank=True, help_text="Of every change as it was ordered: what is executed."
    )
    reason = models.TextField()
    by = models.ForeignKey(Staff, on_delete=models.PROTECT, related_name="+")
    who = models.TextField("ordered by")
    at = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering = ["at", "id"]
        constraints = [
            models.UniqueConstraint(fields=["id", "by", "needs_second"], name="consequence_of_who_ordered_it"),
            models.CheckConstraint(condition=Q(amount__gte=0), name="consequence_amount_from_zero"),
            models.CheckConstraint(condition=~Q(reason=""), name="consequence_has_a_reason"),
            models.CheckConstraint(
                condition=Q(ruling__isnull=False) | ~Q(kind="settlement"), name="consequence_settles_by_a_ruling"
            ),
            models.CheckConstraint(
                condition=Q(kind="discretion", discretion__isnull=False)
                | ~Q(kind="discretion") & Q(discretion__isnull=True),
                name="consequence_by_a_discretion",
            ),
            models.CheckConstraint(
                condition=Q(
                    radius_from__isnull=True,
                    radius_to__isnull=True,
                    affected_from__isnull=True,
                    affected_to__isnull=True,
                    narrowing="",
                )
                | Q(
                    kind="void-affected",
                    dice_set__isnull=False,
                    radius_from__isnull=False,
                    radius_to__isnull=False,
                    affected_from__isnull=False,
                    affected_to__isnull=False,
                )
                & (
                    Q(affected_from=F("radius_from"), affected_to=F("radius_to"), narrowing="")
                    | Q(
                        affected_from__gte=F("radius_from"),
                        affected_to__lte=F("radius_to"),
                        affected_from__lte=F("affected_to"),
                    )
                    & ~Q(narrowing="")
                ),
                name="consequence_narrowed_within_the_radius",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.get_kind_display()} no. {self.pk}"

    @property
    def is_waiting(self) -> bool:
        return getattr(self, "decision", None) is None

    @property
    def is_executed(self) -> bool:
        return not self.is_waiting and self.decision.outcome == ConsequenceDecision.Outcome.EXECUTED


class ConsequenceDecision(models.Model):
    """The decision to execute or decline: by the person who ordered, or by the second person where one is needed."""

    class Outcome(models.TextChoices):
        EXECUTED = "executed"
        DECLINED = "declined"

    grants = WRITTEN_ONCE
    casino_path, pit_path = "consequence__incident__casino", "consequence__incident__pit"

    consequence = models.OneToOneField(Consequence, on_delete=models.PROTECT, related_name="decision")
    ordered_by = models.ForeignKey(Staff, on_delete=models.PROTECT, related_name="+")
    needs_second = models.BooleanField()
    outcome = models.CharField(max_length=10, choices=Outcome)
    by = models.ForeignKey(Staff, on_delete=models.PROTECT, related_name="+")
    who = models.TextField("decided by")
    at = models.DateTimeField(default=timezone.now)
    reason = models.TextField()
    step = models.ForeignKey(TableStep, on_delete=models.PROTECT, null=True, blank=True, related_name="+")
    live_round = models.ForeignKey(LiveRound, on_delete=models.PROTECT, null=True, blank=True, related_name="+")

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=Q(outcome__in=["executed", "declined"]), name="consequence_decision_known"
            ),
            models.CheckConstraint(
                condition=Q(needs_second=False) | Q(outcome="declined") | ~Q(by=F("ordered_by")),
                name="consequence_decided_by_another",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.consequence}: {self.outcome}"


class Correction(models.Model):
    """The correction of one round: its nets and status from now on."""

    grants = WRITTEN_ONCE
    table_path = "table"

    consequence = models.ForeignKey(Consequence, on_delete=models.PROTECT, related_name="corrections")
    round = models.ForeignKey(Round, on_delete=models.PROTECT, related_name="corrections")
    ordinal = models.PositiveIntegerField(help_text="From 1: the first correction of the round, the second.")
    table = models.ForeignKey(Table, on_delete=models.PROTECT, related_name="+", db_index=False)
    gaming_day = models.DateField()
    deltas = ArrayField(models.BigIntegerField(), help_text="Added to the net of each bet.")
    nets = ArrayField(models.BigIntegerField(), help_text="Of each bet, once this is added.")
    is_void = models.BooleanField(default=False)
    is_settled = models.BooleanField(default=False)
    dice = ArrayField(models.SmallIntegerField(), null=True, blank=True)
    is_decided = models.BooleanField("nets decided one by one", default=False)
    decided = ArrayField(
        models.BooleanField(), null=True, blank=True, help_text="Which bets were decided; the rules decide the others."
    )
    rules = ArrayField(models.TextField(), default=list, blank=True, help_text="Bare numbers.")
    who = models.TextField("corrected by")
    at = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering = ["round", "ordinal"]
        constraints = [
            models.UniqueConstraint(fields=["round", "ordinal"], name="correction_one_after_the_other"),
            models.UniqueConstraint(fields=["consequence", "round"], name="correction_once_an_order"),
            models.CheckConstraint(condition=~Q(is_void=True, is_settled=True), name="correction_void_or_settled"),
            models.CheckConstraint(
                condition=Q(decided__isnull=True) | Q(is_decided=True), name="correction_names_what_was_decided"
            ),
        ]
        indexes = [models.Index(fields=["table", "gaming_day"], name="correction_by_day")]

    def __str__(self) -> str:
        return f"{self.round}, correction {self.ordinal}"


class Repayment(models.Model):
    """A player's refund by a corrective action, or (below zero) the recovery from them. Written once."""

    grants = WRITTEN_ONCE
    casino_path, pit_path = "consequence__incident__casino", "consequence__incident__pit"

    consequence = models.ForeignKey(Consequence, on_delete=models.PROTECT, related_name="repayments")
    player = models.TextField(help_text="By reference, as on the rounds.")
    amount = models.BigIntegerField(help_text="Above zero it goes to the player, below zero it comes back.")
    rounds = models.PositiveIntegerField()

    class Meta:
        ordering = ["consequence", "player"]
        constraints = [
            models.UniqueConstraint(fields=["consequence", "player"], name="repayment_once_a_player"),
            models.CheckConstraint(condition=~Q(amount=0), name="repayment_of_something"),
        ]

    def __str__(self) -> str:
        return f"{self.consequence}: {self.player}"


class RepaymentMark(models.Model):
    """A mark on a refund or recovery: patron informed, paid, or the reversal of such a mark. Written once."""

    class What(models.TextChoices):
        TOLD = "told", "Patron told"
        PAID = "paid", "Paid"
        NOT_TOLD = "not-told", "Not told after all"
        NOT_PAID = "not-paid", "Not paid after all"

    grants = WRITTEN_ONCE
    casino_path, pit_path = (
        "repayment__consequence__incident__casino",
        "repayment__consequence__incident__pit",
    )

    repayment = models.ForeignKey(Repayment, on_delete=models.PROTECT, related_name="marks")
    what = models.CharField(max_length=10, choices=What)
    note = models.TextField(default="", blank=True)
    by = models.ForeignKey(Staff, on_delete=models.PROTECT, related_name="+")
    who = models.TextField("marked by")
    at = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering = ["at", "id"]
        constraints = [
            models.CheckConstraint(condition=Q(what__in=["told", "paid", "not-told", "not-paid"]), name="mark_known"),
        ]

    def __str__(self) -> str:
        return f"{self.repayment}: {self.what}"
