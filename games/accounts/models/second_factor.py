"""Second factors: passkeys, and resets that one administrator proposes and another confirms. Rows are kept."""

from django.db import models
from django.db.models import F, Q
from django_otp.models import Device

from games.access.models.staff import Staff
from games.database.grants import WRITTEN_ONCE, Grants


class Passkey(Device):
    """A passkey (WebAuthn credential) of a person. Only its public key is stored.

    It is a device of django-otp, so that its "has a second factor" and "this session passed one" include passkeys.
    Removal sets `confirmed` to false and keeps the row.
    """

    grants = Grants(  # a trigger: no change after removal, and the counter never decreases
        update=("confirmed", "sign_count", "last_challenge", "last_used_at", "removed_at", "removed_by")
    )
    casino_path, pit_path = "user__casino", None

    user = models.ForeignKey(Staff, on_delete=models.PROTECT, related_name="+")
    credential = models.BinaryField("credential id", max_length=1023, unique=True)
    public_key = models.BinaryField(max_length=2048)
    transports = models.JSONField(default=list, blank=True, help_text="How the browser reaches it: usb, internal, …")
    sign_count = models.PositiveBigIntegerField(help_text="The authenticator's own counter of uses; 0: it has none.")
    last_challenge = models.BinaryField(max_length=64, null=True, help_text="Answered last; never accepted again.")
    created_at = models.DateTimeField("added")
    last_used_at = models.DateTimeField("last used", null=True)
    removed_at = models.DateTimeField("removed", null=True)
    removed_by = models.ForeignKey(Staff, on_delete=models.PROTECT, null=True, related_name="+")

    class Meta:
        ordering = ["created_at", "id"]
        verbose_name = "passkey"
        constraints = [
            models.UniqueConstraint(
                fields=["user", "name"], condition=Q(confirmed=True), name="passkey_name_of_person"
            ),
            models.CheckConstraint(
                condition=Q(confirmed=True, removed_at=None, removed_by=None)
                | Q(confirmed=False, removed_at__isnull=False, removed_by__isnull=False),
                name="passkey_removal_named",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.name}, {self.user}"


class FactorReset(models.Model):
    """A proposal to remove all second factors of a person who lost theirs."""

    grants = WRITTEN_ONCE
    casino_path, pit_path = "staff__casino", None

    staff = models.ForeignKey(Staff, on_delete=models.PROTECT, related_name="factor_resets")
    proposed_by = models.ForeignKey(Staff, on_delete=models.PROTECT, related_name="+")
    proposed_at = models.DateTimeField()
    reason = models.CharField(max_length=500)

    class Meta:
        ordering = ["-proposed_at", "-id"]
        verbose_name = "second factor reset"
        constraints = [
            models.CheckConstraint(condition=~Q(staff=F("proposed_by")), name="factor_reset_not_own"),
            # target of the confirmation's foreign key, so that it cannot name another proposer (migration)
            models.UniqueConstraint(fields=["id", "staff", "proposed_by"], name="factor_reset_of_proposer"),
        ]

    def __str__(self) -> str:
        return f"{self.staff}"


class FactorResetConfirmation(models.Model):
    """The confirmation by the second administrator. It removes the factors."""

    grants = WRITTEN_ONCE
    casino_path, pit_path = "staff__casino", None

    reset = models.OneToOneField(
        FactorReset, on_delete=models.PROTECT, related_name="confirmation", db_constraint=False
    )
    staff = models.ForeignKey(Staff, on_delete=models.PROTECT, related_name="+")
    proposed_by = models.ForeignKey(Staff, on_delete=models.PROTECT, related_name="+")
    confirmed_by = models.ForeignKey(Staff, on_delete=models.PROTECT, related_name="+")
    confirmed_at = models.DateTimeField()

    class Meta:
        verbose_name = "confirmation of a second factor reset"
        constraints = [
            models.CheckConstraint(condition=~Q(confirmed_by=F("proposed_by")), name="factor_reset_by_two"),
            models.CheckConstraint(condition=~Q(confirmed_by=F("staff")), name="factor_reset_not_confirmed_by_own"),
        ]

    def __str__(self) -> str:
        return f"{self.reset}, confirmed by {self.confirmed_by}"
