"""The current status of corrected rounds, for the pages and API of the game (games.rounds.current_status)."""

from collections.abc import Sequence

from audits.models import Correction
from games.models import Round
from games.rounds.current_status import Corrected


def corrected_rounds(keys: Sequence[int]) -> dict[int, Corrected]:
    """Return the latest correction of each corrected round, by key."""
    found: dict[int, Corrected] = {}
    columns = ("round_id", "ordinal", "is_void", "is_settled", "rules")
    rows = Correction.objects.filter(round__in=keys).order_by("round_id", "ordinal").values_list(*columns)
    for key, ordinal, is_void, is_settled, rules in rows:
        earlier = found.get(key)
        status = Round.Status.VOID if is_void else Round.Status.SETTLED if is_settled else None
        kept = earlier.status if earlier else None
        found[key] = Corrected(ordinal, str(status) if status else kept, tuple(rules))
    return found
