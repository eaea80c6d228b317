"""Passkeys (WebAuthn): challenges that are answered once, enrolment, checks and removal.

py_webauthn reads and verifies what the browser sends. This module keeps the owner of the passkey, the challenge in
the session, the authenticator's counter, the throttle and the record.
"""

import enum
import hmac
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar
from urllib.parse import urlsplit

from django.conf import settings
from django.core.exceptions import ValidationError
from django.db import transaction
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils import timezone
from django.utils.crypto import salted_hmac
from django_otp.plugins.otp_static.models import StaticDevice
from django_otp.plugins.otp_totp.models import TOTPDevice
from webauthn import (
    generate_authentication_options,
    generate_registration_options,
    options_to_json,
    verify_authentication_response,
    verify_registration_response,
)
from webauthn.helpers import (
    base64url_to_bytes,
    bytes_to_base64url,
    generate_challenge,
    parse_authentication_credential_json,
    parse_registration_credential_json,
)
from webauthn.helpers.structs import (
    AuthenticatorSelectionCriteria,
    AuthenticatorTransport,
    PublicKeyCredentialDescriptor,
    ResidentKeyRequirement,
    UserVerificationRequirement,
)

from games.accounts.clients import Client
from games.accounts.services.logins import code_check
from games.accounts.services.second_factors import must_have_factor, recovery_codes_left, recovery_codes_make
from games.history.audited_save import verify_text
from games.models import FailedLogin, Passkey, Staff

CHALLENGES_KEY = "passkey_challenges"
#: How long the browser waits for the person, and how long the answer is valid.
PROMPT_SECONDS, CHALLENGE_SECONDS = 120, 150
MOST_PASSKEYS = 10
NAME_LENGTH = 64
LONGEST_ANSWER = 20_000
PREFERRED = UserVerificationRequirement.PREFERRED

Read = TypeVar("Read")


class Ceremony(enum.StrEnum):
    """The purpose of a challenge. An answer for another purpose is refused."""

    ENROL = "enrol"
    LOGIN = "login"
    CONFIRM = "confirm"


@dataclass(frozen=True)
class PasskeyAnswer:
    """A browser's answer, the challenge it must answer (None: none is open), and where it came from."""

    text: str
    challenge: bytes | None
    host: str
    origins: tuple[str, ...]


def passkeys_of(staff: Staff) -> QuerySet[Passkey]:
    found: QuerySet[Passkey] = Passkey.objects.filter(user=staff, confirmed=True)
    return found


# --- Challenges ------------------------------------------------------------------------------------


def passkey_host(request: HttpRequest) -> str:
    """Return the host that passkeys are bound to: from the settings, else from the request."""
    return settings.PASSKEY_HOST or urlsplit(f"//{request.get_host()}").hostname or ""


def challenge_make(request: HttpRequest, ceremony: Ceremony) -> bytes:
    """Open a challenge in the session. It replaces an earlier one for the same ceremony."""
    challenge = generate_challenge()
    kept = [bytes_to_base64url(challenge), timezone.now().timestamp()]
    request.session[CHALLENGES_KEY] = {**request.session.get(CHALLENGES_KEY, {}), ceremony.value: kept}
    return challenge


def challenge_take(request: HttpRequest, ceremony: Ceremony) -> bytes | None:
    """Take the open challenge out of the session; None if there is none or it has expired."""
    challenges = dict(request.session.get(CHALLENGES_KEY, {}))
    if ceremony.value not in challenges:
        return None
    text, at = challenges.pop(ceremony.value)
    request.session[CHALLENGES_KEY] = challenges
    is_good = 0 <= timezone.now().timestamp() - at < CHALLENGE_SECONDS
    return base64url_to_bytes(text) if is_good else None


