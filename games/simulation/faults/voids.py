"""Ways of voiding a round: by each rule that can, by a ruling, by a rule that cannot, or not at all."""

from collections.abc import Iterator
from functools import partial
from random import Random

from games.simulation.faults.fault import Fault, by_dice, leave_out, pay_all_by_dice
from games.simulation.played_floor import PlayedTable
from games.simulation.round_draft import RULING, RoundDraft


def faults(table: PlayedTable) -> Iterator[Fault]:
    yield from (partial(called_off, rule) for rule in table.book.voidings)
    yield from (partial(called_off, rule) for rule in (RULING, other_rule(table)))
    yield from (partial(called_off_afterwards, rule) for rule in (*table.book.voidings, RULING, other_rule(table)))


def other_rule(table: PlayedTable) -> str:
    """Name a rule that voids nothing: the rule on late bets."""
    return next(situation.rules[0] for situation in table.book.situations if situation.code == "late-bet")


def called_off(rule: str, draft: RoundDraft, random: Random) -> bool:
    """Void a round although no event shows why."""
    _break_off(draft, random)
    draft.call_off(rule, _somebody(draft, random))
    return True


def called_off_afterwards(rule: str, draft: RoundDraft, random: Random) -> bool:
    """Void a settled round. Players keep what they were paid, or some or all stakes are returned, rightly or not."""
    draft.call_off(rule, _somebody(draft, random))
    draft.slips.append(random.choice((pay_all_by_dice, pay_one, give_back)))
    return True


def _somebody(draft: RoundDraft, random: Random) -> str | None:
    return random.choice((draft.supervisor, draft.dealer, None, *draft.table.managers[:1]))


def call_off_at_random(draft: RoundDraft, random: Random) -> bool:
    return called_off(random.choice([*draft.table.book.voidings, RULING]), draft, random)


def handle(draft: RoundDraft, random: Random) -> None:
    """Handle a round that its events void in one of several ways."""
    random.choice((_by_the_rule, _by_the_rule, _in_general, _otherwise, _given_back, _settled, _settled_in_part))(
        draft, random
    )


def _break_off(draft: RoundDraft, random: Random) -> None:
    """Return the stakes, recorded as nothing won or lost, or not recorded."""
    draft.drop("settled", *random.choice((("result",), ())))
    if random.random() < 1 / 3:
        draft.slips.append(leave_out)


def _by_the_rule(draft: RoundDraft, random: Random) -> None:
    _break_off(draft, random)
    draft.call_off(draft.void_rules[0], draft.supervisor)


def _in_general(draft: RoundDraft, random: Random) -> None:
    """Void by the general rule."""
    _break_off(draft, random)
    covering = [voiding.rule for voiding in draft.table.book.voidings.values() if voiding.covers]
    draft.call_off(covering[0], draft.supervisor)


def _otherwise(draft: RoundDraft, random: Random) -> None:
    """Void by another rule than the one that the events show, or by a ruling."""
    _break_off(draft, random)
    draft.call_off(random.choice([*draft.table.book.voidings, RULING]), draft.supervisor)


def _given_back(draft: RoundDraft, random: Random) -> None:
    """Return all stakes without voiding the round."""
    draft.drop(*random.choice((("settled",), ("settled", "result"), ())))


def _settled(draft: RoundDraft, random: Random) -> None:
    draft.slips.append(pay_all_by_dice)


def _settled_in_part(draft: RoundDraft, random: Random) -> None:
    draft.slips.append(pay_one)


def pay_one(draft: RoundDraft) -> None:
    """Let one player keep a win, or not get back a loss."""
    for bet in draft.bets[:1]:
        bet.net = by_dice(draft, bet)


def give_back(draft: RoundDraft) -> None:
    """Return every stake."""
    for bet in draft.bets:
        bet.net = 0
