"""A finding before it is on record: what the engine says of a round, in the columns of the table of findings."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import IntFlag
from typing import Any

from audits.models import Category, FindingPolicy, Severity
from audits.reconciliation.checks.authority import decision_faults
from audits.reconciliation.checks.crew import Crews
from games.clauses import cited_for
from games.engine.money import format_money
from games.engine.play.findings import RecordedRound, breach_rules
from games.engine.play.procedure import procedural_faults
from games.engine.rules.rulebook import Rulebook

#: Irregularities without an amount: those that wait for somebody's word weigh more.
WAITING = ("ruling", "unfinished")


@dataclass(frozen=True)
class FindingDraft:
    category: Category
    key: str
    kind: str
    severity: Severity
    rule: str | None = None
    rules: list[str] = field(default_factory=list)
    boxes: list[str] = field(default_factory=list)
    player: str | None = None
    position: int | None = None
    stake: int | None = None
    expected: int | None = None
    recorded: int | None = None
    placed: int | None = None
    permitted: int | None = None
    detail: str = ""
    amount: int = 0


class Sight(IntFlag):
    """What the kernel saw in a round: only that is explained."""

    DISCREPANCY = 1
    BREACH = 2
    IRREGULARITY = 4


def drafts_in(
    recorded_round: RecordedRound, policy: FindingPolicy, crews: Crews, seen: int = ~Sight(0)
) -> list[FindingDraft]:
    found: list[FindingDraft] = []
    if seen & Sight.DISCREPANCY:
        found += discrepancies(recorded_round, policy)
        found += by_rulings(recorded_round, policy)
    if seen & Sight.BREACH:
        found += breaches(recorded_round, policy)
    if seen & Sight.IRREGULARITY:
        found += irregularities(recorded_round)
        found += procedural(recorded_round, policy, crews)
    return found


def procedural(recorded_round: RecordedRound, policy: FindingPolicy, crews: Crews) -> Iterator[FindingDraft]:
    """Yield what the events of a round show, of the checks that concern its rulebook."""
    for fault in [
        *procedural_faults(recorded_round.book, recorded_round.events),
        *decision_faults(recorded_round, crews),
    ]:
        if fault.kind in recorded_round.book.procedural:
            yield procedural_draft(recorded_round.book, policy, fault.kind, fault.detail)


def procedural_draft(
    book: Rulebook, policy: FindingPolicy, kind: str, detail: str, mark: str = "", **columns: Any
) -> FindingDraft:
    """Make a finding of a check: with the rules that it guards, and the severity that the casino gives it."""
    rules = book.cite(*book.procedural.get(kind, ()))
    return FindingDraft(
        Category.PROCEDURAL, f"{kind} {mark}", kind, policy.procedural_severity(kind),
        rule=rules[0] if rules else None, rules=rules, detail=detail, **columns,
    )  # fmt: skip


def discrepancies(recorded_round: RecordedRound, policy: FindingPolicy) -> Iterator[FindingDraft]:
    for wrong in recorded_round.discrepancies():
        bet, amount = recorded_round.bets[wrong.position], abs(wrong.recorded - wrong.expected)
        rules = [*recorded_round.book.cite(*wrong.rules), *recorded_round.policy_rulings(wrong.position)]
        yield FindingDraft(
            Category.DISCREPANCY, f"{wrong.kind} {wrong.position} {wrong.expected} {wrong.recorded}", wrong.kind,
            policy.severity_of(amount), rules=rules, boxes=[bet.box], player=bet.player,
            position=wrong.position, stake=bet.stake, expected=wrong.expected, recorded=wrong.recorded, amount=amount,
        )  # fmt: skip


def by_rulings(recorded_round: RecordedRound, policy: FindingPolicy) -> Iterator[FindingDraft]:
    """Yield what a ruling or discretion gave, or took, beyond the rules: with what the rules give as expected."""
    if recorded_round.ruled is None:
        return
    decision, cited = recorded_round.ruled.decision, recorded_round.book.cite(*recorded_round.ruled.rules)
    for beyond in recorded_round.beyond_rules():
        bet, amount = recorded_round.bets[beyond.position], abs(beyond.decided - beyond.by_rules)
        yield FindingDraft(
            Category.BY_RULING, f"by-ruling {decision} {beyond.position} {beyond.by_rules} {beyond.decided}",
            "above-rules" if beyond.decided > beyond.by_rules else "below-rules", policy.severity_of(amount),
            rules=[*cited, decision], boxes=[bet.box], player=bet.player, position=beyond.position, stake=bet.stake,
            expected=beyond.by_rules, recorded=beyond.decided, amount=amount,
            detail=f"Decided by {decision}: {format_money(beyond.decided)}. By the rules: "
            f"{format_money(beyond.by_rules)}.",
        )  # fmt: skip


def breaches(recorded_round: RecordedRound, policy: FindingPolicy) -> Iterator[FindingDraft]:
    for breach in recorded_round.breaches():
        amount = abs(breach.placed - breach.permitted)
        key = f"{breach.kind} {' '.join(breach.boxes)} {breach.placed} {breach.permitted} {breach.player or ''}"
        yield FindingDraft(
            Category.BREACH,
            key,
            breach.kind,
            policy.severity_of(amount),
            rules=recorded_round.book.cite(*breach_rules(recorded_round.book, breach)),
            boxes=list(breach.boxes),
            player=breach.player,
            placed=breach.placed,
            permitted=breach.permitted,
            amount=amount,
        )


def irregularities(recorded_round: RecordedRound) -> Iterator[FindingDraft]:
    for odd in recorded_round.irregularities():
        position = odd.position
        key = f"irregular {odd.action} {odd.rule or '-'} {'' if position is None else position}"
        cited = recorded_round.book.cite(odd.rule)[0] if odd.rule else None
        rules = [*([cited] if cited else []), *_losing_bet_rules(recorded_round, position)]
        yield FindingDraft(
            Category.IRREGULARITY, key, odd.action, Severity.MEDIUM if odd.action in WAITING else Severity.LOW,
            rule=cited, rules=rules, position=position, detail=odd.detail,
            player=None if position is None else recorded_round.bets[position].player,
            boxes=[] if position is None else [recorded_round.bets[position].box],
        )  # fmt: skip


def _losing_bet_rules(recorded_round: RecordedRound, position: int | None) -> tuple[str, ...]:
    """Cite what a document says of a losing bet that a player takes back (Division 9, 4.8), where this bet lost."""
    if position is None or not recorded_round.bets[position].is_withdrawn_late:
        return ()
    expected = recorded_round.expected()
    is_lost = bool(expected) and expected[position][0] < 0
    return cited_for(recorded_round.book.id, "losing-bet") if is_lost else ()
