"""What became of rounds since they were recorded: the rulings about them, and their corrections."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from audits.models import Correction
from games.database.sql import query_rows


@dataclass(frozen=True)
class LaterDecisions:
    rulings: tuple[str, ...] = ()  # numbers
    correction: Correction | None = None  # the last one
    by_rule: Correction | None = None  # the last one that a rule itself decided, and no ruling or discretion


#: SQL by hand for the benchmark: the keys go as one array.
#: Numbers of rulings, by the rounds of their incidents.
RULINGS = """
SELECT o.round_id, r.number FROM audits_incidentround o JOIN audits_ruling r ON r.incident_id = o.incident_id
WHERE o.round_id = ANY (%s) ORDER BY r.id
"""


def later_decisions_of(keys: Sequence[int], *, with_corrections: bool = True) -> dict[int, LaterDecisions]:
    """Of these rounds, those about which something was said."""
    last: dict[int, Correction] = {}
    by_rule: dict[int, Correction] = {}
    if with_corrections:
        made = Correction.objects.filter(round__in=keys).order_by("ordinal")
        for one in made.select_related("consequence__ruling").defer("consequence__ruling__search"):
            last[one.round_id] = one
            if not decision_of(one):
                by_rule[one.round_id] = one
    rulings: dict[int, list[str]] = defaultdict(list)
    for key, number in query_rows(RULINGS, list(keys)):
        rulings[key].append(number)
    return {
        key: LaterDecisions(tuple(dict.fromkeys(rulings[key])), last.get(key), by_rule.get(key))
        for key in {*last, *rulings}
    }


def decision_of(correction: Correction) -> str:
    """The ruling or discretion that a correction rests on; empty where a rule itself says so."""
    order = correction.consequence
    if order.ruling is not None:
        return order.ruling.number
    return f"discretion no. {order.discretion_id}" if order.discretion_id else ""
