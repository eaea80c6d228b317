"""The report of void rounds: by which rule or ruling, when, by whom, and the stakes returned.

A row is a round that is void now: by its own record (called off at the table, or void by the rules), or by a corrective
action. A round that a later correction settled again is not void. The rows of a gaming day are the voids of the daily
results.
"""

import datetime as dt
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from django.db.models import Prefetch, Q, QuerySet

from audits.exports.document import Column, ColumnKind, Row
from audits.models import Correction, IncidentRound, Ruling
from audits.reconciliation.explain import event_of
from audits.reports.columns import INCIDENT, list_column, moment_column, person_column
from audits.reports.kinds.findings import ROUND, RULES, SOURCE, TABLE, money_column
from audits.reports.kinds.placed_report import CHUNK, PlacedReport, batches
from audits.reports.report_kind import Shelf
from games.engine.play.irregularities import INTERRUPTION, SETTLED, VOID, Event, assess, in_order, voids_of
from games.engine.rules.loader import rulebook
from games.engine.settlement import RULING
from games.models import Round, Staff

AT_THE_TABLE, BY_EVENTS, BY_ACTION = "Called off at the table", "Void by the rules", "Corrective action"


@dataclass(frozen=True)
class RecordedVoid:
    """Why, when and by whom a round is void according to its own record."""

    rules: list[str]
    at: dt.datetime
    by: str | None  # the staff number, as sent
    is_called_off: bool
    by_ruling: bool


class Voids(PlacedReport):
    """Void rounds of the period, ordered by start and ref."""

    kind, title, things = "voids", "Void rounds", "void rounds"
    shelf = Shelf.REGULATOR
    about = (
        "For the regulator and compliance: every void round of the period, by which rule or ruling, when and by whom "
        "it was voided, before or after settlement, and the stakes that were returned."
    )
    needs = ("round.view", "consequence.view")
    rules = ("RWS 5.4.2, 5.5, 5.6, 5.12, 5.14", "Division 9: 7.1")
    reconciles = True
    columns = (
        ROUND,
        TABLE,
        Column("gaming_day", "Gaming day", ColumnKind.DATE, width=11),
        moment_column("started_at", "Round began at"),
        Column("voided", "Voided", width=22),
        RULES,
        list_column("rulings", "Rulings", 15),
        INCIDENT,
        Column("order", "Order no.", width=9),
        moment_column("voided_at", "Voided at"),
        person_column("voided_by", "Voided by"),
        person_column("ordered_by", "Ordered by"),
        Column("after_settlement", "After settlement", ColumnKind.YES_NO, width=10),
        person_column("dealer", "Dealer"),
        person_column("supervisor", "Supervisor"),
        Column("bets", "Bets", ColumnKind.INTEGER, width=6),
        money_column("stakes", "Stakes"),
        money_column("returned", "Stakes returned"),
        money_column("players_net", "Players' net"),
        SOURCE,
    )
    summed = ("bets", "stakes", "returned", "players_net")

    def candidates(self) -> QuerySet[Round]:
        """Return rounds that may be void: recorded as void, voided later, or with events that the engine must read."""
        voided = Correction.objects.filter(self.request.period_of("round__started_at"), is_void=True).values("round")
        may_be_void = (
            Q(status=Round.Status.VOID)
            | Q(pk__in=voided)
            | Q(events__contains=[{"kind": VOID}])
            | Q(events__contains=[{"kind": INTERRUPTION}])
        )
        orders = ("consequence__incident", "consequence__ruling")
        corrections = (
            Correction.objects.select_related(*orders)
            .defer(*(f"{path}__search" for path in orders), "consequence__incident__advice")
            .order_by("ordinal")
        )
        return (
            self.within(Round.objects.filter(may_be_void, self.request.period_of("started_at")))
            .select_related("table", "dealer_staff", "supervisor_staff")
            .prefetch_related(Prefetch("corrections", corrections))
            .order_by("started_at", "ref", "source", "pk")
        )

    def rows(self) -> Iterator[Row]:
        for rounds in batches(self.candidates().iterator(CHUNK)):
            recorded = {played.pk: recorded_void(played) for played in rounds}
            void = [played for played in rounds if is_void(played, recorded[played.pk])]
            names = _names({record.by for record in recorded.values() if record and record.by})
            by_ruling = [played.pk for played in void if (record := recorded[played.pk]) and record.by_ruling]
            rulings = self._rulings(by_ruling)
            for played in void:
                yield self._row(played, recorded[played.pk], names, rulings[played.pk])

    def _rulings(self, keys: Sequence[int]) -> dict[int, list[str]]:
        """Return the numbers of the rulings on rounds, as far as they are within reach."""
        numbers: dict[int, list[str]] = defaultdict(list)
        if keys:
            seen = Ruling.objects.filter(self.request.capacity.within(Ruling)).order_by()
            named = IncidentRound.objects.filter(round__in=keys, incident__rulings__in=seen)
            for key, number in named.order_by("incident__rulings__number").values_list(
                "round_id", "incident__rulings__number"
            ):
                numbers[key].append(number)
        return numbers

    def _row(self, played: Round, recorded: RecordedVoid | None, names: dict[str, str], rulings: list[str]) -> Row:
        correction = last_decisive(played)
        return (
            played.ref, played.table.code, played.gaming_day, played.started_at,
            *self._how(played, recorded, correction, names, rulings), _was_settled(played),
            _crew(played.dealer_staff, played.dealer), _crew(played.supervisor_staff, played.supervisor),
            *_money(played), played.source,
        )  # fmt: skip

    def _how(
        self, played: Round, recorded: RecordedVoid | None, correction: Correction | None, names: dict[str, str],
        rulings: list[str],
    ) -> Row:  # fmt: skip
        """Return how, by which rules and rulings, incident, order, when, by whom, and ordered by whom.

        For a round that is void by its own record but was paid, the order is the one that returned the stakes.
        """
        order = correction.consequence if correction else None
        is_shown = order is not None and self.shows("consequence.view", order.incident)
        incident = order.incident.number if order and is_shown else None
        number, ordered_by = (str(order.pk), order.who) if order and is_shown else (None, None)
        if order and is_shown and order.ruling is not None:
            rulings = list(dict.fromkeys([*rulings, order.ruling.number]))
        cited = rulebook(played.rulebook).cite
        if recorded is not None:
            how = AT_THE_TABLE if recorded.is_called_off else BY_EVENTS
            by = names.get(recorded.by.upper(), recorded.by) if recorded.by else None
            return (how, cited(*recorded.rules), rulings, incident, number, recorded.at, by, ordered_by)
        if correction is None:
            raise AssertionError(f"{played} is void by neither record nor correction.")
        return (BY_ACTION, cited(*correction.rules), rulings, incident, number, correction.at, correction.who,
                ordered_by)  # fmt: skip


