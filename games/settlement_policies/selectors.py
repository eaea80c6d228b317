"""Which settlement policies are in force when: of each thing that one can set, the latest that nobody has replaced.

A policy on record from before that the rulebook does not leave open (such as `in-full` under RWS 5.1.1) is not applied:
what is found in a round follows the rules. The policy and its ruling stay on record, and are listed for review.
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
    """What is in force from a moment on. Nothing set: the document's own way, to the table's chip unit."""

    starts_at: dt.datetime = BEGINNING
    excess: str | None = None
    rounding: int | None = None
    rulings: tuple[str, ...] = ()  # by which it is so


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
    """`rows` in the order of their start; of two from the same moment, the later one counts."""
    standing = [row for row in rows if row.starts_at <= moment and not _is_replaced(row, moment, known_at)]
    excess = next((row for row in reversed(standing) if row.excess and EXCESS not in faults_of(row)), None)
    rounding = next((row for row in reversed(standing) if row.rounding and ROUNDING not in faults_of(row)), None)
    rulings = dict.fromkeys(row.ruling for row in (excess, rounding) if row is not None)
    return Policy(moment, excess.excess if excess else None, rounding.rounding if rounding else None, tuple(rulings))


def faults_of(row: SettlementPolicy) -> dict[str, str]:
    """Why what a policy sets is not applied, by the name of the setting: its rulebook does not leave it open."""
    book = rulebooks().get(row.rulebook)
    return setting_faults(book, row.excess, row.rounding) if book else {}


def _is_replaced(row: SettlementPolicy, moment: dt.datetime, known_at: dt.datetime | None) -> bool:
    later = getattr(row, "replaced_by", None)
    if later is None or later.starts_at > moment:
        return False
    return known_at is None or later.recorded_at <= known_at
