"""Rulings and corrective actions as people read them: their state, the authority behind them, what they set."""

from typing import Any

from django.db.models import Q, QuerySet, Sum
from django.urls import reverse
from django.utils import timezone
from django.utils.formats import date_format

from audits.incidents.labels import situation_label
from audits.models import Category, Consequence, Correction, Finding, Incident, Repayment, Ruling
from audits.reconciliation.explain import event_of
from audits.reconciliation.terms import terms_of_day
from audits.rulings.corrections.standing_nets import standing_nets_of
from audits.rulings.labels import EXCESS
from audits.rulings.selectors import unpaid
from games.access.gate import can, visible
from games.engine.box_numbers import code_of
from games.engine.rules.applied_readings import Matter, applied_readings, check_readings
from games.engine.rules.loader import rulebook, rulebooks
from games.engine.rules.readings import Reading
from games.labels.money import money_label
from games.labels.rules import rule_about
from games.models import Round, SettlementPolicy, Staff
from games.settlement_policies.selectors import faults_of

ROUNDS_SHOWN = 20
#: Readings that are applied outside the engine.
TERMS_AT_THE_START = "terms-at-the-start"
AFFECTED = "affected-by-damaged-dice"
ACTING_SHIFT_MANAGER, SHIFT_MANAGER_DECIDES = "acting-shift-manager", "shift-manager-decides"


def state_of(ruling: Ruling) -> tuple[str, str]:
    """Whether it holds, and in which colour that is said."""
    if ruling.is_withdrawal:
        return "a withdrawal", ""
    now = timezone.now()
    if later := getattr(ruling, "replaced_by", None):
        word = "withdrawn" if later.is_withdrawal else "superseded"
        if later.effective_from and later.effective_from > now:
            return f"{word} from {day_and_time(later.effective_from)}", "pending"
        return word, "suspended"
    if ruling.effective_from and ruling.effective_from > now:
        return "to come", "pending"
    return "in force", "open"


def day_and_time(moment: Any) -> str:
    """Write a moment by the casino's clock."""
    return date_format(timezone.localtime(moment), "DATETIME_FORMAT")


def authority_of(ruling: Ruling) -> list[tuple[str, str]]:
    """Return the rulebook's own rule on who rules, with its subject; empty where it has none."""
    if ruling.rulebook not in rulebooks():
        return []
    book = rulebook(ruling.rulebook)
    return with_subjects(book.cite(*book.ruling_rules))


def readings_of(ruling: Ruling) -> list[Reading]:
    """Return the readings of its rulebook that a ruling is about."""
    known = rulebook(ruling.rulebook).readings if ruling.rulebook in rulebooks() else {}
    return [known[name] for name in ruling.readings if name in known]


def readings_behind(finding: Finding) -> list[Reading]:
    """Return our readings that decide a finding, in the round as it is now."""
    if finding.rulebook not in rulebooks():
        return []
    if finding.round is None:  # in play: only checks of the procedure make findings
        return check_readings(rulebook(finding.rulebook), finding.kind)
    (standing_nets,) = standing_nets_of([finding.round])
    rule = finding.rule.partition("#")[2] if finding.rule else None
    matter = Matter(
        finding.category, finding.kind, rule, finding.position, tuple(finding.boxes), finding.player
    )  # fmt: skip
    found = applied_readings(standing_nets.recorded(), matter)
    if matter.category in (Category.BREACH, Category.DISCREPANCY) and terms_changed(finding.round):
        return [*found, rulebook(finding.rulebook).readings[TERMS_AT_THE_START]]
    return found


def terms_changed(played: Round) -> bool:
    """Return whether the table sign changed while a round was in play."""
    known = terms_of_day(played.table)
    first = min(event_of(event).at for event in played.events)
    signs = {known.at(played.assignment_id, at).limit_set for at in (first, played.started_at, played.ended_at)}
    return len(signs) > 1


def ruling_rests_on(ruling: Ruling) -> list[Reading]:
    """Return our readings behind the ruler's authority: acting shift manager, or a rulebook that names no one."""
    known = rulebook(ruling.rulebook).readings if ruling.rulebook in rulebooks() else {}
    names = [*([ACTING_SHIFT_MANAGER] if ruling.duty_id else []), SHIFT_MANAGER_DECIDES]
    return [known[name] for name in names if name in known]


def order_rests_on(order: Consequence) -> list[Reading]:
    """Return our readings by which a corrective action reaches its rounds: those affected by damaged dice (5.6)."""
    if order.dice_set_id is None:
        return []
    rulebook_ids = dict.fromkeys(citation.partition("#")[0] for citation in order.rules)
    known = [rulebook(id_).readings.get(AFFECTED) for id_ in rulebook_ids if id_ in rulebooks()]
    found = [reading for reading in known if reading is not None]
    return found[:1]


