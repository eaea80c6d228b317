"""Apply a change of an account: its rights, and the end of all access when a person leaves."""

import copy
from collections.abc import Mapping
from typing import Any

from django.core.exceptions import ValidationError

from games.access.gate import Actor, actor_name, authorize
from games.access.services.acting_appointments import duties_end
from games.accounts.services.sessions import sessions_end_all
from games.accounts.services.sign_in_links import links_end
from games.floor.services.casinos import verify_pit_of_casino
from games.history.audited_save import record_change, record_save, verify_texts
from games.models import AccountLinkEnd, Duty, LoginSession, Staff, Terminal

#: Fields that decide a person's rights: no one changes their own.
RIGHTS = frozenset({"department", "post", "casino", "pit", "is_active"})


def account_change(*, actor: Actor, staff: Staff, changes: Mapping[str, Any], reason: str) -> bool:
    """Save a change of an account whose row the caller has locked. A person who leaves loses all access at once."""
    authorize(actor, "staff.change", staff)
    future = verify_change(actor=actor, staff=staff, changes=changes)
    leaves = staff.is_active and not future.is_active
    changed = record_change(staff, changes, actor=actor, reason=reason)
    if leaves:
        end_access(actor=actor, staff=staff, reason=reason)
    return changed


def verify_change(*, actor: Actor, staff: Staff, changes: Mapping[str, Any]) -> Staff:
    """Return the account as it would be; refuse a place out of reach, a pit of another casino, a post without a pit."""
    future = future_of(staff, changes)
    authorize(actor, "staff.change", future)  # the account may not be moved out of the actor's own reach
    verify_pit_of_casino(future.pit, future.casino)
    verify_texts(future)
    future.full_clean()
    return future


def future_of(staff: Staff, changes: Mapping[str, Any]) -> Staff:
    """Return the account as it would be, unsaved."""
    future = copy.copy(staff)
    future.__dict__.pop("known_duties", None)
    future._state = copy.copy(staff._state)
    future._state.fields_cache = dict(staff._state.fields_cache)
    for name, value in changes.items():
        setattr(future, name, value)
    return future


def end_access(*, actor: Actor, staff: Staff, reason: str) -> list[Duty]:
    """End the sessions, password, unused links and acting appointments of a person who leaves.

    Sessions are bound to the password: without it they stay invalid, even after a reactivation.
    """
    staff.set_unusable_password()
    record_save(staff, actor=actor, reason=f"Access ended: {reason}", only=("password",))
    sessions_end_all(
        staff=staff, end=LoginSession.End.ENDED, by=actor if isinstance(actor, Staff) else None, reason=reason
    )
    links_end(staff=staff, how=AccountLinkEnd.How.LEFT, who=actor_name(actor))
    return duties_end(actor=actor, staff=staff, reason=f"Access ended: {reason}")


def keys_made_by(staff: Staff) -> list[Terminal]:
    """List the terminal keys in use that a person created and has therefore seen.

    A key belongs to a terminal and its tables, not to a person: it stays valid until an administrator replaces it.
    """
    made = Terminal.history.filter(history_type="+", history_user=staff).values("id")
    return list(Terminal.objects.filter(pk__in=made, revoked_at=None).select_related("casino"))


def verify_rights_not_own(*, actor: Actor, staff: Staff, changes: Mapping[str, Any]) -> None:
    touched = {name for name in RIGHTS & changes.keys() if getattr(staff, name) != changes[name]}
    if actor == staff and touched:
        raise ValidationError(
            "You cannot change your own department, post, place or access; ask another administrator."
        )
