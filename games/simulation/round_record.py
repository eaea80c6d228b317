"""A round as it is recorded, and its findings as rows of the reports."""

import datetime as dt
from functools import lru_cache
from operator import attrgetter
from typing import Any
from zoneinfo import ZoneInfo

from games.engine.money import format_money
from games.simulation.known_findings import PLACES, Findings, Row, discrepancy_kind
from games.simulation.round_draft import (
    LATE,
    TAKEN_BACK,
    PlantedBreach,
    PlantedIrregularity,
    PlantedProcedural,
    RoundDraft,
    Wager,
)

money = lru_cache(maxsize=100_000)(format_money)
as_listed = attrgetter("stage", "second")


def document_of(draft: RoundDraft, zone: ZoneInfo, source: str) -> dict[str, Any]:
    """Return what a table system sends."""
    begins = draft.starts_at.astimezone(zone)

    def at(second: int) -> str:
        return (begins + dt.timedelta(seconds=second)).isoformat()

    people = {"dealer": draft.dealer, "supervisor": draft.supervisor}
    return {
        "source": source,
        "ref": draft.ref,
        "table": draft.table.code,
        **{name: number for name, number in people.items() if number is not None},
        "events": [{"kind": event.kind, "at": at(event.second), **event.details} for event in draft.in_order],
        "bets": [_bet(bet, at) for bet in draft.bets],
    }


def _bet(bet: Wager, at: Any) -> dict[str, Any]:
    entry: dict[str, Any] = {"player": bet.player, "box": bet.box, "stake": money(bet.stake)}
    if bet.net is not None:
        entry["net"] = money(bet.net)
    if bet.at is not None:
        entry["at"] = at(bet.at)
    if bet.house_placed:
        entry["house_placed"] = True
    if bet.call:
        entry["call"] = True
    if bet.refused:
        entry["refused"] = True
    if bet.withdrawn is not None:
        entry["withdrawn"] = at(bet.withdrawn)
    return entry


def findings_of(draft: RoundDraft, source: str) -> Findings:
    head = {"round_ref": draft.ref, "table": draft.table.code}
    tail = {"source": source}
    return Findings(
        [head | _discrepancy(draft, bet) | tail for bet in draft.bets if is_wrong(bet)],
        [head | _breach(draft, breach) | tail for breach in draft.breaches],
        [head | _irregularity(draft, irregularity) | tail for irregularity in _once(draft.irregular)],
        [
            head | _procedural(draft, fault) | tail
            for fault in sorted(draft.procedural, key=lambda fault: PLACES[fault.kind])
        ],
    )


def is_wrong(bet: Wager) -> bool:
    return bet.due is not None and bet.net is not None and bet.net != bet.due


def _discrepancy(draft: RoundDraft, bet: Wager) -> Row:
    due, net = bet.due or 0, bet.net or 0
    return {
        "kind": discrepancy_kind(due, net),
        "player": bet.player,
        "box": bet.box,
        "stake": money(bet.stake),
        "expected_net": money(due),
        "recorded_net": money(net),
        "rules": draft.table.book.cite(*rules_of(draft, bet)),
    }


def rules_of(draft: RoundDraft, bet: Wager) -> tuple[str, ...]:
    """Return the rules by which a bet is due its net."""
    book = draft.table.book
    if bet.is_out:
        return draft.situation(_why_out(bet)).rules
    if draft.is_void:
        return (*draft.void_rules, *book.void_rules)
    box = draft.table.layout.boxes[bet.box]
    won = bet.box in draft.table.odds(draft.dice)
    is_triple = len(set(draft.dice)) == 1
    return (*box.rules, *(box.win_rules if won else ()), *(book.triple_rules if is_triple else ()), *bet.limit_rules)


def _why_out(bet: Wager) -> str:
    """Return the situation that keeps a bet off the felt."""
    if bet.late or (bet.refused and bet.at is None):
        return "late-bet"
    return "over-limit-noticed" if bet.refused else "late-withdrawal"


def _breach(draft: RoundDraft, breach: PlantedBreach) -> Row:
    rules = draft.table.book.limits
    return {
        "kind": breach.kind,
        "boxes": list(breach.boxes),
        "player": breach.player,
        "placed": money(breach.placed),
        "permitted": money(breach.permitted),
        "rules": draft.table.book.cite(*(rules.below_minimum if breach.kind == "below-minimum" else rules.cut)),
    }


def _once(irregularities: list[PlantedIrregularity]) -> list[PlantedIrregularity]:
    """List each rule and action once; a late bet or withdrawal once per bet."""
    listed: list[PlantedIrregularity] = []
    seen: set[tuple[str | None, str]] = set()
    for entry in sorted(irregularities, key=as_listed):
        if entry.stage in (LATE, TAKEN_BACK) or (entry.rule, entry.action) not in seen:
            listed.append(entry)
        seen.add((entry.rule, entry.action))
    return listed


def _irregularity(draft: RoundDraft, planted_irregularity: PlantedIrregularity) -> Row:
    rule = None if planted_irregularity.rule is None else draft.table.book.cite(planted_irregularity.rule)[0]
    return {"rule": rule, "action": planted_irregularity.action, "detail": planted_irregularity.detail}


def _procedural(draft: RoundDraft, planted_procedural: PlantedProcedural) -> Row:
    rules = (
        draft.table.book.cite(*draft.table.book.procedural[planted_procedural.kind])
        if planted_procedural.is_ruled
        else ()
    )
    return {"kind": planted_procedural.kind, "rule": rules[0] if rules else None, "detail": planted_procedural.detail}
