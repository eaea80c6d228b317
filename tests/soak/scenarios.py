"""All scenarios. Each takes a seed, does the same for the same seed, and raises where something is wrong."""

from collections.abc import Callable

from tests.soak import fuzz, kills, reconcile, rounds

SCENARIOS: dict[str, Callable[[int], None]] = {
    "kills": kills.scenario,
    "fuzz": fuzz.scenario,
    "rounds": rounds.scenario,
    "reconcile": reconcile.scenario,
}