def answer_take(request: HttpRequest, ceremony: Ceremony, text: str) -> PasskeyAnswer:
    """Return an answer with the challenge it must match, and use the challenge up."""
    origins = (f"{request.scheme}://{request.get_host()}", *settings.CSRF_TRUSTED_ORIGINS)
    return PasskeyAnswer(text, challenge_take(request, ceremony), passkey_host(request), origins)


def enrol_options(request: HttpRequest, staff: Staff) -> str:
    """Return as JSON what the browser needs to create a passkey, with a new challenge."""
    options = generate_registration_options(
        rp_id=passkey_host(request), rp_name=settings.OTP_TOTP_ISSUER, user_id=person_handle(staff),
        user_name=staff.number, user_display_name=staff.name or staff.number, timeout=PROMPT_SECONDS * 1000,
        challenge=challenge_make(request, Ceremony.ENROL), exclude_credentials=_descriptors(staff),
        authenticator_selection=AuthenticatorSelectionCriteria(
            resident_key=ResidentKeyRequirement.PREFERRED, user_verification=PREFERRED
        ),
    )  # fmt: skip
    return options_to_json(options)


def check_options(request: HttpRequest, staff: Staff, ceremony: Ceremony) -> str:
    """Return as JSON what the browser needs to use one of a person's passkeys, with a new challenge."""
    options = generate_authentication_options(
        rp_id=passkey_host(request), challenge=challenge_make(request, ceremony), timeout=PROMPT_SECONDS * 1000,
        allow_credentials=_descriptors(staff), user_verification=PREFERRED,
    )  # fmt: skip
    return options_to_json(options)


def person_handle(staff: Staff) -> bytes:
    """Return a person's identifier for authenticators: constant, and revealing nothing about the person."""
    return salted_hmac("games.passkey", str(staff.pk), algorithm="sha256").digest()


def _descriptors(staff: Staff) -> list[PublicKeyCredentialDescriptor]:
    return [
        PublicKeyCredentialDescriptor(
            id=bytes(passkey.credential), transports=[AuthenticatorTransport(way) for way in passkey.transports] or None
        )
        for passkey in passkeys_of(staff)
    ]


# --- Enrolment -------------------------------------------------------------------------------------


def verify_passkey_name(*, staff: Staff, name: str) -> str:
    """Return the name for a new passkey; refuse a taken name, and too many passkeys."""
    name = name.strip()
    verify_text("name", name)
    if not name or len(name) > NAME_LENGTH:
        raise ValidationError({"name": f"Enter a name of up to {NAME_LENGTH} characters."})
    if passkeys_of(staff).filter(name=name).exists():
        raise ValidationError({"name": "You already have a passkey with this name. Choose another name."})
    if passkeys_of(staff).count() >= MOST_PASSKEYS:
        raise ValidationError(f"You have {MOST_PASSKEYS} passkeys. Remove one first.")
    return name


def passkey_enrol(*, staff: Staff, name: str, answer: PasskeyAnswer, client: Client) -> tuple[Passkey, list[str]]:
    """Add the passkey that a browser created for an open challenge. The first factor comes with recovery codes."""
    verify_passkey_name(staff=staff, name=name)
    made: list[Passkey] = []

    def check() -> bool:
        passkey = _read(answer, _registered)
        if passkey is not None and not Passkey.objects.filter(credential=passkey.credential).exists():
            made.append(passkey)
        return bool(made)

    if not code_check(client=client, staff=staff, check=check, kind=lambda: FailedLogin.Kind.PASSKEY):
        raise ValidationError("The passkey was not accepted. Try again.")
    with transaction.atomic():
        Staff.objects.select_for_update().get(pk=staff.pk)  # one change of a person's factors at a time
        (passkey,) = made
        passkey.user, passkey.name = staff, verify_passkey_name(staff=staff, name=name)
        passkey.created_at = timezone.now()
        passkey.save()
        codes = [] if recovery_codes_left(staff) else recovery_codes_make(staff=staff)
    return passkey, codes


