"""Corrective actions: each is executed once, by one service, with a correction kept beside the round.

From the casino's amount on, a change of a settled round is ordered by one person and executed by a second. The second
person sees the changes (audits.rulings.corrections.plans); exactly these are executed, or nothing.
"""

import datetime as dt
import uuid
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from django.core.exceptions import ValidationError
from django.db import connection, transaction
from django.utils import timezone

from audits.incidents.affected_rounds import DAMAGED
from audits.incidents.services.incidents import incident_locked
from audits.models import (
    Consequence,
    ConsequenceDecision,
    Correction,
    DaySummary,
    Discretion,
    Incident,
    IncidentRound,
    Repayment,
    RepaymentMark,
    Ruling,
    ruling_setting_of,
)
from audits.notifications.services.compliance import compliance_notify
from audits.reconciliation.services.arrivals import summary_ensure
from audits.rulings.conflict_of_interest import is_party_on
from audits.rulings.corrections.damage import (
    NOT_NARROWED,
    VOID_AFFECTED,
    Narrowing,
    reach_of,
    rulebooks_with,
    verify_affected,
    verify_still_reached,
)
from audits.rulings.corrections.plans import (
    NO_STAKE_STAYS,
    RoundChange,
    amended,
    amending_rules,
    amount_of,
    changes_nothing,
    fingerprint_of,
    planned_as_ordered,
    settled_by_ruling,
    throw_of,
    voided,
)
from audits.rulings.corrections.standing_nets import StandingNets, standing_nets_of
from audits.rulings.discretion_scope import verify_scope
from audits.rulings.remit import order_fault, place_fault
from games.access.gate import actor_name, authorize, can, deny
from games.engine.dice import Throw
from games.engine.errors import InputError
from games.engine.rules.loader import rulebook
from games.floor.services.tables import table_suspend
from games.history.audited_save import OvertakenError, verify_reason, verify_text
from games.labels.rules import rulebook_label
from games.ledger.services import LedgerEntry, ledger_append
from games.live.services import LiveConflictError, live_step
from games.models import Casino, DiceSet, LiveRound, Round, Staff, Table
from games.rounds.services.outbox import requeue

#: The limit for one order; for more affected rounds, several orders each cover a part of the period.
MOST_ROUNDS = 5000


@dataclass(frozen=True)
class Basis:
    """What a corrective action rests on."""

    incident: Incident
    ruling: Ruling | None = None
    rule: str = ""  # a bare number, if a rule itself decides
    discretion: Discretion | None = None


# --- Ordered ----------------------------------------------------------------------------------------


@transaction.atomic
def rounds_void(*, actor: Staff, basis: Basis, rounds: Sequence[Round], reason: str) -> Consequence:
    """Order a void of rounds; every stake is returned.

    Before settlement it rests on a voiding rule; after settlement on 5.6 or a ruling, and it takes two people.
    """
    return _void(actor, basis, Consequence.Kind.VOID, rounds, reason)


@transaction.atomic
def affected_void(
    *, actor: Staff, basis: Basis, reason: str, narrowed: Narrowing = NOT_NARROWED
) -> Consequence:  # fmt: skip
    """Order a void of all rounds affected by damaged dice, or with a reason of those in a part of the period.

    A void by a rule covers the rounds whose rulebook has that rule; rounds of another rulebook take a ruling.
    """
    basis = locked(basis)
    authorize(actor, "consequence.void", basis.incident)
    reach = reach_of(basis.incident, narrowed)
    rounds = reach.rounds().select_related("table__casino")
    if basis.ruling is None:
        rounds = rounds.filter(rulebook__in=rulebooks_with(basis.rule))
        if not rounds.exists() and reach.rounds().exists():
            raise ValidationError(
                {"rule": f"The rulebooks of these rounds have no rule {basis.rule or '(none)'} on damaged dice; have "
                 "the incident ruled on, and order the void by the ruling."}
            )  # fmt: skip
    listed = list(rounds[: MOST_ROUNDS + 1])
    if len(listed) > MOST_ROUNDS:
        raise ValidationError(
            {"from": f"More than {MOST_ROUNDS} rounds are affected. Give several orders, each for a part of the time "
             "(from, to) with a reason."}
        )  # fmt: skip
    return _void(actor, basis, Consequence.Kind.VOID_AFFECTED, listed, reason, **reach.kept())


