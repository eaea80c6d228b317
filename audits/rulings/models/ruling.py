"""Rulings: decisions where the rules are silent, can be read in two ways, or have to be confirmed.

Written once. A wrong ruling is superseded or withdrawn by another.
"""

import datetime as dt
from typing import cast

from django.contrib.postgres.fields import ArrayField
from django.contrib.postgres.indexes import GinIndex
from django.contrib.postgres.search import SearchVector, SearchVectorField
from django.core.validators import MinValueValidator
from django.db import models
from django.db.models import F, Q
from django.utils import timezone

from audits.incidents.models.incident import Incident
from games.database.grants import READ_ONLY, WRITTEN_ONCE
from games.history.records import History
from games.models import Casino, Duty, Pit, Round, Staff, Table
from games.thresholds.selectors import ThresholdKind, register, thresholds_in_force


class RulingKind(models.TextChoices):
    NOT_COVERED = "not-covered", "Not covered by the rules"
    INTERPRETATION = "interpretation", "Interpretation of a rule"
    CONFIRMATION = "confirmation", "Confirmation of what a rule itself demands"


class Scope(models.TextChoices):
    ROUND = "round", "This case"
    STANDING = "standing", "Standing, from a moment on"


class Ruling(models.Model):
    """A ruling on an incident, as it was made, with the post it was made in."""

    grants = WRITTEN_ONCE
    casino_path, pit_path = "casino", "pit"

    casino = models.ForeignKey(Casino, on_delete=models.PROTECT, related_name="rulings")
    pit = models.ForeignKey(Pit, on_delete=models.PROTECT, null=True, blank=True, related_name="+")
    table = models.ForeignKey(Table, on_delete=models.PROTECT, null=True, blank=True, related_name="rulings")
    incident = models.ForeignKey(Incident, on_delete=models.PROTECT, related_name="rulings")
    year = models.PositiveSmallIntegerField()
    serial = models.PositiveIntegerField()
    number = models.CharField(max_length=20)
    kind = models.CharField(max_length=20, choices=RulingKind)
    situation = models.CharField(max_length=40)
    rulebook = models.CharField(max_length=64, blank=True, default="")
    rules = ArrayField(models.TextField(), default=list, blank=True, help_text="The rules considered, as citations.")
    readings = ArrayField(
        models.TextField(),
        default=list,
        blank=True,
        help_text="Of the rulebook, by name: what it is an interpretation of.",
    )
    question = models.TextField()
    facts = models.TextField()
    decision = models.TextField()
    reasoning = models.TextField()
    scope = models.CharField(max_length=10, choices=Scope)
    effective_from = models.DateTimeField("in force from", null=True, blank=True)
    replaces = models.OneToOneField("self", on_delete=models.PROTECT, null=True, blank=True, related_name="replaced_by")
    is_withdrawal = models.BooleanField("only withdraws", default=False)
    follows = models.ForeignKey("self", on_delete=models.PROTECT, null=True, blank=True, related_name="followed_by")
    departs_from = models.ForeignKey(
        "self", on_delete=models.PROTECT, null=True, blank=True, related_name="departed_from_by"
    )
    departure = models.TextField("why it departs", blank=True, default="")
    override = models.TextField("why the reporter rules himself", blank=True, default="")
    by = models.ForeignKey(Staff, on_delete=models.PROTECT, related_name="rulings")
    post = models.CharField("in the post of", max_length=60, help_text="As it was held at that moment.")
    duty = models.ForeignKey(Duty, on_delete=models.PROTECT, null=True, blank=True, related_name="+")
    who = models.TextField("ruled by")
    made_at = models.DateTimeField(default=timezone.now)
    search = models.GeneratedField(
        expression=SearchVector("number", "question", "facts", "decision", "reasoning", config="english"),
        output_field=SearchVectorField(), db_persist=True,
    )  # fmt: skip

    class Meta:
        ordering = ["-made_at", "-id"]
        constraints = [
            models.UniqueConstraint(fields=["casino", "year", "serial"], name="ruling_number_once"),
            models.CheckConstraint(condition=Q(serial__gt=0), name="ruling_serial_from_one"),
            models.CheckConstraint(condition=Q(kind__in=RulingKind.values), name="ruling_kind_known"),
            models.CheckConstraint(
                condition=Q(scope="round", effective_from__isnull=True)
                | Q(scope="standing", effective_from__isnull=False),
                name="ruling_standing_from_a_moment",
            ),
            models.CheckConstraint(
                condition=~Q(question="") & ~Q(decision="") & ~Q(reasoning=""), name="ruling_says_what_and_why"
            ),
            models.CheckConstraint(
                condition=Q(is_withdrawal=False) | Q(replaces__isnull=False), name="ruling_withdraws_another"
            ),
            models.CheckConstraint(
                condition=Q(departs_from__isnull=True, departure="")
                | Q(departs_from__isnull=False) & ~Q(departure=""),
                name="ruling_departs_with_a_reason",
            ),
            models.CheckConstraint(
                condition=Q(post__in=["shift manager", "acting shift manager", "casino manager",
                                      "acting casino manager"]),
                name="ruling_in_a_post_that_rules",
            ),
        ]  # fmt: skip
        indexes = [
            models.Index(fields=["casino", "-made_at", "-id"], name="ruling_newest_first"),
            models.Index(fields=["casino", "rulebook", "situation", "-made_at"], name="ruling_by_situation"),
            GinIndex(fields=["rules"], name="ruling_by_rule"),
            GinIndex(fields=["search"], name="ruling_by_words"),
            GinIndex(fields=["question"], opclasses=["gin_trgm_ops"], name="ruling_by_letters"),
        ]

    def __str__(self) -> str:
        return self.number

    @property
    def is_standing(self) -> bool:
        """Return whether it is an interpretation that holds until it is replaced; a withdrawal never is."""
        return self.scope == Scope.STANDING and not self.is_withdrawal


