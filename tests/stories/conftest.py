"""Stories play by the same clock as the game's own tests."""

from tests.games.conftest import clock  # noqa: F401  a fixture
