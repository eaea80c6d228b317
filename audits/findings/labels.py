"""Names of the kinds of findings, and one sentence for each finding."""

import re
from collections.abc import Callable

from audits.models import Category, Finding
from games.engine.play.findings import LATE_WITHDRAWAL
from games.engine.rules.advice import situation_of
from games.engine.rules.citation import SEPARATOR
from games.engine.rules.loader import rulebooks
from games.labels.boxes import box_label, boxes_label, key_label, pair_label
from games.labels.money import money_label
from games.labels.rules import rule_about, rule_label

#: The name of each kind, by category. The kind of an irregularity is the action that the rules require.
KINDS: dict[str, dict[str, str]] = {
    Category.DISCREPANCY: {
        "overpaid": "Overpaid", "underpaid": "Underpaid", "unpaid-winner": "Winner not paid",
        "paid-loser": "Loser paid", "not-collected": "Under-collected", "over-collected": "Over-collected",
        "void-not-returned": "Stake not returned",
    },
    Category.BREACH: {
        "box-maximum": "Over the maximum", "differential": "Over the differential",
        "below-minimum": "Below the minimum",
    },
    Category.IRREGULARITY: {
        "void": "Void", "void-affected": "Void, affected bets", "ruling": "Needs a ruling", "unfinished": "Unfinished",
        "refuse": "Late bet or withdrawal", "pay-by-dice": "Result amended", "amend": "Result amended (Division 9)",
        "conclude": "Interrupted, concluded",
    },
    Category.PROCEDURAL: {
        "early-bet": "Bet before betting opened", "overlap": "Overlapping rounds", "table-closed": "Table closed",
        "table-suspended": "Table suspended", "no-valid-tumble": "No valid tumble",
        "tumbler-out-of-order": "Tumbler out of order", "settled-before-result": "Settled before the result",
        "void-after-settlement": "Void after settlement", "void-without-authority": "Void without authority",
        "amendment-without-authority": "Amendment without authority", "dice-contradicted": "Dice contradicted",
        "unknown-staff": "Unknown staff", "wrong-post": "Wrong post", "sign-incomplete": "Sign incomplete",
    },
    Category.BY_RULING: {"above-rules": "More than the rules give", "below-rules": "Less than the rules give"},
}  # fmt: skip

#: What a procedural finding or a payment by ruling means, and what to do about it.
PROCEDURES = {
    "early-bet": "A bet was placed before betting opened. Check the camera and the clock of the table system.",
    "overlap": "A round began before the previous one was settled. Check whether bets were carried over.",
    "table-closed": "A round was played at a table that was not open. Check who dealt, then open or clear the table.",
    "table-suspended": "A round was played at a suspended table. Stop play until the table is resumed.",
    "no-valid-tumble": "The round was settled without enough tumbles before its result. Without a valid tumble there "
    "is no result to settle by. Check the camera, and open an incident if the record is right.",
    "tumbler-out-of-order": "The tumbler ran at the wrong step of the order of play, or again after a valid tumble. "
    "Check which tumble the result is from.",
    "settled-before-result": "Bets were settled before a result was on record. Check which dice were paid.",
    "void-after-settlement": "The round was voided after settlement, so the void has no effect and the settlement "
    "stands. If the dice were damaged, void the round under the rule on damaged dice; otherwise it needs a ruling.",
    "void-without-authority": "This round was voided by ruling, but no ruling is on record, or the person named was "
    "not a shift manager. Record the ruling on an incident, or settle the round by its dice.",
    "amendment-without-authority": "The result was amended without a pit supervisor or above. Check the camera.",
    "dice-contradicted": "A die that was known when play was interrupted is not in the result. Check the camera.",
    "unknown-staff": "The dealer or supervisor named is not on record. Add the person, or correct the table system.",
    "wrong-post": "The dealer or supervisor named did not hold that post at that time, permanently or acting. "
    "Check who was at the table, and correct the staff record or the table system.",
    "sign-incomplete": "A bet was taken on a box for which the sign lacked a minimum, a maximum or the Differential. "
    "Reported once per table and gaming day. Propose complete limits.",
    "above-rules": "A ruling or discretion gave the player more than the rules give. This is not an error by itself. "
    "Read the ruling, and check that the amount is the one decided.",
    "below-rules": "A ruling or discretion gave the player less than the rules give. This is not an error by itself. "
    "Read the ruling, and check that the amount is the one decided.",
}


#: The codes in `The sign lacked a minimum for four; a maximum for total-4, total-5.`
LACKING = re.compile(r"(?<= for )[^;.]+")


def kind_name(category: str, kind: str) -> str:
    """Name a kind of finding: `Table closed` for `table-closed`."""
    return KINDS[category].get(kind) or kind.replace("-", " ").capitalize()


