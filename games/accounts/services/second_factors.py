"""Second factors: who needs one, enrolment, codes, recovery codes, and resets by two administrators."""

import datetime as dt
import re
import secrets

from django.conf import settings
from django.core.exceptions import ValidationError
from django.db import transaction
from django.utils import timezone
from django.utils.crypto import salted_hmac
from django_otp import user_has_device, verify_token
from django_otp.plugins.otp_static.models import StaticDevice, StaticToken
from django_otp.plugins.otp_totp.models import TOTPDevice

from games.access.gate import authorize, can, capacities
from games.accounts.clients import Client
from games.accounts.services.logins import code_check, password_confirm
from games.accounts.services.sessions import sessions_end_all
from games.history.audited_save import OvertakenError, verify_reason, verify_text
from games.models import FactorReset, FactorResetConfirmation, LoginSession, Passkey, Staff

RECOVERY_CODES = 10
RECOVERY_LETTERS = "abcdefghjkmnpqrstuvwxyz23456789"  # without letters and digits that look alike
RECOVERY = re.compile(r"[a-z0-9]{4}(-?[a-z0-9]{4}){2}")
CODE = re.compile(r"[0-9]{6}", re.ASCII)
#: The column of django-otp holds 16 characters.
DIGEST_LENGTH = 16
#: A proposal that is not confirmed within this time expires.
RESET_HOURS = 24


# --- Who is asked ----------------------------------------------------------------------------------


def needs_factor(staff: Staff) -> bool:
    """Return whether a post or department held now needs a second factor (games/access/roles.toml)."""
    return any(standing.role.second_factor for standing in capacities(staff))


def must_have_factor(staff: Staff) -> bool:
    """Return whether a person must have a second factor in this environment."""
    return bool(settings.REQUIRE_SECOND_FACTOR) and needs_factor(staff)


def has_factor(staff: Staff) -> bool:
    return bool(user_has_device(staff))


def is_factor_asked(staff: Staff, login: LoginSession | None) -> bool:
    """Return whether a session still has to pass a second factor.

    A person who needs none but has one is asked once, at login. A person who comes to need one during a session, by
    an acting appointment, is asked from then on.
    """
    if not settings.REQUIRE_SECOND_FACTOR or is_verified(staff):
        return False
    if needs_factor(staff):
        return True
    return (login is None or login.passed_at is None) and has_factor(staff)


def is_verified(staff: Staff) -> bool:
    """Return whether this session passed a factor that still exists (django-otp's middleware records it)."""
    return getattr(staff, "otp_device", None) is not None


# --- Enrolment -------------------------------------------------------------------------------------


def totp_draft(staff: Staff) -> TOTPDevice:
    """Return the authenticator being set up. It opens nothing before its first code was right."""
    device, _ = TOTPDevice.objects.get_or_create(user=staff, confirmed=False, defaults={"name": "Authenticator app"})
    found: TOTPDevice = device
    return found


def totp_enrol(*, staff: Staff, code: str, client: Client) -> tuple[TOTPDevice, list[str]]:
    """Confirm the new authenticator by its first code. It replaces the old one and the recovery codes."""
    device = totp_draft(staff)
    code = compact(code)
    if not (CODE.fullmatch(code) and code_check(client=client, staff=staff, check=lambda: _verify(device, code))):
        raise ValidationError({"code": "This code is wrong. Enter the code that the app shows now."})
    with transaction.atomic():
        TOTPDevice.objects.filter(user=staff, confirmed=True).delete()
        TOTPDevice.objects.filter(pk=device.pk).update(confirmed=True)
        codes = recovery_codes_make(staff=staff)
        sessions_end_all(staff=staff, end=LoginSession.End.FACTOR)  # all but this one
    device.refresh_from_db()
    return device, codes


def recovery_codes_make(*, staff: Staff) -> list[str]:
    """Replace the recovery codes with new ones. Only their keyed hashes are stored: they are shown once."""
    codes = ["-".join(_letters() for _ in range(3)) for _ in range(RECOVERY_CODES)]
    with transaction.atomic():
        StaticDevice.objects.filter(user=staff).delete()
        device = StaticDevice.objects.create(user=staff, name="Recovery codes")
        StaticToken.objects.bulk_create(StaticToken(device=device, token=_digest(code)) for code in codes)
    return codes


def recovery_codes_left(staff: Staff) -> int:
    return int(StaticToken.objects.filter(device__user=staff).count())


def _letters() -> str:
    return "".join(secrets.choice(RECOVERY_LETTERS) for _ in range(4))


