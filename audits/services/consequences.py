"""What follows from an incident or a ruling: each executed once, by one service, with a correction beside the round.

A void after settlement is ordered by one person and executed by a second one.
"""

import datetime as dt
import uuid
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from django.core.exceptions import ValidationError
from django.db import connection, transaction

from audits.incidents.blast import affected_rounds, dice_set_at
from audits.models import (
    Consequence,
    ConsequenceDecision,
    Correction,
    DaySummary,
    Incident,
    IncidentRound,
    Repayment,
    RepaymentMark,
    Ruling,
)
from audits.rulings.books import Books, books_of, deltas
from audits.rulings.impartial import is_party
from audits.services.arrivals import summary_ensure
from audits.services.incidents import incident_locked
from games.engine.dice import Throw, parse_dice
from games.engine.errors import InputError
from games.engine.findings import Ruled
from games.engine.loader import rulebook
from games.models import LiveRound, Round, Staff, Table
from games.services.gate import authorize, deny, name_of
from games.services.ledger import Entry, ledger_append
from games.services.live import LiveConflictError, live_step
from games.services.saving import OvertakenError, verify_reason, verify_text
from games.services.tables import table_suspend
from games.services.waking import these_again

#: By one order; a set of dice that was cracked for longer than this is for several.
MOST_ROUNDS = 5000


@dataclass(frozen=True)
class Basis:
    """What a consequence rests on."""

    incident: Incident
    ruling: Ruling | None = None
    rule: str = ""  # a bare number, where a rule itself says so


# --- Ordered ----------------------------------------------------------------------------------------


@transaction.atomic
def rounds_void(*, actor: Staff, basis: Basis, rounds: Sequence[Round], reason: str) -> Consequence:
    """Every stake goes back. Before settlement by a rule that says so; after it by 5.6 or a ruling, and by two."""
    return _void(actor, basis, Consequence.Kind.VOID, rounds, reason)


@transaction.atomic
def affected_void(*, actor: Staff, basis: Basis, reason: str) -> Consequence:
    """All rounds played with the dice of an incident since these were last found good."""
    incident = basis.incident
    if incident.table is None:
        raise ValidationError(f"{incident} is at no table; name the table first.")
    dice_set = dice_set_at(incident.table, incident.occurred_from)
    if dice_set is None:
        raise ValidationError("No dice set was on record at this table at that moment; name the rounds one by one.")
    rounds = affected_rounds(dice_set, incident.occurred_from).select_related("table__casino")[: MOST_ROUNDS + 1]
    return _void(actor, basis, Consequence.Kind.VOID_AFFECTED, list(rounds), reason)


def _void(actor: Staff, basis: Basis, kind: Consequence.Kind, rounds: Sequence[Round], reason: str) -> Consequence:
    basis = _locked(basis)
    verify_rounds(basis.incident, rounds)
    _lock_days(rounds)
    books = [one for one in books_of(rounds) if not one.is_void]
    if not books:
        raise OvertakenError("Every one of these rounds is void already; nothing has changed.")
    after_settlement = any(one.is_settled for one in books)
    rules = verify_may_void(actor, basis, books, after_settlement=after_settlement)
    order = _order(
        actor, basis, kind, reason, rules=rules, round_ids=[one.round.pk for one in books],
        needs_second=after_settlement,
    )  # fmt: skip
    if not after_settlement:
        _decide(order, ConsequenceDecision.Outcome.EXECUTED, actor, reason)
        _correct_void(order, actor)
    return order


@transaction.atomic
def round_settle(
    *, actor: Staff, basis: Basis, round: Round, reason: str, dice: Sequence[int] | None = None,
    nets: Mapping[int, int] | None = None,
) -> Consequence:  # fmt: skip
    """As a ruling has it: by its dice or by others, some bets decided one by one, all others by the rules."""
    basis = _locked(basis)
    verify_rounds(basis.incident, [round])
    authorize(actor, "consequence.order", round)
    verify_no_party(actor, [round])
    verify_ruling(basis)
    _lock_days([round])
    (books,) = books_of([round])
    after = settled_otherwise(books, dice, nets or {}, _ruling_rules(round))
    if books.is_settled and after.is_decided and not any(after.nets):
        raise ValidationError({"nets": "Every stake would go back: that is a void, and takes two people; order that."})
    if stands_so(books, after):
        raise OvertakenError(f"{round} is settled so already; nothing has changed.")
    asked = {"dice": list(dice) if dice else None, "nets": {str(place): net for place, net in (nets or {}).items()}}
    rules = _cited(round, after.rules)
    order = _order(actor, basis, Consequence.Kind.SETTLEMENT, reason, rules=rules, round_ids=[round.pk], asked=asked)
    _decide(order, ConsequenceDecision.Outcome.EXECUTED, actor, reason)
    _correct(order, actor, [(books, after)])
    return order


