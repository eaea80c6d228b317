"""What a round in play comes to: by its dice, or void where its events say so."""

from games.engine.money import format_money
from games.engine.play.live_play import Play, assessed
from games.engine.settlement import RULING, Settlement, settle, settle_void
from games.live.session_state import SessionState


def expected(stand: SessionState, play: Play) -> Settlement | None:
    """What the engine would settle now, with the limits of the round; None while there is nothing to settle by."""
    if not play.events:
        return None
    found, bets = assessed(stand.book, play), play.bets()
    if found.is_void:
        rule = found.void_rules[0] if found.void_rules else RULING
        return settle_void(stand.book, stand.layout, rule, bets, stand.limits)
    if found.throw is None:
        return None
    return settle(stand.book, stand.layout, found.throw, bets, limits=stand.limits, excess=stand.excess)


def expected_nets(stand: SessionState, play: Play) -> list[dict[str, str]]:
    """The nets of a settlement as a terminal sends them."""
    settlement = expected(stand, play)
    return [
        {"player": one.bet.player, "box": one.bet.box, "net": format_money(one.net)}
        for one in (settlement.bets if settlement else ())
    ]
