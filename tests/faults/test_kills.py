"""A small share of `make soak`: a kill of every kind, also while rounds come in or are reconciled; odd requests."""

from collections.abc import Iterator

import pytest
from pytest_django import DjangoDbBlocker

from taisai_backoffice.embedded.home import Home
from tests.homes import migrated_home
from tests.soak import fuzz, kills, reconcile, rounds


@pytest.fixture(scope="module")
def home() -> Iterator[Home]:
    with migrated_home() as home:
        yield home


@pytest.fixture(scope="module")
def empty_home() -> Iterator[Home]:
    """Of its database every scenario makes a copy: nothing is ever played in it."""
    with migrated_home() as home:
        yield home


@pytest.mark.parametrize("target", kills.KILLS)
def test_what_was_acknowledged_outlives_a_kill_and_work_goes_on(home: Home, target: str) -> None:
    kills.survive(home, target, after_rows=200)


@pytest.mark.parametrize("seed", range(3))
def test_every_round_is_on_record_once_and_every_file_whole_whatever_is_killed(home: Home, seed: int) -> None:
    rounds.survive(home, seed, kills=1)  # seed by seed another kind


@pytest.mark.parametrize("seed", range(3))
def test_what_is_found_is_what_a_calm_run_finds_whatever_is_killed(
    empty_home: Home, seed: int, django_db_blocker: DjangoDbBlocker
) -> None:
    with django_db_blocker.unblock():
        reconcile.survive(empty_home, seed, kills=2)


@pytest.mark.parametrize("seed", range(3))
def test_whatever_is_asked_the_site_answers(seed: int, django_db_blocker: DjangoDbBlocker) -> None:
    with django_db_blocker.unblock():
        fuzz.scenario(seed)
