"""What became of rounds since they were recorded: the rulings about them, and the last correction of each."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from audits.models import Correction, IncidentRound


@dataclass(frozen=True)
class Since:
    rulings: tuple[str, ...] = ()  # numbers
    correction: Correction | None = None


def since_of(keys: Sequence[int]) -> dict[int, Since]:
    """Of these rounds, those about which something was said."""
    last = {one.round_id: one for one in Correction.objects.filter(round__in=keys).order_by("ordinal")}
    answered = IncidentRound.objects.filter(round__in=keys, incident__rulings__isnull=False)
    rulings: dict[int, list[str]] = defaultdict(list)
    for key, number in answered.order_by("incident__rulings__pk").values_list("round_id", "incident__rulings__number"):
        rulings[key].append(number)
    return {key: Since(tuple(dict.fromkeys(rulings[key])), last.get(key)) for key in {*last, *rulings}}
