"""Fixtures for all tests: a house with people in every role, and a database of one's own for tests that commit."""

import copy
import datetime as dt
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import count

import pytest
from django.db import connections
from django.db.models import Model
from pytest_django import DjangoDbBlocker

from games.access.gate import Operator
from games.access.services.people import local_password_set, staff_create
from games.floor.services.casinos import casino_create, pit_create
from games.models import Casino, Pit, Staff
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


#: What a house is made of, each after what it refers to; and the rows of the first one.
PARTS: tuple[type[Model], ...] = (
    Casino, Pit, Staff, Casino.history.model, Pit.history.model, Staff.history.model,
)  # fmt: skip
KEPT: list[Model] = []
#: Keys of houses that are put back: far from those that the database gives, and apart from each other.
FAR, APART, HOUSES = 1_000_000, 1_000, count()


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
            local_password_set(actor=OPERATOR, staff=person, password=password, reason="First password")
        house.people[role] = person
    return house


#: What is begun first, so that the quick tests, which any worker can take over, are left for the end: whole starts and
#: kills, which wait more than they work, and pages drawn for every role.
FIRST = (
    ("tests/taisai_backoffice/", "tests/faults/"),
    ("tests/test_routes.py", "tests/test_buttons.py", "tests/test_empty_forms.py"),
)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    items.sort(key=lambda item: [not item.nodeid.startswith(begins) for begins in FIRST])


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers() -> int | None:
    """One more worker than processors: one of them waits for whole starts most of the time."""
    return None if "PYTEST_XDIST_AUTO_NUM_WORKERS" in os.environ else (os.cpu_count() or 1) + 1


@pytest.fixture(scope="session")
def django_db_setup() -> None:
    """Nothing to set up: the worker's clone is there already (tests.servers)."""


@pytest.fixture
def house(db: None) -> House:
    """Built once a worker; its rows are then put back as they are, in a tenth of the time."""
    if not KEPT:
        built = build_house()
        KEPT.extend(row for model in PARTS for row in model._base_manager.all())
        return built
    rows = copy.deepcopy(KEPT)
    renumber(rows, FAR + next(HOUSES) * APART)
    for model in PARTS:
        model._base_manager.bulk_create([row for row in rows if type(row) is model])
    casinos = {row.code: row for row in rows if isinstance(row, Casino)}
    pits = {row.code: row for row in rows if isinstance(row, Pit)}
    people = {row.number.lower(): row for row in rows if isinstance(row, Staff)}
    other_pit = pits.pop("Q1")
    return House(casinos["RWS"], pits, casinos["ELSE"], other_pit, {role: people[role] for role in PEOPLE})


def renumber(rows: list[Model], by: int) -> None:
    """New keys for every house: what tests leave for ever, such as refusals, names people by theirs."""
    for row in rows:
        for concrete_field in row._meta.concrete_fields:
            is_key = concrete_field.primary_key or concrete_field.name == "id" or concrete_field.related_model in PARTS
            if is_key and (key := getattr(row, concrete_field.attname)) is not None:
                setattr(row, concrete_field.attname, key + by)


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
