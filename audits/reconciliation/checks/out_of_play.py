"""Find rounds at tables that were closed or suspended, from the table's steps and from warnings during play."""

from collections.abc import Iterable, Iterator, Mapping

import numpy as np

from audits.models import Category, FindingPolicy
from audits.reconciliation.bulk_read import Rounds
from audits.reconciliation.drafts import FindingDraft
from audits.reconciliation.postgres_time import microseconds
from games.database.sql import query_rows
from games.floor.availability import Availability, Unavailable
from games.models import LiveWarning, Table

#: Warnings of this table's rounds in play that are recorded now.
WARNINGS = """
SELECT l.recorded_id, w.id FROM games_livewarning w JOIN games_liveround l ON l.id = w.live_round_id
WHERE l.table_id = %s AND l.recorded_id IS NOT NULL
"""


class Closures:
    """When a table was not in play, by assignment, and its warnings. Read once for all days."""

    def __init__(self, table: Table, availability: Availability, books: Mapping[int, str]) -> None:
        """`books` has the rulebook of each assignment of the table."""
        self.availability = availability
        self.books = books
        self.moments = np.array([microseconds(at) for at in self.availability.moments], np.int64)
        places = range(len(self.moments) + 1)
        closed = {
            key: np.array([self.availability.at_place(place, book) is not None for place in places])
            for key, book in books.items()
        }
        self.closed = {key: flags for key, flags in closed.items() if flags.any()}  # usually none
        self.warned = _grouped(query_rows(WARNINGS, table.pk))


class OutOfPlayCheck:
    """Collect rounds of a table block by block, then yield findings for those that should not have been played."""

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
        """Yield the findings. A warning during play replaces a finding of the same kind from the steps."""
        if not self._seen and not self._found:
            return
        warned = {key for pk in self._seen for key in self.closures.warned[pk]}
        warnings = LiveWarning.objects.in_bulk(warned)
        given: set[tuple[int, str]] = set()
        for pk in sorted(self._seen):
            for warning in (warnings[key] for key in self.closures.warned[pk]):
                given.add((pk, warning.kind))
                yield pk, out_of_play_draft(self.policy, warning.kind, warning.rules, warning.explain)
        for pk, assignment, place in self._found:
            problem: Unavailable | None = self.closures.availability.at_place(place, self.closures.books[assignment])
            if problem is not None and (pk, problem.kind) not in given:
                yield pk, out_of_play_draft(self.policy, problem.kind, problem.rules, problem.explain)


def out_of_play_draft(policy: FindingPolicy, kind: str, rules: Iterable[str], detail: str) -> FindingDraft:
    """Return the finding of a round that should not have been played, in play or recorded."""
    cited = list(rules)
    return FindingDraft(
        Category.PROCEDURAL, f"{kind} ", kind, policy.procedural_severity(kind), rule=cited[0] if cited else None,
        rules=cited, detail=detail,
    )  # fmt: skip


def _grouped(pairs: Iterable[tuple[int, int]]) -> dict[int, list[int]]:
    groups: dict[int, list[int]] = {}
    for key, value in pairs:
        groups.setdefault(key, []).append(value)
    return groups
