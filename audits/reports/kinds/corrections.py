"""The report of corrections: bets changed after their round was recorded, with refunds and recoveries.

A row is a bet whose net a corrective action changed. A correction that changes no net (an amended result, a void before
settlement) is one row for the round. The rows of a gaming day add up to the change of the players' nets of that day,
and so, with the opposite sign, to the change of the house result.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from django.db.models import Prefetch, QuerySet

from audits.exports.document import Column, ColumnKind, Row
from audits.models import Consequence, Correction, Repayment, RepaymentMark
from audits.reconciliation.later_decisions import decision_of
from audits.reports.columns import INCIDENT, moment_column, person_column, text_column
from audits.reports.kinds.findings import BOX, PLAYER, ROUND, RULES, SOURCE, TABLE, money_column
from audits.reports.kinds.placed_report import CHUNK, PlacedReport
from audits.reports.report_kind import Shelf
from games.engine.box_numbers import code_of as box_code
from games.engine.rules.citation import cite

TOLD, PAID = RepaymentMark.What.TOLD, RepaymentMark.What.PAID
UNDONE = {RepaymentMark.What.NOT_TOLD: TOLD, RepaymentMark.What.NOT_PAID: PAID}
REFUND, RECOVERY, NOTHING_DUE = "Refund", "Recovery", "Nothing due"


class Corrections(PlacedReport):
    """Corrections of the period's rounds, ordered by the round's start and ref, the correction and the bet."""

    kind, title, things = "corrections", "Corrections, refunds and recoveries", "corrections"
    shelf = Shelf.AUDIT
    about = (
        "For auditors, compliance and the regulator: every bet whose result was changed after its round was recorded, "
        "by which order and ruling, and whether the patron was informed and the money paid or recovered."
    )
    needs = ("round.view", "consequence.view", "repayment.view")
    rules = ("RWS 3.8, 5.6, 5.8, 5.14", "Division 9: 4.3, 4.9, 7.2")
    columns = (
        ROUND, TABLE, Column("gaming_day", "Gaming day", ColumnKind.DATE, width=11),
        Column("ordinal", "Correction", ColumnKind.INTEGER, width=10), Column("order", "Order no.", width=9), INCIDENT,
        Column("decision", "Ruling or discretion", width=18), Column("kind", "Kind", width=22), RULES,
        person_column("ordered_by", "Ordered by"), moment_column("corrected_at", "Executed at"),
        person_column("corrected_by", "Executed by"), Column("bet", "Bet", ColumnKind.INTEGER, width=5), PLAYER,
        BOX, money_column("stake", "Stake"), money_column("old_net", "Old net"),
        money_column("new_net", "New net"), money_column("difference", "Difference"),
        Column("direction", "Refund or recovery", width=11), money_column("amount", "Amount of the order"),
        moment_column("told_at", "Patron informed at"), person_column("told_by", "Patron informed by"),
        moment_column("paid_at", "Paid or recovered at"), person_column("paid_by", "Marked as paid by"),
        text_column("state", "Status", 20), SOURCE,
    )  # fmt: skip
    summed = ("old_net", "new_net", "difference")

    def nil(self) -> str:
        return "No rounds of the period were corrected."

    def corrections(self) -> QuerySet[Correction]:
        """Return the corrections in the report's order."""
        repayments = Repayment.objects.filter(self.request.capacity.within(Repayment)).prefetch_related(
            Prefetch("marks", RepaymentMark.objects.order_by("at", "pk"))
        )
        orders = ("consequence__incident", "consequence__ruling")
        return (
            self.within(Correction.objects.filter(self.request.period_of("round__started_at")))
            .select_related("round", "table", *orders)
            .defer("round__events", *(f"{path}__search" for path in orders), "consequence__incident__advice")
            .prefetch_related(Prefetch("consequence__repayments", repayments, to_attr="seen_repayments"))
            .order_by("round__started_at", "round__ref", "round__source", "ordinal", "pk")
        )

    def rows(self) -> Iterator[Row]:
        for correction in self.corrections().iterator(CHUNK):
            yield from self._rows(correction)

    def _rows(self, correction: Correction) -> Iterator[Row]:
        played, order = correction.round, correction.consequence
        is_shown = self.shows("consequence.view", order.incident)
        head = (
            played.ref, correction.table.code, correction.gaming_day, correction.ordinal,
            str(order.pk) if is_shown else None, order.incident.number if is_shown else None,
            (decision_of(correction) or None) if is_shown else None, Consequence.Kind(order.kind).label,
            [cite(played.rulebook, rule) for rule in correction.rules], order.who if is_shown else None,
            correction.at, correction.who,
        )  # fmt: skip
        repayments = {seen_repayment.player: seen_repayment for seen_repayment in order.seen_repayments}  # type: ignore[attr-defined]
        changed = [place for place, delta in enumerate(correction.deltas) if delta]
        if not changed:
            net = sum(correction.nets)
            yield (*head, None, None, None, None, net, net, 0, *_nothing_due(), played.source)
        for place in changed:
            player, net, delta = played.players[place], correction.nets[place], correction.deltas[place]
            settled = _settled(repayments.get(player)) if is_shown else (None,) * 7
            yield (
                *head, place + 1, player, box_code(played.boxes[place]), played.stakes[place], net - delta,
                net, delta, *settled, played.source,
            )  # fmt: skip


# --- Refunds and recoveries ---


@dataclass
class Mark:
    """The last mark on something to be done; None if it was never made or was withdrawn."""

    mark: RepaymentMark | None = None

    def cells(self) -> Row:
        return (self.mark.at, self.mark.who) if self.mark else (None, None)


def _nothing_due() -> Row:
    return (None, None, None, None, None, None, NOTHING_DUE)


def _settled(repayment: Repayment | None) -> Row:
    """Return direction, amount, when and by whom informed and paid, and the status. Nothing is due at a sum of 0."""
    if repayment is None:
        return _nothing_due()
    marks = {TOLD: Mark(), PAID: Mark()}
    for mark in repayment.marks.all():
        what = RepaymentMark.What(mark.what)
        marks[UNDONE.get(what, what)].mark = None if what in UNDONE else mark
    told, paid = marks[TOLD], marks[PAID]
    is_refund = repayment.amount > 0
    return (
        REFUND if is_refund else RECOVERY, abs(repayment.amount), *told.cells(), *paid.cells(),
        _state(is_refund, bool(told.mark), bool(paid.mark)),
    )  # fmt: skip


def _state(is_refund: bool, is_told: bool, is_paid: bool) -> str:
    done = "paid" if is_refund else "recovered"
    if is_paid:
        return done.capitalize()
    return f"Patron told, not {done}" if is_told else f"Patron not told, not {done}"