@transaction.atomic
def result_amend(
    *, actor: Staff, basis: Basis, dice: Sequence[int], reason: str, live: LiveRound | None = None,
    round: Round | None = None,
) -> Consequence:  # fmt: skip
    """Before settlement, where the rulebook has it so; after it, that is for a ruling."""
    basis = _locked(basis)
    throw = _throw(dice)
    if live is not None:
        return _amend_live(actor, basis, live, throw, reason)
    if round is None:
        raise ValidationError("Name the round whose result was entered wrongly.")
    verify_rounds(basis.incident, [round])
    authorize(actor, "consequence.void", round)
    _lock_days([round])
    (books,) = books_of([round])
    if books.is_settled or books.is_void:
        raise ValidationError(f"{round} is {'void' if books.is_void else 'settled'}; that takes a ruling.")
    recorded = books.recorded()
    if recorded.assessment.throw is None:
        raise ValidationError(f"{round} has no result to amend.")
    if list(recorded.assessment.throw.faces) == list(throw.faces):
        raise OvertakenError(f"{round} has these dice already; nothing has changed.")
    order = _order(
        actor, basis, Consequence.Kind.RESULT, reason, round_ids=[round.pk], asked={"dice": list(throw.faces)},
        rules=_amending_rules(round.rulebook),
    )  # fmt: skip
    _decide(order, ConsequenceDecision.Outcome.EXECUTED, actor, reason)
    amended = After(books.nets, dice=list(throw.faces), rules=_amending_numbers(round.rulebook))
    _correct(order, actor, [(books, amended)])
    return order


@transaction.atomic
def table_suspend_for(*, actor: Staff, basis: Basis, reason: str) -> Consequence:
    """No further game at the table of the incident until somebody resumes it."""
    basis = _locked(basis)
    table = basis.incident.table
    if table is None:
        raise ValidationError(f"{basis.incident} is at no table; there is nothing to suspend.")
    step = table_suspend(actor=actor, table=table, reason=reason)
    order = _order(actor, basis, Consequence.Kind.SUSPENSION, reason, rules=list(step.rules), table=table)
    _decide(order, ConsequenceDecision.Outcome.EXECUTED, actor, reason, step=step)
    return order


# --- Executed or declined by a second person ----------------------------------------------------------


@transaction.atomic
def consequence_execute(*, actor: Staff, consequence: Consequence, reason: str) -> Consequence:
    """By somebody else than who ordered it, in the same post, and no party either."""
    order = _waiting(consequence)
    rounds = list(Round.objects.filter(pk__in=order.round_ids).select_related("table__casino"))
    authorize(actor, "consequence.order", order.incident)
    verify_no_party(actor, rounds)
    if actor.pk == order.by_id:
        raise deny(actor, "consequence.order", f"{order}, which this person ordered: it takes a second one")
    if order.ruling is not None:  # somebody may have thought better of it meanwhile
        verify_ruling(Basis(order.incident, order.ruling))
    verify_reason(reason)
    _lock_days(rounds)
    _decide(order, ConsequenceDecision.Outcome.EXECUTED, actor, reason)
    if not _correct_void(order, actor):
        raise OvertakenError("Every one of these rounds has become void meanwhile; nothing has changed.")
    return order


@transaction.atomic
def consequence_decline(*, actor: Staff, consequence: Consequence, reason: str) -> Consequence:
    """By whoever ordered it or anybody who could execute it: it does not happen."""
    order = _waiting(consequence)
    authorize(actor, "consequence.order", order.incident)
    verify_reason(reason)
    _decide(order, ConsequenceDecision.Outcome.DECLINED, actor, reason)
    return order


def _waiting(consequence: Consequence) -> Consequence:
    incident_locked(consequence.incident)
    order = Consequence.objects.select_related("incident__casino", "incident__table", "ruling", "decision").get(
        pk=consequence.pk
    )
    if not order.is_waiting:
        raise OvertakenError(f"{order} was {order.decision.outcome} by {order.decision.who}; nothing has changed.")
    return order