def _registered(answer: PasskeyAnswer, challenge: bytes) -> Passkey:
    credential = parse_registration_credential_json(answer.text)
    verified = verify_registration_response(
        credential=credential, expected_challenge=challenge, expected_rp_id=answer.host,
        expected_origin=list(answer.origins),
    )  # fmt: skip
    return Passkey(
        credential=verified.credential_id, public_key=verified.credential_public_key, sign_count=verified.sign_count,
        transports=[way.value for way in credential.response.transports or []],
    )  # fmt: skip


def _read(answer: PasskeyAnswer, read: Callable[[PasskeyAnswer, bytes], Read]) -> Read | None:
    """Return the content of an answer if it is genuine."""
    if answer.challenge is None or len(answer.text) > LONGEST_ANSWER:
        return None
    try:
        return read(answer, answer.challenge)
    except Exception:  # any error of the library on sent data means that it is not genuine
        return None


# --- Checks ----------------------------------------------------------------------------------------


def passkey_verify(*, staff: Staff, answer: PasskeyAnswer, client: Client) -> Passkey | None:
    """Return the person's passkey that answered. A wrong or repeated answer is recorded and throttled."""
    found: list[Passkey] = []
    failure = FailedLogin.Kind.PASSKEY

    def check() -> bool:
        nonlocal failure
        with transaction.atomic():
            used = _used(staff, answer)
            if used is None:
                return False
            passkey, count = used
            if count <= passkey.sign_count and (count or passkey.sign_count):
                failure = FailedLogin.Kind.COUNTER
                return False
            Passkey.objects.filter(pk=passkey.pk).update(
                sign_count=count, last_used_at=timezone.now(), last_challenge=answer.challenge
            )
        found.append(passkey)
        return True

    return found[0] if code_check(client=client, staff=staff, check=check, kind=lambda: failure) else None


def _used(staff: Staff, answer: PasskeyAnswer) -> tuple[Passkey, int] | None:
    """Return the locked passkey and the counter of a genuine answer that was not given before."""
    named = _read(answer, lambda answer, challenge: parse_authentication_credential_json(answer.text).raw_id)
    passkey = passkeys_of(staff).select_for_update().filter(credential=named).first() if named else None
    if passkey is None or hmac.compare_digest(bytes(passkey.last_challenge or b""), answer.challenge or b""):
        return None
    key = bytes(passkey.public_key)
    count = _read(answer, lambda answer, challenge: _counted(answer, challenge, key))
    return None if count is None else (passkey, count)


def _counted(answer: PasskeyAnswer, challenge: bytes, public_key: bytes) -> int:
    """Verify an answer and return its counter.

    The library is given 0 and does not compare it: the record tells a copied passkey from a forged answer.
    """
    verified = verify_authentication_response(
        credential=answer.text, expected_challenge=challenge, expected_rp_id=answer.host,
        expected_origin=list(answer.origins), credential_public_key=public_key, credential_current_sign_count=0,
    )  # fmt: skip
    return verified.new_sign_count


# --- Removal ---------------------------------------------------------------------------------------


@transaction.atomic
def passkey_remove(*, staff: Staff, key: int) -> Passkey:
    """Remove your own passkey. A person who must have a second factor keeps the last one.

    Recovery codes are removed with the last factor: otherwise they would still be asked for.
    """
    Staff.objects.select_for_update().get(pk=staff.pk)  # one change of a person's factors at a time
    passkey = passkeys_of(staff).filter(pk=key).first()
    if passkey is None:
        raise ValidationError("You have no such passkey. It may already have been removed.")
    has_app = TOTPDevice.objects.filter(user=staff, confirmed=True).exists()
    if not has_app and not passkeys_of(staff).exclude(pk=key).exists():
        if must_have_factor(staff):
            raise ValidationError("This is your only second factor, and your post needs one. Set up another first.")
        StaticDevice.objects.filter(user=staff).delete()
    passkeys_of(staff).filter(pk=key).update(confirmed=False, removed_at=timezone.now(), removed_by=staff)
    return passkey
