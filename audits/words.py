"""Findings in plain words: what a kind is called, and what was found as somebody would say it."""

from collections.abc import Callable

from audits.models import Category, Finding
from games.engine.loader import rulebook, rulebooks
from games.engine.money import format_money

#: Of an irregularity the kind is what the rules want done; these have a name beside it.
KINDS: dict[str, dict[str, str]] = {
    Category.DISCREPANCY: {
        "overpaid": "Overpaid", "underpaid": "Underpaid", "unpaid-winner": "Winner not paid",
        "paid-loser": "Loser paid", "not-collected": "Not collected", "over-collected": "Too much collected",
        "void-not-returned": "Stake not returned",
    },
    Category.BREACH: {
        "box-maximum": "Over the maximum", "differential": "Over the differential",
        "below-minimum": "Under the minimum",
    },
    Category.IRREGULARITY: {
        "void": "Void", "void-affected": "Void, affected bets", "ruling": "Needs a ruling", "unfinished": "Unfinished",
        "refuse": "Late bet", "pay-by-dice": "Result amended", "amend": "Result amended (Division 9)",
        "conclude": "Interrupted, concluded",
    },
    Category.PROCEDURAL: {
        "early-bet": "Bet before betting began", "overlap": "Overlapping rounds", "table-closed": "Table closed",
        "table-suspended": "Table suspended",
    },
}  # fmt: skip


def kind_name(category: str, kind: str) -> str:
    return KINDS[category].get(kind) or kind.replace("-", " ").capitalize()


def money(amount: float | None) -> str:
    """Minor units for people: with the thousands apart."""
    if amount is None:
        return "–"
    whole, _, cents = format_money(round(abs(amount))).partition(".")
    return f"{'−' if amount < 0 else ''}{int(whole):,}.{cents}"


def in_words(finding: Finding) -> str:
    return SAID[Category(finding.category)](finding)


def _discrepancy(one: Finding) -> str:
    expected, recorded = one.expected or 0, one.recorded or 0
    whose = f"{one.player} on {' and '.join(one.boxes)}"
    if expected == 0:
        return f"{_moved(recorded)} where the stake was to go back, {whose}"
    if expected < 0:
        return f"{_moved(recorded)} where {money(-expected)} was to be taken, {whose}"
    return f"{_moved(recorded)} where {money(expected)} was due, {whose}"


def _moved(net: int) -> str:
    """What happened to a player's money."""
    if net == 0:
        return "Nothing paid or taken"
    return f"Paid {money(net)}" if net > 0 else f"Took {money(-net)}"


def _breach(one: Finding) -> str:
    placed, permitted = money(one.placed), money(one.permitted)
    if one.kind == "below-minimum":
        return f"{one.player} bet {placed} on {one.boxes[0]}, where the minimum is {permitted}"
    if one.kind == "differential":
        return f"{placed} apart on {' and '.join(one.boxes)}, where {permitted} is the most"
    return f"{placed} in all on {one.boxes[0]}, where {permitted} is the most"


def _irregularity(one: Finding) -> str:
    """What the engine says; of a late bet, which is only named there, whose it was."""
    if one.player is not None:
        return f"{kind_name(one.category, one.kind)}, {one.player} on {' and '.join(one.boxes)}"
    return _told(one)


def _told(one: Finding) -> str:
    return one.detail or kind_name(one.category, one.kind)


SAID: dict[Category, Callable[[Finding], str]] = {
    Category.DISCREPANCY: _discrepancy, Category.BREACH: _breach, Category.IRREGULARITY: _irregularity,
    Category.PROCEDURAL: _told,
}  # fmt: skip


def rules_cited(finding: Finding) -> list[tuple[str, str]]:
    """Each citation with the rulebook's own short text."""
    known = rulebooks()
    found = []
    for citation in finding.rules:
        book, _, number = citation.partition("#")
        found.append((citation, rulebook(book).rules.get(number, "") if book in known else ""))
    return found
