"""The SQL condition for ordinary rounds, whose events need no closer look by the engine."""

from psycopg import sql

from games.engine.play.irregularities import PLACE_BETS, RESULT
from games.engine.play.procedure import Phase, tumbler_phases
from games.engine.rules.advice import situation_of
from games.engine.rules.loader import rulebooks
from games.engine.rules.rulebook import Rulebook

BEFORE, WHILE_OPEN, AFTER = Phase(), Phase(is_opened=True), Phase(is_opened=True, is_closed=True)


def _kind(place: int, kind: str) -> str:
    return f"r.events->{place}->>'kind' = '{kind}'"


def _tumbled(place: int) -> str:
    """Return the condition for a valid tumble. Only tumbler events have tumbles, so the kind is not checked."""
    return f"(r.events->{place}->>'tumbles')::int >= {{tumbles}}"


#: Five events, with one valid tumble in the place that the round's rulebook requires: before, during or after betting.
#: A settled round has each of the other four events once, and recording ensures no-more-bets before the result. So
#: three or four conditions are enough; each costs a tenth of the whole reading.
ORDINARY = f"""
CASE WHEN r.status <> 'settled' OR jsonb_array_length(r.events) <> 5 THEN false
ELSE {_kind(3, RESULT)} AND CASE WHEN {_kind(0, PLACE_BETS)}
    THEN r.rulebook = ANY ({{after}}) AND {_tumbled(2)} OR r.rulebook = ANY ({{while_open}}) AND {_tumbled(1)}
    ELSE r.rulebook = ANY ({{before}}) AND {_tumbled(0)} AND {_kind(1, PLACE_BETS)} END
END
"""


def ordinary() -> sql.Composed:
    """Return the condition on `games_round r`. The engine looks at all rounds for which it is not true."""
    books = list(rulebooks().values())
    return sql.SQL(ORDINARY).format(
        tumbles=sql.Literal(max(book.valid_tumbles for book in books)),
        before=sql.Literal([book.id for book in books if _may_tumble(book, BEFORE)]),
        while_open=sql.Literal([book.id for book in books if _may_tumble(book, WHILE_OPEN)]),
        after=sql.Literal([book.id for book in books if _may_tumble(book, AFTER)]),
    )


def _may_tumble(book: Rulebook, phase: Phase) -> bool:
    """Say whether a rulebook has the tumbler in this phase, without an irregularity."""
    is_early = not phase.is_closed
    is_fine = not is_early or situation_of(book, "tumbler-early").action == "stand"
    return phase in tumbler_phases(book.id) and is_fine
