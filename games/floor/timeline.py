"""A table's time line: every action on it and everything that took effect, the newest first."""

import datetime as dt
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from heapq import nlargest
from typing import Any

from django.db.models import QuerySet
from django.utils import timezone

from games.labels.rules import rules_label
from games.limits.signs.changed import CHANGED_BY, changed_text
from games.models import DiceFit, LimitDecision, LimitSet, Table, TableAssignment, TableStep, TumblerFit

STEPS = {
    TableStep.Kind.OPEN: "Opened",
    TableStep.Kind.CLOSE: "Closed",
    TableStep.Kind.SUSPEND: "Suspended",
    TableStep.Kind.RESUME: "Resumed",
}


@dataclass(frozen=True)
class TimelineEvent:
    at: dt.datetime
    kind: str  # table, limits, game, dice, tumbler, sign
    what: str
    who: str
    why: str
    proposal: int | None = None

    @property
    def is_to_come(self) -> bool:
        return self.at > timezone.now()


@dataclass(frozen=True)
class Window:
    """How far back, and how many events of each kind at most."""

    before: dt.datetime | None
    count: int

    def latest(self, records: QuerySet[Any], moment: str) -> Iterable[Any]:
        if self.before is not None:
            records = records.filter(**{f"{moment}__lt": self.before})
        return records.order_by(f"-{moment}", "-pk")[: self.count]


def timeline(table: Table, *, before: dt.datetime | None = None, count: int = 50) -> list[TimelineEvent]:
    """List the latest events before a moment. Scheduled events appear at their future time."""
    window = Window(before, count)
    kinds = (_steps, _limits, _proposals, _games, _dice, _tumblers, _prints)
    found = [event for kind in kinds for event in kind(table, window)]
    if before is not None:
        found = [event for event in found if event.at < before]
    return nlargest(count, found, key=lambda event: event.at)


def _steps(table: Table, window: Window) -> Iterator[TimelineEvent]:
    for step in window.latest(table.steps.select_related("checked_by", "checks_by"), "at"):
        cited = f" ({rules_label(step.rules)})" if step.rules else ""
        yield TimelineEvent(step.at, "table", f"{STEPS[step.kind]}{cited}", step.who, _why(step))
    for check in window.latest(table.opening_checks.all(), "at"):
        what = f"Opening checks {'passed' if check.passed else 'not passed'}"
        yield TimelineEvent(check.at, "table", what, check.who, check.remarks)


def _why(step: TableStep) -> str:
    """Describe a step's reason, the file that states it, who made the checks, and what was rectified by whom."""
    said = [step.reason.rstrip(".")]
    if step.source:
        said.append(f"File {step.source}")
    if step.checks_by is not None:
        said.append(f"Opening checks by {step.checks_by}")
    if step.checked_by is not None:
        said.append(f"Rectified: {step.rectified.rstrip('.')}. By {step.rectified_by}, checked by {step.checked_by}")
    return f"{'. '.join(said)}." if len(said) > 1 else step.reason


def _limits(table: Table, window: Window) -> Iterator[TimelineEvent]:
    sets = table.limit_sets.select_related("decision__proposal", "sheet").prefetch_related(*CHANGED_BY)
    for limit_set in window.latest(sets, "starts_at"):
        what = "Corrected limits in force" if limit_set.is_correction else "New limits in force"
        if changed := changed_text(limit_set):
            what = f"{what}: {changed}"
        from_file = limit_set.origin == LimitSet.Origin.FILE
        why = f"File {limit_set.source}" if from_file else limit_set.source
        yield TimelineEvent(
            limit_set.starts_at,
            "limits",
            what,
            limit_set.who,
            why,
            None if from_file else limit_set.decision.proposal_id,
        )


def _proposals(table: Table, window: Window) -> Iterator[TimelineEvent]:
    for proposal in window.latest(table.limit_proposals.all(), "proposed_at"):
        yield TimelineEvent(
            proposal.proposed_at,
            "limits",
            f"Limits proposed, no. {proposal.pk}",
            proposal.who,
            proposal.reason,
            proposal.pk,
        )
    for decision in window.latest(LimitDecision.objects.filter(proposal__tables=table), "at"):
        what = f"Proposal no. {decision.proposal_id} {decision.outcome}"
        yield TimelineEvent(decision.at, "limits", what, decision.who, decision.reason, decision.proposal_id)


def _games(table: Table, window: Window) -> Iterator[TimelineEvent]:
    assignments = list(window.latest(table.assignments.select_related("pit"), "during__startswith"))
    versions = _first_and_last(TableAssignment, assignments)
    for assignment in assignments:
        made, _ = versions[assignment.pk]
        what = f"{assignment.game}, pit {assignment.pit.code}"
        yield TimelineEvent(assignment.starts_at, "game", what, made.history_author, made.history_change_reason)


def _dice(table: Table, window: Window) -> Iterator[TimelineEvent]:
    fits = list(window.latest(table.dice_fits.select_related("dice_set"), "during__startswith"))
    versions = _first_and_last(DiceFit, fits)
    for fit in fits:
        made, ended = versions[fit.pk]
        name = f"Dice set {fit.dice_set}"
        yield TimelineEvent(fit.during.lower, "dice", f"{name} fitted", made.history_author, made.history_change_reason)
        if fit.during.upper:
            what = f"{name} removed"
            yield TimelineEvent(fit.during.upper, "dice", what, ended.history_author, ended.history_change_reason)
    for inspection in window.latest(table.dice_inspections.select_related("dice_set"), "at"):
        what = f"Dice set {inspection.dice_set} inspected: {inspection.get_result_display().lower()}"
        yield TimelineEvent(inspection.at, "dice", what, inspection.who, inspection.remarks)


def _tumblers(table: Table, window: Window) -> Iterator[TimelineEvent]:
    fits = list(window.latest(table.tumbler_fits.select_related("tumbler"), "during__startswith"))
    versions = _first_and_last(TumblerFit, fits)
    for fit in fits:
        made, ended = versions[fit.pk]
        name = f"Tumbler {fit.tumbler}"
        yield TimelineEvent(
            fit.during.lower, "tumbler", f"{name} fitted", made.history_author, made.history_change_reason
        )
        if fit.during.upper:
            what = f"{name} removed"
            yield TimelineEvent(fit.during.upper, "tumbler", what, ended.history_author, ended.history_change_reason)
    for inspection in window.latest(table.tumbler_inspections.select_related("tumbler"), "at"):
        what = f"Tumbler {inspection.tumbler} inspected: {inspection.get_result_display().lower()}"
        yield TimelineEvent(inspection.at, "tumbler", what, inspection.who, inspection.remarks)


def _prints(table: Table, window: Window) -> Iterator[TimelineEvent]:
    for printed in window.latest(table.sign_prints.all(), "at"):
        what = f"Sign reprinted, no. {printed.number}" if printed.is_reprint else "Sign printed"
        yield TimelineEvent(printed.at, "sign", what, printed.who, "")


def _first_and_last(model: Any, records: list[Any]) -> dict[int, tuple[Any, Any]]:
    """Return the first and last history row of each record, in one query."""
    found: dict[int, tuple[Any, Any]] = {}
    for row in model.history.filter(id__in=[record.pk for record in records]).order_by("history_id"):
        found[row.id] = (found[row.id][0] if row.id in found else row, row)
    return found
