"""Roles of people over time, from the history of staff and from acting appointments."""

import datetime as dt
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from itertools import groupby, pairwise

from django.db.models import Q

from games.access.roles import role_of
from games.models import Duty, Staff


@dataclass(frozen=True)
class Version:
    """A version of a person's account, valid from a moment on."""

    staff_id: int
    department: str
    post: str
    casino_id: int | None
    place: str
    is_active: bool
    leaves_on: dt.date | None
    at: dt.datetime
    author: str

    @property
    def role(self) -> tuple[str, str, str, bool]:
        return self.department, self.post, self.place, self.is_active


@dataclass(frozen=True)
class RoleSpan:
    """A role or acting appointment of a person over a period. The end is not included."""

    staff_id: int
    role: str
    place: str
    starts_at: dt.datetime
    ends_at: dt.datetime | None
    granted_by: str
    #: For a permanent role: whether the account was active, and whether the role has any rights.
    is_active: bool = True
    has_rights: bool = True
    is_acting: bool = False
    #: For an acting appointment: the person's department and permanent post then; older records lack it.
    own: tuple[str, str] = field(default=("", ""))

    def is_in(self, begins: dt.datetime, ends: dt.datetime) -> bool:
        """Say whether the span overlaps a period."""
        return self.starts_at < ends and (self.ends_at is None or self.ends_at > begins)

    def has(self, moment: dt.datetime) -> bool:
        return self.starts_at <= moment and (self.ends_at is None or moment < self.ends_at)


Histories = dict[int, list[Version]]


def histories(casino_id: int | None, also: Collection[int] = ()) -> Histories:
    """Return the versions of people who belonged to a casino or to no single one, and of the people in `also`."""
    history = Staff.history.all()
    if casino_id is not None:
        here = Staff.history.filter(Q(casino=casino_id) | Q(casino=None))
        history = history.filter(Q(id__in=here.values("id")) | Q(id__in=also))
    values = history.order_by("id", "history_date", "history_id").values_list(
        "id", "department", "post", "casino_id", "casino__code", "pit__code", "is_active", "leaves_on",
        "history_date", "history_author",
    )  # fmt: skip
    versions = (
        Version(id_, department, post, casino, place_name(code, pit), *more)
        for id_, department, post, casino, code, pit, *more in values
    )
    return {
        staff_id: list(of_person) for staff_id, of_person in groupby(versions, key=lambda version: version.staff_id)
    }


def place_name(casino: str | None, pit: str | None) -> str:
    if casino is None:
        return "Every casino"
    return f"{casino} {pit}" if pit else casino


def version_at(versions: list[Version], moment: dt.datetime) -> Version | None:
    return next((version for version in reversed(versions) if version.at <= moment), None)


def role_spans(versions: list[Version], casino_id: int | None) -> Iterator[RoleSpan]:
    """Yield the permanent roles of a person in a casino, in order. Without a casino, in all of them."""
    changes = [versions[0], *(now for before, now in pairwise(versions) if now.role != before.role)]
    ends = [*(version.at for version in changes[1:]), None]
    for version, ends_at in zip(changes, ends, strict=True):
        if casino_id is None or version.casino_id in (None, casino_id):
            role = role_of(version.department, version.post)
            yield RoleSpan(
                version.staff_id, role.name, version.place, version.at, ends_at, version.author, version.is_active,
                bool(role.may),
            )  # fmt: skip


def acting_spans(casino_id: int | None, begins: dt.datetime, ends: dt.datetime) -> Iterator[RoleSpan]:
    """Yield the acting appointments of a period."""
    duties = Duty.objects.filter(starts_at__lt=ends, ends_at__gt=begins)
    if casino_id is not None:
        duties = duties.filter(casino=casino_id)
    for duty in duties.select_related("casino", "pit__casino", "granted_by").order_by("starts_at", "id"):
        granted_by = f"{duty.granted_by}, {duty.granted_as_name.lower()}" if duty.granted_as else str(duty.granted_by)
        yield RoleSpan(
            duty.staff_id, duty.get_post_display(), duty.place, duty.starts_at, duty.ends_at, granted_by,
            is_acting=True, own=(duty.department, duty.own_post),
        )  # fmt: skip