def _void(
    actor: Staff, basis: Basis, kind: Consequence.Kind, rounds: Sequence[Round], reason: str, **values: Any
) -> Consequence:  # fmt: skip
    basis = locked(basis)
    verify_rounds(basis.incident, rounds)
    lock_days(rounds)
    all_standing_nets = [nets for nets in standing_nets_of(rounds) if not nets.is_returned]
    if not all_standing_nets:
        raise OvertakenError("All of these rounds are already void; nothing has changed.")
    rules = verify_may_void(
        actor,
        basis,
        all_standing_nets,
        after_settlement=any(nets.has_paid or nets.was_settled for nets in all_standing_nets),
    )
    if basis.ruling is None and "dice_set" not in values:
        values["dice_set"] = verify_damage(basis, all_standing_nets)
    bare = [citation.partition("#")[2] for citation in rules]
    changes = [RoundChange(standing_nets, voided(standing_nets, bare)) for standing_nets in all_standing_nets]
    return order_changes(actor, basis, kind, reason, changes, rules=rules, **values)


@transaction.atomic
def round_settle(
    *, actor: Staff, basis: Basis, round: Round, reason: str, dice: Sequence[int] | None = None,
    nets: Mapping[int, int] | None = None,
) -> Consequence:  # fmt: skip
    """Order a settlement by a ruling: by the round's or other dice, with given nets; the rules decide the rest."""
    basis = locked(basis)
    verify_rounds(basis.incident, [round])
    authorize(actor, "consequence.order", round)
    verify_no_party(actor, basis.incident, [round])
    verify_remit(verify_ruling(basis), [round], voids=False, dice=dice, nets=nets)
    lock_days([round])
    (standing_nets,) = standing_nets_of([round])
    after = settled_by_ruling(standing_nets, dice, nets or {})
    if standing_nets.is_settled and after.is_decided and not any(after.nets):
        raise ValidationError({"nets": NO_STAKE_STAYS})
    if changes_nothing(standing_nets, after):
        raise OvertakenError(f"{round} is already settled this way; nothing has changed.")
    asked = {"dice": list(dice) if dice else None, "nets": {str(place): net for place, net in (nets or {}).items()}}
    return order_changes(
        actor,
        basis,
        Consequence.Kind.SETTLEMENT,
        reason,
        [RoundChange(standing_nets, after)],
        rules=_cited(round, after.rules),
        asked=asked,
    )


@transaction.atomic
def result_amend(
    *, actor: Staff, basis: Basis, dice: Sequence[int], reason: str, live: LiveRound | None = None,
    round: Round | None = None,
) -> Consequence:  # fmt: skip
    """Order an amended result before settlement, by the rulebook's own rule; after settlement it takes a ruling."""
    basis = locked(basis)
    throw = throw_of(dice)
    if live is not None:
        return _amend_live(actor, basis, live, throw, reason)
    if round is None:
        raise ValidationError("Choose the round whose result was entered wrongly.")
    verify_rounds(basis.incident, [round])
    authorize(actor, "consequence.void", round)
    lock_days([round])
    (standing_nets,) = standing_nets_of([round])
    if standing_nets.is_settled or standing_nets.is_void:
        raise ValidationError(f"{round} is {'void' if standing_nets.is_void else 'settled'}; this requires a ruling.")
    recorded = standing_nets.recorded()
    if recorded.assessment.throw is None:
        raise ValidationError(f"{round} has no result to amend.")
    if list(recorded.assessment.throw.faces) == list(throw.faces):
        raise OvertakenError(f"{round} already has these dice; nothing has changed.")
    return order_changes(
        actor, basis, Consequence.Kind.RESULT, reason,
        [RoundChange(standing_nets, amended(standing_nets, throw.faces))],
        rules=_amending_rules(round.rulebook), asked={"dice": list(throw.faces)},
    )  # fmt: skip


