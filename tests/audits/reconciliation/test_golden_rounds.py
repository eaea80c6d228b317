"""Golden rounds (tests/golden/rounds): what is found in a round on record, by the quick path and by the engine."""

import datetime as dt
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import time_machine

from audits.models import Category, Finding, policy_of
from audits.reconciliation.drafts import drafts_in
from audits.reconciliation.explain import recorded_round
from audits.reconciliation.terms import terms_of_day
from games.engine.rules.citation import cite
from games.engine.rules.loader import PROCEDURAL, rulebooks
from games.engine.signs.limits import Limits
from games.floor.services.tables import table_close, table_suspend
from games.models import Round, Table
from tests.audits.playing import EARLIER, day_run, drain, record
from tests.conftest import House
from tests.games.floor_setup import HOUR, bare_table, completed, open_table, put_sign, sign

GOLDEN = Path(__file__).parents[2] / "golden" / "rounds"
USUAL = [{"player": "seat-1", "box": "small", "stake": "100.00", "net": "100.00"}]
LAYOUTS = {"division-9-2008": "2"}

Case = dict[str, Any]


def cases() -> Iterator[Any]:
    for path in sorted(GOLDEN.glob("*.toml")):
        for case in tomllib.loads(path.read_text())["case"]:
            books = [case["rulebook"]] if isinstance(case["rulebook"], str) else case["rulebook"]
            for book in books:
                yield pytest.param(book, case, id=f"{case['name']} ({book})")


def moment(second: int) -> str:
    return (EARLIER + dt.timedelta(seconds=second)).isoformat()


def event_of(text: str) -> dict[str, Any]:
    """Read `33 tumbler 0 activated`, `50 void ruling by DEALER`."""
    second, kind, *words = text.split()
    event: dict[str, Any] = {"kind": kind, "at": moment(int(second))}
    if "by" in words:
        event["by"] = words[words.index("by") + 1]
    if kind == "tumbler":
        event |= {"tumbles": int(words[0])} | ({"activated": True} if "activated" in words else {})
    elif kind in ("result", "result-amended"):
        event["dice"] = [int(face) for face in words[0].split(",")]
    elif kind == "interruption":
        event["known_dice"] = words[0]
    elif kind == "void":
        event["rule"] = words[0]
    return event


def bet_of(bet: dict[str, Any]) -> dict[str, Any]:
    return bet | {name: moment(bet[name]) for name in ("at", "withdrawn") if name in bet}


def table_of(house: House, book: str, case: Case) -> Table:
    """With the sign of the case; where the case says `table`, it was opened and is in that state since."""
    if "table" in case:
        return out_of_play(house, book, case["table"])
    table = bare_table(house, rulebook=book, layout=LAYOUTS.get(book, "C"))
    if "sign" in case:
        lines = {key: (*line, None)[:2] for key, line in case["sign"].items()}
        limits: Limits = sign(lines)
    else:
        limits = completed(table, sign())
    put_sign(table, limits)
    return table


def out_of_play(house: House, book: str, state: str) -> Table:
    with time_machine.travel(EARLIER - HOUR, tick=False):
        table = open_table(house, rulebook=book, layout=LAYOUTS.get(book, "C"))
        if state == "suspended":
            table_suspend(actor=house["pit-manager"], table=table, reason="Two areas do not light", cause="malfunction")
        else:
            table_close(actor=house["pit-manager"], table=table, notice_given_at=EARLIER - HOUR, reason="Quiet")
    return table


def earlier(case: Case) -> Iterator[dict[str, Any]]:
    """The round before this one at the table, where the case has one."""
    if "earlier" in case:
        yield document(case | {"events": case["earlier"], "bets": USUAL}) | {"ref": "R-0"}


def document(case: Case) -> dict[str, Any]:
    named: dict[str, Any] = {name: case[name] for name in ("dealer", "supervisor") if name in case}
    return {
        "source": "floor", "ref": "R-1", "table": "TS-01", "events": [event_of(text) for text in case["events"]],
        "bets": [bet_of(bet) for bet in case.get("bets", USUAL)], **named,
    }  # fmt: skip


def expected(book: str, case: Case, name: str) -> list[tuple[str, str | None]]:
    """Kinds with the citation of their first rule, in order."""
    found = [(kind, cite(book, rule) if rule else None) for kind, rule in case.get(name, [])]
    return sorted(found, key=str)


def irregular(book: str, case: Case) -> list[tuple[str, str | None]]:
    swapped = {"irregularities": [(action, rule) for rule, action in case.get("irregularities", [])]}
    return expected(book, swapped, "irregularities")


def on_record(category: Category) -> list[tuple[str, str | None]]:
    chosen = Finding.objects.filter(category=category, lapsed_at=None)
    return sorted(chosen.values_list("kind", "rule"), key=str)


@pytest.mark.parametrize(("book", "case"), list(cases()))
def test_a_golden_round(house: House, clock: Any, book: str, case: Case) -> None:
    table = table_of(house, book, case)
    *_, key = record(*earlier(case), document(case))
    drain()
    assert on_record(Category.IRREGULARITY) == irregular(book, case)
    assert on_record(Category.PROCEDURAL) == expected(book, case, "procedural")
    wrong = Finding.objects.filter(category=Category.DISCREPANCY).order_by("position")
    cited = [(one.player, one.kind, f"{(one.expected or 0) / 100:.2f}", one.rules[:1]) for one in wrong]
    assert cited == [
        (player, kind, net, [cite(book, rule)] if rule else [])
        for player, kind, net, rule in case.get("discrepancies", [])
    ]
    before = sorted(Finding.objects.values_list("pk", "found_by"))
    day_run(table)
    assert sorted(Finding.objects.filter(lapsed_at=None).values_list("pk", "found_by")) == before
    assert_engine_agrees(table, key)


def assert_engine_agrees(table: Table, key: int) -> None:
    """The engine by itself finds the same in the events and bets of the round."""
    one, known = Round.objects.get(pk=key), terms_of_day(table)
    by_engine = drafts_in(
        recorded_round(one, known.at(one.assignment_id, one.started_at)), policy_of(table.casino), known.crews
    )
    over_rounds = {  # found over the rounds of a table
        "early-bet", "unknown-staff", "wrong-post", "sign-incomplete", "overlap", "table-closed", "table-suspended",
    }  # fmt: skip
    stored = Finding.objects.filter(lapsed_at=None).exclude(kind__in=over_rounds)
    assert sorted((found.kind, found.key) for found in by_engine) == sorted(stored.values_list("kind", "key"))


def test_every_check_has_a_golden_round_in_each_rulebook_it_concerns() -> None:
    covered = {(param.values[0], kind) for param in cases() for kind, _ in param.values[1].get("procedural", [])}
    wanted = {(book.id, kind) for book in rulebooks().values() for kind in book.procedural}
    assert covered == wanted
    assert {kind for book in rulebooks().values() for kind in book.procedural} == set(PROCEDURAL)
