"""The expected outcome of a round in play: by its dice, or void if its events say so."""

from games.engine.money import format_money
from games.engine.play.live_play import Play, assessed
from games.engine.settlement import RULING, Settlement, settle, settle_void
from games.live.session_state import SessionState


def expected(session: SessionState, play: Play) -> Settlement | None:
    """Settle the round as it is now, with its limits; None while there is nothing to settle by."""
    if not play.events:
        return None
    assessment, bets = assessed(session.book, play), play.bets()
    if assessment.is_void:
        rule = assessment.void_rules[0] if assessment.void_rules else RULING
        return settle_void(session.book, session.layout, rule, bets, session.limits)
    if assessment.throw is None:
        return None
    return settle(session.book, session.layout, assessment.throw, bets, limits=session.limits, excess=session.excess)


def expected_nets(session: SessionState, play: Play) -> list[dict[str, str]]:
    """Return the expected nets as a terminal sends them."""
    settlement = expected(session, play)
    return [
        {"player": settled.bet.player, "box": settled.bet.box, "net": format_money(settled.net)}
        for settled in (settlement.bets if settlement else ())
    ]