@transaction.atomic
def table_suspend_for(*, actor: Staff, basis: Basis, reason: str) -> Consequence:
    """Suspend the table of the incident until it is resumed."""
    basis = locked(basis)
    table = basis.incident.table
    if table is None:
        raise ValidationError(f"{basis.incident} has no table to suspend.")
    step = table_suspend(actor=actor, table=table, reason=reason)
    order = order_record(actor, basis, Consequence.Kind.SUSPENSION, reason, rules=list(step.rules), table=table)
    decide(order, ConsequenceDecision.Outcome.EXECUTED, actor, reason, step=step)
    return order


# --- Executed or declined by a second person ----------------------------------------------------------


@transaction.atomic
def consequence_execute(*, actor: Staff, consequence: Consequence, reason: str) -> Consequence:
    """Execute what another person ordered, exactly as it was ordered."""
    order = _waiting(consequence)
    rounds = list(Round.objects.filter(pk__in=order.round_ids).select_related("table__casino"))
    verify_second_person(actor, order, rounds)
    verify_basis_holds(order, rounds)
    verify_reason(reason)
    lock_days(rounds)
    changes = planned_as_ordered(order)
    execute(order, actor, reason, changes)
    return order


def verify_second_person(actor: Staff, order: Consequence, rounds: Sequence[Round]) -> None:
    """Refuse a person who may not execute: out of reach of a round, a party, or who ordered or ruled."""
    verify_may_order(actor, order.incident, rounds)
    if actor.pk == order.by_id:
        raise deny(actor, "consequence.order", f"{order}, which this person ordered: a second person must execute it")
    if actor.pk in _deciders(order):
        raise deny(
            actor,
            "consequence.order",
            f"{order}, which rests on this person's own decision: another person must execute it",
        )


def can_execute(actor: Staff, order: Consequence) -> bool:
    """Return whether this person may execute the order: the check of `verify_second_person`, for pages."""
    rounds = list(Round.objects.filter(pk__in=order.round_ids).select_related("table__casino"))
    places: list[Incident | Table] = [order.incident, *{round_.table for round_ in rounds}]
    reaches = all(can(actor, "consequence.order", place) for place in places)
    is_another = actor.pk not in {order.by_id, *_deciders(order)}
    return reaches and is_another and not is_party_on(actor, order.incident, rounds)


def _deciders(order: Consequence) -> set[int]:
    """Return the people who made the ruling or the discretion that an order rests on."""
    return {made.by_id for made in (order.ruling, order.discretion) if made is not None}


def verify_may_order(actor: Staff, incident: Incident, rounds: Sequence[Round]) -> None:
    """Refuse a person who may not order on the incident or at the table of a round, or is a party."""
    authorize(actor, "consequence.order", incident)
    for table in sorted({round_.table for round_ in rounds}, key=lambda table: table.pk):
        authorize(actor, "consequence.order", table)
    verify_no_party(actor, incident, rounds)


def verify_basis_holds(order: Consequence, rounds: Sequence[Round]) -> None:
    """Check the basis of a waiting order again: the ruling may be superseded, or the incident corrected, by now."""
    if order.ruling is not None:
        ruling = verify_ruling(Basis(order.incident, order.ruling))
        voids = order.kind in (Consequence.Kind.VOID, Consequence.Kind.VOID_AFFECTED)
        nets = {int(place): net for place, net in (order.asked.get("nets") or {}).items()}
        verify_remit(ruling, rounds, voids=voids, dice=order.asked.get("dice"), nets=nets)
    elif order.discretion is not None:
        nets = {int(place): net for place, net in order.asked["nets"].items()}
        verify_scope(order.incident, order.discretion, rounds[0], nets)
    elif order.dice_set_id is not None:
        verify_still_reached(order)


@transaction.atomic
def consequence_decline(*, actor: Staff, consequence: Consequence, reason: str) -> Consequence:
    """Decline a waiting order, so that it is never executed."""
    order = _waiting(consequence)
    authorize(actor, "consequence.order", order.incident)
    verify_reason(reason)
    decide(order, ConsequenceDecision.Outcome.DECLINED, actor, reason)
    return order