# --- What is verified ---------------------------------------------------------------------------------


def _locked(basis: Basis) -> Basis:
    """Nobody else does anything to the file meanwhile: a second click waits, and then finds it done."""
    return replace(basis, incident=incident_locked(basis.incident))


def verify_rounds(incident: Incident, rounds: Sequence[Round]) -> None:
    if not rounds:
        raise ValidationError({"rounds": "There is no round to correct; name at least one."})
    if len(rounds) > MOST_ROUNDS:
        raise ValidationError({"rounds": f"More than {MOST_ROUNDS} rounds; name them in several orders."})
    for one in rounds:
        if one.table.casino_id != incident.casino_id:
            raise ValidationError({"rounds": f"{one} was not played in this casino; leave it out."})


def verify_may_void(
    actor: Staff, basis: Basis, books: Sequence[Books], *, after_settlement: bool
) -> list[str]:  # fmt: skip
    """The rules by which it is so, as citations; a refusal is on record."""
    action = "consequence.order" if after_settlement or basis.ruling else "consequence.void"
    for table in {one.round.table for one in books}:
        authorize(actor, action, table)
    if basis.ruling:
        verify_no_party(actor, [one.round for one in books])
        verify_ruling(basis)
        return list(dict.fromkeys(rule for one in books for rule in _cited(one.round, _ruling_rules(one.round))))
    if after_settlement:
        verify_no_party(actor, [one.round for one in books])
    cited = []
    for one in books:
        voiding = rulebook(one.round.rulebook).voidings.get(basis.rule)
        if voiding is None:
            raise ValidationError(
                {"rule": f"{one.round.rulebook} has no rule {basis.rule or '(none)'} that voids a round."}
            )
        if after_settlement and voiding.action != "void-affected":
            raise ValidationError({"rule": f"{one.round} is settled: a void by {voiding.rule} takes a ruling first."})
        cited += _cited(one.round, (voiding.rule,))
    return list(dict.fromkeys(cited))


def verify_no_party(actor: Staff, rounds: Sequence[Round]) -> None:
    if is_party(actor, rounds):
        raise deny(actor, "consequence.order", "rounds that this person dealt or supervised")


def verify_ruling(basis: Basis) -> Ruling:
    ruling = basis.ruling
    if ruling is None:
        raise ValidationError("This takes a ruling; have the incident ruled on first.")
    if ruling.incident_id != basis.incident.pk:
        raise ValidationError(f"{ruling} is about another incident, {ruling.incident}.")
    later = Ruling.objects.filter(replaces=ruling).first()
    if later is not None:
        raise OvertakenError(f"{ruling} no longer holds: see {later}. Nothing has changed.")
    if ruling.is_withdrawal:
        raise ValidationError(f"{ruling} only withdraws another one; nothing follows from it.")
    return ruling


# --- What a round becomes -----------------------------------------------------------------------------


@dataclass(frozen=True)
class After:
    nets: list[int]
    is_void: bool = False
    is_settled: bool = False
    dice: list[int] | None = None
    is_decided: bool = False
    rules: tuple[str, ...] = ()


def settled_otherwise(
    books: Books, dice: Sequence[int] | None, nets: Mapping[int, int], rules: tuple[str, ...]
) -> After:  # fmt: skip
    recorded = books.recorded()
    count = len(recorded.bets)
    if unknown := sorted(set(nets) - set(range(count))):
        raise ValidationError({"nets": f"There is no bet {unknown[0] + 1}; the round has {count}."})
    throw = _throw(dice) if dice else recorded.assessment.throw
    faces = list(throw.faces) if throw else None
    if throw is None and len(nets) < count:
        raise ValidationError({"dice": "The round has no result: name the dice, or decide on every bet."})
    by_rules = [0] * count
    if throw is not None:
        ruled = replace(recorded, ruled=Ruled(rules, is_settled=True, throw=throw))
        by_rules = [net for net, _ in ruled.expected()]
    decided = [nets.get(place, net) for place, net in enumerate(by_rules)]
    return After(decided, is_settled=True, dice=faces, is_decided=bool(nets), rules=rules)


def stands_so(books: Books, after: After) -> bool:
    """Nothing would change, and what is expected of the round would not either."""
    if not books.is_settled or books.nets != after.nets:
        return False
    throw = books.recorded().assessment.throw
    return after.dice == (list(throw.faces) if throw else None)


