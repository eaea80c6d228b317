"""What PostgreSQL takes for an ordinary round is one to the engine: by every order of events, in every rulebook."""

import datetime as dt
import json
from itertools import permutations
from typing import Any

import pytest
from django.db import connection
from psycopg import sql

from audits.reconciliation.explain import event_of
from audits.reconciliation.ordinary_rounds import ordinary
from games.engine.play.irregularities import assess
from games.engine.play.procedure import procedural_faults
from games.engine.rules.loader import rulebooks
from games.rounds.prepared import pattern_of, status_of

BEGINS = dt.datetime(2026, 11, 15, 21, tzinfo=dt.UTC)
TOLD: tuple[dict[str, Any], ...] = (
    {"kind": "place-bets"}, {"kind": "no-more-bets"}, {"kind": "tumbler", "tumbles": 3},
    {"kind": "tumbler", "tumbles": 2}, {"kind": "tumbler", "tumbles": 0}, {"kind": "result", "dice": [1, 3, 6]},
    {"kind": "settled"}, {"kind": "die-not-flat"}, {"kind": "dice-exposed"},
    {"kind": "interruption", "known_dice": "1,3,6"},
)  # fmt: skip
ASKED = """
SELECT {} FROM unnest(%s::jsonb[], %s::text[], %s::text[]) WITH ORDINALITY AS r (events, rulebook, status, place)
ORDER BY place
"""


def in_order(*told: dict[str, Any]) -> list[dict[str, Any]]:
    return [one | {"at": (BEGINS + dt.timedelta(seconds=place)).isoformat()} for place, one in enumerate(told)]


def are_ordinary(rounds: list[tuple[str, list[dict[str, Any]]]]) -> list[bool]:
    with connection.cursor() as cursor:
        statement = sql.SQL(ASKED).format(ordinary()).as_string(connection.connection)
        statuses = [status_of(book, tuple(map(pattern_of, events))) for book, events in rounds]
        books, told = [book for book, _ in rounds], [json.dumps(events) for _, events in rounds]
        cursor.execute(statement, [told, books, statuses])
        return [found for (found,) in cursor.fetchall()]


@pytest.mark.django_db
def test_no_order_of_events_is_ordinary_in_which_the_engine_sees_anything() -> None:
    told = [in_order(*some) for count in range(1, 6) for some in permutations(TOLD, count)]
    rounds = [(book, events) for book in rulebooks() for events in told if is_recordable(events)]
    asked = list(zip(rounds, are_ordinary(rounds), strict=True))
    wrong = [
        (book, [event["kind"] for event in events])
        for (book, events), is_ordinary in asked
        if is_ordinary and not goes_as_it_should(book, events)
    ]
    assert wrong == []
    assert {book for (book, _), is_ordinary in asked if is_ordinary} == set(rulebooks())


def is_recordable(events: list[dict[str, Any]]) -> bool:
    """As the contract has it: place-bets is there, and no-more-bets before a result."""
    kinds = [event["kind"] for event in events]
    before_result = kinds[: kinds.index("result")] if "result" in kinds else ["no-more-bets"]
    return "place-bets" in kinds and "no-more-bets" in before_result


def goes_as_it_should(book: str, events: list[dict[str, Any]]) -> bool:
    known = [event_of(event) for event in events]
    found = assess(rulebooks()[book], known)
    is_usual = found.is_finished and not found.is_void and not found.irregularities
    return is_usual and not list(procedural_faults(rulebooks()[book], known))


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("book", "fine"),
    [
        ("rws-tai-sai-v6", {"while betting is open", "after the close"}),
        ("rws-tai-sai-open-cover-v5", {"after the close"}),
        ("division-9-2008", {"before betting opens"}),
    ],
)
def test_3_7_and_6_1_the_tumbler_runs_where_the_order_of_play_has_it(book: str, fine: set[str]) -> None:
    opened, closed, tumbled, _, _, shown, settled, *_ = TOLD
    orders = {
        "not told": (opened, closed, shown, settled),
        "after the close": (opened, closed, tumbled, shown, settled),
        "while betting is open": (opened, tumbled, closed, shown, settled),
        "before betting opens": (tumbled, opened, closed, shown, settled),
    }
    found = are_ordinary([(book, in_order(*events)) for events in orders.values()])
    assert {name for name, is_ordinary in zip(orders, found, strict=True) if is_ordinary} == fine
