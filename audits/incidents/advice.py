"""The advice on an incident: what the rulebook says, what to do next, and the figures that go with it."""

import datetime as dt
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from audits.incidents.affected_rounds import blast_radius
from audits.incidents.checklist import next_steps
from audits.reconciliation.explain import recorded_round
from audits.reconciliation.terms import terms_of_day
from games.engine.dice import parse_known_dice
from games.engine.json_output import advise_document
from games.engine.money import format_money
from games.engine.play.findings import RecordedRound
from games.engine.play.interrupted_outcome import outcome
from games.engine.rules.advice import advise
from games.engine.signs.limits import effective_stakes, holdings
from games.models import Round, Table
from games.rounds.terms import Terms, terms_at

LIMITS = ("over-limit-noticed", "over-limit-unnoticed", "below-minimum-noticed", "below-minimum-unnoticed")


@dataclass(frozen=True)
class AdviceQuestion:
    """What is known of an incident while its form is filled in."""

    table: Table
    at: dt.datetime
    situation: str
    facts: dict[str, str] = field(default_factory=dict)
    rounds: Sequence[Round] = ()
    patrons: Sequence[str] = ()
    until: dt.datetime | None = None  # when it ended, or was found


def advice_on(asked: AdviceQuestion) -> dict[str, Any]:
    """As JSON, as it is kept with the file. An InputError says what is missing or unknown."""
    terms = terms_at(asked.table, asked.at)
    if terms.assignment is None:
        return {"explain": f"{asked.table} had no game at that moment, so no rulebook says anything."}
    book = terms.book
    advised = advise(book, asked.situation, asked.facts)
    document: dict[str, Any] = advise_document(book.id, asked.situation, asked.facts)
    return {
        "rulebook": book.id,
        "layout": terms.layout.code,
        "facts": dict(asked.facts),
        **document,
        "steps": next_steps(asked.situation, advised.action),
        "figures": figures_of(asked, terms),
    }


def figures_of(asked: AdviceQuestion, terms: Terms) -> dict[str, Any]:
    """What the situation has to do with: limits, boxes, rounds, winnings. Empty where there is nothing to count."""
    if asked.situation == "interruption":
        return decided(terms, asked.facts.get("known_dice", "?,?,?"))
    if asked.situation == "dice-damaged":
        return blast_radius(asked.table, asked.at, asked.until)
    if asked.situation in LIMITS:
        return {"rounds": [limit_figures(round_) for round_ in asked.rounds]}
    if asked.situation == "player-left":
        return {"kept": [kept for round_ in asked.rounds for kept in winnings(round_, asked.patrons)]}
    return {}


def decided(terms: Terms, known_dice: str) -> dict[str, Any]:
    """Which boxes have won or lost whatever the other dice would show; the open ones are for a ruling."""
    book = terms.book
    found = outcome(terms.layout, parse_known_dice(known_dice))
    return {
        "won": list(found.won),
        "lost": list(found.lost),
        "open": list(found.open),
        "open_rules": book.cite(*book.ruling_rules) if found.open and found.is_established else [],
    }


def limit_figures(round_: Round) -> dict[str, Any]:
    """A round's boxes over or under their limits, and what of each bet stands."""
    recorded = _recorded(round_)
    return {
        "round": round_.ref,
        "breaches": [
            {
                "kind": breach.kind, "boxes": list(breach.boxes), "player": breach.player,
                "placed": format_money(breach.placed), "permitted": format_money(breach.permitted),
            }
            for breach in recorded.breaches()
        ],
        "cut": [
            {
                "player": bet.player, "box": bet.box, "stake": format_money(bet.stake),
                "stands": format_money(stake), "goes_back": format_money(bet.stake - stake),
            }
            for bet, stake in zip(recorded.counting, standing_stakes(recorded), strict=True)
            if stake < bet.stake
        ],
    }  # fmt: skip


def standing_stakes(recorded: RecordedRound) -> list[int]:
    """What of each bet stands, whatever the dice show or will show; of a void round there is nothing to cut."""
    if recorded.assessment.is_void:
        return [bet.stake for bet in recorded.counting]
    policy = recorded.excess or recorded.book.limits.excess
    boxes = holdings(recorded.layout, recorded.limits, recorded.counting)
    return effective_stakes(policy, boxes, recorded.counting, recorded.limits.chip_unit)


def winnings(round_: Round, patrons: Sequence[str]) -> list[dict[str, Any]]:
    """What absent players won, stake and gain together: it is kept for them."""
    recorded = _recorded(round_)
    return [
        {
            "round": round_.ref, "player": bet.player, "box": bet.box, "stake": format_money(bet.stake),
            "won": format_money(net), "kept": format_money(bet.stake + net),
        }
        for bet, (net, _) in zip(recorded.bets, recorded.expected(), strict=False)
        if bet.player in patrons and net > 0
    ]  # fmt: skip


def _recorded(round_: Round) -> RecordedRound:
    return recorded_round(round_, terms_of_day(round_.table).at(round_.assignment_id, round_.started_at))
