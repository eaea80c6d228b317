"""Rounds that went as every round should, asked of PostgreSQL: nothing of their events is worth a second look."""

from psycopg import sql

from games.engine.advice import situation_of
from games.engine.irregularities import TUMBLER
from games.engine.loader import rulebooks


def _kind(place: int, kind: str) -> str:
    return f"r.events->{place}->>'kind' = '{kind}'"


def _tumbled(place: int) -> str:
    return f"{_kind(place, TUMBLER)} AND (r.events->{place}->>'tumbles')::int >= {{tumbles}}"


OPENED_FIRST = _kind(0, "place-bets")
#: The tumbler after the close (no document objects), or before it where the round's own lets that stand, or not told.
ORDINARY = f"""
CASE jsonb_array_length(r.events)
WHEN 5 THEN {_kind(3, "result")} AND {_kind(4, "settled")} AND CASE WHEN {_kind(2, "no-more-bets")}
    THEN r.rulebook = ANY ({{early}})
        AND ({OPENED_FIRST} AND {_tumbled(1)} OR {_tumbled(0)} AND {_kind(1, "place-bets")})
    ELSE {OPENED_FIRST} AND {_kind(1, "no-more-bets")} AND {_tumbled(2)} END
WHEN 4 THEN {OPENED_FIRST} AND {_kind(1, "no-more-bets")} AND {_kind(2, "result")} AND {_kind(3, "settled")}
ELSE false END
"""


def ordinary() -> sql.Composed:
    """A condition on `games_round r`. Whatever it is not true of, the engine looks at."""
    books = rulebooks().values()
    early = [book.id for book in books if situation_of(book, "tumbler-early").action == "stand"]
    tumbles = max(book.valid_tumbles for book in books)
    return sql.SQL(ORDINARY).format(tumbles=sql.Literal(tumbles), early=sql.Literal(early))
