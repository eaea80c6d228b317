"""What an order changes: planned when it is ordered, shown to the second person, and planned again to execute it.

A plan is a list of changes, each from the present nets of a round to its new ones. The order keeps its fingerprint:
exactly what was ordered is executed, or nothing.
"""

import json
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256

from django.core.exceptions import ValidationError

from audits.models import Consequence
from audits.rulings.corrections.standing_nets import StandingNets, deltas, standing_nets_of
from games.engine.box_numbers import code_of
from games.engine.dice import Throw, parse_dice
from games.engine.errors import InputError
from games.engine.play.findings import Ruled
from games.engine.rules.loader import rulebook
from games.history.audited_save import OvertakenError
from games.labels.boxes import box_label
from games.labels.money import money_label
from games.models import Round

Kind = Consequence.Kind
NO_STAKE_STAYS = "Every stake would be returned, which is a void. Order a void of the round instead."


@dataclass(frozen=True)
class NetsAfter:
    """The state of a round after a change."""

    nets: list[int]
    is_void: bool = False
    is_settled: bool = False
    dice: list[int] | None = None
    is_decided: bool = False
    decided: list[bool] | None = None  # which bets were decided; None: all, if any was
    rules: tuple[str, ...] = ()


@dataclass(frozen=True)
class RoundChange:
    """The change of one round, from its present nets to those after the order."""

    before: StandingNets
    after: NetsAfter

    @property
    def deltas(self) -> list[int]:
        return deltas(self.before.nets, self.after.nets)

    @property
    def touches_settled_money(self) -> bool:
        """Return whether the money was settled before: settled at any time, void, or paid and changed now.

        A round voided before its settlement counts, too: every stake was returned.
        """
        is_paid = any(self.before.nets) and any(self.deltas)
        return self.before.was_settled or self.before.is_void or is_paid


def amount_of(changes: Iterable[RoundChange]) -> int:
    """Return the amount moved, to and from players, summed over all bets."""
    return sum(abs(delta) for change in changes for delta in change.deltas)


def fingerprint_of(changes: Iterable[RoundChange]) -> str:
    """Return a digest of every round's state before and after the changes."""
    held = [
        (
            change.before.round.pk,
            change.before.ordinal,
            change.deltas,
            change.after.nets,
            change.after.is_void,
            change.after.is_settled,
            change.after.dice,
            change.after.is_decided,
            change.after.decided,
            change.after.rules,
        )
        for change in sorted(changes, key=lambda change: change.before.round.pk)
    ]
    return sha256(json.dumps(held).encode()).hexdigest()


def owed(changes: Iterable[RoundChange]) -> dict[str, int]:
    """Return the refund of each player, or (below zero) the recovery from them."""
    found: dict[str, int] = defaultdict(int)
    for change in changes:
        for player, delta in zip(change.before.round.players, change.deltas, strict=True):
            found[player] += delta
    return {player: found[player] for player in sorted(found) if found[player]}


def bets_changed(change: RoundChange) -> list[tuple[int, str, str, int, int, int]]:
    """Return the bets whose net changes: number from 1, player, box, stake, net before and after."""
    round_, now = change.before.round, change.before.nets
    return [
        (place + 1, round_.players[place], code_of(round_.boxes[place]), round_.stakes[place], now[place],
         change.after.nets[place])
        for place, delta in enumerate(change.deltas) if delta
    ]  # fmt: skip


# --- An order that waits ------------------------------------------------------------------------------


def planned(order: Consequence) -> list[RoundChange]:
    """Plan what an order changes, by the nets and limits as they are now."""
    rounds = Round.objects.filter(pk__in=order.round_ids).select_related("table__casino")
    return [
        RoundChange(standing_nets, planned_after(order, standing_nets))
        for standing_nets in standing_nets_of(rounds.order_by("started_at", "pk"))
    ]


def planned_after(order: Consequence, standing_nets: StandingNets) -> NetsAfter:
    """Return the state of one round after an order."""
    nets = {int(place): net for place, net in (order.asked.get("nets") or {}).items()}
    dice = order.asked.get("dice")
    match order.kind:
        case Kind.SETTLEMENT:
            return settled_by_ruling(standing_nets, dice, nets)
        case Kind.DISCRETION:
            return settled_by_discretion(standing_nets, nets, order.rules[0].partition("#")[2])
        case Kind.RESULT:
            return amended(standing_nets, dice)
    return voided(standing_nets, {citation.partition("#")[2] for citation in order.rules})


def planned_as_ordered(order: Consequence) -> list[RoundChange]:
    """Return the plan if it is still as ordered; refuse if anything has changed since."""
    try:
        changes = planned(order)
    except ValidationError as error:
        raise OvertakenError(f"{_overtaken(order)} ({' '.join(error.messages)})") from None
    if fingerprint_of(changes) != order.fingerprint:
        raise OvertakenError(_overtaken(order))
    return changes


def _overtaken(order: Consequence) -> str:
    return (
        f"The rounds of {order}, or the limits that apply to them, have changed since it was ordered. Nothing was "
        "executed: decline this order, and order it again."
    )


# --- The state of a round after an order --------------------------------------------------------------


