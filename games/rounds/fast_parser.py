"""Read a sound round quickly. On any doubt, leave it to the diagnostic parser, which names every fault."""

import datetime as dt

from games.rounds.preparation import DOUBTS, prepare
from games.rounds.prepared import ReadyRound
from games.rounds.terms import TermsCache
from games.rounds.wire_format import RoundShape


def read(shape: RoundShape, terms: TermsCache, *, latest: dt.datetime) -> ReadyRound | None:
    """Return a round ready to be recorded; None if there is any doubt that it is sound."""
    try:
        return prepare(shape, terms, latest)
    except DOUBTS:
        return None