def _waiting(consequence: Consequence) -> Consequence:
    incident_locked(consequence.incident)
    orders = Consequence.objects.select_related("incident__casino", "incident__table", "ruling", "discretion")
    order = orders.select_related("decision").get(pk=consequence.pk)
    if not order.is_waiting:
        raise OvertakenError(f"{order} was {order.decision.outcome} by {order.decision.who}; nothing has changed.")
    return order


# --- What is verified ---------------------------------------------------------------------------------


def locked(basis: Basis) -> Basis:
    """Lock the incident of an order: a second click waits, and then finds the order done."""
    return replace(basis, incident=incident_locked(basis.incident))


def verify_rounds(incident: Incident, rounds: Sequence[Round]) -> None:
    """Refuse no rounds, too many rounds, or rounds of another casino."""
    if not rounds:
        raise ValidationError({"rounds": "Name at least one round to correct."})
    if len(rounds) > MOST_ROUNDS:
        raise ValidationError({"rounds": f"More than {MOST_ROUNDS} rounds; name them in several orders."})
    for round_ in rounds:
        if round_.table.casino_id != incident.casino_id:
            raise ValidationError({"rounds": f"{round_} was not played in this casino; leave it out."})


def verify_may_void(
    actor: Staff, basis: Basis, all_standing_nets: Sequence[StandingNets], *, after_settlement: bool
) -> list[str]:  # fmt: skip
    """Return the rules that void these rounds, as citations; refuse if the person or the rule does not allow it."""
    action = "consequence.order" if after_settlement or basis.ruling else "consequence.void"
    for table in {standing_nets.round.table for standing_nets in all_standing_nets}:
        authorize(actor, action, table)
    if basis.ruling:
        verify_no_party(actor, basis.incident, [standing_nets.round for standing_nets in all_standing_nets])
        verify_remit(verify_ruling(basis), [standing_nets.round for standing_nets in all_standing_nets], voids=True)
        rounds = [standing_nets.round for standing_nets in all_standing_nets]
        return list(dict.fromkeys(rule for round_ in rounds for rule in _cited(round_, _ruling_rules(round_))))
    if after_settlement:
        verify_no_party(actor, basis.incident, [standing_nets.round for standing_nets in all_standing_nets])
    cited = []
    for standing_nets in all_standing_nets:
        voiding = rulebook(standing_nets.round.rulebook).voidings.get(basis.rule)
        if voiding is None:
            raise ValidationError(
                {
                    "rule": f"{rulebook_label(standing_nets.round.rulebook)} has no rule {basis.rule or '(none)'} that "
                    "voids a round."
                }
            )
        if standing_nets.is_settled and voiding.action != VOID_AFFECTED:
            raise ValidationError(
                {"rule": f"{standing_nets.round} is settled: a void under rule {voiding.rule} requires a ruling first."}
            )
        cited += _cited(standing_nets.round, (voiding.rule,))
    return list(dict.fromkeys(cited))


def verify_damage(basis: Basis, all_standing_nets: Sequence[StandingNets]) -> DiceSet | None:
    """Return the damaged set that the rounds were played with; None where another rule voids them."""
    by_damage = [
        standing_nets.round for standing_nets in all_standing_nets
        if rulebook(standing_nets.round.rulebook).voidings[basis.rule].action == VOID_AFFECTED
    ]  # fmt: skip
    return verify_affected(basis.incident, by_damage).dice_set if by_damage else None


def verify_no_party(actor: Staff, incident: Incident, rounds: Sequence[Round]) -> None:
    """Refuse a person who dealt or supervised, by the record of a round or as confirmed on the incident."""
    if is_party_on(actor, incident, rounds):
        raise deny(actor, "consequence.order", f"rounds of {incident} that this person dealt or supervised")


def verify_ruling(basis: Basis) -> Ruling:
    """Return the ruling that an order rests on; refuse one that does not hold or is about another incident."""
    ruling = basis.ruling
    if ruling is None:
        raise ValidationError("This requires a ruling; have the incident ruled on first.")
    if ruling.incident_id != basis.incident.pk:
        raise ValidationError(f"{ruling} is about another incident, {ruling.incident}.")
    later = Ruling.objects.filter(replaces=ruling).first()
    if later is not None:
        raise OvertakenError(f"{ruling} is no longer in force: see {later}. Nothing has changed.")
    if ruling.is_withdrawal:
        raise ValidationError(f"{ruling} only withdraws another ruling; no order can rest on it.")
    return ruling