class RulingSetting(models.Model):
    """A casino's settings on who may rule and execute. A casino without settings of its own has these defaults.

    Amounts are in minor units: what a corrective action moves, to and from players, added up. The table holds the
    values from before changes took two people, and is only read; changes are thresholds.
    """

    grants = READ_ONLY
    casino_path, pit_path = "casino", None

    casino = models.OneToOneField(Casino, on_delete=models.PROTECT, related_name="ruling_setting")
    is_reporter_party = models.BooleanField(
        "who reports does not rule", default=True, help_text="But for a reason, of which compliance is told."
    )
    second_person_from = models.BigIntegerField(
        "second person from", default=0, validators=[MinValueValidator(0)],
        help_text="A change of a settled round that moves this amount or more takes two people. 0: always.",
    )  # fmt: skip
    notify_from = models.BigIntegerField(
        "compliance notified from", default=0, validators=[MinValueValidator(0)],
        help_text="Compliance is notified of each change that moves this amount or more. 0: of every one.",
    )  # fmt: skip

    history = History()

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=Q(second_person_from__gte=0, notify_from__gte=0), name="ruling_setting_amounts_from_zero",
                violation_error_message="An amount is 0.00 or more.",
            )
        ]  # fmt: skip

    def __str__(self) -> str:
        return str(self.casino)


def ruling_setting_before(casino: Casino) -> RulingSetting:
    """Return the settings before the first approved change: the casino's own, or the defaults."""
    return RulingSetting.objects.filter(casino=casino).first() or RulingSetting(casino=casino)


RULINGS = ThresholdKind(
    "rulings", "Rulings", ("is_reporter_party", "second_person_from", "notify_from"), before=ruling_setting_before
)
register(RULINGS)


def ruling_setting_of(casino: Casino, at: dt.datetime | None = None) -> RulingSetting:
    """Return the settings in force at a moment, by default now."""
    return cast(RulingSetting, thresholds_in_force(casino, RULINGS.code, at))


class RulingConsent(models.Model):
    """Compliance's consent to a ruling by a group casino manager, where no one of the casino can rule. Written once."""

    grants = WRITTEN_ONCE
    casino_path, pit_path = "incident__casino", "incident__pit"

    incident = models.ForeignKey(Incident, on_delete=models.PROTECT, related_name="ruling_consents")
    ruler = models.ForeignKey(Staff, on_delete=models.PROTECT, related_name="+")
    reason = models.TextField()
    by = models.ForeignKey(Staff, on_delete=models.PROTECT, related_name="+")
    who = models.TextField("consented by")
    at = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering = ["at", "id"]
        constraints = [
            models.UniqueConstraint(fields=["incident", "ruler"], name="ruling_consent_once"),
            models.CheckConstraint(condition=~Q(reason=""), name="ruling_consent_has_a_reason"),
            models.CheckConstraint(condition=~Q(by=F("ruler")), name="ruling_consent_by_another"),
        ]

    def __str__(self) -> str:
        return f"{self.incident}: {self.ruler}"


class RulingReview(models.Model):
    """A review of a ruling under another rulebook, or because a rule contradicts it. Written once."""

    grants = WRITTEN_ONCE
    casino_path, pit_path = "ruling__casino", "ruling__pit"

    ruling = models.ForeignKey(Ruling, on_delete=models.PROTECT, related_name="reviews")
    rulebook = models.CharField("in the light of", max_length=64)
    outcome = models.TextField()
    by = models.ForeignKey(Staff, on_delete=models.PROTECT, related_name="+")
    who = models.TextField("reviewed by")
    at = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering = ["-at", "-id"]
        constraints = [
            models.UniqueConstraint(fields=["ruling", "rulebook"], name="ruling_review_once"),
            models.CheckConstraint(condition=~Q(outcome=""), name="ruling_review_says_something"),
        ]

    def __str__(self) -> str:
        return f"{self.ruling}, {self.rulebook}"


class Discretion(models.Model):
    """A decision by the operator's discretion, where the rulebook allows it (Division 9, 4.3, 4.9). Written once."""

    grants = WRITTEN_ONCE
    casino_path, pit_path = "casino", "pit"

    casino = models.ForeignKey(Casino, on_delete=models.PROTECT, related_name="+")
    pit = models.ForeignKey(Pit, on_delete=models.PROTECT, null=True, blank=True, related_name="+")
    table = models.ForeignKey(Table, on_delete=models.PROTECT, related_name="+")
    incident = models.ForeignKey(Incident, on_delete=models.PROTECT, null=True, blank=True, related_name="discretions")
    round = models.ForeignKey(Round, on_delete=models.PROTECT, null=True, blank=True, related_name="+")
    bet = models.PositiveIntegerField(null=True, blank=True, help_text="Its place in the round, from 1.")
    rule = models.TextField()
    decision = models.TextField()
    reason = models.TextField()
    by = models.ForeignKey(Staff, on_delete=models.PROTECT, related_name="+")
    post = models.CharField("in the post of", max_length=60)
    who = models.TextField("decided by")
    at = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering = ["-at", "-id"]
        verbose_name_plural = "discretions"
        constraints = [
            models.CheckConstraint(condition=~Q(decision="") & ~Q(reason=""), name="discretion_says_what_and_why"),
            models.CheckConstraint(
                condition=Q(bet__isnull=True) | Q(bet__gte=1, round__isnull=False), name="discretion_bet_of_a_round"
            ),
        ]
        indexes = [models.Index(fields=["casino", "-at", "-id"], name="discretion_newest_first")]

    def __str__(self) -> str:
        return f"no. {self.pk}"
