"""The reports of findings: paid wrongly, limits not kept, irregularities, procedure, rulings beyond the rules."""

from collections.abc import Iterator
from functools import partial
from typing import Any, ClassVar

from django.db.models import QuerySet
from django.db.models.functions import Coalesce

from audits.exports.document import Column, ColumnKind, Row
from audits.findings.labels import box_name, boxes_name, kind_name, rule_name, rules_name
from audits.models import Category, Finding
from audits.reports.report_kind import ReportKind, Shelf

CHUNK = 5000
ROUND = Column("round_ref", "Round", width=24)
TABLE = Column("table", "Table", width=9)
PLAYER = Column("player", "Player", width=14)
BOX = Column("box", "Box", width=12, name_of=box_name)
BOXES = Column("boxes", "Boxes", ColumnKind.LIST, width=16, name_of=boxes_name)
RULES = Column("rules", "Rules", ColumnKind.LIST, width=30, name_of=rules_name)
RULE = Column("rule", "Rule", width=26, name_of=rule_name)
SOURCE = Column("source", "Source", width=10)
REF, OF_SOURCE = Coalesce("round__ref", "live_round__ref"), Coalesce("round__source", "live_round__source")


def kind_column(category: Category, name: str = "kind", title: str = "Kind", width: int = 18) -> Column:
    return Column(name, title, width=width, name_of=partial(kind_name, category))


def money(name: str, title: str) -> Column:
    return Column(name, title, ColumnKind.MONEY, width=13)


class FindingReport(ReportKind):
    """Findings of one category that hold, in order of the round's start, then its ref, then as the engine lists."""

    shelf = Shelf.REGULATOR
    needs = ("finding.view",)
    rests_on_days = True
    category: ClassVar[Category]
    #: What stands in the columns between table and source.
    fields: ClassVar[tuple[str, ...]]

    def found(self) -> QuerySet[Finding]:
        period = self.asked.period_of("round_started_at")
        found = self.within(Finding.objects.filter(period, category=self.category, lapsed_at=None))
        return found.annotate(ref=REF, of_source=OF_SOURCE).order_by(
            "round_started_at", "ref", "of_source", "ordinal", "pk"
        )

    def rows(self) -> Iterator[Row]:
        values: Any = self.found().values_list("ref", "table__code", *self.fields, "of_source")
        yield from values.iterator(CHUNK)


class Discrepancies(FindingReport):
    kind, title, things = "discrepancies", "Discrepancies", "discrepancies"
    about = "For compliance and the regulator: every bet that was paid or collected otherwise than the rules say."
    rules = ("RWS 4.1, 3.10, 5.1, 5.5, 5.7, 5.12", "Division 9: 4.1, 4.7, 4.10, 7.1")
    category = Category.DISCREPANCY
    fields = ("kind", "player", "boxes__0", "stake", "expected", "recorded", "rules")
    columns = (
        ROUND, TABLE, kind_column(category), PLAYER, BOX, money("stake", "Stake"),
        money("expected_net", "Expected net"), money("recorded_net", "Recorded net"), RULES, SOURCE,
    )  # fmt: skip
    summed = ("stake", "expected_net", "recorded_net")


class Breaches(FindingReport):
    kind, title, things = "breaches", "Limit breaches", "limit breaches"
    about = "For compliance and pit managers: boxes, pairs of boxes and bets over or under a limit on the sign."
    rules = ("RWS 3.3, 5.1, 5.2", "Division 9: 4.4")
    category = Category.BREACH
    fields = ("kind", "boxes", "player", "placed", "permitted", "rules")
    columns = (
        ROUND, TABLE, kind_column(category), BOXES, PLAYER, money("placed", "Placed"),
        money("permitted", "Permitted"), RULES, SOURCE,
    )  # fmt: skip


class Irregularities(FindingReport):
    kind, title, things = "irregularities", "Irregularities", "irregularities"
    about = "For compliance and the regulator: what did not go as the rules have it, and what the rule asks for."
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
    about = "For compliance and pit managers: checks of the order of play, of posts and of signs that a round failed."
    rules = ("RWS 1.2, 1.5, 1.7, 1.8, 3.3, 3.7 to 3.9, 5.4.1, 5.14", "Division 9: 4.4, 5.0, 6.1, 6.6, 7.2, 7.4")
    category = Category.PROCEDURAL
    fields = ("kind", "rule", "detail")
    columns = (
        ROUND, TABLE, kind_column(category, width=24), RULE,
        Column("detail", "Detail", width=40), SOURCE,
    )  # fmt: skip


class ByRuling(FindingReport):
    shelf = Shelf.AUDIT
    kind, title, things = "by-ruling", "Decided by ruling", "bets settled by a ruling otherwise than by the rules"
    about = "For compliance: what rulings and discretion paid or collected beyond what the rules alone give."
    rules = ("RWS 5.14", "Division 9: 4.9")
    category = Category.BY_RULING
    fields = ("kind", "player", "boxes__0", "stake", "expected", "recorded", "rules")
    columns = (
        ROUND, TABLE, kind_column(category), PLAYER, BOX, money("stake", "Stake"),
        money("rules_net", "Net by the rules"), money("decided_net", "Net as decided"),
        Column("decision", "Decision", width=16), RULES, SOURCE,
    )  # fmt: skip
    summed = ("stake", "rules_net", "decided_net")

    def rows(self) -> Iterator[Row]:
        """Yield the decision, which stands last among the rules, in a column of its own."""
        for *before, rules, source in super().rows():
            yield (*before, rules[-1], rules[:-1], source)