def _throw(dice: Sequence[int]) -> Throw:
    try:
        return parse_dice(list(dice))
    except InputError as error:
        raise ValidationError({"dice": [fault.partition(": ")[2] or fault for fault in error.faults]}) from None


def _ruling_rules(round: Round) -> tuple[str, ...]:
    """What a ruling rests on in the document of a round: its own rule on rulings, where it has one."""
    return rulebook(round.rulebook).ruling_rules


def _cited(round: Round, rules: Sequence[str]) -> list[str]:
    return rulebook(round.rulebook).cite(*rules)


def _amending_numbers(book_id: str) -> tuple[str, ...]:
    book = rulebook(book_id)
    return next(
        one.rules for one in book.situations
        if one.code == "wrong-result-entered" and one.when.get("settled") == "no"
    )  # fmt: skip


def _amending_rules(book_id: str) -> list[str]:
    return rulebook(book_id).cite(*_amending_numbers(book_id))


def _amend_live(actor: Staff, basis: Basis, live: LiveRound, throw: Throw, reason: str) -> Consequence:
    """A round in play gets the event itself."""
    document = {"call": f"amend-{uuid.uuid4().hex}", "kind": "result-amended", "dice": list(throw.faces)}
    try:
        answer, _ = live_step(actor=actor, key=live.pk, document=document, action="liveround.finish", note=reason)
    except (InputError, LiveConflictError) as error:
        raise ValidationError(str(error)) from None
    if refusal := answer.get("refused"):
        raise ValidationError(refusal["explain"])
    order = _order(
        actor, basis, Consequence.Kind.RESULT, reason, asked={"dice": list(throw.faces)},
        rules=_amending_rules(live.rulebook), table=live.table,
    )  # fmt: skip
    _decide(order, ConsequenceDecision.Outcome.EXECUTED, actor, reason, live_round=live)
    return order


# --- On record ------------------------------------------------------------------------------------------


def _order(actor: Staff, basis: Basis, kind: Consequence.Kind, reason: str, **values: Any) -> Consequence:
    verify_reason(reason)
    round_ids = sorted(values.pop("round_ids", []))
    same = Consequence.objects.filter(incident=basis.incident, kind=kind, round_ids=round_ids, decision=None).first()
    if same is not None:
        raise OvertakenError(f"{same} was ordered by {same.who} and waits for a second person; nothing has changed.")
    order = Consequence.objects.create(
        casino=basis.incident.casino, incident=basis.incident, ruling=basis.ruling, kind=kind, round_ids=round_ids,
        reason=reason.strip(), by=actor, who=name_of(actor), **values,
    )  # fmt: skip
    rows = [IncidentRound(incident=basis.incident, round_id=key, who=order.who) for key in round_ids]
    IncidentRound.objects.bulk_create(rows, ignore_conflicts=True)
    held = (
        basis.incident.number, basis.ruling.number if basis.ruling else None, kind.value, order.rules, round_ids,
        order.asked, order.needs_second, order.reason, order.who, order.at.astimezone(dt.UTC),
    )  # fmt: skip
    ledger_append(basis.incident.table or basis.incident.casino, Entry("consequence", order.pk, held))
    return order


def _decide(order: Consequence, outcome: ConsequenceDecision.Outcome, actor: Staff, reason: str, **values: Any) -> None:
    decision = ConsequenceDecision.objects.create(
        consequence=order, ordered_by_id=order.by_id, needs_second=order.needs_second, outcome=outcome, by=actor,
        who=name_of(actor), reason=reason.strip(), **values,
    )  # fmt: skip
    held = (order.pk, outcome.value, decision.reason, decision.who, decision.at.astimezone(dt.UTC))
    place = order.incident.table or order.incident.casino
    ledger_append(place, Entry("consequence-decision", decision.pk, held))


def _correct_void(order: Consequence, actor: Staff) -> int:
    rounds = Round.objects.filter(pk__in=order.round_ids).select_related("table__casino")
    books = [one for one in books_of(rounds.order_by("started_at", "pk")) if not one.is_void]
    bare = {citation.partition("#")[2] for citation in order.rules}
    return _correct(order, actor, [(one, _voided(one, bare)) for one in books])


def _voided(books: Books, rules: set[str]) -> After:
    book = rulebook(books.round.rulebook)
    own = tuple(rule for rule in (*book.voidings, *book.ruling_rules) if rule in rules)
    return After([0] * len(books.round.nets), is_void=True, rules=tuple(dict.fromkeys(own)))


