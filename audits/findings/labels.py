"""Findings in plain words: what a kind is called, and what was found as somebody would say it."""

from collections.abc import Callable, Sequence
from functools import cache, lru_cache

from audits.models import Category, Finding
from games.engine.money import format_money
from games.engine.play.findings import LATE_WITHDRAWAL
from games.engine.rules.citation import SEPARATOR
from games.engine.rules.loader import rulebook, rulebooks

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
        "refuse": "Late bet or withdrawal", "pay-by-dice": "Result amended", "amend": "Result amended (Division 9)",
        "conclude": "Interrupted, concluded",
    },
    Category.PROCEDURAL: {
        "early-bet": "Bet before betting began", "overlap": "Overlapping rounds", "table-closed": "Table closed",
        "table-suspended": "Table suspended", "no-valid-tumble": "No valid tumble",
        "tumbler-out-of-order": "Tumbler out of order", "settled-before-result": "Settled before the result",
        "void-after-settlement": "Void after settlement", "void-without-authority": "Void without authority",
        "amendment-without-authority": "Amendment without authority", "dice-contradicted": "Dice contradicted",
        "unknown-staff": "Unknown staff", "wrong-post": "Wrong post", "sign-incomplete": "Sign incomplete",
    },
    Category.BY_RULING: {"above-rules": "More than by the rules", "below-rules": "Less than by the rules"},
}  # fmt: skip

#: What a check of the procedure, or a payment by ruling, means, and what to do about it.
PROCEDURES = {
    "early-bet": "A bet was placed before betting was opened. Check the camera and the clock of the table system.",
    "overlap": "A round began before the one before it was settled. Check whether bets were carried over.",
    "table-closed": "A round was played at a table that was not open. Check who dealt, and open or clear the table.",
    "table-suspended": "A round was played at a suspended table. Stop play until the table is resumed.",
    "no-valid-tumble": "The round was settled, and no tumble of enough turns came before its result. Without a valid "
    "tumble there is no result to settle by: check the camera, and open an incident if the record is right.",
    "tumbler-out-of-order": "The tumbler ran when the order of play has no place for it, or once more after a valid "
    "tumble. Check which spin the result is from.",
    "settled-before-result": "Bets were settled before a result was on record. Check which dice were paid.",
    "void-after-settlement": "The round was over when it was voided, so the void has no effect and the settlement "
    "stands. If the dice were damaged, void it under the rule on damaged dice; else it takes a ruling.",
    "void-without-authority": "A ruling voided this round, and no ruling is on record, or the person named was not a "
    "shift manager. Record the ruling on an incident, or settle the round by its dice.",
    "amendment-without-authority": "The result was amended without a pit supervisor or above. Check the camera.",
    "dice-contradicted": "A die that was known when play was interrupted is not in the result. Check the camera.",
    "unknown-staff": "The dealer or supervisor named is not on record. Add the person, or correct the table system.",
    "wrong-post": "The dealer or supervisor named did not hold that post at that moment, permanently or acting.",
    "sign-incomplete": "A bet was taken on a box for which the sign lacked a minimum, a maximum or the Differential. "
    "Found once a table and gaming day. Propose complete limits.",
    "above-rules": "A ruling or discretion gave the player more than the rules alone would. It is no error by itself: "
    "read the ruling, and check that the amount is the one that was decided.",
    "below-rules": "A ruling or discretion gave the player less than the rules alone would. It is no error by itself: "
    "read the ruling, and check that the amount is the one that was decided.",
}


@cache
def kind_name(category: str, kind: str) -> str:
    return KINDS[category].get(kind) or kind.replace("-", " ").capitalize()


def money(amount: float | None) -> str:
    """Minor units for people: with the thousands apart."""
    if amount is None:
        return "–"
    whole, _, cents = format_money(round(abs(amount))).partition(".")
    return f"{'−' if amount < 0 else ''}{int(whole):,}.{cents}"


