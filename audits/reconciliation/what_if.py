"""Replay a recorded round: settle it by another rulebook, layout, policy or sign, and compare with the terms now."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from audits.reconciliation.explain import recorded_round
from games.engine.errors import InputError
from games.engine.json_input import misfits
from games.engine.json_output import breach_document, ruling_documents
from games.engine.money import format_money
from games.engine.play.findings import RecordedBet, RecordedRound
from games.engine.rules.loader import layout, rulebook
from games.engine.rules.rulebook import Layout, Rulebook
from games.engine.signs.limits import Limits
from games.floor.moments import as_text
from games.models import LimitSet, Round
from games.rounds.terms import Terms

Row = dict[str, Any]
Net = int | None  # None: no net was recorded, or the round has no result


@dataclass(frozen=True)
class OtherGame:
    """The rulebook and layout to settle the round by instead."""

    book: Rulebook
    layout: Layout


@dataclass(frozen=True)
class Replay:
    """One round, settled twice: by its own terms and by others. The record is compared with the second settlement."""

    round: Round
    terms: Terms
    otherwise: RecordedRound
    left_out: Sequence[str] = ()  # lines of the table's own sign that do not fit the other layout
    limits_file: str | None = None

    @cached_property
    def now(self) -> RecordedRound:
        return recorded_round(self.round, self.terms)


def other_game(round_: Round, book_id: str | None, layout_code: str | None) -> OtherGame:
    """Return the rulebook and layout to replay by. Each defaults to the round's own."""
    book = rulebook(book_id or round_.rulebook)
    return OtherGame(book, layout(book, layout_code or round_.layout))


def sign_on(game: OtherGame, limits: Limits) -> tuple[Limits, list[str]]:
    """Return the lines of the table's own sign that fit another layout, and the names of those left out."""
    lacking = [(where, key) for where, key, _ in misfits(game.book, game.layout, limits.by_key, limits.differential)]
    kept = replace(
        limits,
        by_key={key: line for key, line in limits.by_key.items() if ("boxes", key) not in lacking},
        differential={
            key: amount for key, amount in limits.differential.items() if ("differential", key) not in lacking
        },
    )
    return kept, [key if where == "boxes" else f"{where} {key}" for where, key in lacking]


def replay(
    round_: Round, terms: Terms, game: OtherGame, *, excess: str | None = None, limits: Limits | None = None,
    limits_file: str | None = None,
) -> Replay:  # fmt: skip
    """Settle a recorded round by other terms. Terms that are not given stay as they are now."""
    own, left_out = sign_on(game, terms.limits)
    now = recorded_round(round_, terms)
    verify_boxes(game, now.bets)
    otherwise = replace(
        now,
        book=game.book,
        layout=game.layout,
        limits=own if limits is None else limits,
        excess=excess or (now.excess if game.book == now.book else None),
    )
    return Replay(round_, terms, otherwise, left_out if limits is None else (), limits_file)


def verify_boxes(game: OtherGame, bets: Iterable[RecordedBet]) -> None:
    """Raise if the layout lacks the box of a bet. Bets that do not count need no box."""
    missing = {bet.box: bet.player for bet in bets if bet.counts and bet.box not in game.layout.boxes}
    if missing:
        raise InputError(
            *(
                f"layout {game.layout.code} of {game.book.id} has no box {box}, on which {player} has a bet; "
                "choose a layout that has it."
                for box, player in missing.items()
            )
        )


# --- As a document ---------------------------------------------------------------------------------


def replay_document(done: Replay) -> Row:
    """Return a replay as JSON data."""
    round_, casino = done.round, done.round.table.casino
    bets = _bets(done)
    return {
        "round": {
            "ref": round_.ref, "source": round_.source, "table": round_.table.code,
            "gaming_day": round_.gaming_day.isoformat(), "started_at": as_text(round_.started_at, casino),
            "status": round_.status,
        },
        "recorded": {
            "rulebook": round_.rulebook, "layout": round_.layout, "limits_from": _from(round_.limit_set, round_),
        },
        "now": _settled_by(done.now) | {"limits_from": _from(done.terms.limit_set, round_)},
        "otherwise": _settled_by(done.otherwise) | _limits_of(done) | _faults_of(done.otherwise),
        "bets": [_shown(bet) for bet in bets],
        "players": [
            {"player": player} | _totals([bet for bet in bets if bet["player"] == player])
            for player in dict.fromkeys(bet["player"] for bet in bets)
        ],
        "house": _totals(bets, sign=-1),
    }  # fmt: skip


def _from(sign: LimitSet | None, round_: Round) -> str | None:
    return as_text(sign.starts_at, round_.table.casino) if sign else None


def _limits_of(done: Replay) -> Row:
    if done.limits_file is not None:
        return {"limits_from": done.limits_file, "left_out": []}
    return {"limits_from": _from(done.terms.limit_set, done.round), "left_out": list(done.left_out)}


def _settled_by(recorded_round: RecordedRound) -> Row:
    by_events = recorded_round.assessment
    status = "void" if by_events.is_void else "settled" if by_events.is_finished else "unfinished"
    return {
        "rulebook": recorded_round.book.id,
        "layout": recorded_round.layout.code,
        "excess": recorded_round.excess or recorded_round.book.limits.excess,
        "chip_unit": format_money(recorded_round.limits.chip_unit),
        "status": status,
        "dice": list(by_events.throw.faces) if by_events.throw else None,
    }


def _faults_of(recorded_round: RecordedRound) -> Row:
    return {
        "breaches": [breach_document(recorded_round.book, breach) for breach in recorded_round.breaches()],
        "needs_ruling": ruling_documents(recorded_round.book, recorded_round.settlement)
        if recorded_round.settlement
        else [],
        "irregularities": [
            {
                "rule": recorded_round.book.cite(irregularity.rule)[0] if irregularity.rule else None,
                "action": irregularity.action,
                "detail": irregularity.detail,
            }
            for irregularity in recorded_round.irregularities()
        ],
    }


def _bets(done: Replay) -> list[Row]:
    """List the bets with amounts in minor units, so that they can be added up."""
    now, otherwise = done.now.expected(), done.otherwise.expected()
    return [
        {
            "player": bet.player, "box": bet.box, "stake": bet.stake, "counts": bet.counts, "recorded": bet.net,
            "now": now[at][0] if now else None, "otherwise": otherwise[at][0] if otherwise else None,
            "rules": done.otherwise.book.cite(*otherwise[at][1]) if otherwise else [],
        }
        for at, bet in enumerate(done.now.bets)
    ]  # fmt: skip


def _shown(bet: Row) -> Row:
    return bet | {name: _money(bet[name]) for name in ("stake", "recorded", "now", "otherwise")}


def _totals(bets: Sequence[Row], sign: int = 1) -> Row:
    """Return the sums recorded, due now and due otherwise, and the difference between the last and the first."""
    recorded, now, otherwise = (_sum(bets, name, sign) for name in ("recorded", "now", "otherwise"))
    difference = None if otherwise is None else otherwise - (recorded or 0)
    amounts = {"recorded": recorded, "now": now, "otherwise": otherwise, "difference": difference}
    return {name: _money(amount) for name, amount in amounts.items()}


def _sum(bets: Sequence[Row], name: str, sign: int) -> Net:
    """Add up the known nets; None if none is known. A net that was not recorded counts as 0."""
    known = [bet[name] for bet in bets if bet[name] is not None]
    return sign * sum(known) if known or not bets else None


def _money(amount: Net) -> str | None:
    return None if amount is None else format_money(amount)
