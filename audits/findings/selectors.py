"""Lists of findings, quick on hundreds of thousands, and the findings that wait for a person."""

import datetime as dt
from dataclasses import dataclass

from django.db.models import Q, QuerySet

from audits.models import NEEDS_ACTION, NOT_ACKNOWLEDGED, Finding, Run, Severity
from games.access.gate import capacities, within_reach
from games.models import Staff, Table

#: Counts stop here: people do not need the exact number above it.
COUNTED = 1000
#: How many findings a run's page lists; the list of the gaming day has all of them.
SHOWN = 20
#: Large columns of a round that a list of findings does not show.
HEAVY = tuple(
    f"round__{name}"
    for name in (
        "events", "players", "boxes", "stakes", "nets", "nets_given", "placed_at", "late", "refused", "house_placed",
        "call", "withdrawn_at", "withdrawn",
    )
)  # fmt: skip

#: The choices of a list's status filter; the first is the default.
STATES: dict[str, tuple[str, Q]] = {
    "": ("Needs action", NEEDS_ACTION),
    "open": ("Open", NOT_ACKNOWLEDGED),
    "acknowledged": ("Acknowledged", Q(lapsed_at__isnull=True, state="acknowledged")),
    "awaiting": ("Awaiting confirmation", Q(needs_confirmation=True)),
    "resolved": ("Resolved", Q(lapsed_at__isnull=True, state="resolved")),
    "lapsed": ("Lapsed", Q(lapsed_at__isnull=False)),
    "all": ("All", Q()),
}


@dataclass(frozen=True)
class FindingFilter:
    """Which of the visible findings to list. Every part is optional."""

    category: str | None = None
    kind: str | None = None
    state: str | None = None
    severity: int | None = None
    table: str | None = None
    first: dt.date | None = None
    last: dt.date | None = None
    ref: str | None = None
    round: int | None = None
    mine: bool | None = None


def findings_list(actor: Staff, wanted: FindingFilter) -> QuerySet[Finding]:
    """List the findings that pass a filter, the newest first, without counting them."""
    findings = _listed(seen_by(actor)).filter(STATES[wanted.state or ""][1])
    by = {
        "category": wanted.category, "kind": wanted.kind, "severity": wanted.severity, "table__code": wanted.table,
        "gaming_day__gte": wanted.first, "gaming_day__lte": wanted.last,
        "round": wanted.round, "assigned_to": actor.pk if wanted.mine else None,
    }  # fmt: skip
    if wanted.ref is not None:
        findings = findings.filter(Q(round__ref=wanted.ref) | Q(round=None, live_round__ref=wanted.ref))
    return findings.filter(**{name: value for name, value in by.items() if value is not None})


def seen_by(actor: Staff) -> QuerySet[Finding]:
    """Return the findings of the tables that a person may see.

    The filter is a list of table keys: the database then walks the index of the newest findings without a join.
    """
    tables = within_reach(actor, "finding.view", Table.objects.all())
    return Finding.objects.filter(table__in=list(tables.values_list("pk", flat=True)))


def _listed(findings: QuerySet[Finding]) -> QuerySet[Finding]:
    light = findings.select_related("table", "round", "live_round", "assigned_to").defer(*HEAVY)
    return light.order_by("-round_started_at", "-pk")


def changes_of(actor: Staff, run: Run) -> dict[str, tuple[int, QuerySet[Finding]]]:
    """List what a run over a gaming day changed: the new findings, and those that were no longer found."""
    of_day = seen_by(actor).filter(gaming_day__in=[run.gaming_day])
    changed = {"New": of_day.filter(found_by=run), "No longer found": of_day.filter(lapsed_by=run)}
    return {name: (findings[:COUNTED].count(), _listed(findings)[:SHOWN]) for name, findings in changed.items()}


# --- What waits for a person -----------------------------------------------------------------------


def alerts(actor: Staff) -> QuerySet[Finding]:
    """List the findings of high severity that are not acknowledged."""
    return _listed(seen_by(actor).filter(NOT_ACKNOWLEDGED, severity=Severity.HIGH))


def open_by_severity(actor: Staff) -> dict[Severity, int]:
    """Count the open findings of each severity, the highest first. Counts stop at `COUNTED`."""
    seen = seen_by(actor).filter(NOT_ACKNOWLEDGED).order_by()
    return {severity: seen.filter(severity=severity)[:COUNTED].count() for severity in reversed(Severity)}


def escalated_to(actor: Staff) -> QuerySet[Finding]:
    """List the open findings that were escalated to a post that the actor holds now."""
    roles = {capacity.role.code for capacity in capacities(actor)}
    escalated = Finding.objects.filter(NOT_ACKNOWLEDGED, escalations__notice__role__in=roles).values("pk")
    return _listed(seen_by(actor).filter(pk__in=escalated))


def assigned_to(actor: Staff) -> QuerySet[Finding]:
    """List the unresolved findings that are assigned to a person."""
    unresolved = seen_by(actor).filter(NEEDS_ACTION, assigned_to=actor).exclude(state=Finding.State.RESOLVED)
    return _listed(unresolved)


def to_confirm(actor: Staff) -> QuerySet[Finding]:
    """List the resolutions by other people that wait for confirmation by compliance, the oldest first."""
    waiting = Finding.objects.filter(needs_confirmation=True).exclude(resolved_by=actor)
    return _listed(within_reach(actor, "finding.confirm", waiting)).order_by("resolved_at", "pk")
