"""A table's day: round after round, each as a document with what is known to be wrong with it."""

import datetime as dt
from collections.abc import Iterator
from functools import lru_cache
from random import Random
from typing import Any, NamedTuple

from games.floor.moments import day_bounds, zone_of
from games.simulation.closures import PlantedClosures
from games.simulation.crowd import Crowd
from games.simulation.faults import Planter
from games.simulation.incomplete_signs import PlantedSignCheck
from games.simulation.known_findings import Findings
from games.simulation.lookalikes import Lookalikes
from games.simulation.payout import Dice
from games.simulation.played_floor import PlayedTable
from games.simulation.round_draft import Earlier, RoundDraft, Wager
from games.simulation.round_record import document_of, findings_of
from games.simulation.schedule import moments, slots

LOOKALIKES = 0.05
TIMED, HOUSE_PLACED, CALLED = 0.08, 0.02, 0.01
SPREAD = 0.7  # factors of the dealers' fault rates around the requested rate
SOURCE = "floor"
HOUR = 3600
SIX_SIDES = 6
ONE_MORE = 0.2


class PlayedRound(NamedTuple):
    started_at: dt.datetime  # its place-bets
    document: dict[str, Any]
    findings: Findings


def table_day(
    *, table: PlayedTable, day: dt.date, rounds: int, seed: int, faults: float, source: str = SOURCE,
    closures: PlantedClosures | None = None,
) -> Iterator[PlayedRound]:  # fmt: skip
    """Play the day. Same table, day, number of rounds, seed and rate give the same rounds, whatever else is played."""
    random = Random(f"{seed}/{table.code}/{day}")  # noqa: S311  it guards nothing
    starts, ends = day_bounds(table.casino, day)
    zone = zone_of(table.casino)
    crowd = Crowd(table, random)
    planter = Planter(table=table, seed=seed, day=day)
    lookalikes = Lookalikes(table)
    sign_check = PlantedSignCheck()
    earlier: Earlier | None = None
    for number, (second, length) in enumerate(slots(random, rounds, int((ends - starts).total_seconds())), 1):
        hour = second // HOUR
        draft = draft_of(crowd, random, starts + dt.timedelta(seconds=second), length, hour)
        draft.ref, draft.earlier = f"{table.code}-{day:%Y%m%d}-{number:06d}", earlier
        if random.random() < dealer_rate(seed, draft.dealer, faults):
            planter.plant(draft, random)
        elif random.random() < LOOKALIKES:
            lookalikes.plant(draft, random)
        pay(draft)
        sign_check.see(draft)
        if closures is not None:
            closures.see(number, draft)
            if number == rounds:
                closures.end(draft)
        earlier = Earlier(draft.ref, source, draft.started_at, draft.ended_at, draft.is_overlapping)
        yield PlayedRound(draft.started_at, document_of(draft, zone, source), findings_of(draft, source))


def dealer_rate(seed: int, dealer: str | None, faults: float) -> float:
    """Return how often this dealer's rounds have a fault; the average of all dealers is the requested rate."""
    return faults + _care(seed, dealer) * min(faults, 1 - faults)


@lru_cache(maxsize=4096)
def _care(seed: int, dealer: str | None) -> float:
    own = Random(f"{seed}/{dealer}")  # noqa: S311
    return 0 if dealer is None else own.uniform(-SPREAD, SPREAD)


def draft_of(crowd: Crowd, random: Random, starts_at: dt.datetime, length: int, hour: int) -> RoundDraft:
    """Draft a round without faults, not yet paid."""
    table = crowd.table
    when = moments(length, table.tumbles_first)
    sign = table.sign_at(starts_at + dt.timedelta(seconds=when.placed))
    crowd.gather(hour, sign)
    bets = crowd.bets()
    _details(bets, random, when.placed, when.closed)
    draft = RoundDraft(
        table, sign, "", starts_at, when, _throw(random), bets, table.dealer_at(hour), table.supervisor_at(hour)
    )
    draft.play(tumbles=table.book.valid_tumbles + (random.random() < ONE_MORE))
    return draft


def _throw(random: Random) -> Dice:
    first, second, third = (int(random.random() * SIX_SIDES) + 1 for _ in range(3))
    return first, second, third


def _details(bets: list[Wager], random: Random, placed: int, closed: int) -> None:
    """Record some bets with their moment, and a few as placed by the house for a player."""
    for bet in bets:
        chance = random.random()
        if chance < TIMED:
            bet.at = random.randint(placed, closed)
            bet.house_placed = chance < HOUSE_PLACED
            bet.call = chance < CALLED


def pay(draft: RoundDraft) -> None:
    """Give every bet what the dice or the rules give it; then apply the planted mistakes."""
    odds = draft.table.odds(draft.dice)
    draft.wind_up()
    is_finished, is_void = draft.is_finished, draft.is_void
    for bet in draft.bets:
        if not is_finished:
            continue
        if is_void or bet.is_out:
            bet.due = 0
        else:
            times = odds.get(bet.box, 0)
            bet.due = bet.counts_for * times if times else -bet.counts_for
        bet.net = bet.due
    for slip in draft.slips:
        slip(draft)
