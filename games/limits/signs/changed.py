"""What changed on a sign, in words."""

from games.engine.signs.changes import NAMES, LimitChange, changes
from games.labels.boxes import key_label
from games.labels.money import limit_label
from games.models import LimitSet

#: How many changes of a sign are listed one by one.
SHOWN = 6
#: Relations to prefetch where many limit sets are listed.
CHANGED_BY = (
    "sheet__lines",
    "sheet__differentials",
    "decision__proposal__signs__base__sheet__lines",
    "decision__proposal__signs__base__sheet__differentials",
)


def change_text(change: LimitChange) -> str:
    """Write one change in a line: Big/Small minimum 50 → 100."""
    new = "removed" if change.is_removal else limit_label(change.new)
    return f"{key_label(change.key)} {NAMES[change.figure]} {limit_label(change.old)} → {new}"


def changed_text(limit_set: LimitSet) -> str:
    """List old and new figures of an approved proposal; empty if a file set the limits."""
    if limit_set.decision is None:
        return ""
    signs = {sign.table_id: sign for sign in limit_set.decision.proposal.signs.all()}
    sign = signs.get(limit_set.table_id)
    if sign is None:
        return ""
    found = [change_text(change) for change in changes(sign.base_limits(), limit_set.sheet.limits())]
    more = f"; and {len(found) - SHOWN} more" if len(found) > SHOWN else ""
    return "; ".join(found[:SHOWN]) + more