def _digest(code: str) -> str:
    return salted_hmac("games.recovery", code.replace("-", ""), algorithm="sha256").hexdigest()[:DIGEST_LENGTH]


# --- Checks ----------------------------------------------------------------------------------------


def compact(text: str) -> str:
    return re.sub(r"\s", "", text).lower()


def factor_verify(*, staff: Staff, code: str, client: Client) -> TOTPDevice | StaticDevice | None:
    """Return the device whose code this is. Each code is valid once; each wrong one is recorded and throttled."""
    code, found = compact(code), []

    def check() -> bool:
        model, token = (TOTPDevice, code) if CODE.fullmatch(code) else (StaticDevice, _digest(code))
        for device in model.objects.devices_for_user(staff, confirmed=True):
            if _verify(device, token):
                found.append(device)
        return bool(found)

    return found[0] if code_check(client=client, staff=staff, check=check) else None


def identity_confirm(*, staff: Staff, secret: str, client: Client) -> bool:
    """Check what a person typed to confirm their identity: their password, or a code of their second factor."""
    code = compact(secret)
    if (CODE.fullmatch(code) or RECOVERY.fullmatch(code)) and has_factor(staff):
        return factor_verify(staff=staff, code=code, client=client) is not None
    return password_confirm(client=client, staff=staff, password=secret)


def _verify(device: TOTPDevice | StaticDevice, token: str) -> bool:
    """Verify under a lock of the device's row, so that one code passes once."""
    if device.confirmed:
        return verify_token(device.user, device.persistent_id, token) is not None
    with transaction.atomic():
        locked = type(device).objects.select_for_update().get(pk=device.pk)
        return bool(locked.verify_token(token))


# --- Resets ----------------------------------------------------------------------------------------


@transaction.atomic
def factor_reset_propose(*, actor: Staff, staff: Staff, reason: str) -> FactorReset:
    """Propose to remove another person's second factors. A second administrator confirms it."""
    reset = FactorReset(staff=staff, proposed_by=actor, proposed_at=timezone.now(), reason=reason.strip())
    authorize(actor, "factorreset.add", reset)
    verify_reason(reason)
    verify_text("reason", reason)
    verify_reset(actor=actor, staff=staff)
    reset.full_clean()
    reset.save()
    return reset


def verify_reset(*, actor: Staff, staff: Staff) -> None:
    if actor == staff:
        raise ValidationError("You cannot reset your own second factor; ask another administrator.")
    if not has_factor(staff):
        raise ValidationError({"staff": f"{staff} has no second factor. They set one up at their next login."})
    since = timezone.now() - dt.timedelta(hours=RESET_HOURS)
    if FactorReset.objects.filter(staff=staff, proposed_at__gt=since, confirmation=None).exists():
        raise ValidationError({"staff": f"A reset for {staff} is already proposed. Another administrator confirms it."})


@transaction.atomic
def factor_reset_confirm(*, actor: Staff, reset: FactorReset) -> FactorResetConfirmation:
    """Remove all second factors of a person, as the second administrator, and end all their sessions."""
    authorize(actor, "factorreset.confirm", reset)
    Staff.objects.select_for_update().get(pk=reset.staff_id)  # one confirmation at a time
    if actor.pk == reset.proposed_by_id:
        raise ValidationError("You proposed this reset. Another administrator confirms it.")
    if actor.pk == reset.staff_id:
        raise ValidationError("This is your own second factor. Another administrator confirms the reset.")
    if FactorResetConfirmation.objects.filter(reset=reset).exists():
        raise OvertakenError("This reset is already confirmed.")
    if not can(reset.proposed_by, "factorreset.add", reset):
        raise ValidationError(f"{reset.proposed_by} is no longer an administrator here. Propose the reset again.")
    if is_expired(reset):
        raise ValidationError(f"This proposal is older than {RESET_HOURS} hours. Propose the reset again.")
    now = timezone.now()
    confirmation = FactorResetConfirmation.objects.create(
        reset=reset, staff=reset.staff, proposed_by=reset.proposed_by, confirmed_by=actor, confirmed_at=now
    )
    for model in (TOTPDevice, StaticDevice):
        model.objects.filter(user=reset.staff).delete()
    passkeys = Passkey.objects.filter(user=reset.staff, confirmed=True)
    passkeys.update(confirmed=False, removed_at=now, removed_by=actor)
    sessions_end_all(staff=reset.staff, end=LoginSession.End.FACTOR, by=actor, reason=reset.reason)
    return confirmation


def is_expired(reset: FactorReset) -> bool:
    return timezone.now() - reset.proposed_at >= dt.timedelta(hours=RESET_HOURS)
