"""Check the people named on rounds: whether they are on record, held that post then, and had the authority.

The post of a person at a moment comes from the history of the staff and from acting appointments for the pit of the
table. Appointments of people from other departments count only while the casino allowed them. Before the first entry
in the history of a person, that entry counts.
"""

import datetime as dt
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from audits.reconciliation.bulk_read import Bools, Ints
from games.access.roles import access_policy, is_of_posts, post_name, rank
from games.database.sql import query_rows
from games.models import Table, TableAssignment, ThresholdDecision

#: The part of a person at the table, and the post that it takes.
CREW = access_policy().crew
DEALER, SUPERVISOR = CREW["dealer"], CREW["supervisor"]
NAMES = {post: part.capitalize() for part, post in CREW.items()}
#: A crew is one number: the dealer's id, then the supervisor's. Special ids: not named, and not on record.
HALF = 2**32
NOT_NAMED, UNKNOWN = 0, 2**31 - 1

POST_HISTORY = """
SELECT id, upper(number), history_date, CASE WHEN is_active AND casino_id = %s THEN post ELSE '' END, department
FROM games_historicalstaff ORDER BY id, history_date, history_id
"""
ACTING = "SELECT staff_id, post, starts_at, ends_at, pit_id, department FROM games_duty WHERE casino_id = %s"
NUMBERS = "SELECT id, dealer, supervisor FROM games_round WHERE id = ANY (%s)"


class Acting(NamedTuple):
    """An acting appointment."""

    post: str
    starts_at: dt.datetime
    ends_at: dt.datetime
    pit_id: int | None  # None: all pits
    department: str  # the person's own when appointed; empty in older appointments, which did not record it


class Place:
    """The pit of a table, and whether people from other departments could act there, over time."""

    def __init__(self, table: Table, assignments: Sequence[TableAssignment]) -> None:
        self._pits = [(assignment.during, assignment.pit_id) for assignment in assignments]
        before = table.casino.history.order_by("history_date", "history_id")
        approved = ThresholdDecision.objects.approved(table.casino, "acting").order_by("effective_from", "pk")
        decided = approved.values_list("effective_from", "change__proposed__acting_other_departments")
        self._settings = [*before.values_list("history_date", "acting_other_departments"), *decided]

    def pit_at(self, at: dt.datetime) -> int | None:
        return next((pit_id for during, pit_id in self._pits if at in during), None)

    def allows_others_at(self, at: dt.datetime) -> bool:
        place = bisect_right([moment for moment, _ in self._settings], at) - 1
        return bool(self._settings) and self._settings[max(place, 0)][1]


class Person:
    """The posts of a person in a casino over time: permanent and acting."""

    def __init__(self, acting: list[Acting]) -> None:
        self.moments: list[dt.datetime] = []
        self.posts: list[str] = []
        self.departments: list[str] = []
        self.acting = acting

    def posts_at(self, at: dt.datetime, place: Place) -> set[str]:
        """Return the posts that the person held at a moment."""
        entry = max(bisect_right(self.moments, at) - 1, 0)
        department = self.departments[entry]
        acting = [
            appointment
            for appointment in self.acting
            if appointment.starts_at <= at < appointment.ends_at and _counts(appointment, department)
        ]
        if acting:
            pit_id, others_may = place.pit_at(at), is_of_posts(department) or place.allows_others_at(at)
            acting = [appointment for appointment in acting if others_may and appointment.pit_id in (None, pit_id)]
        return {self.posts[entry], *(appointment.post for appointment in acting)} - {""}

    def is_always(self, post: str) -> bool:
        return set(self.posts) == {post}


def _counts(acting: Acting, department: str) -> bool:
    """Say whether the person is still in the department in which the appointment was made."""
    return acting.department == department or (is_of_posts(department) and not acting.department)


class CrewFault(NamedTuple):
    """A dealer or supervisor who is not on record, or did not hold the post."""

    kind: str
    post: str  # as named on the round
    detail: str


class Crews:
    """All people who may be named on the rounds of a table."""

    def __init__(self, table: Table, assignments: Sequence[TableAssignment]) -> None:
        self._place = Place(table, assignments)
        acting: dict[int, list[Acting]] = defaultdict(list)
        for key, *appointment in query_rows(ACTING, table.casino_id):
            acting[key].append(Acting(*appointment))
        self._people: dict[int, Person] = {}
        self._keys: dict[str, int] = {}
        for key, number, moment, post, department in query_rows(POST_HISTORY, table.casino_id):
            person = self._people.setdefault(key, Person(acting[key]))
            person.moments.append(moment)
            person.posts.append(post)
            person.departments.append(department)
            self._keys[number] = key
        self._sound: dict[int, bool] = {}  # by crew: whether nothing can be wrong with it at any time

    # --- Dealer and supervisor ---

    def doubtful(self, crews: Ints) -> Bools:
        """Mark the rounds whose crew must be checked at the time of the round."""
        # Few crews work in a few hours, and most are sound: a set is quicker than sorting all numbers.
        doubtful = [crew for crew in set(crews.tolist()) if not self._is_sound(crew)]
        return np.isin(crews, doubtful) if doubtful else np.zeros(len(crews), np.bool_)

    def _is_sound(self, crew: int) -> bool:
        known = self._sound.get(crew)
        if known is None:
            known = self._sound[crew] = all(
                key == NOT_NAMED or (key in self._people and self._people[key].is_always(post))
                for key, post in _members(crew)
            )
        return known

    def faults(self, doubtful: dict[int, tuple[int, dt.datetime]]) -> Iterator[tuple[int, CrewFault]]:
        """Yield the faults of each round. `doubtful` has the crew of each round and when it began."""
        named = {key: numbers for key, *numbers in query_rows(NUMBERS, list(doubtful))} if doubtful else {}
        for key, (crew, at) in doubtful.items():
            for (member, post), number in zip(_members(crew), named[key], strict=True):
                if number is not None and (fault := self._fault(member, post, number, at)):
                    yield key, fault

    def _fault(self, member: int, post: str, number: str, at: dt.datetime) -> CrewFault | None:
        person = self._people.get(self._keys.get(number.upper(), -1) if member == UNKNOWN else member)
        if person is None:
            return CrewFault("unknown-staff", post, f"{NAMES[post]} {number} is not on record.")
        if post in person.posts_at(at, self._place):
            return None
        return CrewFault(
            "wrong-post", post, f"{NAMES[post]} {number} was not a {post_name(post).lower()} here at that moment."
        )

    # --- Authority ---

    def has_authority(self, number: str | None, post: str, at: dt.datetime) -> bool:
        """Say whether the person with this number held this post, or a higher one, at a moment."""
        person = self._people.get(self._keys.get(number.upper(), -1)) if number else None
        return person is not None and any(rank(held) >= rank(post) for held in person.posts_at(at, self._place))


def _members(crew: int) -> tuple[tuple[int, str], tuple[int, str]]:
    return (crew // HALF, DEALER), (crew % HALF, SUPERVISOR)
