"""Read a sound round quickly; at the least doubt leave it to the diagnostic parser, which names every fault."""

import datetime as dt

from games.rounds.preparation import DOUBTS, prepare
from games.rounds.prepared import ReadyRound
from games.rounds.table_terms import TermsCache
from games.rounds.wire_format import RoundShape


def ready(shape: RoundShape, books: TermsCache, *, latest: dt.datetime) -> ReadyRound | None:
    """Return a round ready to be recorded; None where it is not sound beyond doubt."""
    try:
        return prepare(shape, books, latest)
    except DOUBTS:
        return None
