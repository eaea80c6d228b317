"""The report of limits: every table sign that was in force, for each game and pit of the table."""

import datetime as dt
from collections import defaultdict
from collections.abc import Iterator
from typing import Any

from django.db.backends.postgresql.psycopg_any import DateTimeTZRange
from django.db.models import Exists, F, OuterRef, Q, QuerySet, Subquery

from audits.exports.document import Column, ColumnKind, Row
from audits.reports.report_kind import ReportKind, Shelf
from games.engine.rules.loader import rulebook
from games.engine.rules.rulebook import Layout
from games.engine.signs.limits import Limits
from games.labels.boxes import BET_TYPES, key_label
from games.models import LimitSet, LimitSheet, TableAssignment

MINUTE = dt.timedelta(minutes=1)
SignLine = tuple[int | None, int | None, int | None]  # minimum, maximum, differential


class LimitsInForce(ReportKind):
    """One row for each limit of a limit set and each assignment in force with it, as known now."""

    kind, title, things = "limits", "Limits", "limits"
    shelf = Shelf.REGULATOR
    about = (
        "For the regulator and compliance: every table sign that was in force, with its values, who proposed and who "
        "approved it, and how much notice was given."
    )
    needs = ("limitset.view",)
    rules = ("RWS 3.3, 5.1, 5.2",)
    reconciles = False
    columns = (
        Column("table", "Table", width=9), Column("pit", "Pit", width=9), Column("rulebook", "Rulebook", width=30),
        Column("layout", "Layout", width=8), Column("bet", "Bet type or box", width=22),
        Column("minimum", "Minimum", ColumnKind.MONEY, 12), Column("maximum", "Maximum", ColumnKind.MONEY, 12),
        Column("differential", "Differential", ColumnKind.MONEY, 12), Column("from", "From", ColumnKind.MOMENT, 17),
        Column("to", "To", ColumnKind.MOMENT, 17), Column("proposed_by", "Proposed by", width=26),
        Column("proposed_at", "Proposed", ColumnKind.MOMENT, 17), Column("approved_by", "Approved by", width=26),
        Column("approved_at", "Approved", ColumnKind.MOMENT, 17),
        Column("notice_minutes", "Notice (minutes)", ColumnKind.INTEGER, 10), Column("origin", "Origin", width=10),
        Column("source", "File or reason", width=30), Column("is_correction", "Correction", ColumnKind.YES_NO, 10),
    )  # fmt: skip

    def rows(self) -> Iterator[Row]:
        """Yield the signs by table, then moment, each in the order of the pay table."""
        sets = list(self._sets())
        sheets = {
            sheet.pk: sheet.limits()
            for sheet in LimitSheet.objects.filter(pk__in={limit_set.sheet_id for limit_set in sets}).prefetch_related(
                "lines", "differentials"
            )
        }
        assignments = self._assignments()
        for limit_set in sets:
            for assignment in assignments[limit_set.table_id]:
                yield from self._rows_of(limit_set, assignment, sheets[limit_set.sheet_id])

    def nil(self) -> str:
        return "No limits were in force in the period."

    def notes(self) -> tuple[str, ...]:
        return (
            "Values are as known now: a corrected sign is shown with its correction, and marked. For a table that "
            "moved or changed its rulebook, the sign is listed once for each place and rulebook, with their common "
            "period.",
        )

    def _sets(self) -> QuerySet[LimitSet]:
        """Return the latest revisions in force in the period. `ends_at` is the start of the next limit set."""
        begins, ends = self.request.bounds()
        of_table = LimitSet.objects.filter(table=OuterRef("table"))
        later = of_table.filter(starts_at=OuterRef("starts_at"), revision__gt=OuterRef("revision"))
        following = of_table.filter(starts_at__gt=OuterRef("starts_at")).order_by("starts_at").values("starts_at")[:1]
        return (
            self.within(LimitSet.objects.filter(~Exists(later), starts_at__lt=ends))
            .annotate(ends_at=Subquery(following))
            .filter(Q(ends_at=None) | Q(ends_at__gt=begins))
            .select_related("table", "decision__proposal")
            .order_by("table__code", "starts_at")
        )

    def _assignments(self) -> dict[int, list[TableAssignment]]:
        """Return the assignments of the period by table, in order; for people of one pit only those in it."""
        played = self.within(TableAssignment.objects.filter(during__overlap=DateTimeTZRange(*self.request.bounds())))
        if self.request.capacity.pit_id is not None:
            played = played.filter(pit=self.request.capacity.pit_id)
        by_table: dict[int, list[TableAssignment]] = defaultdict(list)
        for assignment in played.select_related("pit").order_by(F("during").asc()):
            by_table[assignment.table_id].append(assignment)
        return by_table

    def _rows_of(self, limit_set: Any, assignment: TableAssignment, limits: Limits) -> Iterator[Row]:
        begins, ends = self.request.bounds()
        starts_at = max(limit_set.starts_at, assignment.starts_at)
        ended = [moment for moment in (limit_set.ends_at, assignment.during.upper) if moment is not None]
        ends_at = min(ended, default=None)
        if starts_at >= ends or (ends_at is not None and (ends_at <= begins or ends_at <= starts_at)):
            return
        book = rulebook(assignment.rulebook)
        place = (limit_set.table.code, assignment.pit.code, f"{book.title}, version {book.version}", assignment.layout)
        for key, line in lines_of(book.layouts[assignment.layout], limits):
            name = key_label(key) if key else None
            yield (*place, name, *line, starts_at, ends_at, *decided(limit_set))


def lines_of(layout: Layout, limits: Limits) -> list[tuple[str, SignLine]]:
    """Return minimum, maximum and differential of each bet type or box on a sign; one empty line for an empty sign."""
    lines: list[tuple[str, SignLine]] = []
    for key in sorted({*limits.by_key, *limits.differential}, key=lambda key: place_of(layout, key)):
        line = limits.by_key.get(key)
        minimum, maximum = (line.minimum, line.maximum) if line else (None, None)
        lines.append((key, (minimum, maximum, limits.differential.get(key))))
    return lines or [("", (None, None, None))]


def place_of(layout: Layout, key: str) -> tuple[int, int, str]:
    """Return the position of a bet type or box in the order of the pay table. A type comes before its boxes."""
    types, codes = list(BET_TYPES), list(layout.boxes)
    if key in BET_TYPES:
        return types.index(key), -1, key
    box = layout.boxes.get(key)
    return (types.index(box.type), codes.index(key), key) if box else (len(types), 0, key)


def decided(limit_set: LimitSet) -> Row:
    """Return who proposed and approved a limit set, the notice, its origin and whether it is a correction."""
    decision = limit_set.decision
    if decision is None:
        loaded = f"{limit_set.source}, loaded by {limit_set.who}"
        return None, None, None, None, None, "File", loaded, limit_set.is_correction
    proposal = decision.proposal
    ahead = limit_set.starts_at - decision.at
    notice = None if limit_set.is_correction or ahead < dt.timedelta(0) else ahead // MINUTE
    return (
        proposal.who, proposal.proposed_at, decision.who, decision.at, notice, "Proposal", limit_set.source,
        limit_set.is_correction,
    )  # fmt: skip
