"""All scenarios. Each takes a seed, does the same for the same seed, and raises where something is wrong."""

from collections.abc import Callable

from tests.soak import calls, fuzz, kills, outage, reconcile, rounds, spreadsheets

SCENARIOS: dict[str, Callable[[int], None]] = {
    "kills": kills.scenario,
    "fuzz": fuzz.scenario,
    "calls": calls.scenario,
    "rounds": rounds.scenario,
    "reconcile": reconcile.scenario,
    "outage": outage.scenario,
    "spreadsheets": spreadsheets.scenario,
}
