"""Acting appointments (in code: duties): another post for a time, granted by a person in a higher post (rule 1.5).

A higher post brings its rights. A lower post brings none: it says that a pit supervisor deals, or a pit manager
supervises, so that rounds naming them that way are in order.
"""

import datetime as dt

from django.core.exceptions import ValidationError
from django.db import transaction
from django.utils import timezone

from games.access.gate import Actor, Capacity, actor_name, authorize, deny
from games.access.models.acting_appointment import ALL_PITS, Everywhere, acting_limits_of
from games.access.roles import access_policy, is_above, is_of_posts, post_name, rank
from games.floor.moments import as_text
from games.floor.services.casinos import verify_pit_of_casino
from games.history.audited_save import record_change, record_save
from games.ledger.services import LedgerEntry, ledger_append
from games.models import Casino, Duty, Pit, Staff

#: How long after its start an appointment from "now" may still be written.
LATEST = dt.timedelta(minutes=5)
#: Appointments with a shorter pause between them count as one.
PAUSE = dt.timedelta(hours=1)
PLACE_NEEDED = "Choose one pit, or all pits of the casino."


@transaction.atomic
def duty_grant(
    *, actor: Actor, staff: Staff, post: str, casino: Casino, pit: Pit | Everywhere,
    starts_at: dt.datetime, ends_at: dt.datetime, reason: str,
) -> Duty:  # fmt: skip
    """Appoint a person to another post for a time. `pit` is one pit or ALL_PITS; there is no default."""
    duty = duty_draft(
        actor=actor, staff=staff, post=post, casino=casino, pit=pit, starts_at=starts_at, ends_at=ends_at, reason=reason
    )
    capacity = authorize(actor, "duty.add", duty)  # the operator holds no post and is denied here
    duty.casino = Casino.objects.select_for_update().get(pk=casino.pk)  # its bounds cannot change until this is written
    verify_duty(capacity=capacity, duty=duty)
    duty.granted_as = capacity.role.post or ""
    record_save(duty, actor=actor, reason=reason)
    ledger_append(casino, duty_entry(duty, actor, reason))
    return duty


def duty_draft(
    *, actor: Actor, staff: Staff, post: str, casino: Casino, pit: Pit | Everywhere | None,
    starts_at: dt.datetime, ends_at: dt.datetime, reason: str = "",
) -> Duty:  # fmt: skip
    """Build an appointment to be saved, with the department and permanent post that the person has now."""
    if not isinstance(pit, Pit) and pit is not ALL_PITS:
        raise ValidationError({"where": PLACE_NEEDED})
    one_pit = pit if isinstance(pit, Pit) else None
    return Duty(
        staff=staff, post=post, casino=casino, pit=one_pit, scope=Duty.Scope.PIT if one_pit else Duty.Scope.ALL_PITS,
        starts_at=starts_at, ends_at=ends_at, reason=reason, department=staff.department, own_post=staff.post,
        granted_by=actor if isinstance(actor, Staff) else None,
    )  # fmt: skip


def duty_entry(duty: Duty, actor: Actor, reason: str) -> LedgerEntry:
    """Build the ledger entry of an appointment, at its grant and again at its end."""
    period = (duty.starts_at.astimezone(dt.UTC), duty.ends_at.astimezone(dt.UTC))
    place = (duty.casino.code, duty.pit.code if duty.pit else None)
    return LedgerEntry("duty", duty.pk, (duty.staff.number, duty.post, *place, *period, actor_name(actor), reason))


def verify_duty(*, capacity: Capacity, duty: Duty) -> None:
    """Refuse an appointment that is contradictory or exceeds its bounds. Each fault names its field."""
    staff = duty.staff
    if staff == duty.granted_by:
        raise ValidationError("You cannot appoint yourself.")
    if not is_above(capacity.role.post or "", duty.post):
        raise ValidationError({"post": f"A {capacity} appoints to lower posts only. Ask a person above them."})
    if is_above(staff.post, capacity.role.post or ""):
        raise ValidationError({"staff": f"{staff} holds a higher post than a {capacity}. Ask a person above them."})
    if not staff.is_active:
        raise ValidationError({"staff": f"{staff} is no longer active."})
    if staff.casino_id != duty.casino_id:
        raise ValidationError({"staff": f"{staff} belongs to another casino."})
    verify_department(duty)
    if duty.post == staff.post:
        raise ValidationError({"post": f"{staff} is {post_name(staff.post).lower()} already. Choose a different post."})
    verify_steps(capacity=capacity, duty=duty)
    verify_period(duty)
    verify_pit_of_casino(duty.pit, duty.casino)


