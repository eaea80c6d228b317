"""Findings before they are saved: what the engine says about a round, in the columns of the table of findings."""

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

#: Irregularities that wait for a person's decision have a higher severity.
NEED_DECISION = ("ruling", "unfinished")


@dataclass(frozen=True)
class FindingDraft:
    """A finding that is not saved yet. `key` identifies it among the findings of its round."""

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
    """What the kernel saw in a round. Only this is explained."""

    DISCREPANCY = 1
    BREACH = 2
    IRREGULARITY = 4


def drafts_in(
    recorded_round: RecordedRound, policy: FindingPolicy, crews: Crews, seen: int = ~Sight(0)
) -> list[FindingDraft]:
    """List the findings of a round, of those categories that the kernel saw. Defaults to all categories."""
    drafts: list[FindingDraft] = []
    if seen & Sight.DISCREPANCY:
        drafts += discrepancies(recorded_round, policy)
        drafts += by_rulings(recorded_round, policy)
    if seen & Sight.BREACH:
        drafts += breaches(recorded_round, policy)
    if seen & Sight.IRREGULARITY:
        drafts += irregularities(recorded_round)
        drafts += procedural(recorded_round, policy, crews)
    return drafts


def procedural(recorded_round: RecordedRound, policy: FindingPolicy, crews: Crews) -> Iterator[FindingDraft]:
    """Yield the procedural findings that the events of a round show, as far as its rulebook has these checks."""
    for fault in [
        *procedural_faults(recorded_round.book, recorded_round.events),
        *decision_faults(recorded_round, crews),
    ]:
        if fault.kind in recorded_round.book.procedural:
            yield procedural_draft(recorded_round.book, policy, fault.kind, fault.detail)


def procedural_draft(
    book: Rulebook, policy: FindingPolicy, kind: str, detail: str, mark: str = "", **columns: Any
) -> FindingDraft:
    """Return a procedural finding with the rules that its check guards, and the casino's severity for it."""
    rules = book.cite(*book.procedural.get(kind, ()))
    return FindingDraft(
        Category.PROCEDURAL, f"{kind} {mark}", kind, policy.procedural_severity(kind),
        rule=rules[0] if rules else None, rules=rules, detail=detail, **columns,
    )  # fmt: skip


def discrepancies(recorded_round: RecordedRound, policy: FindingPolicy) -> Iterator[FindingDraft]:
    """Yield a finding for each bet that was not paid or collected as due."""
    for discrepancy in recorded_round.discrepancies():
        position, expected, recorded = discrepancy.position, discrepancy.expected, discrepancy.recorded
        bet, amount = recorded_round.bets[position], abs(recorded - expected)
        rules = [*recorded_round.book.cite(*discrepancy.rules), *recorded_round.policy_rulings(position)]
        yield FindingDraft(
            Category.DISCREPANCY, f"{discrepancy.kind} {position} {expected} {recorded}", discrepancy.kind,
            policy.severity_of(amount), rules=rules, boxes=[bet.box], player=bet.player,
            position=position, stake=bet.stake, expected=expected, recorded=recorded, amount=amount,
        )  # fmt: skip


def by_rulings(recorded_round: RecordedRound, policy: FindingPolicy) -> Iterator[FindingDraft]:
    """Yield a finding for each bet for which a ruling or discretion decided another amount than the rules give.

    `expected` is the amount by the rules, `recorded` the amount decided.
    """
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
    """Yield a finding for each limit that was exceeded or not reached."""
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
    """Yield a finding for each irregularity, whether or not it was handled as the rule says."""
    for irregularity in recorded_round.irregularities():
        position, action, rule = irregularity.position, irregularity.action, irregularity.rule
        key = f"irregular {action} {rule or '-'} {'' if position is None else position}"
        cited = recorded_round.book.cite(rule)[0] if rule else None
        rules = [*([cited] if cited else []), *_losing_bet_rules(recorded_round, position)]
        yield FindingDraft(
            Category.IRREGULARITY, key, action, Severity.MEDIUM if action in NEED_DECISION else Severity.LOW,
            rule=cited, rules=rules, position=position, detail=irregularity.detail,
            player=None if position is None else recorded_round.bets[position].player,
            boxes=[] if position is None else [recorded_round.bets[position].box],
        )  # fmt: skip


def _losing_bet_rules(recorded_round: RecordedRound, position: int | None) -> tuple[str, ...]:
    """Cite the rule on withdrawing a losing bet (Division 9, 4.8), if a late withdrawal concerned a losing bet."""
    if position is None or not recorded_round.bets[position].is_withdrawn_late:
        return ()
    expected = recorded_round.expected()
    is_lost = bool(expected) and expected[position][0] < 0
    return cited_for(recorded_round.book.id, "losing-bet") if is_lost else ()
