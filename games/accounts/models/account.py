"""Accounts: one-time sign-in links, and changes that a second administrator must confirm. Rows are written once."""

import datetime as dt

from django.db import models
from django.db.models import F, Q
from django.utils import timezone

from games.access.models.staff import Staff
from games.database.grants import WRITTEN_ONCE

#: How long a sign-in link is valid.
LINK_LIFETIME = dt.timedelta(hours=24)


class AccountLink(models.Model):
    """A link by which a person chooses a password, once. Only the hash of its token is stored."""

    grants = WRITTEN_ONCE
    casino_path, pit_path = "staff__casino", None

    staff = models.ForeignKey(Staff, on_delete=models.PROTECT, related_name="account_links")
    token_hash = models.CharField(max_length=64, unique=True, editable=False, help_text="SHA-256 of the token.")
    made_by = models.ForeignKey(Staff, on_delete=models.PROTECT, null=True, related_name="+")
    who = models.TextField("made by")
    made_at = models.DateTimeField(default=timezone.now)
    expires_at = models.DateTimeField()
    sent_to = models.TextField("sent to", blank=True, help_text="Empty: shown once to whoever made it.")

    class Meta:
        ordering = ["-made_at", "-id"]
        verbose_name = "sign-in link"
        constraints = [
            models.CheckConstraint(
                condition=Q(("token_hash__regex", r"^[0-9a-f]{64}$")), name="account_link_is_a_hash"
            ),
            models.CheckConstraint(
                condition=Q(expires_at__gt=F("made_at"), expires_at__lte=F("made_at") + LINK_LIFETIME),
                name="account_link_lasts_a_day_at_most",
            ),
        ]

    def __str__(self) -> str:
        return f"no. {self.pk} of {self.staff}"


class AccountLinkEnd(models.Model):
    """How a link ended early. Each link has one end, so that it is used once."""

    class How(models.TextChoices):
        USED = "used"
        REPLACED = "replaced"
        LEFT = "left", "person left"

    grants = WRITTEN_ONCE

    link = models.OneToOneField(AccountLink, on_delete=models.PROTECT, related_name="end")
    how = models.CharField(max_length=10, choices=How)
    who = models.TextField("ended by")
    at = models.DateTimeField(default=timezone.now)

    class Meta:
        constraints = [
            models.CheckConstraint(condition=Q(how__in=["used", "replaced", "left"]), name="account_link_end_known")
        ]

    def __str__(self) -> str:
        return f"{self.link_id}: {self.how}"


class AccountProposal(models.Model):
    """A change of a privileged account that waits for a second administrator."""

    class Kind(models.TextChoices):
        CREATE = "create", "New account"
        CHANGE = "change", "Change of rights"
        REACTIVATE = "reactivate", "Reactivation"
        RESET = "reset", "Password reset"

    grants = WRITTEN_ONCE
    casino_path, pit_path = "staff__casino", None

    staff = models.ForeignKey(Staff, on_delete=models.PROTECT, related_name="account_proposals")
    kind = models.CharField(max_length=10, choices=Kind)
    before = models.JSONField(default=dict, help_text="What the changed fields held at the proposal.")
    changes = models.JSONField(default=dict, help_text="What they are to hold.")
    summary = models.TextField(help_text="The same in words.")
    reason = models.TextField()
    proposed_by = models.ForeignKey(
        Staff, on_delete=models.PROTECT, null=True, related_name="+", help_text="None: the operator of the machine."
    )
    who = models.TextField("proposed by")
    at = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering = ["-at", "-id"]
        constraints = [
            models.CheckConstraint(
                condition=Q(kind__in=["create", "change", "reactivate", "reset"]), name="account_proposal_kind_known"
            ),
            models.CheckConstraint(condition=~Q(reason=""), name="account_proposal_has_a_reason"),
            models.CheckConstraint(condition=~Q(proposed_by=F("staff")), name="account_proposal_not_on_oneself"),
        ]

    def __str__(self) -> str:
        return f"no. {self.pk}, {self.get_kind_display().lower()}: {self.staff}"

    @property
    def state(self) -> str:
        decision = getattr(self, "decision", None)
        return decision.outcome if decision else "pending"


class AccountDecision(models.Model):
    """The decision on a proposal: confirmed or rejected by another administrator, or withdrawn by its proposer."""

    class Outcome(models.TextChoices):
        CONFIRMED = "confirmed"
        REJECTED = "rejected"
        WITHDRAWN = "withdrawn"

    grants = WRITTEN_ONCE
    casino_path, pit_path = "proposal__staff__casino", None

    proposal = models.OneToOneField(AccountProposal, on_delete=models.PROTECT, related_name="decision")
    # repeated here for the CHECKs; a trigger keeps them correct (migration 0019)
    staff = models.ForeignKey(Staff, on_delete=models.PROTECT, related_name="+")
    proposed_by = models.ForeignKey(Staff, on_delete=models.PROTECT, null=True, related_name="+")
    outcome = models.CharField(max_length=10, choices=Outcome)
    decided_by = models.ForeignKey(Staff, on_delete=models.PROTECT, related_name="+")
    who = models.TextField("decided by")
    at = models.DateTimeField(default=timezone.now)
    reason = models.TextField()

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=Q(outcome__in=["confirmed", "rejected", "withdrawn"]), name="account_decision_outcome_known"
            ),
            models.CheckConstraint(
                condition=Q(outcome="withdrawn") | ~Q(decided_by=F("proposed_by")), name="account_decision_by_another",
                violation_error_message="Another administrator decides on this proposal.",
            ),
            models.CheckConstraint(
                condition=~Q(outcome="confirmed") | ~Q(decided_by=F("staff")), name="account_decision_not_on_oneself",
                violation_error_message="You cannot confirm a change of your own account; ask another administrator.",
            ),
            models.CheckConstraint(
                condition=~Q(outcome="withdrawn") | Q(decided_by=F("proposed_by")),
                name="account_decision_withdrawn_by_proposer",
            ),
            models.CheckConstraint(condition=~Q(reason=""), name="account_decision_has_a_reason"),
        ]  # fmt: skip

    def __str__(self) -> str:
        return f"{self.proposal_id}: {self.outcome}"
