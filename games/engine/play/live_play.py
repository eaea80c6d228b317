"""A round while it is played: apply steps, list the bets on the felt and the steps that may follow.

The order of play is the rulebook's.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any

from games.engine.dice import Throw, parse_known_dice
from games.engine.errors import InputError
from games.engine.play.findings import RecordedBet, bet_irregularities
from games.engine.play.irregularities import (
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
    is_result,
)
from games.engine.play.order_of_play import NEW, can_step, out_of_order
from games.engine.rules.advice import situation_of
from games.engine.rules.rulebook import OrderStep as Move
from games.engine.rules.rulebook import Rulebook
from games.engine.signs.limits import Bet

BET, INCREASE, WITHDRAW, REFUSE = "bet", "increase", "withdraw", "refuse"
ON_THE_FELT = (BET, INCREASE, WITHDRAW, REFUSE)
#: Steps that have their turn in the order of play.
CALLS = (PLACE_BETS, NO_MORE_BETS, RESULT, RESULT_AMENDED, SETTLED, VOID)
#: Steps accepted at any time: dice and power failures follow no order, and what happened is kept.
FACTS = (TUMBLER, DICE_EXPOSED, DIE_NOT_FLAT, INTERRUPTION)
KINDS = (*ON_THE_FELT, *CALLS, *FACTS)
MOMENT = timedelta(microseconds=1)


class OrderError(InputError):
    """A step out of order; `rules` cites the rules that say which step is next."""

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
    call_bet: bool = False  # placed by the house on the player's oral call

    @property
    def place(self) -> tuple[str, str]:
        return self.player, self.box


@dataclass(frozen=True)
class PlayStep:
    """One call of a terminal. What a kind does not need is None."""

    kind: str
    at: datetime
    player: str = ""
    box: str = ""
    stake: int | None = None
    placed_at: datetime | None = None  # of chips, if the terminal sent the time
    house_placed: bool = False
    call_bet: bool = False
    details: dict[str, Any] = field(default_factory=dict)  # of an event: tumbles, activated, dice, known_dice, rule, by
    nets: dict[tuple[str, str], int] = field(default_factory=dict)  # of a settlement


@dataclass(frozen=True)
class PlayRefusal:
    """Why a bet, an increase or a withdrawal was refused. The attempt is kept."""

    rules: tuple[str, ...]
    explain: str


@dataclass(frozen=True)
class Play:
    """The progress of a round."""

    state: str = NEW
    chips: tuple[Chips, ...] = ()  # on the felt, in the order in which they were placed
    refused: tuple[Chips, ...] = ()
    withdrawn: tuple[tuple[Chips, datetime], ...] = ()  # whole bets withdrawn in time, with the moment
    late_withdrawals: dict[tuple[str, str], datetime] = field(
        default_factory=dict
    )  # refused withdrawals: when each was first tried
    events: tuple[tuple[str, datetime, dict[str, Any]], ...] = ()
    nets: dict[tuple[str, str], int] = field(default_factory=dict)

    @property
    def is_over(self) -> bool:
        return self.state in (SETTLED, VOID)

    def bets(self) -> list[Bet]:
        """List the bets, one for each player and box, in the order in which they began."""
        stakes: dict[tuple[str, str], int] = {}
        for chips in self.chips:
            stakes[chips.place] = stakes.get(chips.place, 0) + chips.stake
        return [Bet(player, box, stake) for (player, box), stake in stakes.items()]

    def chips_of(self, place: tuple[str, str]) -> Chips:
        """Join the chips of one bet: placed when the last chip was, by the house if any of them was."""
        own = [chips for chips in self.chips if chips.place == place]
        return replace(
            own[-1], stake=sum(chips.stake for chips in own), house_placed=any(chips.house_placed for chips in own),
            call_bet=any(chips.call_bet for chips in own),
        )  # fmt: skip

    @property
    def closed_at(self) -> datetime | None:
        return next((at for kind, at, _ in self.events if kind == NO_MORE_BETS), None)

    def has(self, kind: str) -> bool:
        return any(event == kind for event, _, _ in self.events)

    @property
    def is_established(self) -> bool:
        """Say whether the dice are on record: as a result, or all known at an interruption."""
        return any(is_result(as_event(*event)) for event in self.events)

    def stake_of(self, place: tuple[str, str]) -> int:
        return sum(chips.stake for chips in self.chips if chips.place == place)


def is_open(book: Rulebook, play: Play) -> bool:
    """Say whether bets may be placed: betting can still be closed."""
    return can_step(book, play.state, NO_MORE_BETS)


def following(book: Rulebook, play: Play) -> list[str]:
    """List the kinds of steps that may come next."""
    return [*(ON_THE_FELT if is_open(book, play) else ()), *dict.fromkeys(move.kind for move in moves(book, play))]


def moves(book: Rulebook, play: Play) -> list[Move]:
    """List the steps that the order of play allows now.

    Where all dice were known at an interruption they are the result. A result may still be entered, as the terminal
    would; until it is, there is none to amend.
    """
    allowed = [move for move in book.play if move.before == play.state]
    if play.state != _resulted(book) or play.has(RESULT):
        return allowed
    entered = next(move for move in book.play if move.kind == RESULT)
    return [replace(entered, before=play.state), *(move for move in allowed if move.kind != RESULT_AMENDED)]


def _resulted(book: Rulebook) -> str:
    """Return the state of a round whose dice are on record."""
    return next(move.after for move in book.play if move.kind == RESULT)


def replay(book: Rulebook, steps: Iterable[PlayStep]) -> Play:
    """Apply recorded steps, one after another."""
    play = Play()
    for step in steps:
        play, _ = retake(book, play, step)
    return play


def take(book: Rulebook, play: Play, step: PlayStep) -> tuple[Play, PlayRefusal | None]:
    """Apply a new step. A refused bet is part of the round too; the refusal is returned."""
    if step.kind == WITHDRAW and play.closed_at is not None and not play.is_over:
        _verify_withdrawable(play, step)
    return retake(book, play, step)


def retake(book: Rulebook, play: Play, step: PlayStep) -> tuple[Play, PlayRefusal | None]:
    """Apply a recorded step.

    Rounds on record from earlier versions may hold a late withdrawal of a bet that was not there: it changes nothing.
    """
    if play.is_over:
        raise OrderError(out_of_order(book, play.state, step.kind, ()), ())
    if step.kind in ON_THE_FELT:
        return _betting(book, play, step)
    return _event(book, play, step), None


# --- On the felt ---


def _betting(book: Rulebook, play: Play, step: PlayStep) -> tuple[Play, PlayRefusal | None]:
    if is_open(book, play):
        return TAKEN[step.kind](play, step), None
    closed_at = play.closed_at
    if closed_at is None:
        raise _out_of_order(book, play, step.kind)
    if step.kind == REFUSE:
        situation = situation_of(book, "over-limit-unnoticed")
        raise OrderError(
            f"{REFUSE}: betting is closed, so no bet is returned. {situation.explain}", book.cite(*situation.rules)
        )
    late = situation_of(book, "late-withdrawal" if step.kind == WITHDRAW else "late-bet")
    refusal = PlayRefusal(tuple(book.cite(*late.rules)), late.explain)
    # Sent after the close means happened after it, whatever the terminal's clock says.
    at = max(step.placed_at or step.at, closed_at + MOMENT)
    if step.kind == WITHDRAW:
        return _late_withdrawal(play, step, at), refusal
    return replace(play, refused=(*play.refused, replace(_chips(step), at=at))), refusal


def _late_withdrawal(play: Play, step: PlayStep, at: datetime) -> Play:
    """Keep when the withdrawal was first tried; the bet stays whole on the felt."""
    place = (step.player, step.box)
    if not play.stake_of(place) or place in play.late_withdrawals:
        return play
    return replace(play, late_withdrawals=play.late_withdrawals | {place: at})


def _chips(step: PlayStep) -> Chips:
    return Chips(step.player, step.box, step.stake or 0, step.placed_at, step.house_placed, step.call_bet)


def _placed(play: Play, step: PlayStep) -> Play:
    place = (step.player, step.box)
    if play.stake_of(place):
        raise InputError(f"box: {step.player} has a bet on {step.box} already; use {INCREASE}.")
    return _with_chips(play, step)


def _increased(play: Play, step: PlayStep) -> Play:
    _verify_bet(play, step)
    return _with_chips(play, step)


def _with_chips(play: Play, step: PlayStep) -> Play:
    return replace(play, chips=(*play.chips, _chips(step)))


def _withdrawn(play: Play, step: PlayStep) -> Play:
    """Keep a bet that is withdrawn whole on record; it counts for nothing. A part only lowers the stake."""
    _verify_withdrawable(play, step)
    left, place = _without(play, step), (step.player, step.box)
    if left.stake_of(place):
        return left
    chips = play.chips_of(place)
    placed_at = min(chips.at, step.at) if chips.at else None  # clocks differ
    return replace(left, withdrawn=(*play.withdrawn, (replace(chips, at=placed_at), step.at)))


def _refused(play: Play, step: PlayStep) -> Play:
    """Put chips on the felt back. If the player has none there, they never reached the felt."""
    chips = replace(_chips(step), at=step.placed_at or step.at)
    left = _without(play, step) if play.stake_of(chips.place) else play
    return replace(left, refused=(*play.refused, chips))


def _without(play: Play, step: PlayStep) -> Play:
    """Take the stake away, the last chips of a bet first."""
    place = (step.player, step.box)
    held = play.stake_of(place)
    taken = held if step.stake is None else step.stake
    if taken > held:
        raise InputError(f"stake: {step.player} has less than that on {step.box}; check the amount.")
    left: list[Chips] = []
    for chips in reversed(play.chips):
        part = min(taken, chips.stake) if chips.place == place else 0
        taken -= part
        if chips.stake > part:
            left.append(replace(chips, stake=chips.stake - part))
    return replace(play, chips=tuple(reversed(left)))


def _verify_bet(play: Play, step: PlayStep) -> None:
    if not play.stake_of((step.player, step.box)):
        raise InputError(f"box: {step.player} has no bet on {step.box}; use {BET}.")


def _verify_withdrawable(play: Play, step: PlayStep) -> None:
    """Refuse to withdraw a bet that is not on the felt: no rule can apply to it."""
    if not play.stake_of((step.player, step.box)):
        raise InputError(
            f"box: {step.player} has no bet on {step.box}, so there is none to withdraw; check the player and the box."
        )


TAKEN = {BET: _placed, INCREASE: _increased, WITHDRAW: _withdrawn, REFUSE: _refused}


# --- Events ---


def _event(book: Rulebook, play: Play, step: PlayStep) -> Play:
    move_taken = next((move for move in moves(book, play) if move.kind == step.kind), None)
    if move_taken is None and (step.kind in CALLS or play.state == NEW):
        raise _out_of_order(book, play, step.kind)
    if play.events and step.at < play.events[-1][1]:
        raise InputError(
            f"at: is before the round's last event ({play.events[-1][1].isoformat()}); check the terminal's clock."
        )
    if step.kind == SETTLED:
        _verify_nets(play, step)
    events = (*play.events, (step.kind, step.at, step.details))
    after = replace(
        play, state=move_taken.after if move_taken else play.state, events=events, nets=step.nets or play.nets
    )
    if step.kind == NO_MORE_BETS:
        after = _closed(after, step.at)
    if not after.is_over and after.closed_at is not None and after.is_established:
        return replace(after, state=_resulted(book))
    return after


def _closed(play: Play, closed_at: datetime) -> Play:
    """Count refusals and withdrawals before the close as in time, whatever the terminal's clock says."""
    withdrawn = tuple((_not_after(chips, closed_at), min(at, closed_at)) for chips, at in play.withdrawn)
    refused = tuple(_not_after(chips, closed_at) for chips in play.refused)
    return replace(play, withdrawn=withdrawn, refused=refused)


