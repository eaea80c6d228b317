"""A small share of `make soak`: a kill of every kind, and some odd requests."""

from collections.abc import Iterator

import pytest
from pytest_django import DjangoDbBlocker

from taisai_backoffice.embedded.home import Home
from tests.homes import throwaway_home
from tests.soak import fuzz, kills


@pytest.fixture(scope="module")
def home() -> Iterator[Home]:
    with throwaway_home() as home:
        yield home


@pytest.mark.parametrize("target", kills.KILLS)
def test_what_was_acknowledged_outlives_a_kill_and_work_goes_on(home: Home, target: str) -> None:
    kills.survive(home, target, after_rows=200)


@pytest.mark.parametrize("seed", range(3))
def test_whatever_is_asked_the_site_answers(seed: int, django_db_blocker: DjangoDbBlocker) -> None:
    with django_db_blocker.unblock():
        fuzz.scenario(seed)
