"""Faults in the procedure: bets, tumbler and settlement out of turn, overlapping rounds, wrong staff.

A closed or suspended table is not a fault of the round itself: `games.simulation.closures` plants it.
"""

import datetime as dt
from collections.abc import Iterator
from functools import partial
from random import Random

from games.simulation import known_findings as sentences
from games.simulation.faults.events import Happening, happens, tumbler_early
from games.simulation.faults.fault import Fault, bet_on
from games.simulation.played_floor import PlayedTable
from games.simulation.round_draft import RoundDraft

UNKNOWN_NUMBERS = (100, 999)
DEALER, SUPERVISOR = ("Dealer", "a dealer"), ("Supervisor", "a pit supervisor")


def faults(table: PlayedTable) -> Iterator[Fault]:
    yield early_bet
    yield overlapping
    yield from (partial(happens, happening) for happening in tumblers(table))
    yield settled_first
    yield unknown_dealer
    yield unknown_supervisor
    yield supervisor_as_dealer
    yield dealer_as_supervisor
    yield both_out_of_place


# --- Bets and rounds ---


def early_bet(draft: RoundDraft, random: Random) -> bool:
    """Place a bet one second before betting opens."""
    bet = bet_on(draft, random, draft.table.layout.boxes)
    if bet is not None:
        bet.at = draft.moments.placed - 1
    return bet is not None


def overlapping(draft: RoundDraft, random: Random) -> bool:
    """Begin the round shortly before the previous one of the table has ended."""
    earlier = draft.earlier
    if earlier is None or earlier.is_overlapping:
        return False
    lasted = int((earlier.ended_at - earlier.started_at).total_seconds())
    if lasted < 2:  # noqa: PLR2004  it is to begin between that one's beginning and end
        return False
    begins = earlier.ended_at - dt.timedelta(seconds=random.randint(1, max(lasted // 3, 1)))
    if begins >= draft.started_at or draft.table.sign_at(begins) is not draft.sign:
        return False
    draft.starts_at += begins - draft.started_at
    draft.wrong("overlap", sentences.OVERLAP.format(earlier.ref, earlier.source))
    return True


# --- The tumbler ---


def tumblers(table: PlayedTable) -> Iterator[Happening]:
    """Yield every way in which the tumbler runs out of turn, or not at all."""
    yield never_spun
    yield spun_again
    yield spun_afterwards
    yield spun_again_and_afterwards
    yield spun_only_afterwards
    if table.tumbles_first:
        yield tumbler_early
        yield spun_when_closed
    else:
        yield spun_before_betting


def never_spun(draft: RoundDraft, random: Random) -> None:
    draft.drop("tumbler")


def _spin_once_more(draft: RoundDraft, second: int, when: str) -> None:
    draft.add(second, "tumbler", tumbles=draft.table.book.valid_tumbles)
    draft.misplaced.append(when)


def spun_again(draft: RoundDraft, random: Random) -> None:
    """Tumble again after a valid tumble, before the result."""
    _spin_once_more(draft, draft.spun_at if draft.table.tumbles_first else draft.moments.between, sentences.ONCE_MORE)


def spun_afterwards(draft: RoundDraft, random: Random) -> None:
    _spin_once_more(draft, random.choice((draft.moments.amended, draft.moments.settled)), sentences.AFTER_RESULT)


def spun_again_and_afterwards(draft: RoundDraft, random: Random) -> None:
    spun_again(draft, random)
    spun_afterwards(draft, random)


def spun_only_afterwards(draft: RoundDraft, random: Random) -> None:
    draft.drop("tumbler")
    spun_afterwards(draft, random)


def spun_when_closed(draft: RoundDraft, random: Random) -> None:
    draft.spin(draft.moments.tumbled, draft.table.book.valid_tumbles)
    draft.misplaced.append(sentences.WHEN_CLOSED)


def spun_before_betting(draft: RoundDraft, random: Random) -> None:
    second = draft.moments.placed - 1
    draft.spin(second, draft.table.book.valid_tumbles)
    draft.show(second, "tumbler-early", sentences.TUMBLER_EARLY)
    draft.misplaced.append(sentences.BEFORE_BETTING)


def settled_first(draft: RoundDraft, random: Random) -> bool:
    """Settle before the result is entered."""
    draft.drop("settled")
    draft.add(draft.moments.between, "settled")
    draft.wrong("settled-before-result", sentences.SETTLED_FIRST)
    return True


# --- People ---


def _unknown(random: Random) -> str:
    return f"X{random.randint(*UNKNOWN_NUMBERS)}"


def unknown_dealer(draft: RoundDraft, random: Random) -> bool:
    if draft.dealer is None:
        return False
    draft.dealer = _unknown(random)
    draft.wrong("unknown-staff", sentences.UNKNOWN.format(DEALER[0], draft.dealer))
    return True


def unknown_supervisor(draft: RoundDraft, random: Random) -> bool:
    if draft.supervisor is None:
        return False
    draft.supervisor = _unknown(random)
    draft.wrong("unknown-staff", sentences.UNKNOWN.format(SUPERVISOR[0], draft.supervisor))
    return True


def supervisor_as_dealer(draft: RoundDraft, random: Random) -> bool:
    if draft.supervisor is None:
        return False
    draft.dealer = draft.supervisor
    draft.wrong("wrong-post", sentences.WRONG_POST.format(DEALER[0], draft.dealer, DEALER[1]))
    return True


def dealer_as_supervisor(draft: RoundDraft, random: Random) -> bool:
    if draft.dealer is None:
        return False
    draft.supervisor = draft.dealer
    draft.wrong("wrong-post", sentences.WRONG_POST.format(SUPERVISOR[0], draft.supervisor, SUPERVISOR[1]))
    return True


def both_out_of_place(draft: RoundDraft, random: Random) -> bool:
    """Let a supervisor deal, under a supervisor who is not on record: two findings."""
    return supervisor_as_dealer(draft, random) and unknown_supervisor(draft, random)
