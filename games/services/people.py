"""People and their passwords."""

from typing import Any

from django.contrib.auth.password_validation import validate_password
from django.core.exceptions import ValidationError
from django.db import transaction
from django.utils import timezone

from games.models import Casino, Pit, Staff
from games.services.gate import Actor, authorize
from games.services.saving import record_change, record_save

#: What decides a person's rights: nobody changes it for himself.
RIGHTS = {"department", "post", "casino", "pit", "is_active"}


@transaction.atomic
def staff_create(
    *, actor: Actor, number: str, name: str, department: str, post: str = "", casino: Casino | None = None,
    pit: Pit | None = None, email: str = "", is_active: bool = True, reason: str,
) -> Staff:  # fmt: skip
    """A new person, without a password: he cannot log in until one is set."""
    staff = Staff(
        number=number, name=name, department=department, post=post, casino=casino, pit=pit, email=email,
        is_active=is_active,
    )  # fmt: skip
    authorize(actor, "staff.add", staff)
    staff.set_unusable_password()
    verify_pit_of_casino(pit, casino)
    record_save(staff, actor=actor, reason=reason)
    return staff


@transaction.atomic
def staff_update(*, actor: Actor, staff: Staff, changes: dict[str, Any], reason: str) -> bool:
    current = Staff.objects.select_for_update().get(pk=staff.pk)
    authorize(actor, "staff.change", current)
    verify_rights_not_own(actor=actor, staff=current, changes=changes)
    future = Staff(casino=changes.get("casino", current.casino), pit=changes.get("pit", current.pit))
    authorize(actor, "staff.change", future)  # nobody is moved out of the reach of who moves him
    verify_pit_of_casino(future.pit, future.casino)
    return record_change(current, changes, actor=actor, reason=reason)


def verify_rights_not_own(*, actor: Actor, staff: Staff, changes: dict[str, Any]) -> None:
    touched = {name for name in RIGHTS & changes.keys() if getattr(staff, name) != changes[name]}
    if actor == staff and touched:
        raise ValidationError("Nobody changes his own department, post, place or access; ask another administrator.")


def verify_pit_of_casino(pit: Pit | None, casino: Casino | None) -> None:
    if pit is not None and pit.casino != casino:
        raise ValidationError({"pit": f"{pit} is not a pit of this casino; choose one that is, or none."})


@transaction.atomic
def staff_set_password(*, actor: Actor, staff: Staff, password: str, reason: str, must_change: bool = True) -> None:
    """A password set by somebody else is good for one login only: then its owner chooses his own."""
    authorize(actor, "staff.password", staff)
    _set_password(
        actor=actor, staff=staff, password=password, must_change=must_change, reason=f"Password set: {reason}"
    )


@transaction.atomic
def own_password_set(*, staff: Staff, password: str) -> None:
    """One's own: open to everybody who is logged in."""
    _set_password(actor=staff, staff=staff, password=password, must_change=False, reason="Own password changed")


def _set_password(*, actor: Actor, staff: Staff, password: str, must_change: bool, reason: str) -> None:
    current = Staff.objects.select_for_update().get(pk=staff.pk)
    validate_password(password, current)
    current.set_password(password)
    current.must_change_password = must_change
    record_save(current, actor=actor, reason=reason)
    staff.password, staff.must_change_password = current.password, must_change  # keeps the caller's session alive


def login_note(sender: object, user: Staff, **kwargs: Any) -> None:
    """When somebody last logged in: not a change that a person made, so no history."""
    Staff.objects.filter(pk=user.pk).update(last_login=timezone.now())