def _not_after(chips: Chips, closed_at: datetime) -> Chips:
    return replace(chips, at=min(chips.at, closed_at)) if chips.at else chips


def _verify_nets(play: Play, step: PlayStep) -> None:
    """Require a net for every bet on the felt, and for no other."""
    places = {(bet.player, bet.box) for bet in play.bets()}
    missing = [f"nets: {player} {box} is missing; it is needed." for player, box in places - step.nets.keys()]
    strange = [f"nets: {player} has no bet on {box}; leave it out." for player, box in step.nets.keys() - places]
    if missing or strange:
        raise InputError(*sorted(missing + strange))


def assessed(book: Rulebook, play: Play) -> Assessment:
    """Judge the round so far by the rulebook: its events, late bets and late withdrawals."""
    late = [
        RecordedBet(late_bet.player, late_bet.box, late_bet.stake, None, is_late=True) for late_bet in late_bets(play)
    ]
    kept = [RecordedBet(bet.player, bet.box, bet.stake, None, is_withdrawn_late=(bet.player, bet.box)
                        in play.late_withdrawals) for bet in play.bets()]  # fmt: skip
    return assess(book, [as_event(*event) for event in play.events], bet_irregularities(book, [*kept, *late]))


def late_bets(play: Play) -> list[Chips]:
    """List the bets refused because betting was closed."""
    closed_at = play.closed_at
    return [chips for chips in play.refused if closed_at is not None and chips.at is not None and chips.at > closed_at]


def as_event(kind: str, at: datetime, details: dict[str, Any]) -> Event:
    dice, known = details.get("dice"), details.get("known_dice")
    return Event(
        kind, at, details.get("tumbles"), Throw(tuple(dice)) if dice else None,
        parse_known_dice(known) if known is not None else None, details.get("rule"), details.get("activated", False),
        details.get("by"),
    )  # fmt: skip


def _out_of_order(book: Rulebook, play: Play, kind: str) -> OrderError:
    expected = [move.rule for move in moves(book, play)]
    own = [step.rule for step in book.play if step.kind == kind]
    return OrderError(
        out_of_order(book, play.state, kind, moves(book, play)), book.cite(*dict.fromkeys(own or expected))
    )
