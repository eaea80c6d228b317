"""Read single rounds in full, for the scalar engine to explain what the kernel saw."""

import datetime as dt
import json
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from typing import Any, NamedTuple

from audits.models import Correction
from audits.reconciliation.later_decisions import LaterDecisions, decision_of, later_decisions_of
from audits.reconciliation.terms import TermsOfDay
from games.database.sql import query_rows
from games.engine.box_numbers import code_of
from games.engine.dice import Throw, parse_dice, parse_known_dice
from games.engine.play.findings import RecordedBet, RecordedRound, Ruled
from games.engine.play.irregularities import Event
from games.models import Round
from games.rounds.terms import Terms

BATCH = 500
# SQL by hand: the keys go as one array, and no models are made of the rows; for the benchmark.
ROUNDS = """
SELECT id, table_id, gaming_day, assignment_id, started_at, rulebook, events, players, boxes, stakes, nets, nets_given,
    late, refused, withdrawn, placed_at, withdrawn_at, closed_at
FROM games_round WHERE id = ANY (%s) ORDER BY started_at, ref
"""


class OnRecord(NamedTuple):
    """The columns of a round that are needed to explain it."""

    pk: int
    table_id: int
    gaming_day: dt.date
    assignment_id: int
    started_at: dt.datetime
    rulebook: str
    events: Any
    players: list[str]
    boxes: list[int]
    stakes: list[int]
    nets: list[int]
    nets_given: list[bool] | None
    late: list[bool] | None
    refused: list[bool] | None
    withdrawn: list[bool] | None
    placed_at: list[dt.datetime | None] | None
    withdrawn_at: list[dt.datetime | None] | None
    closed_at: dt.datetime | None


def event_of(event: dict[str, Any]) -> Event:
    """Return a recorded event as the engine takes it."""
    return Event(
        kind=event["kind"],
        at=dt.datetime.fromisoformat(event["at"]),
        tumbles=event.get("tumbles"),
        dice=Throw(tuple(event["dice"])) if "dice" in event else None,
        known=parse_known_dice(event["known_dice"]) if "known_dice" in event else None,
        rule=event.get("rule"),
        activated=event.get("activated", False),
        by=event.get("by"),
    )


#: Takes half the time of `RecordedBet._make`, which checks a length that is known here.
_as_bet = partial(tuple.__new__, RecordedBet)


def recorded_bets(round_: Round | OnRecord, corrected: Sequence[int] | None = None) -> list[RecordedBet]:
    """Return the bets of a round as the engine takes them, with corrected nets if there are any."""
    nets: Sequence[int | None] = round_.nets if corrected is None else corrected
    if round_.nets_given and corrected is None:
        nets = [net if is_given else None for net, is_given in zip(round_.nets, round_.nets_given, strict=True)]
    missing = [False] * len(round_.players)
    withdrawn = round_.withdrawn or missing
    columns: tuple[Iterable[Any], ...] = (
        round_.players,
        map(code_of, round_.boxes),
        round_.stakes,
        nets,
        round_.late or missing,
        round_.refused or missing,
        withdrawn,
        (at is not None for at in round_.placed_at) if round_.placed_at else missing,
        (at is not None and not early for at, early in zip(round_.withdrawn_at, withdrawn, strict=True))
        if round_.withdrawn_at
        else missing,
        _at_the_call(round_) if round_.placed_at or round_.withdrawn_at else missing,
    )
    return list(map(_as_bet, zip(*columns, strict=True)))


def _at_the_call(round_: Round | OnRecord) -> Iterator[bool]:
    """Yield for each bet whether it was placed or withdrawn at the exact moment of the call."""
    never = [None] * len(round_.players)
    moments = zip(round_.placed_at or never, round_.withdrawn_at or never, strict=True)
    return (round_.closed_at is not None and round_.closed_at in pair for pair in moments)


def recorded_round(round_: Round | OnRecord, terms: Terms, since: LaterDecisions | None = None) -> RecordedRound:
    """Return a round as the engine takes it: as recorded, or with later rulings and corrections."""
    since = since or LaterDecisions()
    events = [event_of(event) for event in round_.events]
    policy, last = terms.policy, since.correction
    return RecordedRound(
        terms.book, terms.layout, terms.limits, events, recorded_bets(round_, last.nets if last else None),
        policy.excess, policy.rulings, since.rulings, ruled_by(last) if last else None,
        ruled_by(since.by_rule) if since.by_rule else None,
    )  # fmt: skip


def ruled_by(last: Correction) -> Ruled:
    """Return a correction as the engine takes it."""
    throw = parse_dice(last.dice) if last.dice else None
    nets: tuple[int | None, ...] | None = tuple(last.nets) if last.is_decided else None
    if nets is not None and last.decided is not None:
        nets = tuple(net if is_decided else None for net, is_decided in zip(nets, last.decided, strict=True))
    return Ruled(tuple(last.rules), last.is_void, last.is_settled, throw, nets, decision_of(last))


def explained(
    ids: Sequence[int], day_terms: TermsOfDay, *, are_corrected: bool = False
) -> Iterator[tuple[OnRecord, RecordedRound]]:
    """Yield rounds in the order of their start, as recorded and as the engine takes them."""
    for first in range(0, len(ids), BATCH):
        keys = ids[first : first + BATCH]
        since = later_decisions_of(keys, with_corrections=are_corrected)
        for round_ in map(OnRecord._make, query_rows(ROUNDS, list(keys))):
            terms = day_terms.at(round_.assignment_id, round_.started_at)
            events = json.loads(round_.events)
            yield round_, recorded_round(round_._replace(events=events), terms, since.get(round_.pk))
