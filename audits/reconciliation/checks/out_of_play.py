"""Rounds at tables that were not in play: by the table's steps on record, and by warnings given during play."""

from collections.abc import Iterable, Iterator, Mapping

import numpy as np

from audits.models import Category, FindingPolicy
from audits.reconciliation.bulk_read import Rounds
from audits.reconciliation.drafts import FindingDraft
from audits.reconciliation.postgres_time import microseconds
from games.floor.availability import Unavailable, availability_of
from games.models import LiveWarning, Table


class Closures:
    """When a table was not in play, by assignment, and the warnings given at it: read once, not once a day."""

    def __init__(self, table: Table, books: Mapping[int, str]) -> None:
        """`books` has the rulebook of each assignment of the table."""
        self.availability = availability_of(table)
        self.books = books
        self.moments = np.array([microseconds(at) for at in self.availability.moments], np.int64)
        places = range(len(self.moments) + 1)
        closed = {
            key: np.array([self.availability.at_place(place, book) is not None for place in places])
            for key, book in books.items()
        }
        self.closed = {key: flags for key, flags in closed.items() if flags.any()}  # mostly none
        on_record = LiveWarning.objects.filter(live_round__table=table, live_round__recorded__isnull=False)
        self.warned = _grouped(on_record.order_by("pk").values_list("live_round__recorded", "pk"))


class OutOfPlay:
    """Watches the rounds of a table go by, and then names those that should not have been played."""

    def __init__(self, policy: FindingPolicy, closures: Closures) -> None:
        self.policy, self.closures = policy, closures
        self._found: list[tuple[int, int, int]] = []  # round, assignment, place among the steps
        self._seen: set[int] = set()

    def see(self, rounds: Rounds) -> None:
        if self.closures.warned:
            self._seen |= self.closures.warned.keys() & set(rounds.ids.tolist())
        if not self.closures.closed:
            return
        places = np.searchsorted(self.closures.moments, rounds.started_at, side="right")
        for key, flags in self.closures.closed.items():
            out = (rounds.assignments == key) & flags[places]
            chosen = zip(rounds.ids[out].tolist(), places[out].tolist(), strict=True)
            self._found += [(pk, key, place) for pk, place in chosen]

    def findings(self) -> Iterator[tuple[int, FindingDraft]]:
        """A warning that was given while a round was played comes first: it is the same finding, once a kind."""
        if not self._seen and not self._found:
            return
        warned = {key for pk in self._seen for key in self.closures.warned[pk]}
        warnings = LiveWarning.objects.in_bulk(warned)
        given: set[tuple[int, str]] = set()
        for pk in sorted(self._seen):
            for one in (warnings[key] for key in self.closures.warned[pk]):
                given.add((pk, one.kind))
                yield pk, out_of_play_found(self.policy, one.kind, one.rules, one.explain)
        for pk, assignment, place in self._found:
            problem: Unavailable | None = self.closures.availability.at_place(place, self.closures.books[assignment])
            if problem is not None and (pk, problem.kind) not in given:
                yield pk, out_of_play_found(self.policy, problem.kind, problem.rules, problem.explain)


def out_of_play_found(policy: FindingPolicy, kind: str, rules: Iterable[str], detail: str) -> FindingDraft:
    """The finding of a round that should not have been played; the same for a round in play and one on record."""
    cited = list(rules)
    return FindingDraft(
        Category.PROCEDURAL, f"{kind} ", kind, policy.procedural_severity(kind), rule=cited[0] if cited else None,
        rules=cited, detail=detail,
    )  # fmt: skip


def _grouped(pairs: Iterable[tuple[int, int]]) -> dict[int, list[int]]:
    found: dict[int, list[int]] = {}
    for key, one in pairs:
        found.setdefault(key, []).append(one)
    return found
