"""The readers of findings: lists that stay quick on hundreds of thousands, and what waits for somebody."""

import datetime as dt
from dataclasses import dataclass

from django.db.models import Q, QuerySet

from audits.models import NEEDS_SOMEBODY, NOBODY_SAW, Finding, Run, Severity
from games.access.gate import capacities, within_reach
from games.models import Staff, Table

#: A count that nobody reads to its last digit stops here.
COUNTED = 1000
#: As many findings a run's page lists; the day's own list has them all.
SHOWN = 20
#: What a list of findings shows of a round is its name.
HEAVY = tuple(
    f"round__{name}"
    for name in (
        "events", "players", "boxes", "stakes", "nets", "nets_given", "placed_at", "late", "refused", "house_placed",
        "call", "withdrawn_at", "withdrawn",
    )
)  # fmt: skip

#: Which findings a list shows, by what became of them; nothing chosen is the first.
STANDS: dict[str, tuple[str, Q]] = {
    "": ("Needs somebody", NEEDS_SOMEBODY),
    "open": ("Open", NOBODY_SAW),
    "acknowledged": ("Acknowledged", Q(lapsed_at__isnull=True, state="acknowledged")),
    "awaiting": ("Awaiting confirmation", Q(needs_confirmation=True)),
    "resolved": ("Resolved", Q(lapsed_at__isnull=True, state="resolved")),
    "lapsed": ("Lapsed", Q(lapsed_at__isnull=False)),
    "all": ("All", Q()),
}


@dataclass(frozen=True)
class FindingFilter:
    """Which findings of all that somebody may see; every part may be left out."""

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


def findings_found(actor: Staff, wanted: FindingFilter) -> QuerySet[Finding]:
    """The newest first, by index; nothing is counted."""
    findings = _listed(seen_by(actor)).filter(STANDS[wanted.state or ""][1])
    by = {
        "category": wanted.category, "kind": wanted.kind, "severity": wanted.severity, "table__code": wanted.table,
        "gaming_day__gte": wanted.first, "gaming_day__lte": wanted.last,
        "round": wanted.round, "assigned_to": actor.pk if wanted.mine else None,
    }  # fmt: skip
    if wanted.ref is not None:
        findings = findings.filter(Q(round__ref=wanted.ref) | Q(round=None, live_round__ref=wanted.ref))
    return findings.filter(**{name: value for name, value in by.items() if value is not None})


def seen_by(actor: Staff) -> QuerySet[Finding]:
    """By the keys of the tables within sight: the database then walks the newest findings, and joins nothing first."""
    tables = within_reach(actor, "finding.view", Table.objects.all())
    return Finding.objects.filter(table__in=list(tables.values_list("pk", flat=True)))


def _listed(findings: QuerySet[Finding]) -> QuerySet[Finding]:
    found = findings.select_related("table", "round", "live_round", "assigned_to").defer(*HEAVY)
    return found.order_by("-round_started_at", "-pk")


def changes_of(actor: Staff, run: Run) -> dict[str, tuple[int, QuerySet[Finding]]]:
    """List what a run over a gaming day changed: findings that are new, and those that were no longer found."""
    of_day = seen_by(actor).filter(gaming_day__in=[run.gaming_day])
    changed = {"New": of_day.filter(found_by=run), "No longer found": of_day.filter(lapsed_by=run)}
    return {name: (found[:COUNTED].count(), _listed(found)[:SHOWN]) for name, found in changed.items()}


# --- What waits for somebody -----------------------------------------------------------------------


def alerts(actor: Staff) -> QuerySet[Finding]:
    """Grave and seen by nobody: these stay until somebody acknowledges them."""
    return _listed(seen_by(actor).filter(NOBODY_SAW, severity=Severity.HIGH))


def open_by_severity(actor: Staff) -> dict[Severity, int]:
    """The gravest first; counted up to a bound."""
    seen = seen_by(actor).filter(NOBODY_SAW).order_by()
    return {severity: seen.filter(severity=severity)[:COUNTED].count() for severity in reversed(Severity)}


def escalated_to(actor: Staff) -> QuerySet[Finding]:
    """Open findings of which a post was told that the actor holds at this moment."""
    roles = {capacity.role.code for capacity in capacities(actor)}
    told = Finding.objects.filter(NOBODY_SAW, escalations__notice__role__in=roles).values("pk")
    return _listed(seen_by(actor).filter(pk__in=told))


def assigned_to(actor: Staff) -> QuerySet[Finding]:
    unresolved = seen_by(actor).filter(NEEDS_SOMEBODY, assigned_to=actor).exclude(state=Finding.State.RESOLVED)
    return _listed(unresolved)


def to_confirm(actor: Staff) -> QuerySet[Finding]:
    """Resolved, by somebody else, and waiting for compliance; the oldest first."""
    waiting = Finding.objects.filter(needs_confirmation=True).exclude(resolved_by=actor)
    return _listed(within_reach(actor, "finding.confirm", waiting)).order_by("resolved_at", "pk")
