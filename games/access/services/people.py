"""Staff accounts and their passwords. No administrator types a password: a person sets it through a one-time link."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.conf import settings
from django.contrib.auth.password_validation import validate_password
from django.core.exceptions import ValidationError
from django.db import transaction
from django.utils import timezone

from games.access.gate import Actor, Operator, authorize
from games.accounts.services.account_changes import account_change, verify_change, verify_rights_not_own
from games.accounts.services.account_proposals import change_needs_second, is_privileged, propose, sets_up_alone
from games.accounts.services.sessions import sessions_end_all
from games.accounts.services.sign_in_links import PASSWORD_FIELDS, IssuedLink, link_make
from games.floor.services.casinos import verify_pit_of_casino
from games.history.audited_save import record_save
from games.models import AccountProposal, Casino, LoginSession, Pit, Staff


@dataclass(frozen=True)
class StaffUpdate:
    """The outcome of a change: saved, or waiting for a second administrator."""

    changed: bool
    proposal: AccountProposal | None = None

    def __bool__(self) -> bool:
        return self.changed or self.proposal is not None


@transaction.atomic
def staff_create(
    *, actor: Actor, number: str, name: str, department: str, post: str = "", casino: Casino | None = None,
    pit: Pit | None = None, email: str = "", is_active: bool = True, reason: str, **more: Any,
) -> Staff:  # fmt: skip
    """Add a person without a password. A privileged account stays inactive until a second administrator confirms it."""
    staff = Staff(
        number=number, name=name, department=department, post=post, casino=casino, pit=pit, email=email,
        is_active=is_active, **more,
    )  # fmt: skip
    authorize(actor, "staff.add", staff)
    staff.set_unusable_password()
    verify_pit_of_casino(pit, casino)
    waits = is_active and staff.is_privileged and not sets_up_alone(actor, casino)
    staff.is_active = is_active and not waits
    record_save(staff, actor=actor, reason=reason)
    if waits:
        propose(actor=actor, staff=staff, kind=AccountProposal.Kind.CREATE, changes={"is_active": True}, reason=reason)
    return staff


@transaction.atomic
def staff_update(*, actor: Actor, staff: Staff, changes: Mapping[str, Any], reason: str) -> StaffUpdate:
    """Change a person. A change that gives a privileged account rights waits for a second administrator as a whole."""
    current = locked(staff)
    authorize(actor, "staff.change", current)
    verify_rights_not_own(actor=actor, staff=current, changes=changes)
    if not change_needs_second(actor=actor, staff=current, changes=changes):
        return StaffUpdate(account_change(actor=actor, staff=current, changes=changes, reason=reason))
    verify_change(actor=actor, staff=current, changes=changes)
    comes_back = not current.is_active and changes.get("is_active", False)
    kind = AccountProposal.Kind.REACTIVATE if comes_back else AccountProposal.Kind.CHANGE
    return StaffUpdate(False, propose(actor=actor, staff=current, kind=kind, changes=changes, reason=reason))


@transaction.atomic
def account_reset(*, actor: Actor, staff: Staff, site: str, reason: str) -> IssuedLink | AccountProposal:
    """Remove a password and issue a one-time link; for a privileged account, propose it to a second administrator."""
    current = locked(staff)
    authorize(actor, "staff.link", current)
    if actor == current:
        raise ValidationError(
            "Change your own password from the menu, with the old one. If you have forgotten it, ask another "
            "administrator for a link."
        )
    if not current.is_active:
        raise ValidationError(f"{current} is not active. Reactivate the account first.")
    if is_privileged(current) and not sets_up_alone(actor, current.casino):
        return propose(actor=actor, staff=current, kind=AccountProposal.Kind.RESET, reason=reason)
    return link_make(actor=actor, staff=current, site=site, reason=f"Sign-in link: {reason}" if reason.strip() else "")


def locked(staff: Staff) -> Staff:
    return Staff.objects.select_for_update(of=("self",)).select_related("casino", "pit").get(pk=staff.pk)


# --- Passwords -------------------------------------------------------------------------------------


@transaction.atomic
def own_password_set(*, staff: Staff, old_password: str, password: str) -> None:
    """Change your own password. Open to everyone who is signed in and enters the old one."""
    current = locked(staff)
    if not current.check_password(old_password):
        raise ValidationError({"old_password": "This is not your current password. Type it again."})
    _set_password(current, password, must_change=False, actor=current, reason="Own password changed")
    staff.password, staff.must_change_password = current.password, False  # keeps the caller's session alive


@transaction.atomic
def local_password_set(*, actor: Operator, staff: Staff, password: str, reason: str, must_change: bool = False) -> None:
    """Set a known password, for the demonstration and the tests on a local machine. Production refuses it."""
    authorize(actor, "staff.localpassword", staff)
    if settings.PRODUCTION:
        raise ValidationError("In production, passwords are not set for others. Create a sign-in link (account_link).")
    current = locked(staff)
    _set_password(current, password, must_change=must_change, actor=actor, reason=f"Password set: {reason}")
    staff.password, staff.must_change_password = current.password, must_change


def _set_password(staff: Staff, password: str, *, must_change: bool, actor: Actor, reason: str) -> None:
    validate_password(password, staff)
    staff.set_password(password)
    staff.must_change_password = must_change
    record_save(staff, actor=actor, reason=reason, only=PASSWORD_FIELDS)
    sessions_end_all(staff=staff, end=LoginSession.End.PASSWORD)


def login_note(sender: object, user: Staff, **kwargs: Any) -> None:
    """Note when a person last signed in, without history: no person made that change."""
    Staff.objects.filter(pk=user.pk).update(last_login=timezone.now())
