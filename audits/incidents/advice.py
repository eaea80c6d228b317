"""The advice on an incident: the rulebook's answer, the next steps and the figures."""

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
from games.engine.rules.loader import rulebook
from games.engine.signs.limits import effective_stakes, holdings
from games.models import Round, Table, TableAssignment

LIMITS = ("over-limit-noticed", "over-limit-unnoticed", "below-minimum-noticed", "below-minimum-unnoticed")


@dataclass(frozen=True)
class AdviceQuestion:
    """The known facts of an incident, also while its form is being filled in."""

    table: Table
    at: dt.datetime
    situation: str
    facts: dict[str, str] = field(default_factory=dict)
    rounds: Sequence[Round] = ()
    patrons: Sequence[str] = ()
    until: dt.datetime | None = None  # when it ended, or was found


def advice_on(question: AdviceQuestion) -> dict[str, Any]:
    """Return the advice as the JSON document that is kept with the incident.

    An InputError says which fact is missing or unknown.
    """
    assignment = question.table.assignment_at(question.at)
    if assignment is None:
        return {"explain": f"{question.table} had no game at that moment, so no rulebook applies."}
    book = rulebook(assignment.rulebook)
    advised = advise(book, question.situation, question.facts)
    document: dict[str, Any] = advise_document(book.id, question.situation, question.facts)
    return {
        "rulebook": book.id,
        "layout": assignment.layout,
        "facts": dict(question.facts),
        **document,
        "steps": next_steps(question.situation, advised.action),
        "figures": figures_of(question, assignment),
    }


def figures_of(question: AdviceQuestion, assignment: TableAssignment) -> dict[str, Any]:
    """Return the figures for a situation (limits, boxes, rounds, winnings); empty where it has none."""
    if question.situation == "interruption":
        return decided_boxes(assignment, question.facts.get("known_dice", "?,?,?"))
    if question.situation == "dice-damaged":
        return blast_radius(question.table, question.at, question.until)
    if question.situation in LIMITS:
        return {"rounds": [limit_figures(round_) for round_ in question.rounds]}
    if question.situation == "player-left":
        return {"kept": [kept for round_ in question.rounds for kept in winnings(round_, question.patrons)]}
    return {}


def decided_boxes(assignment: TableAssignment, known_dice: str) -> dict[str, Any]:
    """Return the boxes that the known dice already decide; the open ones need a ruling."""
    book = rulebook(assignment.rulebook)
    found = outcome(book.layouts[assignment.layout], parse_known_dice(known_dice))
    return {
        "won": list(found.won),
        "lost": list(found.lost),
        "open": list(found.open),
        "open_rules": book.cite(*book.ruling_rules) if found.open and found.is_established else [],
    }


def limit_figures(round_: Round) -> dict[str, Any]:
    """Return the breaches of a round, and the part of each over-limit bet that counts."""
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
    """Return the part of each stake that counts; nothing is cut in a void round."""
    if recorded.assessment.is_void:
        return [bet.stake for bet in recorded.counting]
    policy = recorded.excess or recorded.book.limits.excess
    boxes = holdings(recorded.layout, recorded.limits, recorded.counting)
    return effective_stakes(policy, boxes, recorded.counting, recorded.limits.chip_unit)


def winnings(round_: Round, patrons: Sequence[str]) -> list[dict[str, Any]]:
    """Return the winning bets of absent players; stake and winnings are kept for them."""
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
