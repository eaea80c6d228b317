"""Duties: a higher post for a time, granted by somebody in a post above it."""

import datetime as dt

from django.core.exceptions import ValidationError
from django.db import transaction
from django.utils import timezone

from games.models import Casino, Duty, Pit, Staff
from games.roles import is_above, post_name
from games.services.gate import Actor, Standing, authorize, deny, name_of
from games.services.ledger import Entry, ledger_append
from games.services.people import verify_pit_of_casino
from games.services.saving import record_change, record_save


@transaction.atomic
def duty_grant(
    *, actor: Actor, staff: Staff, post: str, casino: Casino, pit: Pit | None = None,
    starts_at: dt.datetime, ends_at: dt.datetime, reason: str,
) -> Duty:  # fmt: skip
    duty = Duty(
        staff=staff, post=post, casino=casino, pit=pit, starts_at=starts_at, ends_at=ends_at, reason=reason,
        granted_by=actor if isinstance(actor, Staff) else None,
    )  # fmt: skip
    standing = authorize(actor, "duty.add", duty)  # the operator holds no post, and is turned away here
    verify_duty(standing=standing, duty=duty)
    duty.granted_as = standing.role.post or ""
    record_save(duty, actor=actor, reason=reason)
    ledger_append(casino, duty_entry(duty, actor, reason))
    return duty


def duty_entry(duty: Duty, actor: Actor, reason: str) -> Entry:
    """What the ledger holds of a duty, at its grant and again at its end."""
    period = (duty.starts_at.astimezone(dt.UTC), duty.ends_at.astimezone(dt.UTC))
    place = (duty.casino.code, duty.pit.code if duty.pit else None)
    return Entry("duty", duty.pk, (duty.staff.number, duty.post, *place, *period, name_of(actor), reason))


def verify_duty(*, standing: Standing, duty: Duty) -> None:
    """What makes sense as a duty; each fault is told with its field."""
    staff = duty.staff
    if staff == duty.granted_by:
        raise ValidationError("Nobody grants a duty to himself.")
    if not is_above(standing.role.post or "", duty.post):
        raise ValidationError({"post": f"A {standing} grants posts below his own; ask somebody above."})
    if staff.department != "pit" or not staff.is_active:
        raise ValidationError({"staff": f"{staff} is not at work in the pit; only people of the pit act in its posts."})
    if staff.casino_id != duty.casino_id:
        raise ValidationError({"staff": f"{staff} belongs to another casino."})
    if not is_above(duty.post, staff.post):
        raise ValidationError(
            {"post": f"{staff} is {post_name(staff.post).lower()} already; a duty is for a higher post."}
        )
    if duty.ends_at <= duty.starts_at:
        raise ValidationError({"ends_at": "A duty ends after it starts."})
    if duty.ends_at <= timezone.now():
        raise ValidationError({"ends_at": "This moment has passed; a duty cannot be granted for the past."})
    verify_pit_of_casino(duty.pit, duty.casino)


@transaction.atomic
def duty_end(*, actor: Staff, duty: Duty, reason: str) -> Duty:
    """End a duty now, or call off one that has not begun. A second time changes nothing."""
    current = Duty.objects.select_for_update().get(pk=duty.pk)
    standing = authorize(actor, "duty.end", current)
    if not is_above(standing.role.post or "", current.post) and actor != current.granted_by:
        raise deny(actor, "duty.end", current)
    now = timezone.now()
    if current.ends_at > now:
        ends_at = max(now, current.starts_at + dt.timedelta(microseconds=1))
        record_change(current, {"ends_at": ends_at}, actor=actor, reason=reason)
        ledger_append(current.casino, duty_entry(current, actor, reason))
    return current
