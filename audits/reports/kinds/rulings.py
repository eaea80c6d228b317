"""The report of rulings: who decided what in which post, on which precedent, and the settings of standing ones."""

import datetime as dt
from collections.abc import Iterator

from django.db.models import F, Q, QuerySet
from django.utils import timezone

from audits.exports.document import Column, Row
from audits.incidents.labels import situation_label
from audits.models import Ruling, Scope
from audits.reports.columns import CASINO, INCIDENT, PIT, moment_column, person_column, text_column
from audits.reports.kinds.findings import RULES, TABLE
from audits.reports.kinds.placed_report import CHUNK, PlacedReport, batches, code_of
from audits.reports.report_kind import ReportRequest, Shelf
from audits.rulings.presenters import policies_shown
from games.labels.rules import rulebook_title

RELATED = ("follows", "departs_from", "replaces", "replaced_by")


class Rulings(PlacedReport):
    """Rulings made in the period, and standing ones in force during it, by the time of the ruling."""

    kind, title, things = "rulings", "Rulings", "rulings"
    shelf = Shelf.REGULATOR
    about = (
        "For the regulator, compliance and shift managers: every ruling made in the period and every standing "
        "interpretation in force during it, with the post it was made in, its precedent, and its effect on settlement."
    )
    needs = ("ruling.view", "incident.view")
    rules = ("RWS 1.5, 5.14", "Division 9: 4.3, 4.9")
    columns = (
        Column("number", "Number", width=15),
        CASINO,
        PIT,
        TABLE,
        INCIDENT,
        moment_column("made_at", "Made at"),
        person_column("ruled_by", "Ruled by"),
        Column("post", "In the post of", width=20),
        Column("kind", "Kind", width=24),
        text_column("situation", "Situation", 24),
        text_column("rulebook", "Rulebook", 24),
        RULES,
        text_column("question", "Question"),
        text_column("decision", "Decision", 36),
        text_column("reasoning", "Reasoning", 36),
        Column("scope", "Scope", width=16),
        moment_column("effective_from", "In force from"),
        moment_column("effective_to", "In force until"),
        Column("state", "Status", width=12),
        text_column("sets", "Sets"),
        Column("follows", "Follows", width=15),
        Column("departs_from", "Departs from", width=15),
        text_column("departure", "Why it departs", 24),
        Column("replaces", "Replaces", width=15),
        Column("replaced_by", "Replaced by", width=15),
        text_column("override", "Override", 24),
    )

    def __init__(self, request: ReportRequest) -> None:
        super().__init__(request)
        self.now = timezone.now()

    def nil(self) -> str:
        return "No rulings were made in the period, and no standing interpretation was in force."

    def rulings(self) -> QuerySet[Ruling]:
        """Return the rulings in the report's order."""
        starts_at, ends_at = self.request.bounds()
        made = Q(made_at__gte=starts_at, made_at__lt=ends_at)
        begun = Q(scope=Scope.STANDING, is_withdrawal=False, effective_from__lt=ends_at)
        later = "replaced_by__effective_from"
        is_on = Q(replaced_by=None) | Q(**{f"{later}__gt": starts_at}) & Q(**{f"{later}__gt": F("effective_from")})
        related = self.placed(Ruling.objects.filter(made | begun & is_on)).select_related(
            "casino", "pit", "table", "incident", *RELATED
        )
        unread = ("search", "incident__search", "incident__advice", *(f"{name}__search" for name in RELATED))
        return related.defer(*unread).order_by("made_at", "number", "casino__code")

    def rows(self) -> Iterator[Row]:
        for rulings in batches(self.rulings().iterator(CHUNK)):
            sets = policies_shown(rulings) if "settlementpolicy.view" in self.request.capacity.role.may else {}
            for ruling in rulings:
                yield self._row(ruling, sets.get(ruling.pk))

    def _row(self, ruling: Ruling, sets: str | None) -> Row:
        incident = ruling.incident
        later: Ruling | None = getattr(ruling, "replaced_by", None)
        return (
            ruling.number, ruling.casino.code, code_of(ruling.pit), code_of(ruling.table),
            incident.number if self.shows("incident.view", incident) else None, ruling.made_at, ruling.who,
            ruling.post.capitalize(), ruling.get_kind_display(), situation_label(ruling.situation),
            _rulebook(ruling.rulebook), ruling.rules, ruling.question, ruling.decision, ruling.reasoning,
            Scope(ruling.scope).label, ruling.effective_from, _ends_at(ruling, later),
            state_of(ruling, later, self.now), sets, self._number(ruling.follows), self._number(ruling.departs_from),
            ruling.departure or None, self._number(ruling.replaces), self._number(later), ruling.override or None,
        )  # fmt: skip

    def _number(self, other: Ruling | None) -> str | None:
        return other.number if other is not None and self.shows("ruling.view", other) else None


def _rulebook(id_: str) -> str | None:
    """Name a rulebook in full; None for an empty id."""
    return rulebook_title(id_) or None


def _ends_at(ruling: Ruling, later: Ruling | None) -> dt.datetime | None:
    """Return when another ruling replaces this one. A ruling on one case ends when the other one is made."""
    if later is None or ruling.is_withdrawal:
        return None
    return later.effective_from or later.made_at


def state_of(ruling: Ruling, later: Ruling | None, now: dt.datetime) -> str:
    """Return the status of a ruling at the time of the report."""
    if ruling.is_withdrawal:
        return "Withdrawal"
    if later is not None and (later.effective_from is None or later.effective_from <= now):
        return "Withdrawn" if later.is_withdrawal else "Superseded"
    return "To come" if ruling.effective_from and ruling.effective_from > now else "In force"