def verify_remit(
    ruling: Ruling, rounds: Sequence[Round], *, voids: bool, dice: Sequence[int] | None = None,
    nets: Mapping[int, int] | None = None,
) -> None:  # fmt: skip
    """Refuse an order that goes beyond the ruling's incident, or against a rule that decides the round."""
    for round_ in rounds:
        if ruling.incident.situation != DAMAGED and (fault := place_fault(ruling.incident, round_)):
            raise ValidationError({"rounds": fault})
        if fault := order_fault(ruling, round_, voids=voids, dice=dice, nets=nets):
            raise ValidationError({"ruling": fault})


def _ruling_rules(round: Round) -> tuple[str, ...]:
    """Return the rule on rulings in the rulebook of a round, if it has one."""
    return rulebook(round.rulebook).ruling_rules


def _cited(round: Round, rules: Sequence[str]) -> list[str]:
    return rulebook(round.rulebook).cite(*rules)


def _amending_rules(book_id: str) -> list[str]:
    return rulebook(book_id).cite(*amending_rules(book_id))


def _amend_live(actor: Staff, basis: Basis, live: LiveRound, throw: Throw, reason: str) -> Consequence:
    """Amend a round in play by the event itself, with the person who ordered it: some rulebooks require it (7.2)."""
    document = {
        "call": f"amend-{uuid.uuid4().hex}", "kind": "result-amended", "dice": list(throw.faces), "by": actor.number,
    }  # fmt: skip
    try:
        answer, _ = live_step(actor=actor, key=live.pk, document=document, action="liveround.finish", note=reason)
    except (InputError, LiveConflictError) as error:
        raise ValidationError(str(error)) from None
    if refusal := answer.get("refused"):
        raise ValidationError(refusal["explain"])
    order = order_record(
        actor, basis, Consequence.Kind.RESULT, reason, asked={"dice": list(throw.faces)},
        rules=_amending_rules(live.rulebook), table=live.table,
    )  # fmt: skip
    decide(order, ConsequenceDecision.Outcome.EXECUTED, actor, reason, live_round=live)
    return order


# --- Whether a second person is needed --------------------------------------------------------------------

#: The period over which the amounts moved by one person alone are added up.
ALONE_FOR = dt.timedelta(hours=24)
#: The first half of an advisory lock's key; the second is the person's id. The trigger on corrections takes the same.
ALONE_LOCK = 0x7A15A4


def takes_second_person(actor: Staff, casino: Casino, changes: Sequence[RoundChange]) -> bool:
    """Return whether a second person must execute: a settled or void round changes, and the amount is reached.

    Earlier amounts on these rounds count, and what this person moved alone in the last 24 hours: a change split into
    several orders needs a second person as the whole would. The database adds up the same amounts.
    """
    if not any(change.touches_settled_money for change in changes):
        return False
    rounds = [change.before.round.pk for change in changes]
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock(%s, %s)", [ALONE_LOCK, actor.pk % 2**31])  # two orders at once
        cursor.execute("SELECT money_moved(%s, %s, %s, %s)", [actor.pk, casino.pk, rounds, timezone.now() - ALONE_FOR])
        (before,) = cursor.fetchone()
    return amount_of(changes) + int(before) >= ruling_setting_of(casino).second_person_from


# --- On record ------------------------------------------------------------------------------------------


def order_changes(
    actor: Staff, basis: Basis, kind: Consequence.Kind, reason: str, changes: Sequence[RoundChange], **values: Any
) -> Consequence:  # fmt: skip
    """Record an order; execute it at once if it needs no second person."""
    rounds = [change.before.round for change in changes]
    needs_second = takes_second_person(actor, basis.incident.casino, changes)
    if needs_second:
        verify_may_order(actor, basis.incident, rounds)
    order = order_record(
        actor, basis, kind, reason, round_ids=[round_.pk for round_ in rounds], needs_second=needs_second,
        amount=amount_of(changes), fingerprint=fingerprint_of(changes), **values,
    )  # fmt: skip
    if not needs_second:
        execute(order, actor, reason, changes)
    return order


