"""What a limit set changed on the sign that it replaced, in words."""

from games.engine.signs.changes import changes
from games.limits.signs.names import change_text
from games.models import LimitSet

SHOWN = 6
#: What is read beforehand for many limit sets at once.
CHANGED_BY = (
    "sheet__lines",
    "sheet__differentials",
    "decision__proposal__signs__base__sheet__lines",
    "decision__proposal__signs__base__sheet__differentials",
)


def changed_text(limit_set: LimitSet) -> str:
    """List old and new of each figure that an approved proposal changed; empty where a file set the limits."""
    if limit_set.decision is None:
        return ""
    signs = {sign.table_id: sign for sign in limit_set.decision.proposal.signs.all()}
    sign = signs.get(limit_set.table_id)
    if sign is None:
        return ""
    found = [change_text(change) for change in changes(sign.base_limits(), limit_set.sheet.limits())]
    more = f"; and {len(found) - SHOWN} more" if len(found) > SHOWN else ""
    return "; ".join(found[:SHOWN]) + more
