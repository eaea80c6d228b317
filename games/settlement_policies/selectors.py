"""Which settlement policies are in force when: for each setting, the latest that was not replaced.

A recorded policy that the rulebook does not leave open (such as `in-full` under RWS 5.1.1) is not applied: findings
follow the rules. The policy and its ruling stay on record and are listed for review.
"""

import datetime as dt
from collections.abc import Sequence
from dataclasses import dataclass

from django.db.models import Q

from games.engine.rules.loader import rulebooks
from games.engine.rules.readings import EXCESS, ROUNDING, setting_faults
from games.models import Casino, SettlementPolicy

BEGINNING = dt.datetime(1970, 1, 2, tzinfo=dt.UTC)


@dataclass(frozen=True)
class Policy:
    """The policy in force from a moment on. Empty settings mean the document's own way and the table's chip unit."""

    starts_at: dt.datetime = BEGINNING
    excess: str | None = None
    rounding: int | None = None
    rulings: tuple[str, ...] = ()  # the rulings that set it


def policies_of(casino: Casino | int, rulebook: str, known_at: dt.datetime | None = None) -> list[Policy]:
    """Return the policies of a casino for a rulebook as known now or at a moment, the first one first.

    From the beginning on nothing is set.
    """
    known = Q() if known_at is None else Q(recorded_at__lte=known_at)
    rows = SettlementPolicy.objects.filter(known, casino=casino, rulebook=rulebook).order_by("starts_at", "pk")
    return periods(list(rows.select_related("replaced_by")), known_at)


def periods(rows: Sequence[SettlementPolicy], known_at: dt.datetime | None = None) -> list[Policy]:
    """Return what these policies set from each of their moments on."""
    starts = sorted({row.starts_at for row in rows})
    return [Policy(), *(_at(rows, moment, known_at) for moment in starts)]


def _at(rows: Sequence[SettlementPolicy], moment: dt.datetime, known_at: dt.datetime | None) -> Policy:
    """Return the policy in force at a moment. Of two `rows` with the same start, the later one counts."""
    in_force = [row for row in rows if row.starts_at <= moment and not _is_replaced(row, moment, known_at)]
    excess = next((row for row in reversed(in_force) if row.excess and EXCESS not in faults_of(row)), None)
    rounding = next((row for row in reversed(in_force) if row.rounding and ROUNDING not in faults_of(row)), None)
    rulings = dict.fromkeys(row.ruling for row in (excess, rounding) if row is not None)
    return Policy(moment, excess.excess if excess else None, rounding.rounding if rounding else None, tuple(rulings))


def faults_of(row: SettlementPolicy) -> dict[str, str]:
    """Return, by setting, why it is not applied: its rulebook does not leave it open."""
    book = rulebooks().get(row.rulebook)
    return setting_faults(book, row.excess, row.rounding) if book else {}


def _is_replaced(row: SettlementPolicy, moment: dt.datetime, known_at: dt.datetime | None) -> bool:
    later = getattr(row, "replaced_by", None)
    if later is None or later.starts_at > moment:
        return False
    return known_at is None or later.recorded_at <= known_at