@cache
def box_name(code: str) -> str:
    """Return the name of a betting box: `Domino 2-4` for `domino-24`, `Total 16` for `total-16`."""
    kind, _, faces = code.rpartition("-")
    if not faces.isdecimal():
        return code.replace("-", " ").capitalize()
    return f"{kind.capitalize()} {faces if kind == 'total' else '-'.join(faces)}"


def boxes_name(codes: Sequence[str]) -> str:
    return ", ".join(map(box_name, codes))


@cache
def rulebook_name(id_: str) -> str:
    """Return the short name of a rulebook: `Tai Sai v6`, or with its year where its version is no number."""
    if id_ not in rulebooks():
        return id_
    book = rulebook(id_)
    name = book.title.partition(",")[0]
    for operator in (book.approved_for.operator, *book.approved_for.also):
        name = name.replace(f" ({operator})", "") if operator else name
    return f"{name} v{book.version}" if book.version.isdecimal() else f"{name} ({book.in_force_from.year})"


def rule_name(citation: str) -> str:
    """Name the rule that a citation is about: `Tai Sai v6 · Rule 5.1.1`."""
    return rules_name((citation,)) if citation else ""


def rules_name(citations: Sequence[str]) -> str:
    """Name rules, those of one rulebook together: `Tai Sai v6 · Rules 5.1.1, 5.12`; what is no citation stays."""
    return _rules_name(tuple(citations))


@lru_cache(maxsize=10_000)
def _rules_name(citations: tuple[str, ...]) -> str:
    by_book: dict[str, list[str]] = {}
    for citation in citations:
        book, separator, number = citation.rpartition(SEPARATOR)
        numbers = by_book.setdefault(book if separator else citation, [])
        if separator:
            numbers.append(number)
    return "; ".join(
        f"{rulebook_name(book)} · Rule{'' if len(numbers) == 1 else 's'} {', '.join(numbers)}" if numbers else book
        for book, numbers in by_book.items()
    )


def finding_text(finding: Finding) -> str:
    return SAID[Category(finding.category)](finding)


def _discrepancy(finding: Finding) -> str:
    expected, recorded = finding.expected or 0, finding.recorded or 0
    whose = f"{finding.player} on {' and '.join(finding.boxes)}"
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


def _breach(finding: Finding) -> str:
    placed, permitted = money(finding.placed), money(finding.permitted)
    if finding.kind == "below-minimum":
        return f"{finding.player} bet {placed} on {finding.boxes[0]}, where the minimum is {permitted}"
    if finding.kind == "differential":
        return f"{placed} apart on {' and '.join(finding.boxes)}, where {permitted} is the most"
    return f"{placed} in all on {finding.boxes[0]}, where {permitted} is the most"


def _irregularity(finding: Finding) -> str:
    """What the engine says; of a late bet or withdrawal, which are only named there, whose it was."""
    if finding.detail.endswith(LATE_WITHDRAWAL):
        return f"Late withdrawal refused, {finding.player} on {' and '.join(finding.boxes)}"
    if finding.player is not None:
        return f"Late bet, {finding.player} on {' and '.join(finding.boxes)}"
    return _told(finding)


def _by_ruling(finding: Finding) -> str:
    """What was decided beside what the rules give, and by which ruling or discretion, the last of its citations."""
    return (
        f"{finding.player} on {box_name(finding.boxes[0])}: {money(finding.recorded)} by {finding.rules[-1]}, "
        f"{money(finding.expected)} by the rules"
    )


def _told(finding: Finding) -> str:
    return finding.detail or kind_name(finding.category, finding.kind)


SAID: dict[Category, Callable[[Finding], str]] = {
    Category.DISCREPANCY: _discrepancy, Category.BREACH: _breach, Category.IRREGULARITY: _irregularity,
    Category.PROCEDURAL: _told, Category.BY_RULING: _by_ruling,
}  # fmt: skip


def rules_cited(finding: Finding) -> list[tuple[str, str]]:
    """Each citation with the rulebook's own short text."""
    known = rulebooks()
    found = []
    for citation in finding.rules:
        book, _, number = citation.partition("#")
        found.append((citation, rulebook(book).rules.get(number, "") if book in known else ""))
    return found
