"""What an order that waits would change, for the second person to read: each bet before and after, and each player."""

from dataclasses import dataclass, field

from audits.models import Consequence
from audits.rulings.corrections.plans import RoundChange, bets_changed, owed, planned_as_ordered
from games.access.gate import visible
from games.history.audited_save import OvertakenError
from games.models import Round, Staff

#: Rounds of which it is worked out what would change; of more it is shown once it is done.
MOST_FORESEEN = 500

Bet = tuple[int, str, str, int, int, int]  # number, player, box, stake, net before and after


@dataclass(frozen=True)
class Preview:
    """What would change, as far as the reader sees the rounds; or why it can no longer be executed as ordered."""

    changes: list[tuple[RoundChange, list[Bet]]] = field(default_factory=list)
    players: list[tuple[str, int]] = field(default_factory=list)
    fault: str = ""
    is_cut: bool = False
    hidden: int = 0  # rounds out of the reader's sight


def preview_of(actor: Staff, order: Consequence) -> Preview:
    """Work out what an order that waits would change."""
    if not order.is_waiting or not order.round_ids:
        return Preview()
    if len(order.round_ids) > MOST_FORESEEN:
        return Preview(is_cut=True)
    try:
        changes = planned_as_ordered(order)
    except OvertakenError as error:
        return Preview(fault=" ".join(error.messages))
    seen = set(visible(actor, Round.objects.filter(pk__in=order.round_ids)).values_list("pk", flat=True))
    shown = [change for change in changes if change.books.round.pk in seen]
    return Preview(
        [(change, bets_changed(change)) for change in shown], sorted(owed(shown).items()),
        hidden=len(changes) - len(shown),
    )  # fmt: skip
