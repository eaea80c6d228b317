"""Fixtures for all tests: a house with people in every role, and a database of one's own for tests that commit."""

import datetime as dt
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

import pytest
from django.db import connections
from pytest_django import DjangoDbBlocker

from games.models import Casino, Pit, Staff
from games.services.casinos import casino_create, pit_create
from games.services.gate import Operator
from games.services.people import staff_create, staff_set_password
from tests import servers

OPERATOR = Operator()

#: Who stands for each role in tests: department, post, pit.
PEOPLE: dict[str, tuple[str, str, str | None]] = {
    "dealer": ("pit", "dealer", "P1"),
    "pit-supervisor": ("pit", "pit-supervisor", "P1"),
    "pit-manager": ("pit", "pit-manager", "P1"),
    "shift-manager": ("pit", "shift-manager", None),
    "casino-manager": ("pit", "casino-manager", None),
    "surveillance": ("surveillance", "", None),
    "compliance": ("compliance", "", None),
    "auditor": ("audit", "", None),
    "administrator": ("it", "", None),
}


@dataclass
class House:
    """A casino with two pits and a person for each role, and another casino that is none of their business."""

    casino: Casino
    pits: dict[str, Pit]
    other: Casino
    other_pit: Pit
    people: dict[str, Staff] = field(default_factory=dict)

    def __getitem__(self, role: str) -> Staff:
        """The person of a role, read anew: as at the beginning of a request."""
        return Staff.objects.select_related("casino", "pit").get(pk=self.people[role].pk)

    def hire(self, number: str, role: str, casino: Casino | None = None, pit: Pit | None = None) -> Staff:
        department, post, _ = PEOPLE[role]
        return staff_create(
            actor=OPERATOR, number=number, name=f"Person {number}", department=department, post=post,
            casino=casino or self.casino, pit=pit, reason="Hired",
        )  # fmt: skip


def build_house(password: str | None = None) -> House:
    def casino(code: str, timezone: str) -> Casino:
        return casino_create(
            actor=OPERATOR, code=code, name=f"Casino {code}", timezone=timezone, currency="SGD",
            gaming_day_starts=dt.time(6), reason="Opened",
        )  # fmt: skip

    def pit(casino: Casino, code: str) -> Pit:
        return pit_create(actor=OPERATOR, casino=casino, code=code, name="", reason="Opened")

    home, other = casino("RWS", "Asia/Singapore"), casino("ELSE", "Europe/London")
    house = House(home, {code: pit(home, code) for code in ("P1", "P2")}, other, pit(other, "Q1"))
    for role, (_, _, place) in PEOPLE.items():
        person = house.hire(role.upper(), role, pit=house.pits[place] if place else None)
        if password is not None:
            staff_set_password(
                actor=OPERATOR, staff=person, password=password, must_change=False, reason="First password"
            )
        house.people[role] = person
    return house


@pytest.fixture(scope="session")
def django_db_setup() -> None:
    """Nothing to set up: the worker's clone is there already (tests.servers)."""


@pytest.fixture
def house(db: None) -> House:
    return build_house()


@pytest.fixture
def clone(django_db_blocker: DjangoDbBlocker) -> Iterator[str]:
    """A database in which a test may commit: dropped at its end, never flushed."""
    with servers.clone() as name, django_db_blocker.unblock(), connected_to(name):
        yield name


@contextmanager
def connected_to(name: str) -> Iterator[None]:
    """All of Django's connections, new threads' too, lead to this database."""
    usual = servers.WORKER_DATABASE
    for alias in connections:
        connections[alias].close()
        connections.databases[alias]["NAME"] = name
    try:
        yield
    finally:
        for alias in connections:
            connections[alias].close()
            connections.databases[alias]["NAME"] = usual
