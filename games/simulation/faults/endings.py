"""Results that were entered wrongly, and rounds without an end."""

from collections.abc import Iterator
from random import Random

from games.simulation import known_findings as sentences
from games.simulation.faults.fault import Fault, leave_out, winning_bet
from games.simulation.payout import Dice
from games.simulation.played_floor import PlayedTable
from games.simulation.round_draft import RoundDraft, Wager

FACES = 6


def faults(table: PlayedTable) -> Iterator[Fault]:
    yield amended_before
    yield amended_before_but_paid_by_the_first
    yield amended_after
    yield amended_after_and_put_right
    yield leave_unfinished


def _enter_wrongly(draft: RoundDraft, random: Random) -> Dice:
    """Enter one die one higher than it shows."""
    place = random.randrange(len(draft.dice))
    first, second, third = (face % FACES + 1 if index == place else face for index, face in enumerate(draft.dice))
    draft.drop("result", "settled")
    draft.add(draft.moments.result, "result", dice=[first, second, third])
    return first, second, third


def _amend(draft: RoundDraft, random: Random, second: int) -> None:
    """Amend the result: by the supervisor, by the dealer alone, or without a name, which some rulebooks forbid."""
    by = random.choice((draft.supervisor, draft.supervisor, draft.dealer, None))
    draft.add(second, "result-amended", dice=list(draft.dice), **({"by": by} if by else {}))
    if by is None or by != draft.supervisor:
        draft.wrong("amendment-without-authority", sentences.AMENDED_BY.format(by or sentences.NO_NAME))


def _before(draft: RoundDraft, random: Random) -> Dice:
    wrong, when = _enter_wrongly(draft, random), draft.moments
    _amend(draft, random, when.amended)
    draft.add(when.settled, "settled")
    draft.show(when.amended, "wrong-result-entered", sentences.AMENDED_BEFORE, settled="no")
    return wrong


def _after(draft: RoundDraft, random: Random) -> Dice:
    wrong, when = _enter_wrongly(draft, random), draft.moments
    draft.add(when.settled, "settled")
    _amend(draft, random, when.after)
    draft.show(when.after, "wrong-result-entered", sentences.AMENDED_AFTER, settled="yes")
    return wrong


def _pay_by(draft: RoundDraft, dice: Dice) -> None:
    """Record the bets as if these dice had counted."""
    odds = draft.table.odds(dice)

    def net(bet: Wager) -> int:
        times = odds.get(bet.box, 0)
        return bet.counts_for * times if times else -bet.counts_for

    def record(draft: RoundDraft) -> None:
        for bet in draft.bets:
            bet.net = net(bet)

    draft.slips.append(record)


def amended_before(draft: RoundDraft, random: Random) -> bool:
    _before(draft, random)
    return True


def amended_before_but_paid_by_the_first(draft: RoundDraft, random: Random) -> bool:
    winning_bet(draft, random)
    _pay_by(draft, _before(draft, random))
    return True


def amended_after(draft: RoundDraft, random: Random) -> bool:
    winning_bet(draft, random)
    _pay_by(draft, _after(draft, random))
    return True


def amended_after_and_put_right(draft: RoundDraft, random: Random) -> bool:
    _after(draft, random)
    return True


def leave_unfinished(draft: RoundDraft, random: Random) -> bool:
    """Leave the round unsettled, without a result, or interrupted while betting is open; some nets may be recorded."""
    missing: tuple[str, ...] = random.choice((("settled",), ("settled", "result"), ("result",)))
    if not any(event.kind == "interruption" for event in draft.events) and random.random() < 1 / 4:
        missing = ("settled", "result", "no-more-bets", *(() if draft.table.tumbles_first else ("tumbler",)))
    draft.drop(*missing)
    draft.slips.append(random.choice((leave_out, _record_some)))
    return True


def _record_some(draft: RoundDraft) -> None:
    """Record some nets; they are not compared, as the round has no end."""
    for place, bet in enumerate(draft.bets):
        bet.net = None if place % 2 else -bet.stake
