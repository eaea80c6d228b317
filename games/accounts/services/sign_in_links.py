"""One-time sign-in links: how a person gets a password that no one else has typed or seen."""

import hashlib
import re
import secrets
from dataclasses import dataclass

import structlog
from django.contrib.auth.password_validation import validate_password
from django.core.exceptions import ValidationError
from django.core.mail import send_mail
from django.db import transaction
from django.urls import reverse
from django.utils import timezone

from games.access.gate import Actor, actor_name, authorize
from games.accounts.models.account import LINK_LIFETIME
from games.accounts.services.sessions import sessions_end_all
from games.history.audited_save import record_save
from games.models import AccountLink, AccountLinkEnd, LoginSession, Staff

log = structlog.get_logger(__name__)

#: Fields written when a password is set or removed.
PASSWORD_FIELDS = ("password", "must_change_password")
TOKEN_BYTES = 32
TOKEN = re.compile(r"[A-Za-z0-9_-]{43}", re.ASCII)
MAIL = """You have a new sign-in link for the Tai Sai back office (staff number {number}).

{address}

It is valid until {until:%Y-%m-%d %H:%M} UTC, for one use. Choose your password there.
If you did not expect it, do not use it and inform compliance.
"""


class LinkError(ValidationError):
    """The token is invalid. The message is the same for every cause, so that it reveals nothing about accounts."""

    def __init__(self) -> None:
        super().__init__(
            "This link is not valid: it was used, was replaced, or is older than 24 hours. "
            "Ask an administrator for a new one."
        )


@dataclass(frozen=True)
class IssuedLink:
    """A new link: its address, to be shown once, or where it was sent."""

    link: AccountLink
    address: str
    sent_to: str


def link_make(*, actor: Actor, staff: Staff, site: str, reason: str) -> IssuedLink:
    """Remove the password, end earlier links and issue a new one, by e-mail if the person has an address.

    The caller has locked the person's row and made sure of the second administrator.
    """
    authorize(actor, "staff.link", staff)
    if not staff.is_active:
        raise ValidationError(f"{staff} is not active. Reactivate the account first.")
    staff.set_unusable_password()  # ends the person's sessions: each is bound to the password
    staff.must_change_password = False
    record_save(staff, actor=actor, reason=reason, only=PASSWORD_FIELDS)
    links_end(staff=staff, how=AccountLinkEnd.How.REPLACED, who=actor_name(actor))
    token = secrets.token_urlsafe(TOKEN_BYTES)
    now = timezone.now()
    link = AccountLink.objects.create(
        staff=staff,
        token_hash=hash_of(token),
        made_by=actor if isinstance(actor, Staff) else None,
        who=actor_name(actor),
        made_at=now,
        expires_at=now + LINK_LIFETIME,
        sent_to=staff.email,
    )
    address = link_address(site, token)
    if not staff.email:
        return IssuedLink(link, address, "")
    _send(link, address)
    return IssuedLink(link, "", staff.email)


def link_address(site: str, token: str) -> str:
    """Return the address with the token behind the #, which browsers do not send: no log or Referer contains it."""
    return f"{site.rstrip('/')}{reverse('account_password')}#{token}"


def _send(link: AccountLink, address: str) -> None:
    text = MAIL.format(number=link.staff.number, address=address, until=link.expires_at)
    try:
        send_mail("Your sign-in link", text, None, [link.sent_to])
    except OSError as error:
        log.warning("sign-in link not mailed", staff=link.staff.number, error=str(error))
        raise ValidationError(
            f"The link could not be sent to {link.sent_to}. Nothing was changed. Try again, or correct the address."
        ) from None


def links_end(*, staff: Staff, how: str, who: str) -> int:
    """End the links of a person that are still valid."""
    unused = AccountLink.objects.filter(staff=staff, end=None, expires_at__gt=timezone.now())
    ended = [AccountLinkEnd(link=link, how=how, who=who) for link in unused]
    return len(AccountLinkEnd.objects.bulk_create(ended))


def link_of(token: str) -> AccountLink | None:
    """Return the valid link of a token. The search is by hash, so its duration reveals nothing."""
    if not TOKEN.fullmatch(token):
        return None
    usable = AccountLink.objects.filter(end=None, expires_at__gt=timezone.now(), staff__is_active=True)
    return usable.select_related("staff").filter(token_hash=hash_of(token)).first()


@transaction.atomic
def link_use(*, token: str, password: str) -> Staff:
    """Set the password that the person chose. The token is the permission, and is valid once."""
    link = link_of(token)
    if link is None:
        raise LinkError
    staff = Staff.objects.select_for_update(of=("self",)).select_related("casino", "pit").get(pk=link.staff_id)
    if link_of(token) is None:  # used, replaced or ended while we waited for the row
        raise LinkError
    try:
        validate_password(password, staff)
    except ValidationError as error:
        raise ValidationError({"password": error.messages}) from None
    staff.set_password(password)
    staff.must_change_password = False
    reason = f"Password chosen by sign-in link no. {link.pk}"
    record_save(staff, actor=staff, reason=reason, only=PASSWORD_FIELDS)
    AccountLinkEnd.objects.create(link=link, how=AccountLinkEnd.How.USED, who=actor_name(staff))
    sessions_end_all(staff=staff, end=LoginSession.End.PASSWORD)
    return staff


def hash_of(token: str) -> str:
    """Hash a token with plain SHA-256: it is 256 random bits, too many to guess from a list."""
    return hashlib.sha256(token.encode()).hexdigest()
