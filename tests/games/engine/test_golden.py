"""The golden cases: rounds worked out by hand, as data that a pit manager can check (tests/golden/*.toml).

A case says what is put in and what is expected; what it leaves out is not compared. Rule numbers stand bare there, and
are compared as citations of the case's rulebook. A case that names several rulebooks holds under each. Without `dice`,
none are known. `voided_by` is what the settlement says of the void; `fault` makes the case an error, and lists words
that its one sentence has to contain. Breaches are compared in the order of their kinds; within a kind it is open.
"""

import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from games.engine.json_output import InputError, settle_document
from tests.games.engine.oracle import RULEBOOKS

GOLDEN = Path(__file__).parents[2] / "golden"
KINDS = ["box-maximum", "differential", "below-minimum"]

INPUT = {"layout", "dice", "void", "limits", "differential", "chip_unit", "excess"}
EXPECTED = {"total", "call", "winning", "breaches", "needs_ruling", "voided_by", "fault"}
BET_INPUT = {"player", "box", "stake"}
BET_EXPECTED = {"effective", "result", "odds", "net", "rules"}

Case = dict[str, Any]


def cases() -> Iterator[tuple[str, Case]]:
    """Every case under each of its rulebooks, with a name for the test."""
    for path in sorted(GOLDEN.glob("*.toml")):
        for case in tomllib.loads(path.read_text())["case"]:
            books = [case["rulebook"]] if isinstance(case["rulebook"], str) else case["rulebook"]
            for rulebook in books:
                mark = f" ({rulebook})" if len(books) > 1 else ""
                yield f"{path.stem}: {case['name']}{mark}", case | {"rulebook": rulebook}


CASES = dict(cases())


def document(case: Case) -> dict[str, Any]:
    """What the case puts in, as a round for `settle`."""
    given = {name: case[name] for name in INPUT if name in case}
    bets = [
        {"ref": f"b{number}"} | {name: bet[name] for name in BET_INPUT}
        for number, bet in enumerate(case["bets"], start=1)
    ]
    return {"rulebook": case["rulebook"], "dice": None} | given | {"bets": bets}


def cited(rulebook: str, numbers: list[str]) -> list[str]:
    return [f"{rulebook}#{number}" for number in numbers]


def with_citations(rulebook: str, entry: Case) -> Case:
    return entry | {"rules": cited(rulebook, entry["rules"])} if "rules" in entry else entry


def settled(case: Case) -> Any:
    return settle_document(document(case))


def in_any_order_within_a_kind(breaches: list[Any]) -> list[Any]:
    return sorted(breaches, key=lambda breach: (KINDS.index(breach["kind"]), breach["boxes"], breach["player"] or ""))


def verify_bets(case: Case, bets: list[Any]) -> None:
    assert [bet["ref"] for bet in bets] == [f"b{number}" for number in range(1, len(case["bets"]) + 1)]
    for expected, bet in zip(case["bets"], bets, strict=True):
        wanted = with_citations(case["rulebook"], {name: expected[name] for name in BET_EXPECTED if name in expected})
        assert {name: bet[name] for name in wanted} == wanted, (bet["ref"], bet["player"], bet["box"])
        assert (bet["player"], bet["box"]) == (expected["player"], expected["box"])


def verify_breaches(case: Case, breaches: list[Any]) -> None:
    kinds = [KINDS.index(breach["kind"]) for breach in breaches]
    assert kinds == sorted(kinds)
    expected = [{"player": None} | with_citations(case["rulebook"], breach) for breach in case["breaches"]]
    assert in_any_order_within_a_kind(breaches) == in_any_order_within_a_kind(expected)


def verify_rulings(case: Case, rulings: list[Any]) -> None:
    expected = [with_citations(case["rulebook"], ruling) for ruling in case["needs_ruling"]]
    assert [{"boxes": ruling["boxes"], "rules": ruling["rules"]} for ruling in rulings] == expected
    assert all(ruling["reason"].strip() for ruling in rulings)


def verify_void(case: Case, done: Any) -> None:
    assert done["void"] == case.get("voided_by")
    if done["void"] is not None:
        assert (done["total"], done["call"], done["winning"]) == (None, None, {})
        assert {bet["odds"] for bet in done["bets"]} == {None}


@pytest.mark.parametrize("case", [case for case in CASES.values() if "fault" not in case],
                         ids=[name for name, case in CASES.items() if "fault" not in case])  # fmt: skip
def test_golden(case: Case) -> None:
    done = settled(case)
    assert (done["rulebook"], done["layout"], done["dice"]) == (case["rulebook"], case["layout"], case.get("dice"))
    assert {name: done[name] for name in ("total", "call", "winning") if name in case} == {
        name: case[name] for name in ("total", "call", "winning") if name in case
    }
    verify_void(case, done)
    verify_bets(case, done["bets"])
    if "breaches" in case:
        verify_breaches(case, done["breaches"])
    if "needs_ruling" in case:
        verify_rulings(case, done["needs_ruling"])


@pytest.mark.parametrize("case", [case for case in CASES.values() if "fault" in case],
                         ids=[name for name, case in CASES.items() if "fault" in case])  # fmt: skip
def test_golden_error(case: Case) -> None:
    with pytest.raises(InputError) as refusal:
        settled(case)
    (fault,) = refusal.value.faults
    assert all(word in fault for word in case["fault"])


def test_every_rulebook_has_golden_cases_and_no_two_share_a_name() -> None:
    assert {case["rulebook"] for case in CASES.values()} == set(RULEBOOKS)
    assert len(CASES) == len(list(cases()))


@pytest.mark.parametrize("case", CASES.values(), ids=CASES.keys())
def test_a_golden_case_says_nothing_that_is_not_compared(case: Case) -> None:
    assert case.keys() <= {"name", "rule", "rulebook", "bets"} | INPUT | EXPECTED
    for bet in case["bets"]:
        assert bet.keys() <= BET_INPUT | BET_EXPECTED
        assert bet.keys() >= BET_INPUT