def execute(order: Consequence, actor: Staff, reason: str, changes: Sequence[RoundChange]) -> None:
    """Record the decision and the corrections, and notify compliance."""
    decide(order, ConsequenceDecision.Outcome.EXECUTED, actor, reason)
    correct(order, actor, changes)
    if order.amount or any(change.touches_settled_money for change in changes):
        compliance_notify(order)


def order_record(actor: Staff, basis: Basis, kind: Consequence.Kind, reason: str, **values: Any) -> Consequence:
    verify_reason(reason)
    round_ids = sorted(values.pop("round_ids", []))
    same = Consequence.objects.filter(incident=basis.incident, kind=kind, round_ids=round_ids, decision=None).first()
    if same is not None:
        raise OvertakenError(
            f"{same} was ordered by {same.who} and is waiting for a second person; nothing has changed."
        )
    order = Consequence.objects.create(
        casino=basis.incident.casino, incident=basis.incident, ruling=basis.ruling, discretion=basis.discretion,
        kind=kind, round_ids=round_ids, reason=reason.strip(), by=actor, who=actor_name(actor), **values,
    )  # fmt: skip
    rows = [IncidentRound(incident=basis.incident, round_id=key, who=order.who) for key in round_ids]
    IncidentRound.objects.bulk_create(rows, ignore_conflicts=True)
    held = (
        basis.incident.number, basis.ruling.number if basis.ruling else None, kind.value, order.rules, round_ids,
        order.asked, order.needs_second, order.reason, order.who, order.at.astimezone(dt.UTC), *_reached(order),
        order.amount, order.fingerprint,
    )  # fmt: skip
    ledger_append(basis.incident.table or basis.incident.casino, LedgerEntry("consequence", order.pk, held))
    return order


def _reached(order: Consequence) -> tuple[Any, ...]:
    """Return what the ledger keeps of the dice, the period and the discretion that an order rests on."""
    moments = (order.radius_from, order.radius_to, order.affected_from, order.affected_to)
    return (
        order.dice_set.code if order.dice_set else None,
        *(moment.astimezone(dt.UTC) if moment else None for moment in moments),
        order.narrowing, order.discretion_id,
    )  # fmt: skip


def decide(order: Consequence, outcome: ConsequenceDecision.Outcome, actor: Staff, reason: str, **values: Any) -> None:
    decision = ConsequenceDecision.objects.create(
        consequence=order, ordered_by_id=order.by_id, needs_second=order.needs_second, outcome=outcome, by=actor,
        who=actor_name(actor), reason=reason.strip(), **values,
    )  # fmt: skip
    held = (order.pk, outcome.value, decision.reason, decision.who, decision.at.astimezone(dt.UTC))
    place = order.incident.table or order.incident.casino
    ledger_append(place, LedgerEntry("consequence-decision", decision.pk, held))


def correct(order: Consequence, actor: Staff, changes: Sequence[RoundChange]) -> None:
    """Record the corrections, refunds and recoveries, and have the rounds reconciled again."""
    who = actor_name(actor)
    made = Correction.objects.bulk_create([_correction(order, change, who) for change in changes])  # in one statement
    owed: dict[str, int] = defaultdict(int)
    touched: dict[str, set[int]] = defaultdict(set)
    by_table: dict[Table, list[LedgerEntry]] = defaultdict(list)
    for correction in made:
        round_ = correction.round
        for player, delta in zip(round_.players, correction.deltas, strict=True):
            if delta:
                owed[player] += delta
                touched[player].add(round_.pk)
        by_table[round_.table].append(LedgerEntry("correction", correction.pk, _held(order, correction)))
    for table in sorted(by_table, key=lambda table: table.pk):
        ledger_append(table, *by_table[table])
    Repayment.objects.bulk_create(
        Repayment(consequence=order, player=player, amount=amount, rounds=len(touched[player]))
        for player, amount in sorted(owed.items()) if amount
    )  # fmt: skip
    requeue(change.before.round.pk for change in changes)