def finding_text(finding: Finding) -> str:
    """Write a finding as one sentence: `Overpaid seat-3 on Small: paid 100.00, due 50.00`."""
    return TEXTS[Category(finding.category)](finding)


def _discrepancy_text(finding: Finding) -> str:
    expected, recorded = finding.expected or 0, finding.recorded or 0
    whose = _whose(finding)
    if finding.kind == "void-not-returned":
        return _not_returned_text(finding)
    if finding.kind == "unpaid-winner":
        return f"Winner not paid, {whose}: {_moved(recorded)}, due {money_label(expected)}"
    if finding.kind == "paid-loser":
        return f"Loser paid, {whose}: paid {money_label(recorded)}, should have collected {money_label(-expected)}"
    what = f"{kind_name(finding.category, finding.kind)} {whose if expected > 0 else f'from {whose}'}"
    return f"{what}: {_moved(recorded, is_win=expected > 0)}, due {money_label(abs(expected))}"


def _not_returned_text(finding: Finding) -> str:
    recorded = finding.recorded or 0
    why = _why_returned(finding)
    if recorded > 0:
        return f"Overpaid {_whose(finding)}: paid {money_label(recorded)}{why}, due {money_label(0)}"
    return f"Stake not returned to {_whose(finding)}: {money_label(-recorded)} kept{why}"


def _why_returned(finding: Finding) -> str:
    """Say why the stake was to be returned, as far as the cited rules show it."""
    book = rulebooks().get(finding.rulebook)
    if book is None:
        return ""
    numbers = {citation.rpartition(SEPARATOR)[2] for citation in finding.rules}
    if numbers & {*book.voidings, *book.void_rules, *book.ruling_rules}:
        return " on a void round"
    return " on a late or refused bet" if numbers & {*situation_of(book, "late-bet").rules} else ""


def _whose(finding: Finding) -> str:
    return f"{finding.player} on {boxes_label(finding.boxes)}"


def _moved(net: int, *, is_win: bool = True) -> str:
    """Say what a winner was paid, or what was collected from a loser: `paid 0.00`, `collected 3.75`."""
    is_paid = net > 0 or (net == 0 and is_win)
    return f"paid {money_label(net)}" if is_paid else f"collected {money_label(-net)}"


def _breach_text(finding: Finding) -> str:
    placed, permitted = money_label(finding.placed), money_label(finding.permitted)
    if finding.kind == "below-minimum":
        return f"{finding.player}: {placed} on {box_label(finding.boxes[0])} is below the minimum of {permitted}"
    if finding.kind == "differential":
        return f"{pair_label(finding.boxes)} differential {placed} exceeds the limit of {permitted}"
    return f"{box_label(finding.boxes[0])}: total {placed} exceeds the maximum of {permitted}"


def _irregularity_text(finding: Finding) -> str:
    """Return what the engine recorded; a late bet or withdrawal is named with its player and box."""
    if LATE_WITHDRAWAL in finding.detail:
        return f"Late withdrawal refused, {_whose(finding)}"
    if finding.player is not None:
        return f"Late bet, {_whose(finding)}"
    return _detail_text(finding)


def _procedural_text(finding: Finding) -> str:
    """Return what the check recorded, with names in place of the codes of boxes and bet types."""
    if finding.kind == "early-bet":
        return f"Bet before betting opened, {_whose(finding)}"
    if finding.detail.startswith("The sign lacked"):
        return LACKING.sub(lambda lacking: ", ".join(map(key_label, lacking[0].split(", "))), finding.detail)
    return _detail_text(finding)


def _by_ruling_text(finding: Finding) -> str:
    """Compare what was decided with what the rules give. The last citation is the ruling or discretion."""
    return (
        f"{_whose(finding)}: {money_label(finding.recorded)} by {rule_label(finding.rules[-1])}, "
        f"{money_label(finding.expected)} by the rules"
    )


def _detail_text(finding: Finding) -> str:
    return finding.detail or kind_name(finding.category, finding.kind)


TEXTS: dict[Category, Callable[[Finding], str]] = {
    Category.DISCREPANCY: _discrepancy_text, Category.BREACH: _breach_text, Category.IRREGULARITY: _irregularity_text,
    Category.PROCEDURAL: _procedural_text, Category.BY_RULING: _by_ruling_text,
}  # fmt: skip


def rulings_text(finding: Finding) -> str:
    """Name the rulings on a late bet or withdrawal, which its sentence does not; else return an empty text."""
    _, separator, rulings = finding.detail.partition("Ruled on: ")
    return rulings.removesuffix(".") if separator and finding.player is not None else ""


def rules_cited(finding: Finding) -> list[tuple[str, str, str]]:
    """Return each cited rule as its citation, its name and what it is about."""
    return [(citation, rule_label(citation), rule_about(citation)) for citation in finding.rules]
