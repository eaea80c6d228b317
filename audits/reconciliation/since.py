"""What became of rounds since they were recorded: the rulings about them, and the last correction of each."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from audits.asking import rows
from audits.models import Correction


@dataclass(frozen=True)
class Since:
    rulings: tuple[str, ...] = ()  # numbers
    correction: Correction | None = None


#: Numbers of rulings, by the rounds of their incidents.
RULINGS = """
SELECT o.round_id, r.number FROM audits_incidentround o JOIN audits_ruling r ON r.incident_id = o.incident_id
WHERE o.round_id = ANY (%s) ORDER BY r.id
"""


def since_of(keys: Sequence[int], *, with_corrections: bool = True) -> dict[int, Since]:
    """Of these rounds, those about which something was said."""
    last: dict[int, Correction] = {}
    if with_corrections:
        last = {one.round_id: one for one in Correction.objects.filter(round__in=keys).order_by("ordinal")}
    rulings: dict[int, list[str]] = defaultdict(list)
    for key, number in rows(RULINGS, list(keys)):
        rulings[key].append(number)
    return {key: Since(tuple(dict.fromkeys(rulings[key])), last.get(key)) for key in {*last, *rulings}}