def with_subjects(citations: list[str]) -> list[tuple[str, str]]:
    """Return each cited rule with what it is about."""
    return [(citation, rule_about(citation)) for citation in citations]


def ruling_rows(rulings: Any) -> list[dict[str, Any]]:
    """Return rulings for lists, each with its state and the name of its situation."""
    rows = []
    for ruling in rulings:
        state, colour = state_of(ruling)
        rows.append(
            {"ruling": ruling, "state": state, "colour": colour, "situation": situation_label(ruling.situation)}
        )
    return rows


def policies_shown(rulings: list[Ruling]) -> dict[int, str]:
    """Return what each standing interpretation sets, by its key."""
    numbers = {(ruling.casino_id, ruling.number): ruling.pk for ruling in rulings}
    found = SettlementPolicy.objects.filter(
        casino__in={casino for casino, _ in numbers}, ruling__in=[number for _, number in numbers]
    )
    return {
        numbers[policy.casino_id, policy.ruling]: policy_words(policy)
        for policy in found
        if (policy.casino_id, policy.ruling) in numbers
    }


def policy_words(policy: SettlementPolicy) -> str:
    """Say what a settlement policy sets, and if it is not applied, why not."""
    parts = []
    if policy.excess:
        parts.append(f"in an over-full box, cut {EXCESS[policy.excess]}")
    if policy.rounding:
        parts.append(f"round a cut stake down to {money_label(policy.rounding)}")
    words = "; ".join(parts) or "ends what was set before"
    closed = faults_of(policy)
    return f"{words}. Not applied: {' '.join(closed.values())}" if closed else words


# --- Corrective actions -------------------------------------------------------------------------------


def consequence_state(order: Consequence) -> tuple[str, str]:
    """Return the state of a corrective action and its colour."""
    if order.is_waiting:
        return "waiting for a second person", "pending"
    return ("executed", "open") if order.is_executed else ("declined", "suspended")


def consequence_rows(actor: Staff, orders: Any) -> list[dict[str, Any]]:
    """Return corrective actions for lists, each with its state, its first rounds, and its open payments."""
    listed = list(orders.select_related("decision", "ruling", "incident", "table"))
    keys = {key for order in listed for key in order.round_ids[:ROUNDS_SHOWN]}
    refs = dict(visible(actor, Round.objects.filter(pk__in=keys)).values_list("pk", "ref"))
    rows = []
    for order in listed:
        state, colour = consequence_state(order)
        shown = [(key, refs[key]) for key in order.round_ids[:ROUNDS_SHOWN] if key in refs]
        rows.append({
            "order": order, "state": state, "colour": colour, "rounds": shown,
            "more": len(order.round_ids) - len(shown),
            "sums": sums(order.repayments.all()) if order.is_executed else None,
            "is_open": order.is_executed and unpaid(order.repayments.all()).exists(),
        })  # fmt: skip
    return rows


def sums(repayments: QuerySet[Repayment]) -> dict[str, int]:
    """Return the totals of refunds and recoveries."""
    found = repayments.aggregate(
        out=Sum("amount", filter=Q(amount__gt=0), default=0), back=Sum("amount", filter=Q(amount__lt=0), default=0)
    )
    return {"out": found["out"], "back": -found["back"]}


def rulings_of(actor: Staff, incident: Incident) -> Any:
    """Return the visible rulings, corrective actions and discretions of an incident."""
    found = visible(actor, incident.rulings.select_related("replaced_by", "replaces").defer("search"))
    orders = visible(actor, incident.consequences.all())
    return {
        "rulings": ruling_rows(found.order_by("made_at", "pk")) if can(actor, "ruling.view", incident) else None,
        "consequences": consequence_rows(actor, orders) if can(actor, "consequence.view", incident) else None,
        "discretions": visible(actor, incident.discretions.all()).order_by("at", "pk"),
    }


def changes(correction: Correction) -> list[tuple[str, str, int, int]]:
    """Return the bets whose net a correction changed: player, box, net before and after."""
    rows = zip(correction.round.players, correction.round.boxes, correction.deltas, correction.nets, strict=True)
    return [(player, code_of(box), net - delta, net) for player, box, delta, net in rows if delta]


def ruling_address(ruling: Ruling, page: str = "change") -> str:
    return reverse(f"admin:audits_ruling_{page}", args=[ruling.pk])
