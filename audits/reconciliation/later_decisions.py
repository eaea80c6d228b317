"""Decisions on rounds after they were recorded: rulings and corrections."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from audits.models import Correction
from games.database.sql import query_rows


@dataclass(frozen=True)
class LaterDecisions:
    """The decisions on one round after it was recorded."""

    rulings: tuple[str, ...] = ()  # their numbers
    correction: Correction | None = None  # the last one
    by_rule: Correction | None = None  # the last one that rests on a rule, not on a ruling or discretion


#: The numbers of rulings on each round, through incidents.
RULINGS = """
SELECT o.round_id, r.number FROM audits_incidentround o JOIN audits_ruling r ON r.incident_id = o.incident_id
WHERE o.round_id = ANY (%s) ORDER BY r.id
"""


def later_decisions_of(keys: Sequence[int], *, with_corrections: bool = True) -> dict[int, LaterDecisions]:
    """Return the later decisions by round, without the rounds that have none."""
    last: dict[int, Correction] = {}
    by_rule: dict[int, Correction] = {}
    if with_corrections:
        made = Correction.objects.filter(round__in=keys).order_by("ordinal")
        for correction in made.select_related("consequence__ruling").defer("consequence__ruling__search"):
            last[correction.round_id] = correction
            if not decision_of(correction):
                by_rule[correction.round_id] = correction
    rulings: dict[int, list[str]] = defaultdict(list)
    for key, number in query_rows(RULINGS, list(keys)):
        rulings[key].append(number)
    return {
        key: LaterDecisions(tuple(dict.fromkeys(rulings[key])), last.get(key), by_rule.get(key))
        for key in {*last, *rulings}
    }


def decision_of(correction: Correction) -> str:
    """Name the ruling or discretion that a correction rests on; empty if it rests on a rule."""
    order = correction.consequence
    if order.ruling is not None:
        return order.ruling.number
    return f"discretion no. {order.discretion_id}" if order.discretion_id else ""
