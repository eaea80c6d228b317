"""The preview of a waiting order for the second person: each bet before and after, and each player's amount."""

from dataclasses import dataclass, field

from audits.models import Consequence
from audits.rulings.corrections.plans import RoundChange, bets_changed, owed, planned_as_ordered
from games.access.gate import visible
from games.history.audited_save import OvertakenError
from games.models import Round, Staff

#: An order with more rounds has no preview; its changes are shown once it is executed.
MOST_PREVIEWED = 500

Bet = tuple[int, str, str, int, int, int]  # number, player, box, stake, net before and after


@dataclass(frozen=True)
class Preview:
    """What would change in the visible rounds; or why the order can no longer be executed as it was ordered."""

    changes: list[tuple[RoundChange, list[Bet]]] = field(default_factory=list)
    players: list[tuple[str, int]] = field(default_factory=list)
    fault: str = ""
    is_cut: bool = False
    hidden: int = 0  # rounds that the reader may not see


def preview_of(actor: Staff, order: Consequence) -> Preview:
    """Return what a waiting order would change."""
    if not order.is_waiting or not order.round_ids:
        return Preview()
    if len(order.round_ids) > MOST_PREVIEWED:
        return Preview(is_cut=True)
    try:
        changes = planned_as_ordered(order)
    except OvertakenError as error:
        return Preview(fault=" ".join(error.messages))
    seen = set(visible(actor, Round.objects.filter(pk__in=order.round_ids)).values_list("pk", flat=True))
    shown = [change for change in changes if change.before.round.pk in seen]
    return Preview(
        [(change, bets_changed(change)) for change in shown], sorted(owed(shown).items()),
        hidden=len(changes) - len(shown),
    )  # fmt: skip
