"""A round while it is played: steps in, what lies on the felt and what may follow out. The order is the rulebook's."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from .advice import situation_of
from .dice import Throw, parse_known_dice
from .errors import InputError
from .irregularities import (
    DICE_EXPOSED,
    DIE_NOT_FLAT,
    INTERRUPTION,
    NO_MORE_BETS,
    PLACE_BETS,
    RESULT,
    RESULT_AMENDED,
    SETTLED,
    TUMBLER,
    VOID,
    Assessment,
    Event,
    assess,
)
from .limits import Bet
from .round_states import NEW, can_step, find_step, out_of_order
from .rulebook import Rulebook

BET, INCREASE, WITHDRAW, REFUSE = "bet", "increase", "withdraw", "refuse"
ON_THE_FELT = (BET, INCREASE, WITHDRAW, REFUSE)
#: What is called out or entered, each in its turn.
CALLS = (PLACE_BETS, NO_MORE_BETS, RESULT, RESULT_AMENDED, SETTLED, VOID)
#: What happens whether or not it is its turn: dice and current obey no order, and what happened is kept.
FACTS = (TUMBLER, DICE_EXPOSED, DIE_NOT_FLAT, INTERRUPTION)
KINDS = (*ON_THE_FELT, *CALLS, *FACTS)


class OrderError(InputError):
    """Not its turn; the rules, as citations, say what is."""

    def __init__(self, fault: str, rules: Sequence[str]) -> None:
        super().__init__(fault)
        self.rules = tuple(rules)


@dataclass(frozen=True)
class Chips:
    """What one player put into one box at once."""

    player: str
    box: str
    stake: int
    at: datetime | None = None
    house_placed: bool = False

    @property
    def place(self) -> tuple[str, str]:
        return self.player, self.box


@dataclass(frozen=True)
class Step:
    """One call of a terminal. What a kind does not need is None."""

    kind: str
    at: datetime
    player: str = ""
    box: str = ""
    stake: int | None = None
    placed_at: datetime | None = None  # of chips, where the terminal said when
    house_placed: bool = False
    details: dict[str, Any] = field(default_factory=dict)  # of an event: tumbles, dice, known_dice, rule, by
    nets: dict[tuple[str, str], int] = field(default_factory=dict)  # of a settlement


@dataclass(frozen=True)
class Refusal:
    """Why a bet, an increase or a withdrawal was not taken; that it was tried is kept."""

    rules: tuple[str, ...]
    explain: str


@dataclass(frozen=True)
class Play:
    """How far a round has come."""

    state: str = NEW
    chips: tuple[Chips, ...] = ()  # on the felt, in the order in which they were put there
    refused: tuple[Chips, ...] = ()
    events: tuple[tuple[str, datetime, dict[str, Any]], ...] = ()
    nets: dict[tuple[str, str], int] = field(default_factory=dict)

    @property
    def is_over(self) -> bool:
        return self.state in (SETTLED, VOID)

    def bets(self) -> list[Bet]:
        """One a player a box, in the order in which they were begun."""
        stakes: dict[tuple[str, str], int] = {}
        for chips in self.chips:
            stakes[chips.place] = stakes.get(chips.place, 0) + chips.stake
        return [Bet(player, box, stake) for (player, box), stake in stakes.items()]

    def stake_of(self, place: tuple[str, str]) -> int:
        return sum(chips.stake for chips in self.chips if chips.place == place)


def is_open(book: Rulebook, play: Play) -> bool:
    """Bets may be placed: betting can still be closed."""
    return can_step(book, play.state, NO_MORE_BETS)


def following(book: Rulebook, play: Play) -> list[str]:
    """What may come next, in the words of the steps."""
    steps = list(dict.fromkeys(step.kind for step in book.play if step.before == play.state))
    return [*(ON_THE_FELT if is_open(book, play) else ()), *steps]


def replay(book: Rulebook, steps: Iterable[Step]) -> Play:
    """Steps that were taken before, one after another."""
    play = Play()
    for step in steps:
        play, _ = take(book, play, step)
    return play


def take(book: Rulebook, play: Play, step: Step) -> tuple[Play, Refusal | None]:
    """The round after a step; or why a bet was refused, which is part of the round as well."""
    if play.is_over:
        raise OrderError(out_of_order(book, play.state, step.kind), ())
    if step.kind in ON_THE_FELT:
        return _betting(book, play, step)
    return _event(book, play, step), None


# --- On the felt ---


def _betting(book: Rulebook, play: Play, step: Step) -> tuple[Play, Refusal | None]:
    if is_open(book, play):
        return TAKEN[step.kind](play, step), None
    if not any(kind == NO_MORE_BETS for kind, _, _ in play.events):
        raise _out_of_order(book, play, step.kind)
    if step.kind == REFUSE:
        situation = situation_of(book, "over-limit-unnoticed")
        raise OrderError(
            f"{REFUSE}: betting is closed, so no bet is put back. {situation.explain}", book.cite(*situation.rules)
        )
    late = situation_of(book, "late-bet")
    refusal = Refusal(tuple(book.cite(*late.rules)), late.explain)
    if step.kind == WITHDRAW:
        return play, refusal
    chips = Chips(step.player, step.box, step.stake or 0, step.placed_at or step.at, step.house_placed)
    return replace(play, refused=(*play.refused, chips)), refusal


def _placed(play: Play, step: Step) -> Play:
    place = (step.player, step.box)
    if play.stake_of(place):
        raise InputError(f"box: {step.player} has a bet on {step.box} already; use {INCREASE}.")
    return _with_chips(play, step)


def _increased(play: Play, step: Step) -> Play:
    _verify_bet(play, step)
    return _with_chips(play, step)


def _with_chips(play: Play, step: Step) -> Play:
    chips = Chips(step.player, step.box, step.stake or 0, step.placed_at, step.house_placed)
    return replace(play, chips=(*play.chips, chips))


def _withdrawn(play: Play, step: Step) -> Play:
    _verify_bet(play, step)
    return _without(play, step)


def _refused(play: Play, step: Step) -> Play:
    """Chips that lie on the felt are put back; where the player has none there, they never came to lie on it."""
    chips = Chips(step.player, step.box, step.stake or 0, step.placed_at, step.house_placed)
    left = _without(play, step) if play.stake_of(chips.place) else play
    return replace(left, refused=(*play.refused, chips))


def _without(play: Play, step: Step) -> Play:
    """The last chips of a bet go first."""
    place = (step.player, step.box)
    held = play.stake_of(place)
    away = held if step.stake is None else step.stake
    if away > held:
        raise InputError(f"stake: {step.player} has less than that on {step.box}; check the amount.")
    left: list[Chips] = []
    for chips in reversed(play.chips):
        part = min(away, chips.stake) if chips.place == place else 0
        away -= part
        if chips.stake > part:
            left.append(replace(chips, stake=chips.stake - part))
    return replace(play, chips=tuple(reversed(left)))


def _verify_bet(play: Play, step: Step) -> None:
    if not play.stake_of((step.player, step.box)):
        raise InputError(f"box: {step.player} has no bet on {step.box}; use {BET}.")


TAKEN = {BET: _placed, INCREASE: _increased, WITHDRAW: _withdrawn, REFUSE: _refused}


# --- Events ---


def _event(book: Rulebook, play: Play, step: Step) -> Play:
    found = find_step(book, play.state, step.kind)
    if found is None and (step.kind in CALLS or play.state == NEW):
        raise _out_of_order(book, play, step.kind)
    if play.events and step.at < play.events[-1][1]:
        raise InputError(
            f"at: lies before the round's last event ({play.events[-1][1].isoformat()}); check the terminal's clock."
        )
    if step.kind == SETTLED:
        _verify_nets(play, step)
    events = (*play.events, (step.kind, step.at, step.details))
    return replace(play, state=found.after if found else play.state, events=events, nets=step.nets or play.nets)


def _verify_nets(play: Play, step: Step) -> None:
    """What was paid or taken for every bet on the felt, and for no other."""
    places = {(bet.player, bet.box) for bet in play.bets()}
    missing = [f"nets: {player} {box} is missing; it is needed." for player, box in places - step.nets.keys()]
    strange = [f"nets: {player} has no bet on {box}; leave it out." for player, box in step.nets.keys() - places]
    if missing or strange:
        raise InputError(*sorted(missing + strange))


def assessed(book: Rulebook, play: Play) -> Assessment:
    """What the rulebook says of the events so far."""
    return assess(book, [_as_event(*one) for one in play.events])


def _as_event(kind: str, at: datetime, details: dict[str, Any]) -> Event:
    dice, known = details.get("dice"), details.get("known_dice")
    return Event(
        kind, at, details.get("tumbles"), Throw(tuple(dice)) if dice else None,
        parse_known_dice(known) if known is not None else None, details.get("rule"),
    )  # fmt: skip


def _out_of_order(book: Rulebook, play: Play, kind: str) -> OrderError:
    expected = [step.rule for step in book.play if step.before == play.state]
    own = [step.rule for step in book.play if step.kind == kind]
    return OrderError(out_of_order(book, play.state, kind), book.cite(*dict.fromkeys(own or expected)))
