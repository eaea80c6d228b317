"""Create and change casinos and pits."""

import datetime as dt
from typing import Any

from django.core.exceptions import ValidationError
from django.db import transaction

from games.access.gate import Actor, authorize
from games.floor.models.casino import NOTICE_MINUTES
from games.history.audited_save import record_change, record_save
from games.models import Casino, Pit

#: Fields that only two people of compliance change (games.thresholds.services).
THRESHOLDS = ("acting_days", "acting_other_departments")


@transaction.atomic
def casino_create(
    *, actor: Actor, code: str, name: str, timezone: str, currency: str, gaming_day_starts: dt.time,
    notice_minutes: int = NOTICE_MINUTES, operator: str = "", reason: str,
) -> Casino:  # fmt: skip
    authorize(actor, "casino.add")
    casino = Casino(
        code=code, name=name, timezone=timezone, currency=currency, gaming_day_starts=gaming_day_starts,
        notice_minutes=notice_minutes, operator=operator,
    )  # fmt: skip
    record_save(casino, actor=actor, reason=reason)
    return casino


@transaction.atomic
def casino_update(*, actor: Actor, casino: Casino, changes: dict[str, Any], reason: str) -> bool:
    current = Casino.objects.select_for_update().get(pk=casino.pk)
    authorize(actor, "casino.change", current)
    if bound := sorted(set(changes) & set(THRESHOLDS)):
        raise ValidationError(f"{', '.join(bound)}: two people of compliance change this under Findings, Thresholds.")
    return record_change(current, changes, actor=actor, reason=reason)


@transaction.atomic
def pit_create(*, actor: Actor, casino: Casino, code: str, name: str, reason: str) -> Pit:
    authorize(actor, "pit.add", casino)
    pit = Pit(casino=casino, code=code, name=name)
    record_save(pit, actor=actor, reason=reason)
    return pit


@transaction.atomic
def pit_update(*, actor: Actor, pit: Pit, changes: dict[str, Any], reason: str) -> bool:
    """Change a pit's code and name. Its casino is fixed."""
    current = Pit.objects.select_for_update().get(pk=pit.pk)
    authorize(actor, "pit.change", current)
    return record_change(current, changes, actor=actor, reason=reason)


def verify_pit_of_casino(pit: Pit | None, casino: Casino | None) -> None:
    if pit is not None and pit.casino != casino:
        raise ValidationError({"pit": f"{pit} is not a pit of this casino; choose one of its pits, or none."})
