"""What an order makes of rounds: worked out when it is given, shown to the second person, worked out again to execute.

A plan is the list of changes, each from the books of a round to what they become. Its fingerprint is kept with the
order: what is executed is what was ordered, or nothing.
"""

import json
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256

from django.core.exceptions import ValidationError

from audits.findings.labels import box_name, money
from audits.models import Consequence
from audits.rulings.corrections.standing_nets import StandingNets, deltas, standing_nets_of
from games.engine.box_numbers import code_of
from games.engine.dice import Throw, parse_dice
from games.engine.errors import InputError
from games.engine.play.findings import Ruled
from games.engine.rules.loader import rulebook
from games.history.audited_save import OvertakenError
from games.models import Round

Kind = Consequence.Kind
NO_STAKE_STAYS = "Every stake would go back: that is a void. Order a void of the round."


@dataclass(frozen=True)
class NetsAfter:
    """What the books of a round become."""

    nets: list[int]
    is_void: bool = False
    is_settled: bool = False
    dice: list[int] | None = None
    is_decided: bool = False
    decided: list[bool] | None = None  # which bets; None: all, where any is
    rules: tuple[str, ...] = ()


@dataclass(frozen=True)
class RoundChange:
    """One round, from its books now to what an order makes of them."""

    books: StandingNets
    after: NetsAfter

    @property
    def deltas(self) -> list[int]:
        return deltas(self.books.nets, self.after.nets)

    @property
    def touches_settled_money(self) -> bool:
        """Tell whether the round's money was decided before: settled at any time, void, or on record as paid and moves.

        A round that was voided before its settlement is decided, too: every stake went back.
        """
        is_paid = any(self.books.nets) and any(self.deltas)
        return self.books.was_settled or self.books.is_void or is_paid


def amount_of(changes: Iterable[RoundChange]) -> int:
    """What moves, to players and back, added up over all bets."""
    return sum(abs(delta) for change in changes for delta in change.deltas)


def fingerprint_of(changes: Iterable[RoundChange]) -> str:
    """A digest of the state of every round before, and of all that changes."""
    held = [
        (
            change.books.round.pk,
            change.books.ordinal,
            change.deltas,
            change.after.nets,
            change.after.is_void,
            change.after.is_settled,
            change.after.dice,
            change.after.is_decided,
            change.after.decided,
            change.after.rules,
        )
        for change in sorted(changes, key=lambda change: change.books.round.pk)
    ]
    return sha256(json.dumps(held).encode()).hexdigest()


def owed(changes: Iterable[RoundChange]) -> dict[str, int]:
    """What each player would get or (below zero) give back."""
    found: dict[str, int] = defaultdict(int)
    for change in changes:
        for player, delta in zip(change.books.round.players, change.deltas, strict=True):
            found[player] += delta
    return {player: found[player] for player in sorted(found) if found[player]}


def bets_changed(change: RoundChange) -> list[tuple[int, str, str, int, int, int]]:
    """The bets whose net changes: number from 1, player, box, stake, net before and after."""
    round_, now = change.books.round, change.books.nets
    return [
        (place + 1, round_.players[place], code_of(round_.boxes[place]), round_.stakes[place], now[place],
         change.after.nets[place])
        for place, delta in enumerate(change.deltas) if delta
    ]  # fmt: skip


# --- An order that waits ------------------------------------------------------------------------------


def planned(order: Consequence) -> list[RoundChange]:
    """Work out what an order makes of its rounds, by the books and limits as they are now."""
    rounds = Round.objects.filter(pk__in=order.round_ids).select_related("table__casino")
    books = standing_nets_of(rounds.order_by("started_at", "pk"))
    nets = {int(place): net for place, net in (order.asked.get("nets") or {}).items()}
    dice = order.asked.get("dice")
    match order.kind:
        case Kind.SETTLEMENT:
            return [RoundChange(book, settled_otherwise(book, dice, nets)) for book in books]
        case Kind.DISCRETION:
            rule = order.rules[0].partition("#")[2]
            return [RoundChange(book, settled_by(book, nets, rule)) for book in books]
        case Kind.RESULT:
            return [RoundChange(book, amended(book, dice)) for book in books]
    bare = {citation.partition("#")[2] for citation in order.rules}
    return [RoundChange(book, voided(book, bare)) for book in books]


def planned_as_ordered(order: Consequence) -> list[RoundChange]:
    """Return the plan if it is still the one that was ordered; refuse if anything has changed since."""
    try:
        changes = planned(order)
    except ValidationError as error:
        raise OvertakenError(f"{_overtaken(order)} ({' '.join(error.messages)})") from None
    if fingerprint_of(changes) != order.fingerprint:
        raise OvertakenError(_overtaken(order))
    return changes


def _overtaken(order: Consequence) -> str:
    return (
        f"The rounds of {order}, or the limits that they are settled by, have changed since it was ordered. Nothing "
        "has changed now: decline this order, and order it again."
    )


