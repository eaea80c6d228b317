"""What tests of the reconciliation share: the clock, a table to play on, nothing kept from other databases."""

from collections.abc import Iterator

import pytest

from audits.reconciliation import terms
from audits.reconciliation.services import runs
from games.models import Table
from tests.audits.playing import table_for
from tests.conftest import House
from tests.games.conftest import clock

__all__ = ["clock"]


@pytest.fixture(autouse=True)
def fresh(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Keys are given anew in every clone; and a part in a test's transaction is seen by no other connection."""
    terms._KNOWN.clear()
    monkeypatch.setattr(runs, "EVERY_SECONDS", 3600)
    yield
    terms._KNOWN.clear()


@pytest.fixture
def table(house: House, clock: None) -> Table:
    return table_for(house)
