"""Rounds that went as every round should, asked of PostgreSQL: nothing of their events is worth a second look."""

from psycopg import sql

from games.engine.advice import situation_of
from games.engine.irregularities import NO_MORE_BETS, PLACE_BETS, TUMBLER
from games.engine.loader import rulebooks
from games.engine.procedure import Phase, tumbler_phases
from games.engine.rulebook import Rulebook

BEFORE, WHILE_OPEN, AFTER = Phase(), Phase(is_opened=True), Phase(is_opened=True, is_closed=True)


def _kind(place: int, kind: str) -> str:
    return f"r.events->{place}->>'kind' = '{kind}'"


def _tumbled(place: int) -> str:
    return f"{_kind(place, TUMBLER)} AND (r.events->{place}->>'tumbles')::int >= {{tumbles}}"


#: Five events, with one valid tumble where the round's own rulebook has it: before betting, while it is open, or after.
ORDINARY = f"""
CASE WHEN jsonb_array_length(r.events) <> 5 THEN false
ELSE {_kind(3, "result")} AND {_kind(4, "settled")} AND CASE WHEN {_kind(2, NO_MORE_BETS)}
    THEN r.rulebook = ANY ({{before}}) AND {_tumbled(0)} AND {_kind(1, PLACE_BETS)}
        OR r.rulebook = ANY ({{while_open}}) AND {_kind(0, PLACE_BETS)} AND {_tumbled(1)}
    ELSE r.rulebook = ANY ({{after}}) AND {_kind(0, PLACE_BETS)} AND {_kind(1, NO_MORE_BETS)} AND {_tumbled(2)} END
END
"""


def ordinary() -> sql.Composed:
    """A condition on `games_round r`. Whatever it is not true of, the engine looks at."""
    books = list(rulebooks().values())
    return sql.SQL(ORDINARY).format(
        tumbles=sql.Literal(max(book.valid_tumbles for book in books)),
        before=sql.Literal([book.id for book in books if _may_tumble(book, BEFORE)]),
        while_open=sql.Literal([book.id for book in books if _may_tumble(book, WHILE_OPEN)]),
        after=sql.Literal([book.id for book in books if _may_tumble(book, AFTER)]),
    )


def _may_tumble(book: Rulebook, phase: Phase) -> bool:
    """By the order of play, and without being an irregularity."""
    is_early = not phase.is_closed
    is_fine = not is_early or situation_of(book, "tumbler-early").action == "stand"
    return phase in tumbler_phases(book.id) and is_fine
