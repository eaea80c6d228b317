"""Limit sheets: the stored content of signs, and their ledger entries."""

import datetime as dt
from collections.abc import Iterable

from games.engine.signs.limits import Limits
from games.ledger.services import LedgerEntry
from games.models import DifferentialLine, LimitLine, LimitSet, LimitSheet


def sheets_create(signs: Iterable[Limits]) -> list[LimitSheet]:
    """Create a sheet for each sign; equal signs share one."""
    made: list[tuple[Limits, LimitSheet]] = []
    found = []
    for limits in signs:
        sheet = next((sheet for known, sheet in made if known == limits), None)
        if sheet is None:
            sheet = sheet_create(limits)
            made.append((limits, sheet))
        found.append(sheet)
    return found


def sheet_create(limits: Limits) -> LimitSheet:
    sheet = LimitSheet.objects.create()
    LimitLine.objects.bulk_create(
        LimitLine(sheet=sheet, key=key, minimum=line.minimum, maximum=line.maximum)
        for key, line in limits.by_key.items()
    )
    DifferentialLine.objects.bulk_create(
        DifferentialLine(sheet=sheet, type=type_, amount=amount) for type_, amount in limits.differential.items()
    )
    return sheet


def limits_entry(limit_set: LimitSet) -> LedgerEntry:
    """Build the ledger entry of a sign: its content, its start and its origin."""
    limits = limit_set.sheet.limits()
    lines = [(key, line.minimum, line.maximum) for key, line in limits.by_key.items()]
    decision = limit_set.decision
    people = (decision.proposal.who, decision.who, decision.reason) if decision else (None, limit_set.who, None)
    values = (limit_set.starts_at.astimezone(dt.UTC), limit_set.revision, lines, list(limits.differential.items()))
    return LedgerEntry("limits", limit_set.pk, (*values, str(limit_set.origin), limit_set.source, *people))
