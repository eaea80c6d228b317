"""The reports of findings, one for each category: discrepancies, breaches, irregularities, procedural, by ruling."""

from collections.abc import Iterator
from functools import partial
from typing import Any, ClassVar

from django.db.models import QuerySet
from django.db.models.functions import Coalesce

from audits.exports.document import Column, ColumnKind, Row
from audits.findings.labels import kind_name
from audits.models import Category, Finding
from audits.reports.report_kind import ReportKind, Shelf
from games.labels.boxes import box_label, boxes_label
from games.labels.rules import rule_label, rules_label

CHUNK = 5000
ROUND = Column("round_ref", "Round", width=24)
TABLE = Column("table", "Table", width=9)
PLAYER = Column("player", "Player", width=14)
BOX = Column("box", "Box", width=12, name_of=box_label)
BOXES = Column("boxes", "Boxes", ColumnKind.LIST, width=16, name_of=boxes_label)
RULES = Column("rules", "Rules", ColumnKind.LIST, width=30, name_of=rules_label)
RULE = Column("rule", "Rule", width=26, name_of=rule_label)
SOURCE = Column("source", "Source", width=10)
REF, OF_SOURCE = Coalesce("round__ref", "live_round__ref"), Coalesce("round__source", "live_round__source")


def kind_column(category: Category, name: str = "kind", title: str = "Kind", width: int = 18) -> Column:
    """Return a column of kinds of findings."""
    return Column(name, title, width=width, name_of=partial(kind_name, category))


def money_column(name: str, title: str) -> Column:
    """Return a column of amounts."""
    return Column(name, title, ColumnKind.MONEY, width=13)


class FindingReport(ReportKind):
    """The findings of one category that have not lapsed.

    In order of the round's start, then of its ref, then as the engine lists them.
    """

    shelf = Shelf.REGULATOR
    needs = ("finding.view",)
    rests_on_days = True
    category: ClassVar[Category]
    #: The fields of a finding for the columns between table and source.
    fields: ClassVar[tuple[str, ...]]

    def findings(self) -> QuerySet[Finding]:
        """Return the findings of the period within reach, in the report's order."""
        period = self.request.period_of("round_started_at")
        findings = self.within(Finding.objects.filter(period, category=self.category, lapsed_at=None))
        return findings.annotate(ref=REF, of_source=OF_SOURCE).order_by(
            "round_started_at", "ref", "of_source", "ordinal", "pk"
        )

    def rows(self) -> Iterator[Row]:
        values: Any = self.findings().values_list("ref", "table__code", *self.fields, "of_source")
        yield from values.iterator(CHUNK)


class Discrepancies(FindingReport):
    kind, title, things = "discrepancies", "Discrepancies", "discrepancies"
    about = "For compliance and the regulator: every bet that was not paid or collected as the rules require."
    rules = ("RWS 4.1, 3.10, 5.1, 5.5, 5.7, 5.12", "Division 9: 4.1, 4.7, 4.10, 7.1")
    category = Category.DISCREPANCY
    fields = ("kind", "player", "boxes__0", "stake", "expected", "recorded", "rules")
    columns = (
        ROUND, TABLE, kind_column(category), PLAYER, BOX, money_column("stake", "Stake"),
        money_column("expected_net", "Expected net"), money_column("recorded_net", "Recorded net"), RULES, SOURCE,
    )  # fmt: skip
    summed = ("stake", "expected_net", "recorded_net")


class Breaches(FindingReport):
    kind, title, things = "breaches", "Limit breaches", "limit breaches"
    about = "For compliance and pit managers: boxes, differentials and bets outside the limits on the table sign."
    rules = ("RWS 3.3, 5.1, 5.2", "Division 9: 4.4")
    category = Category.BREACH
    fields = ("kind", "boxes", "player", "placed", "permitted", "rules")
    columns = (
        ROUND, TABLE, kind_column(category), BOXES, PLAYER, money_column("placed", "Placed"),
        money_column("permitted", "Permitted"), RULES, SOURCE,
    )  # fmt: skip


class Irregularities(FindingReport):
    kind, title, things = "irregularities", "Irregularities", "irregularities"
    about = "For compliance and the regulator: events outside the normal course of a round, and what the rules require."
    rules = ("RWS 3.8, 5.1 to 5.14", "Division 9: 4.7, 7.1 to 7.5")
    category = Category.IRREGULARITY
    fields = ("rule", "kind", "detail")
    columns = (
        ROUND, TABLE, RULE, kind_column(category, "action", "Action", 16),
        Column("detail", "Detail", width=40), SOURCE,
    )  # fmt: skip


class Procedural(FindingReport):
    kind, title, things = "procedural", "Procedure", "breaks of procedure"
    shelf = Shelf.SHIFT
    about = (
        "For compliance and pit managers: rounds that failed a check of the order of play, of posts or of table signs."
    )
    rules = ("RWS 1.2, 1.5, 1.7, 1.8, 3.3, 3.7 to 3.9, 5.4.1, 5.14", "Division 9: 4.4, 5.0, 6.1, 6.6, 7.2, 7.4")
    category = Category.PROCEDURAL
    fields = ("kind", "rule", "detail")
    columns = (
        ROUND, TABLE, kind_column(category, width=24), RULE,
        Column("detail", "Detail", width=40), SOURCE,
    )  # fmt: skip


class ByRuling(FindingReport):
    shelf = Shelf.AUDIT
    kind, title, things = "by-ruling", "Decided by ruling", "bets settled differently by ruling"
    about = "For compliance: bets for which a ruling or discretion decided another amount than the rules give."
    rules = ("RWS 5.14", "Division 9: 4.9")
    category = Category.BY_RULING
    fields = ("kind", "player", "boxes__0", "stake", "expected", "recorded", "rules")
    columns = (
        ROUND, TABLE, kind_column(category), PLAYER, BOX, money_column("stake", "Stake"),
        money_column("rules_net", "Net by the rules"), money_column("decided_net", "Net as decided"),
        Column("decision", "Decision", width=16), RULES, SOURCE,
    )  # fmt: skip
    summed = ("stake", "rules_net", "decided_net")

    def rows(self) -> Iterator[Row]:
        """Yield the rows with the decision, the last citation of a finding, in a column of its own."""
        for *before, rules, source in super().rows():
            yield (*before, rules[-1], rules[:-1], source)