def _correction(order: Consequence, change: RoundChange, who: str) -> Correction:
    after, round_ = change.after, change.before.round
    return Correction(
        consequence=order, round=round_, ordinal=change.before.ordinal, table=round_.table,
        gaming_day=round_.gaming_day,
        deltas=change.deltas, nets=after.nets, is_void=after.is_void, is_settled=after.is_settled, dice=after.dice,
        is_decided=after.is_decided, decided=after.decided, rules=list(after.rules), who=who,
    )  # fmt: skip


def _held(order: Consequence, correction: Correction) -> tuple[Any, ...]:
    return (
        correction.round.source,
        correction.round.ref,
        correction.ordinal,
        order.pk,
        correction.deltas,
        correction.nets,
        correction.is_void,
        correction.is_settled,
        correction.dice,
        correction.is_decided,
        correction.rules,
        correction.who,
        correction.at.astimezone(dt.UTC),
        correction.decided,
    )


def lock_days(rounds: Sequence[Round]) -> None:
    """Lock the days of rounds against reconciliation and other corrections, and their tables against new terms."""
    places = sorted({(round_.table_id, round_.gaming_day) for round_ in rounds})
    for table_id, day in places:
        summary_ensure((table_id, day))
    for table_id, day in places:
        DaySummary.objects.select_for_update().get(table=table_id, gaming_day=day)
    with connection.cursor() as cursor:
        tables = sorted({table_id for table_id, _ in places})
        cursor.execute("SELECT 1 FROM games_table WHERE id = ANY (%s) ORDER BY id FOR KEY SHARE", [tables])


# --- Refunds and recoveries -------------------------------------------------------------------------------

UNDONE = {RepaymentMark.What.NOT_TOLD: RepaymentMark.What.TOLD, RepaymentMark.What.NOT_PAID: RepaymentMark.What.PAID}
#: The marks about the money itself.
MONEY_MARKS = (RepaymentMark.What.PAID, RepaymentMark.What.NOT_PAID)


@transaction.atomic
def repayment_mark(*, actor: Staff, repayment: Repayment, what: str, note: str = "") -> RepaymentMark:
    """Mark a refund or recovery: patron informed, paid, or the reversal of such a mark with a reason.

    The people who ordered or executed the change may not mark its payment.
    """
    incident = incident_locked(repayment.consequence.incident)
    authorize(actor, "repayment.mark", incident)
    if what not in RepaymentMark.What.values:
        raise ValidationError({"what": f"{what!r:.40} is not valid; choose {', '.join(RepaymentMark.What.values)}."})
    mark = RepaymentMark.What(what)
    if mark in MONEY_MARKS and not may_mark_money(actor, repayment.consequence):
        raise deny(
            actor, "repayment.mark", f"{repayment}, which this person ordered or executed: another must mark it as paid"
        )
    verify_text("note", note)
    if mark in UNDONE and not note.strip():
        raise ValidationError({"note": "Give a reason for reversing the mark."})
    is_marked = marks_of(repayment)[UNDONE.get(mark, mark)]
    if is_marked is (mark not in UNDONE):
        raise OvertakenError(f"{repayment.player}: this is already marked; nothing has changed.")
    made = RepaymentMark.objects.create(
        repayment=repayment, what=mark, note=note.strip(), by=actor, who=actor_name(actor)
    )
    held = (
        repayment.pk,
        repayment.player,
        repayment.amount,
        mark.value,
        made.note,
        made.who,
        made.at.astimezone(dt.UTC),
    )
    ledger_append(incident.table or incident.casino, LedgerEntry("repayment", made.pk, held))
    return made


def may_mark_money(actor: Staff, order: Consequence) -> bool:
    """Return whether this person may mark payments of an order: not if they ordered or executed it."""
    return actor.pk not in (order.by_id, order.decision.by_id)


def marks_of(repayment: Repayment) -> dict[str, bool]:
    """Return whether the patron was informed and whether it was paid, by the last mark of each."""
    standing: dict[str, bool] = {RepaymentMark.What.TOLD: False, RepaymentMark.What.PAID: False}
    for mark in repayment.marks.all():
        what = RepaymentMark.What(mark.what)
        standing[UNDONE.get(what, what)] = what not in UNDONE
    return standing