# --- The round's own record ---


def recorded_void(played: Round) -> RecordedVoid | None:
    """Return why a round is void by its events; None if it is not."""
    book = rulebook(played.rulebook)
    ordered = in_order([event_of(event) for event in played.events])
    assessed = assess(book, ordered)
    if not assessed.is_void:
        return None
    called_off, _ = voids_of(book, ordered)
    declared = called_off[0] if called_off else None
    return RecordedVoid(
        list(assessed.void_rules), declared.at if declared else _void_since(played, ordered),
        declared.by if declared else None, declared is not None, any(event.rule == RULING for event in called_off),
    )  # fmt: skip


def _void_since(played: Round, ordered: Sequence[Event]) -> dt.datetime:
    """Return the moment of the event that made the round void."""
    book = rulebook(played.rulebook)
    spans = (ordered[: place + 1] for place in range(len(ordered)))
    return next((span[-1].at for span in spans if assess(book, span).is_void), played.ended_at)


def last_decisive(played: Round) -> Correction | None:
    """Return the last correction that voided or settled the round. Amended results do neither."""
    decisive = [correction for correction in played.corrections.all() if correction.is_void or correction.is_settled]
    return decisive[-1] if decisive else None


def is_void(played: Round, recorded: RecordedVoid | None) -> bool:
    """Say whether a round is void now."""
    last = last_decisive(played)
    return last.is_void if last else recorded is not None


def _was_settled(played: Round) -> bool:
    """Say whether the round was settled at any time."""
    return any(event["kind"] == SETTLED for event in played.events) or any(
        correction.is_settled for correction in played.corrections.all()
    )


def _names(numbers: set[str]) -> dict[str, str]:
    """Return people as `D-102 Tan Mei`, by their numbers in capitals."""
    if not numbers:
        return {}
    wanted = Q()
    for number in numbers:
        wanted |= Q(number__iexact=number)
    return {person.number.upper(): str(person) for person in Staff.objects.filter(wanted).only("number", "name")}


def _crew(person: Staff | None, number: str | None) -> str | None:
    return str(person) if person else number


def _money(played: Round) -> Row:
    """Return the number of bets on the felt, their stakes, the stakes returned, and the players' net now."""
    corrections = list(played.corrections.all())
    nets = corrections[-1].nets if corrections else played.nets
    missing = [False] * len(played.stakes)
    gone = zip(played.refused or missing, played.withdrawn or missing, strict=True)
    bets = [(stake, net) for stake, net, flags in zip(played.stakes, nets, gone, strict=True) if not any(flags)]
    returned = sum(stake + min(net, 0) for stake, net in bets)
    return len(bets), sum(stake for stake, _ in bets), returned, sum(nets)
