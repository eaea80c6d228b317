"""Acting appointments (duties): another post for a time, granted by a person in a post above it (rule 1.5).

A higher post brings its rights. A lower one brings none: it says that a pit supervisor deals, or a pit manager
supervises, and rounds that name them so are in order.
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

#: How late an appointment from "now" may be written.
LATEST = dt.timedelta(minutes=5)
#: Appointments with a shorter pause between them are one time of acting.
PAUSE = dt.timedelta(hours=1)
PLACE_NEEDED = "Choose one pit, or all pits: an acting appointment says where it is for."


@transaction.atomic
def duty_grant(
    *, actor: Actor, staff: Staff, post: str, casino: Casino, pit: Pit | Everywhere,
    starts_at: dt.datetime, ends_at: dt.datetime, reason: str,
) -> Duty:  # fmt: skip
    """Appoint a person to another post for a time. `pit` is one pit, or ALL_PITS; there is no default."""
    duty = duty_draft(
        actor=actor, staff=staff, post=post, casino=casino, pit=pit, starts_at=starts_at, ends_at=ends_at, reason=reason
    )
    standing = authorize(actor, "duty.add", duty)  # the operator holds no post, and is turned away here
    duty.casino = Casino.objects.select_for_update().get(pk=casino.pk)  # its bounds stay until this is written
    verify_duty(standing=standing, duty=duty)
    duty.granted_as = standing.role.post or ""
    record_save(duty, actor=actor, reason=reason)
    ledger_append(casino, duty_entry(duty, actor, reason))
    return duty


def duty_draft(
    *, actor: Actor, staff: Staff, post: str, casino: Casino, pit: Pit | Everywhere | None,
    starts_at: dt.datetime, ends_at: dt.datetime, reason: str = "",
) -> Duty:  # fmt: skip
    """Return an appointment as it would be written, with the department and permanent post of the person now."""
    if not isinstance(pit, Pit) and pit is not ALL_PITS:
        raise ValidationError({"where": PLACE_NEEDED})
    one_pit = pit if isinstance(pit, Pit) else None
    return Duty(
        staff=staff, post=post, casino=casino, pit=one_pit, scope=Duty.Scope.PIT if one_pit else Duty.Scope.ALL_PITS,
        starts_at=starts_at, ends_at=ends_at, reason=reason, department=staff.department, own_post=staff.post,
        granted_by=actor if isinstance(actor, Staff) else None,
    )  # fmt: skip


def duty_entry(duty: Duty, actor: Actor, reason: str) -> LedgerEntry:
    """What the ledger holds of a duty, at its grant and again at its end."""
    period = (duty.starts_at.astimezone(dt.UTC), duty.ends_at.astimezone(dt.UTC))
    place = (duty.casino.code, duty.pit.code if duty.pit else None)
    return LedgerEntry("duty", duty.pk, (duty.staff.number, duty.post, *place, *period, actor_name(actor), reason))


def verify_duty(*, standing: Capacity, duty: Duty) -> None:
    """Refuse an appointment that makes no sense or exceeds its bounds; each fault is told with its field."""
    staff = duty.staff
    if staff == duty.granted_by:
        raise ValidationError("Nobody appoints themselves.")
    if not is_above(standing.role.post or "", duty.post):
        raise ValidationError({"post": f"A {standing} appoints to posts below their own; ask somebody above."})
    if is_above(staff.post, standing.role.post or ""):
        raise ValidationError({"staff": f"{staff} holds a post above that of a {standing}; ask somebody above."})
    if not staff.is_active:
        raise ValidationError({"staff": f"{staff} is no longer active."})
    if staff.casino_id != duty.casino_id:
        raise ValidationError({"staff": f"{staff} belongs to another casino."})
    verify_department(duty)
    if duty.post == staff.post:
        raise ValidationError(
            {"post": f"{staff} is {post_name(staff.post).lower()} already; choose another post than their own."}
        )
    verify_steps(standing=standing, duty=duty)
    verify_period(duty)
    verify_pit_of_casino(duty.pit, duty.casino)


def verify_department(duty: Duty) -> None:
    """Only people of the pit act in its posts, unless the casino allows others."""
    if is_of_posts(duty.staff.department) or acting_limits_of(duty.casino).other_departments:
        return
    raise ValidationError(
        {
            "staff": f"{duty.staff} does not work in the pit, and {duty.casino.code} does not allow people of other "
            "departments to act in its posts. Choose a person of the pit, or ask compliance to change the threshold."
        }
    )


def verify_steps(*, standing: Capacity, duty: Duty) -> None:
    """Refuse more than one step up without the casino manager, who also appoints people without a post in the pit."""
    own = duty.staff.post
    steps, needed_post = rank(duty.post) - rank(own), access_policy().appoints_over_steps
    if (own and steps <= 1) or standing.role.post == needed_post:
        return
    wanted, needed = duty.get_post_display().lower(), post_name(needed_post).lower()
    gap = f"{steps} steps above {post_name(own).lower()}" if own else "for somebody without a post in the pit"
    raise ValidationError(
        {"post": f"Acting {wanted} is {gap}; more than one step takes a {needed}. Ask one, or choose a lower post."}
    )


def verify_period(duty: Duty) -> None:
    if duty.ends_at <= duty.starts_at:
        raise ValidationError({"ends_at": "An acting appointment ends after it starts."})
    now = timezone.now()
    if duty.ends_at <= now:
        raise ValidationError({"ends_at": "This moment has passed; nobody is appointed for the past."})
    if duty.starts_at < now - LATEST:
        raise ValidationError(
            {"starts_at": "This moment has passed. An acting appointment starts now or later: nobody is given a post "
             "for the past. Choose the present moment."}
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
    """Return from when to when the person would act in this post, in any pit, without a break."""
    starts_at, ends_at = duty.starts_at, duty.ends_at
    others = list(Duty.objects.filter(staff=duty.staff, post=duty.post, casino=duty.casino).exclude(pk=duty.pk))
    while joined := [one for one in others if one.starts_at <= ends_at + PAUSE and one.ends_at >= starts_at - PAUSE]:
        starts_at = min(starts_at, *(one.starts_at for one in joined))
        ends_at = max(ends_at, *(one.ends_at for one in joined))
        others = [one for one in others if one not in joined]
    return starts_at, ends_at


@transaction.atomic
def duty_end(*, actor: Staff, duty: Duty, reason: str) -> Duty:
    """End an appointment now, or call off one that has not begun. A second time changes nothing."""
    current = Duty.objects.select_for_update().get(pk=duty.pk)
    standing = authorize(actor, "duty.end", current)
    if not is_above(standing.role.post or "", current.post) and actor != current.granted_by:
        raise deny(actor, "duty.end", current)
    _end(current, actor=actor, reason=reason)
    return current


def duties_end(*, actor: Actor, staff: Staff, reason: str) -> list[Duty]:
    """End every appointment of a person who leaves. Called by the service that switched the account off."""
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