def verify_department(duty: Duty) -> None:
    """Refuse people of other departments, unless the casino allows them to act in its posts."""
    if is_of_posts(duty.staff.department) or acting_limits_of(duty.casino).other_departments:
        return
    raise ValidationError(
        {
            "staff": f"{duty.staff} does not work in the pit, and {duty.casino.code} does not allow people of other "
            "departments to act in its posts. Choose a person of the pit, or ask compliance to change the threshold."
        }
    )


def verify_steps(*, capacity: Capacity, duty: Duty) -> None:
    """Refuse more than one step up, except by the casino manager, who also appoints people without a post."""
    own = duty.staff.post
    steps, needed_post = rank(duty.post) - rank(own), access_policy().appoints_over_steps
    if (own and steps <= 1) or capacity.role.post == needed_post:
        return
    wanted, needed = duty.get_post_display().lower(), post_name(needed_post).lower()
    gap = f"{steps} steps above {post_name(own).lower()}" if own else "for a person without a post in the pit"
    raise ValidationError(
        {"post": f"Acting {wanted} is {gap}; more than one step requires a {needed}. Ask one, or choose a lower post."}
    )


def verify_period(duty: Duty) -> None:
    if duty.ends_at <= duty.starts_at:
        raise ValidationError({"ends_at": "An acting appointment ends after it starts."})
    now = timezone.now()
    if duty.ends_at <= now:
        raise ValidationError({"ends_at": "This time has passed. Choose a later end."})
    if duty.starts_at < now - LATEST:
        raise ValidationError(
            {"starts_at": "This time has passed. An acting appointment starts now or later."}
        )  # fmt: skip
    days = duty.longest.days
    if duty.is_too_long:
        raise ValidationError(
            {"ends_at": f"Longer than {days} days, the most that {duty.casino.code} allows. Choose an earlier end."}
        )
    starts_at, ends_at = unbroken(duty)
    if ends_at - starts_at > duty.longest:
        first, last = (as_text(moment, duty.casino) for moment in (starts_at, ends_at))
        raise ValidationError(
            {"ends_at": f"With the appointments before and after it, {duty.staff} would act in this post without a "
             f"break from {first} to {last}: longer than {days} days, the most that {duty.casino.code} allows. Choose "
             "an earlier end, or appoint another person."}
        )  # fmt: skip


def unbroken(duty: Duty) -> tuple[dt.datetime, dt.datetime]:
    """Return the period in which the person would act in this post, in any pit, without a break."""
    starts_at, ends_at = duty.starts_at, duty.ends_at
    others = list(Duty.objects.filter(staff=duty.staff, post=duty.post, casino=duty.casino).exclude(pk=duty.pk))
    while joined := [
        duty for duty in others if duty.starts_at <= ends_at + PAUSE and duty.ends_at >= starts_at - PAUSE
    ]:
        starts_at = min(starts_at, *(duty.starts_at for duty in joined))
        ends_at = max(ends_at, *(duty.ends_at for duty in joined))
        others = [duty for duty in others if duty not in joined]
    return starts_at, ends_at


@transaction.atomic
def duty_end(*, actor: Staff, duty: Duty, reason: str) -> Duty:
    """End an appointment now, or cancel one that has not started. A second call changes nothing."""
    current = Duty.objects.select_for_update().get(pk=duty.pk)
    capacity = authorize(actor, "duty.end", current)
    if not is_above(capacity.role.post or "", current.post) and actor != current.granted_by:
        raise deny(actor, "duty.end", current)
    _end(current, actor=actor, reason=reason)
    return current


def duties_end(*, actor: Actor, staff: Staff, reason: str) -> list[Duty]:
    """End every appointment of a person who leaves. Called by the service that deactivates the account."""
    authorize(actor, "staff.change", staff)
    open_duties = staff.duties.select_for_update(of=("self",)).filter(ends_at__gt=timezone.now())
    ended = list(open_duties.select_related("casino", "pit"))
    for duty in ended:
        _end(duty, actor=actor, reason=reason)
    return ended


def _end(duty: Duty, *, actor: Actor, reason: str) -> None:
    now = timezone.now()
    if duty.ends_at > now:
        ends_at = max(now, duty.starts_at + dt.timedelta(microseconds=1))
        record_change(duty, {"ends_at": ends_at}, actor=actor, reason=reason)
        ledger_append(duty.casino, duty_entry(duty, actor, reason))
