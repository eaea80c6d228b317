"""Each finding is one plain sentence, with names in place of codes."""

from typing import Any

import pytest

from audits.findings.labels import finding_text, rules_cited, rulings_text
from audits.models import Category, Finding
from tests.games.engine.oracle import DIVISION_9, V6


def discrepancy(kind: str, expected: int, recorded: int, **columns: Any) -> Finding:
    values: dict[str, Any] = {"player": "seat-3", "boxes": ["small"], "rulebook": V6, "rules": [f"{V6}#4.1.2"]}
    values |= {"kind": kind, "expected": expected, "recorded": recorded, **columns}
    return Finding(category=Category.DISCREPANCY, **values)


@pytest.mark.parametrize(
    ("finding", "text"),
    [
        (
            discrepancy("overpaid", 5_000, 10_000, player="M-103670"),
            "Overpaid M-103670 on Small: paid 100.00, due 50.00",
        ),
        (discrepancy("underpaid", 10_000, 5_000), "Underpaid seat-3 on Small: paid 50.00, due 100.00"),
        (discrepancy("unpaid-winner", 5_000, 0), "Winner not paid, seat-3 on Small: paid 0.00, due 50.00"),
        (discrepancy("unpaid-winner", 5_000, -750), "Winner not paid, seat-3 on Small: collected 7.50, due 50.00"),
        (
            discrepancy("paid-loser", -5_000, 5_000),
            "Loser paid, seat-3 on Small: paid 50.00, should have collected 50.00",
        ),
        (
            discrepancy("not-collected", -750, -375, player="M-104393", boxes=["pair-112"]),
            "Under-collected from M-104393 on Pair 1-1-2: collected 3.75, due 7.50",
        ),
        (discrepancy("not-collected", -750, 0), "Under-collected from seat-3 on Small: collected 0.00, due 7.50"),
        (discrepancy("over-collected", -500, -750), "Over-collected from seat-3 on Small: collected 7.50, due 5.00"),
    ],
)
def test_a_discrepancy_says_what_was_paid_and_what_was_due(finding: Finding, text: str) -> None:
    assert finding_text(finding) == text


@pytest.mark.parametrize(
    ("rules", "book", "text"),
    [
        ([f"{V6}#5.5.1", f"{V6}#5.12"], V6, "Stake not returned to seat-3 on Small: 200.00 kept on a void round"),
        ([f"{V6}#5.7"], V6, "Stake not returned to seat-3 on Small: 200.00 kept on a late or refused bet"),
        ([f"{V6}#4.1.1", f"{V6}#5.1.1"], V6, "Stake not returned to seat-3 on Small: 200.00 kept"),
        ([f"{DIVISION_9}#7.1(a)"], DIVISION_9, "Stake not returned to seat-3 on Small: 200.00 kept on a void round"),
        ([], DIVISION_9, "Stake not returned to seat-3 on Small: 200.00 kept"),
        (["old#1"], "old", "Stake not returned to seat-3 on Small: 200.00 kept"),
    ],
)
def test_a_stake_that_was_kept_says_why_it_was_to_be_returned(rules: list[str], book: str, text: str) -> None:
    assert finding_text(discrepancy("void-not-returned", 0, -20_000, rules=rules, rulebook=book)) == text


def test_a_payment_on_a_void_round_is_an_overpayment() -> None:
    paid = discrepancy("void-not-returned", 0, 20_000, rules=[f"{V6}#5.12"])
    assert finding_text(paid) == "Overpaid seat-3 on Small: paid 200.00 on a void round, due 0.00"


@pytest.mark.parametrize(
    ("columns", "text"),
    [
        (
            {"kind": "box-maximum", "boxes": ["small"], "placed": 1_600_000, "permitted": 1_000_000},
            "Small: total 16,000.00 exceeds the maximum of 10,000.00",
        ),
        (
            {"kind": "differential", "boxes": ["small", "big"], "placed": 1_600_000, "permitted": 800_000},
            "Big/Small differential 16,000.00 exceeds the limit of 8,000.00",
        ),
        (
            {"kind": "below-minimum", "boxes": ["three-135"], "player": "seat-3", "placed": 500, "permitted": 1_000},
            "seat-3: 5.00 on Three 1-3-5 is below the minimum of 10.00",
        ),
    ],
)
def test_a_breach_says_which_limit_was_not_kept(columns: dict[str, Any], text: str) -> None:
    assert finding_text(Finding(category=Category.BREACH, **columns)) == text


@pytest.mark.parametrize(
    ("category", "columns", "text"),
    [
        (
            Category.IRREGULARITY,
            {"kind": "refuse", "player": "seat-3", "boxes": ["domino-24"], "detail": "seat-3 domino-24"},
            "Late bet, seat-3 on Domino 2-4",
        ),
        (
            Category.IRREGULARITY,
            {"kind": "void", "detail": "The tumbler turned 2 times."},
            "The tumbler turned 2 times.",
        ),
        (
            Category.PROCEDURAL,
            {"kind": "early-bet", "player": "seat-1", "boxes": ["single-2"], "detail": "seat-1 single-2 was placed …"},
            "Bet before betting opened, seat-1 on Single 2",
        ),
        (
            Category.PROCEDURAL,
            {
                "kind": "sign-incomplete",
                "detail": "The sign lacked a differential for big-small; a maximum for total-4, total-5.",
            },
            "The sign lacked a differential for Big/Small; a maximum for Total 4, Total 5.",
        ),
        (Category.PROCEDURAL, {"kind": "table-closed"}, "Table closed"),
        (
            Category.BY_RULING,
            {
                "kind": "below-rules",
                "player": "seat-3",
                "boxes": ["small"],
                "expected": 10_000,
                "recorded": -10_000,
                "rules": [f"{V6}#5.14", "RU-2026-000001"],
            },
            "seat-3 on Small: −100.00 by RU-2026-000001, 100.00 by the rules",
        ),
    ],
)
def test_other_findings_have_names_in_place_of_codes(category: Category, columns: dict[str, Any], text: str) -> None:
    assert finding_text(Finding(category=category, **columns)) == text


def test_a_late_bet_that_was_ruled_on_names_the_ruling() -> None:
    late = Finding(
        category=Category.IRREGULARITY,
        kind="refuse",
        player="seat-3",
        boxes=["small"],
        detail="seat-3 small Ruled on: RU-2026-000001.",
    )
    assert rulings_text(late) == "RU-2026-000001"
    late.detail = "seat-3 small"
    assert not rulings_text(late)


def test_a_cited_rule_has_its_citation_its_name_and_what_it_is_about() -> None:
    ((citation, name, about), ruling) = rules_cited(Finding(rules=[f"{V6}#5.1.1", "RU-2026-000001"]))
    assert (citation, name) == (f"{V6}#5.1.1", "Tai Sai v6 · Rule 5.1.1")
    assert about
    assert ruling == ("RU-2026-000001", "RU-2026-000001", "")
