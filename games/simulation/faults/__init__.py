"""Faults that can happen at a table. A fault changes a draft and records what is wrong with it."""

import datetime as dt
from collections.abc import Iterator
from itertools import chain
from random import Random

from games.simulation.faults import endings, events, late, limits, payments, procedure, voids, withdrawals
from games.simulation.faults.fault import Fault
from games.simulation.played_floor import PlayedTable
from games.simulation.round_draft import RoundDraft

FAMILIES = (payments, late, withdrawals, limits, events, voids, endings, procedure)
DAYS_APART = 17  # how far on in the order the next day begins


def faults_of(table: PlayedTable) -> Iterator[Fault]:
    """List every kind of fault that a table can have by its rulebook."""
    return chain.from_iterable(family.faults(table) for family in FAMILIES)


class Planter:
    """Plants all kinds in turn, in an order of the table's own, so that rare kinds occur too."""

    def __init__(self, *, table: PlayedTable, seed: int, day: dt.date) -> None:
        self.order = list(faults_of(table))
        Random(f"{seed}/{table.code}/faults").shuffle(self.order)  # noqa: S311  it guards nothing
        self.turn = day.toordinal() * DAYS_APART % len(self.order)

    def plant(self, draft: RoundDraft, random: Random) -> None:
        """Plant the next kind that the table's sign allows. Kinds that need a triple go first when one is thrown."""
        if payments.triple_overlooked(draft, random):
            return
        for _ in self.order:
            fault = self.order[self.turn]
            self.turn = (self.turn + 1) % len(self.order)
            if fault(draft, random):
                return
