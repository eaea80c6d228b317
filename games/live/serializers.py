"""Rounds in play as JSON: the answers to terminals, and the round as it is recorded at its end."""

from collections.abc import Iterable, Sequence
from typing import Any

from games.engine.money import format_money
from games.engine.play.irregularities import Irregularity
from games.engine.play.live_play import Chips, Play, PlayRefusal, assessed, following, is_open
from games.engine.play.watch import BoxWatch, PairWatch, Watch, watch
from games.engine.rules.rulebook import Rulebook
from games.floor.moments import as_text
from games.live.session_state import SessionState
from games.models import LiveRound


def live_document(live: LiveRound) -> dict[str, Any]:
    """Return a round in play as it appears in lists."""
    casino = live.table.casino
    return {
        "id": live.pk,
        "source": live.source,
        "ref": live.ref,
        "table": live.table.code,
        "dealer": live.dealer,
        "supervisor": live.supervisor,
        "rulebook": live.rulebook,
        "layout": live.layout,
        "state": live.state,
        "steps": live.steps_taken,
        "opened_at": as_text(live.opened_at, casino),
        "last_step_at": as_text(live.last_step_at, casino),
        "left_open": live.is_left_open,
        "recorded": live.recorded_id,
    }


def warnings_of(live: LiveRound, steps: int) -> list[dict[str, Any]]:
    """Return the faults of the table known after this many steps."""
    return [
        {"kind": warning.kind, "rules": warning.rules, "explain": warning.explain}
        for warning in live.warnings.filter(step__lte=steps).order_by("step", "pk")
    ]


def answer_document(
    session: SessionState,
    play: Play,
    steps: int,
    refusal: PlayRefusal | None = None,
    warnings: Sequence[dict[str, Any]] = (),
) -> dict[str, Any]:
    """Answer how a round is after a step. The same step always has the same answer."""
    live, book = session.live, session.book
    assessment = assessed(book, play) if play.events else None
    watched = watch(book, session.layout, session.limits, play) if is_open(book, play) else None
    return {
        "id": live.pk,
        "source": live.source,
        "ref": live.ref,
        "table": live.table.code,
        "state": play.state,
        "steps": steps,
        "next": following(book, play),
        "refused": {"rules": list(refusal.rules), "explain": refusal.explain} if refusal else None,
        "warnings": list(warnings),
        "void": assessment is not None and assessment.is_void,
        "irregularities": [
            irregularity_document(book, irregularity)
            for irregularity in (assessment.irregularities if assessment else ())
            if irregularity.action != "unfinished"  # as every round in play is
        ],
        "dice": list(assessment.throw.faces) if assessment and assessment.throw else None,
        "bets": [
            {"player": bet.player, "box": bet.box, "stake": format_money(bet.stake)} for bet in play.bets()
        ],
        **(watch_document(watched) if watched else {"boxes": None, "differentials": None, "worst": None}),
    }  # fmt: skip


def irregularity_document(book: Rulebook, irregularity: Irregularity) -> dict[str, Any]:
    rule = book.cite(irregularity.rule)[0] if irregularity.rule else None
    return {"rule": rule, "action": irregularity.action, "detail": irregularity.detail}


def watch_document(watched: Watch) -> dict[str, Any]:
    worst = {"dice": list(watched.worst.throw.faces), "house": format_money(watched.worst.house)}
    return {
        "boxes": [box_document(box) for box in watched.boxes],
        "differentials": [pair_document(pair) for pair in watched.pairs],
        "worst": worst,
    }


def box_document(box_watch: BoxWatch) -> dict[str, Any]:
    minimum = _money(box_watch.limits.minimum)
    return {
        "box": box_watch.box,
        "total": format_money(box_watch.total),
        "min": minimum,
        "max": _money(box_watch.limits.maximum),
        "room": _money(box_watch.room),
        "excess": [{"player": player, "stake": format_money(stake)} for player, stake in box_watch.excess],
        "below_minimum": [{"player": player, "stake": format_money(stake)} for player, stake in box_watch.short],
    }


def pair_document(pair_watch: PairWatch) -> dict[str, Any]:
    return {
        "type": pair_watch.type,
        "boxes": [pair_watch.heavier, pair_watch.lighter],
        "difference": format_money(pair_watch.difference),
        "limit": format_money(pair_watch.limit),
    }


def _money(amount: int | None) -> str | None:
    return None if amount is None else format_money(amount)


# --- The round as it is recorded -------------------------------------------------------------------


def round_of(live: LiveRound, play: Play) -> dict[str, Any]:
    """Return the round as if it had been sent whole."""
    document: dict[str, Any] = {"source": live.source, "ref": live.ref, "table": live.table.code}
    document |= {name: value for name in ("dealer", "supervisor") if (value := getattr(live, name)) is not None}
    document["events"] = [{"kind": kind, "at": at.isoformat(), **details} for kind, at, details in play.events]
    document["bets"] = [
        *_bets(play),
        *(_bet(chips) | {"refused": True} for chips in play.refused),
        *(_bet(chips) | {"withdrawn": at.isoformat()} for chips, at in play.withdrawn),
    ]
    return document


def _bets(play: Play) -> Iterable[dict[str, Any]]:
    """Yield the bets on the felt; a refused late withdrawal adds when it was first tried."""
    for bet in play.bets():
        place = (bet.player, bet.box)
        chips = play.chips_of(place)
        entry = _bet(chips)
        if place in play.nets:
            entry["net"] = format_money(play.nets[place])
        if (tried_at := play.late_withdrawals.get(place)) is not None:
            entry["withdrawn"] = max(tried_at, chips.at or tried_at).isoformat()
        yield entry


def _bet(chips: Chips) -> dict[str, Any]:
    """Return player, box and stake; and if known, when the bet was placed and that the house placed it."""
    entry: dict[str, Any] = {"player": chips.player, "box": chips.box, "stake": format_money(chips.stake)}
    if chips.at:
        entry["at"] = chips.at.isoformat()
    flags = {"house_placed": chips.house_placed, "call": chips.call_bet}
    return entry | {name: True for name, is_so in flags.items() if is_so}
