"""Rulings due for review: their tables have changed to another rulebook, or the ruling contradicts its own."""

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from django.db.models import BooleanField, F, Func, QuerySet
from django.utils import timezone

from audits.models import Correction, Ruling, RulingKind, RulingReview, Scope
from audits.rulings.remit import MINIMUMS, Decided, decided, order_fault
from games.access.gate import visible
from games.labels.rules import rulebook_label, rules_label
from games.models import SettlementPolicy, TableAssignment
from games.settlement_policies.selectors import faults_of


@dataclass(frozen=True)
class ToReview:
    """A ruling due for review, the rulebook to review it under, and the reason."""

    ruling: Ruling
    rulebook: str
    why: str
    tables: tuple[str, ...] = ()  # those that changed from the ruling's rulebook to this one


def rulings_in_force(actor: Any) -> QuerySet[Ruling]:
    """Return the visible rulings that hold, or will."""
    held = Ruling.objects.filter(is_withdrawal=False, replaced_by=None)
    return visible(actor, held).select_related("casino", "table", "incident")


def standing_rulings(actor: Any) -> QuerySet[Ruling]:
    """Return the visible standing interpretations that hold, or will."""
    return rulings_in_force(actor).filter(scope=Scope.STANDING)


def to_review(actor: Any, ruling: Ruling | None = None) -> list[ToReview]:
    """Return the visible reviews due, or those of one ruling; contradictions come before changes of rulebook."""
    held = rulings_in_force(actor) if ruling is None else rulings_in_force(actor).filter(pk=ruling.pk)
    found = [*_against_a_rule(held), *_sets_what_is_closed(held), *_other_document(held)]
    keys = {review.ruling.pk for review in found}
    done = set(RulingReview.objects.filter(ruling__in=keys).values_list("ruling", "rulebook"))
    return [review for review in found if (review.ruling.pk, review.rulebook) not in done]


# --- Contradictions of a rule --------------------------------------------------------------------------


def _against_a_rule(held: QuerySet[Ruling]) -> Iterator[ToReview]:
    """Find older rulings on incidents that the rulebook itself decides differently."""
    decides = Func(
        F("incident__rulebook"),
        F("incident__situation"),
        F("incident__facts"),
        function="rules_decide",
        output_field=BooleanField(),
    )
    for ruling in held.filter(decides).order_by("made_at", "pk"):
        if why := _contradiction(ruling):
            yield ToReview(ruling, ruling.rulebook, why)


def _contradiction(ruling: Ruling) -> str:
    rule = decided(ruling.incident)
    if rule is None:
        return ""
    rules = rules_label(rule.rules)
    if ruling.kind == RulingKind.NOT_COVERED and MINIMUMS not in ruling.readings:
        return f"Made as not covered by the rules, but {rules} decides this."
    if ruling.kind == RulingKind.INTERPRETATION and not set(ruling.readings) & _open_readings(rule, ruling):
        return f"Interprets no open reading, and {rules} decides this."
    for done in Correction.objects.filter(consequence__ruling=ruling).select_related("round__table"):
        if fault := order_fault(ruling, done.round, voids=done.is_void):
            return f"Executed against a rule. {fault}"
    return ""


def _open_readings(rule: Decided, ruling: Ruling) -> set[str]:
    """Return the readings of the situation; for a standing interpretation also those with a setting."""
    setting = {
        reading.name for reading in rule.book.readings.values() if reading.sets and ruling.scope == Scope.STANDING
    }
    return setting | set(rule.situation.readings)


def _sets_what_is_closed(held: QuerySet[Ruling]) -> Iterator[ToReview]:
    """Find older rulings whose policy the rulebook does not leave open, and that is therefore not applied."""
    rulings = {
        (ruling.casino_id, ruling.number): ruling
        for ruling in held.filter(scope=Scope.STANDING).order_by("made_at", "pk")
    }
    policies = SettlementPolicy.objects.filter(
        casino__in={casino for casino, _ in rulings}, ruling__in={number for _, number in rulings}
    )
    closed = {(policy.casino_id, policy.ruling): faults for policy in policies if (faults := faults_of(policy))}
    for key, ruling in rulings.items():
        if key in closed:
            yield ToReview(ruling, ruling.rulebook, f"Not applied: {' '.join(closed[key].values())}")


# --- Another rulebook -------------------------------------------------------------------------------


def _other_document(held: QuerySet[Ruling]) -> Iterator[ToReview]:
    """Find standing interpretations of a rulebook from which tables have changed to another."""
    rulings = list(held.filter(scope=Scope.STANDING).order_by("made_at", "pk"))
    moves = _moves({ruling.casino_id for ruling in rulings})
    for ruling in rulings:
        tables: dict[str, list[str]] = defaultdict(list)
        for casino_id, before, after, starts_at, code in moves:
            if (casino_id, before) == (ruling.casino_id, ruling.rulebook) and starts_at > ruling.made_at:
                tables[after].append(code)
        for after, moved in tables.items():
            codes = tuple(sorted(set(moved)))
            plays = "plays" if len(codes) == 1 else "play"
            yield ToReview(
                ruling,
                after,
                f"Made for {rulebook_label(ruling.rulebook)}; {', '.join(codes)} now {plays} by "
                f"{rulebook_label(after)}.",
                codes,
            )


def _moves(casinos: set[int]) -> list[tuple[int, str, str, Any, str]]:
    """Return every change of rulebook in force: casino, rulebook before and after, time, table."""
    rows = TableAssignment.objects.filter(casino__in=casinos, during__startswith__lte=timezone.now())
    moves: list[tuple[int, str, str, Any, str]] = []
    last: dict[int, str] = {}
    for row in rows.select_related("table").order_by("table", "during"):
        before = last.get(row.table_id)
        if before is not None and before != row.rulebook:
            moves.append((row.casino_id, before, row.rulebook, row.starts_at, row.table.code))
        last[row.table_id] = row.rulebook
    return moves
