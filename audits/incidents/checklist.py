"""The checklist of an incident: the next steps (`steps.toml`), and which of them are done."""

import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from audits.models import ChecklistTick, Incident

PATH = Path(__file__).with_name("steps.toml")


@cache
def _steps() -> dict[str, dict[str, list[str]]]:
    return tomllib.loads(PATH.read_text())


def next_steps(situation: str, action: str) -> list[str]:
    """Return the steps for a situation and action; those of the situation come first."""
    steps = _steps()
    return [*steps["situation"].get(situation, ()), *steps["action"][action]]


@dataclass(frozen=True)
class ChecklistStep:
    """A step of a checklist with every tick and untick, the oldest first."""

    place: int  # from 1
    text: str
    ticks: tuple["ChecklistTick", ...] = ()

    @property
    def last(self) -> "ChecklistTick | None":
        return self.ticks[-1] if self.ticks else None

    @property
    def is_done(self) -> bool:
        return self.last is not None and self.last.is_done


def steps_of(incident: "Incident") -> list[str]:
    """Return the steps that were advised when the incident was opened."""
    return list((incident.advice or {}).get("steps") or ())


def checklist_of(incident: "Incident") -> list[ChecklistStep]:
    """Return the checklist of an incident with its ticks, read with one query."""
    ticks: dict[int, list[ChecklistTick]] = {}
    for tick in incident.ticks.order_by("step", "ordinal"):
        ticks.setdefault(tick.step, []).append(tick)
    return [ChecklistStep(place, text, tuple(ticks.get(place, ()))) for place, text in enumerate(steps_of(incident), 1)]