def voided(standing_nets: StandingNets, rules: Iterable[str]) -> NetsAfter:
    """Return the round as void, by those of the rules that its own rulebook has."""
    book, known = rulebook(standing_nets.round.rulebook), set(rules)
    own = tuple(rule for rule in (*book.voidings, *book.ruling_rules) if rule in known)
    return NetsAfter([0] * len(standing_nets.round.nets), is_void=True, rules=tuple(dict.fromkeys(own)))


def amended(standing_nets: StandingNets, dice: Sequence[int]) -> NetsAfter:
    """Return the round with other dice, unsettled as before."""
    return NetsAfter(standing_nets.nets, dice=list(dice), rules=amending_rules(standing_nets.round.rulebook))


def amending_rules(book_id: str) -> tuple[str, ...]:
    """Return the rules by which a result is amended before settlement, as bare numbers."""
    return next(
        situation.rules for situation in rulebook(book_id).situations
        if situation.code == "wrong-result-entered" and situation.when.get("settled") == "no"
    )  # fmt: skip


def settled_by_ruling(standing_nets: StandingNets, dice: Sequence[int] | None, nets: Mapping[int, int]) -> NetsAfter:
    """Return the round settled by a ruling: by its own or other dice, with given nets; the rules decide the rest."""
    recorded = standing_nets.recorded()
    count = len(recorded.bets)
    if unknown := sorted(set(nets) - set(range(count))):
        raise ValidationError({"nets": f"There is no bet {unknown[0] + 1}; the round has {count}."})
    verify_bounds(standing_nets.round, nets)
    throw = throw_of(dice) if dice else recorded.assessment.throw
    if throw is None and len(nets) < count:
        raise ValidationError({"dice": "The round has no result: enter the dice, or a net for every bet."})
    rules = rulebook(standing_nets.round.rulebook).ruling_rules
    by_rules = [0] * count
    if throw is not None:
        ruled = replace(recorded, ruled=Ruled(rules, is_settled=True, throw=throw))
        by_rules = [net for net, _ in ruled.expected()]
    decided = [nets.get(place, net) for place, net in enumerate(by_rules)]
    faces = list(throw.faces) if throw else None
    return NetsAfter(decided, is_settled=True, dice=faces, is_decided=bool(nets), rules=rules)


def changes_nothing(standing_nets: StandingNets, after: NetsAfter) -> bool:
    """Return whether neither the nets nor the dice that decide the expected nets would change."""
    if not standing_nets.is_settled or standing_nets.nets != after.nets:
        return False
    throw = standing_nets.recorded().assessment.throw
    return after.dice == (list(throw.faces) if throw else None)


def settled_by_discretion(standing_nets: StandingNets, nets: Mapping[int, int], rule: str) -> NetsAfter:
    """Return the round with these bets decided by discretion; earlier decisions on other bets stay."""
    if not standing_nets.is_settled:
        state = "void: every stake is returned" if standing_nets.is_void else "not settled yet; settle it first"
        raise ValidationError({"rounds": f"{standing_nets.round} is {state}."})
    verify_bounds(standing_nets.round, nets)
    last, count = standing_nets.last, len(standing_nets.round.nets)
    before = [False] * count
    if last is not None and last.is_decided:
        before = last.decided or [True] * count
    if last is not None and all(before[place] and last.nets[place] == net for place, net in nets.items()):
        raise OvertakenError(f"{standing_nets.round} is already settled this way; nothing has changed.")
    after = [nets.get(place, net) for place, net in enumerate(standing_nets.nets)]
    if not any(after):
        raise ValidationError({"nets": NO_STAKE_STAYS})
    earlier = last.rules if last is not None and any(before) else ()
    return NetsAfter(
        after, is_settled=True, dice=last.dice if last else None, is_decided=True,
        decided=[was or place in nets for place, was in enumerate(before)],
        rules=tuple(dict.fromkeys((*earlier, rule))),
    )  # fmt: skip


def verify_bounds(round_: Round, nets: Mapping[int, int]) -> None:
    """Refuse a net below minus the stake, or above the stake at the best odds of its box."""
    boxes = rulebook(round_.rulebook).layouts[round_.layout].boxes
    faults = []
    for place, net in sorted(nets.items()):
        if not 0 <= place < len(round_.stakes):
            continue  # an unknown bet is refused elsewhere
        code, stake = code_of(round_.boxes[place]), round_.stakes[place]
        most = stake * boxes[code].best_odds
        if not -stake <= net <= most:
            faults.append(
                f"Bet {place + 1}, {round_.players[place]} on {box_label(code)}: {money_label(net)} is out of bounds. "
                f"With a stake of {money_label(stake)} and best odds of {boxes[code].best_odds} to 1, enter a net from "
                f"{money_label(-stake)} to {money_label(most)}."
            )
    if faults:
        raise ValidationError({"nets": faults})


def throw_of(dice: Sequence[int]) -> Throw:
    """Read dice for the engine; refuse them with what is wrong."""
    try:
        return parse_dice(list(dice))
    except InputError as error:
        raise ValidationError({"dice": [fault.partition(": ")[2] or fault for fault in error.faults]}) from None
