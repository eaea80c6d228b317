"""Logins: the sessions of people, failed attempts, and how soon the next attempt is allowed."""

import uuid

from django.db import models
from django.db.models import Q

from games.access.models.staff import Staff
from games.database.grants import WRITTEN_ONCE, Grants
from games.floor.models.casino import Casino


class LoginSession(models.Model):
    """One login of a person in one browser, from the password to its end. The row is kept."""

    grants = Grants(update=("passed_at", "seen_at", "ended_at", "end", "ended_by", "reason"))
    casino_path, pit_path = "staff__casino", None

    class End(models.TextChoices):
        LOGOUT = "logout", "Logged out"
        IDLE = "idle", "Not used for too long"
        ABSOLUTE = "absolute", "Longest time reached"
        ENDED = "ended", "Ended on a page"
        PASSWORD = "password", "Password changed"
        FACTOR = "factor", "Second factor reset"

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    staff = models.ForeignKey(Staff, on_delete=models.PROTECT, related_name="logins")
    address = models.GenericIPAddressField(null=True)
    browser = models.CharField(max_length=200)
    started_at = models.DateTimeField()
    passed_at = models.DateTimeField(
        "logged in", null=True, help_text="When the last factor was passed; empty: only the password was."
    )
    seen_at = models.DateTimeField("last seen")
    ended_at = models.DateTimeField("ended", null=True)
    end = models.CharField(max_length=10, choices=End.choices, blank=True)
    ended_by = models.ForeignKey(Staff, on_delete=models.PROTECT, null=True, related_name="+")
    reason = models.CharField(max_length=500, blank=True)

    class Meta:
        ordering = ["-started_at"]
        verbose_name = "session"
        constraints = [
            models.CheckConstraint(
                condition=Q(ended_at__isnull=True, end="") | Q(ended_at__isnull=False) & ~Q(end=""),
                name="login_session_end_named",
            )
        ]
        indexes = [
            models.Index(fields=["staff", "-started_at"], name="login_session_of_staff"),
            models.Index(fields=["staff", "address"], name="login_session_place"),
        ]

    def __str__(self) -> str:
        return f"{self.staff}, {self.address or 'unknown address'}"


class FailedLogin(models.Model):
    """A failed attempt: the account that was tried, and from where. Written once."""

    grants = WRITTEN_ONCE
    casino_path, pit_path = "casino", None

    class Kind(models.TextChoices):
        PASSWORD = "password", "Wrong password or number"
        CODE = "code", "Wrong code"
        PASSKEY = "passkey", "Passkey not accepted"
        COUNTER = "counter", "Passkey counter went back, it may be a copy"
        ACCESS = "access", "Right password, no access"
        THROTTLED = "throttled", "Too many attempts, not checked"
        CONFIRM = "confirm", "Wrong confirmation in a session"

    at = models.DateTimeField(auto_now_add=True)
    number = models.CharField("account tried", max_length=64)
    staff = models.ForeignKey(Staff, on_delete=models.PROTECT, null=True, related_name="failed_logins")
    casino = models.ForeignKey(Casino, on_delete=models.PROTECT, null=True, related_name="+")
    kind = models.CharField(max_length=10, choices=Kind.choices)
    address = models.GenericIPAddressField(null=True)
    browser = models.CharField(max_length=200)

    class Meta:
        ordering = ["-at", "-id"]
        verbose_name = "failed login"
        indexes = [
            models.Index(fields=["-at", "-id"], name="failed_login_newest_first"),
            models.Index(fields=["staff", "-at"], name="failed_login_of_staff"),
        ]

    def __str__(self) -> str:
        return f"{self.number}, {self.get_kind_display().lower()}"


class LoginThrottle(models.Model):
    """A counter of failed attempts by account, address or browser. The key is a hash; a quiet day removes it."""

    grants = Grants(update=("failures", "refused", "blocked_until", "last_at"), delete=True)

    key = models.CharField(max_length=80, primary_key=True)
    failures = models.PositiveIntegerField(default=0)
    refused = models.PositiveIntegerField(default=0, help_text="Attempts that were not checked since the last one.")
    blocked_until = models.DateTimeField()
    last_at = models.DateTimeField(db_index=True)

    class Meta:
        verbose_name = "login throttle"

    def __str__(self) -> str:
        return self.key