# --- What a round becomes -----------------------------------------------------------------------------


def voided(books: StandingNets, rules: Iterable[str]) -> NetsAfter:
    """Void, by those of the rules that its own document has."""
    book, known = rulebook(books.round.rulebook), set(rules)
    own = tuple(rule for rule in (*book.voidings, *book.ruling_rules) if rule in known)
    return NetsAfter([0] * len(books.round.nets), is_void=True, rules=tuple(dict.fromkeys(own)))


def amended(books: StandingNets, dice: Sequence[int]) -> NetsAfter:
    """Unsettled as before, with other dice."""
    return NetsAfter(books.nets, dice=list(dice), rules=amending_rules(books.round.rulebook))


def amending_rules(book_id: str) -> tuple[str, ...]:
    """The rules by which a result is amended before settlement, as bare numbers."""
    return next(
        situation.rules for situation in rulebook(book_id).situations
        if situation.code == "wrong-result-entered" and situation.when.get("settled") == "no"
    )  # fmt: skip


def settled_otherwise(books: StandingNets, dice: Sequence[int] | None, nets: Mapping[int, int]) -> NetsAfter:
    """Settled by a ruling: by its dice or by others, some bets decided one by one, all others by the rules."""
    recorded = books.recorded()
    count = len(recorded.bets)
    if unknown := sorted(set(nets) - set(range(count))):
        raise ValidationError({"nets": f"There is no bet {unknown[0] + 1}; the round has {count}."})
    verify_bounds(books.round, nets)
    throw = throw_of(dice) if dice else recorded.assessment.throw
    if throw is None and len(nets) < count:
        raise ValidationError({"dice": "The round has no result: name the dice, or decide on every bet."})
    rules = rulebook(books.round.rulebook).ruling_rules
    by_rules = [0] * count
    if throw is not None:
        ruled = replace(recorded, ruled=Ruled(rules, is_settled=True, throw=throw))
        by_rules = [net for net, _ in ruled.expected()]
    decided = [nets.get(place, net) for place, net in enumerate(by_rules)]
    faces = list(throw.faces) if throw else None
    return NetsAfter(decided, is_settled=True, dice=faces, is_decided=bool(nets), rules=rules)


def stands_so(books: StandingNets, after: NetsAfter) -> bool:
    """Nothing would change, and what is expected of the round would not either."""
    if not books.is_settled or books.nets != after.nets:
        return False
    throw = books.recorded().assessment.throw
    return after.dice == (list(throw.faces) if throw else None)


def settled_by(books: StandingNets, nets: Mapping[int, int], rule: str) -> NetsAfter:
    """Settled with these bets decided by discretion. What an earlier decision settled otherwise stays so."""
    if not books.is_settled:
        state = "void: every stake goes back" if books.is_void else "not settled yet; settle it first"
        raise ValidationError({"rounds": f"{books.round} is {state}."})
    verify_bounds(books.round, nets)
    last, count = books.last, len(books.round.nets)
    before = [False] * count
    if last is not None and last.is_decided:
        before = last.decided or [True] * count
    if last is not None and all(before[place] and last.nets[place] == net for place, net in nets.items()):
        raise OvertakenError(f"{books.round} is settled so already; nothing has changed.")
    after = [nets.get(place, net) for place, net in enumerate(books.nets)]
    if not any(after):
        raise ValidationError({"nets": NO_STAKE_STAYS})
    earlier = last.rules if last is not None and any(before) else ()
    return NetsAfter(
        after, is_settled=True, dice=last.dice if last else None, is_decided=True,
        decided=[was or place in nets for place, was in enumerate(before)],
        rules=tuple(dict.fromkeys((*earlier, rule))),
    )  # fmt: skip


def verify_bounds(round_: Round, nets: Mapping[int, int]) -> None:
    """A bet loses its stake at most, and wins its stake at the best odds of its box at most."""
    boxes = rulebook(round_.rulebook).layouts[round_.layout].boxes
    faults = []
    for place, net in sorted(nets.items()):
        if not 0 <= place < len(round_.stakes):
            continue  # refused for itself
        code, stake = code_of(round_.boxes[place]), round_.stakes[place]
        most = stake * boxes[code].best_odds
        if not -stake <= net <= most:
            faults.append(
                f"Bet {place + 1}, {round_.players[place]} on {box_name(code)}: {money(net)} is out of bounds. With a "
                f"stake of {money(stake)} and odds of at best {boxes[code].best_odds} to 1, give a net from "
                f"{money(-stake)} to {money(most)}."
            )
    if faults:
        raise ValidationError({"nets": faults})


def throw_of(dice: Sequence[int]) -> Throw:
    """The dice as the engine has them, or what is wrong with them."""
    try:
        return parse_dice(list(dice))
    except InputError as error:
        raise ValidationError({"dice": [fault.partition(": ")[2] or fault for fault in error.faults]}) from None