def _correct(order: Consequence, actor: Staff, changes: Sequence[tuple[Books, After]]) -> int:
    """The corrections, what each player gets or gives back, and the reconciliation told: in one transaction."""
    who = name_of(actor)
    owed: dict[str, int] = defaultdict(int)
    touched: dict[str, set[int]] = defaultdict(set)
    by_table: dict[Table, list[Entry]] = defaultdict(list)
    for books, after in changes:
        one = books.round
        correction = Correction.objects.create(
            consequence=order, round=one, ordinal=books.ordinal, table=one.table, gaming_day=one.gaming_day,
            deltas=deltas(books.nets, after.nets), nets=after.nets, is_void=after.is_void, is_settled=after.is_settled,
            dice=after.dice, is_decided=after.is_decided, rules=list(after.rules), who=who,
        )  # fmt: skip
        for player, delta in zip(one.players, correction.deltas, strict=True):
            if delta:
                owed[player] += delta
                touched[player].add(one.pk)
        by_table[one.table].append(Entry("correction", correction.pk, _held(order, correction)))
    for table in sorted(by_table, key=lambda one: one.pk):
        ledger_append(table, *by_table[table])
    Repayment.objects.bulk_create(
        Repayment(consequence=order, player=player, amount=amount, rounds=len(touched[player]))
        for player, amount in sorted(owed.items()) if amount
    )  # fmt: skip
    these_again(books.round.pk for books, _ in changes)
    return len(changes)


def _held(order: Consequence, one: Correction) -> tuple[Any, ...]:
    return (
        one.round.source, one.round.ref, one.ordinal, order.pk, one.deltas, one.nets, one.is_void, one.is_settled,
        one.dice, one.is_decided, one.rules, one.who, one.at.astimezone(dt.UTC),
    )  # fmt: skip


def _lock_days(rounds: Sequence[Round]) -> None:
    """Nobody reconciles these days meanwhile, corrects a round of them, or changes what the tables are settled by."""
    places = sorted({(one.table_id, one.gaming_day) for one in rounds})
    for table_id, day in places:
        summary_ensure((table_id, day))
    for table_id, day in places:
        DaySummary.objects.select_for_update().get(table=table_id, gaming_day=day)
    with connection.cursor() as cursor:
        tables = sorted({table_id for table_id, _ in places})
        cursor.execute("SELECT 1 FROM games_table WHERE id = ANY (%s) ORDER BY id FOR KEY SHARE", [tables])


# --- What players get or give back ------------------------------------------------------------------------

UNDONE = {RepaymentMark.What.NOT_TOLD: RepaymentMark.What.TOLD, RepaymentMark.What.NOT_PAID: RepaymentMark.What.PAID}


@transaction.atomic
def repayment_mark(*, actor: Staff, repayment: Repayment, what: str, note: str = "") -> RepaymentMark:
    """The patron was told, or it was paid; or such a mark was a slip, and says why."""
    incident = incident_locked(repayment.consequence.incident)
    authorize(actor, "repayment.mark", incident)
    if what not in RepaymentMark.What.values:
        raise ValidationError({"what": f"{what!r:.40} is none of {', '.join(RepaymentMark.What.values)}."})
    mark = RepaymentMark.What(what)
    verify_text("note", note)
    if mark in UNDONE and not note.strip():
        raise ValidationError({"note": "Say why the mark is taken back."})
    is_marked = marks_of(repayment)[UNDONE.get(mark, mark)]
    if is_marked is (mark not in UNDONE):
        raise OvertakenError(f"{repayment.player}: that stands already; nothing has changed.")
    made = RepaymentMark.objects.create(repayment=repayment, what=mark, note=note.strip(), by=actor, who=name_of(actor))
    held = (
        repayment.pk,
        repayment.player,
        repayment.amount,
        mark.value,
        made.note,
        made.who,
        made.at.astimezone(dt.UTC),
    )
    ledger_append(incident.table or incident.casino, Entry("repayment", made.pk, held))
    return made


def marks_of(repayment: Repayment) -> dict[str, bool]:
    """Whether the patron was told, and whether it was paid: by the last mark of each."""
    standing: dict[str, bool] = {RepaymentMark.What.TOLD: False, RepaymentMark.What.PAID: False}
    for one in repayment.marks.all():
        what = RepaymentMark.What(one.what)
        standing[UNDONE.get(what, what)] = what not in UNDONE
    return standing
