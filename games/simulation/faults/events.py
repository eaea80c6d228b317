"""Faults of tumbler and dice. A round they void is voided, returned, or settled all the same."""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from random import Random

from games.simulation import known_findings as sentences
from games.simulation.faults.endings import leave_unfinished
from games.simulation.faults.fault import Fault, leave_out, losing_bet
from games.simulation.faults.voids import handle
from games.simulation.played_floor import PlayedTable
from games.simulation.round_draft import RoundDraft

UNKNOWN = "?"
FACES = range(1, 7)

#: Adds the event, and returns the situation it shows.
Happening = Callable[[RoundDraft, Random], None]


def few_tumbles(draft: RoundDraft, random: Random) -> None:
    """Tumble too few times; a later valid tumble does not heal the round."""
    times, second = random.randint(1, draft.table.book.valid_tumbles - 1), draft.spun_at
    draft.spin(second, times)
    draft.show(second, "few-tumbles", sentences.TURNED.format(times))
    if not draft.table.tumbles_first and random.random() < 1 / 3:
        draft.add(draft.moments.between, "tumbler", tumbles=draft.table.book.valid_tumbles)


def die_not_flat(draft: RoundDraft, random: Random) -> None:
    """Record a die that is not flat, sometimes twice: one irregularity."""
    for _ in range(random.choice((1, 1, 2))):
        draft.add(draft.moments.between, "die-not-flat")
        draft.show(draft.moments.between, "die-not-flat", sentences.NOT_FLAT)


def jammed(draft: RoundDraft, random: Random) -> None:
    """Activate the tumbler, which does not turn once."""
    second = draft.spun_at
    draft.drop("tumbler")
    draft.add(second, "tumbler", tumbles=0, activated=True)
    draft.show(second, "few-tumbles", sentences.TURNED.format(0))


def exposed_early(draft: RoundDraft, random: Random) -> None:
    draft.add(draft.moments.early, "dice-exposed")
    draft.show(draft.moments.early, "dice-exposed-early", sentences.EXPOSED_EARLY)


def tumbler_early(draft: RoundDraft, random: Random) -> None:
    draft.spin(draft.moments.early, draft.table.book.valid_tumbles)
    draft.show(draft.moments.early, "tumbler-early", sentences.TUMBLER_EARLY)
    if not draft.table.tumbles_while_open:
        draft.misplaced.append(sentences.WHILE_OPEN)


def few_tumbles_early(draft: RoundDraft, random: Random) -> None:
    """Tumble too few times and too early: one event, two situations."""
    draft.spin(draft.moments.early, 1)
    draft.show(draft.moments.early, "few-tumbles", sentences.TURNED.format(1))
    draft.show(draft.moments.early, "tumbler-early", sentences.TUMBLER_EARLY)
    if not draft.table.tumbles_while_open:
        draft.misplaced.append(sentences.WHILE_OPEN)


def not_activated(draft: RoundDraft, random: Random) -> None:
    second = draft.spun_at
    draft.spin(second, 0)
    draft.show(second, "tumbler-not-activated", sentences.NOT_ACTIVATED)


def interrupted(draft: RoundDraft, known: Sequence[int]) -> None:
    """Interrupt play before the result, with these dice known."""
    second, detail = draft.moments.between, sentences.INTERRUPTED.format(", ".join(map(str, known)) or "none")
    draft.add(second, "interruption", known_dice=_known_text(draft, known))
    draft.show(second, "interruption", detail, known_dice="some" if known else "none")


def _known_text(draft: RoundDraft, known: Sequence[int]) -> str:
    return ",".join([*map(str, known), *[UNKNOWN] * (len(draft.dice) - len(known))])


def interrupted_knowing(draft: RoundDraft, random: Random) -> None:
    interrupted(draft, draft.dice[: random.randint(1, 2)])


def interrupted_blind(draft: RoundDraft, random: Random) -> None:
    interrupted(draft, ())


def interrupted_afterwards(draft: RoundDraft, random: Random) -> None:
    """Interrupt play after the result, when the known dice no longer matter."""
    second, known = draft.moments.amended, draft.dice[: random.choice((0, 0, 1, 3))]
    draft.add(second, "interruption", known_dice=_known_text(draft, known))
    draft.show(second, "interruption", sentences.INTERRUPTED_AFTER, known_dice="some")


def interrupted_contradicting(draft: RoundDraft, random: Random) -> None:
    """Name a die that the result does not show, or a face more often than the result shows it."""
    others = [face for face in FACES if face not in draft.dice]
    twice = [face for face in FACES if draft.dice.count(face) == 1]
    if twice and random.random() < 1 / 2:
        known = [random.choice(twice)] * 2
    else:
        known = [*draft.dice[: random.randint(0, 1)], random.choice(others)]
    interrupted(draft, known)
    strange = sorted(Counter(known) - Counter(draft.dice))
    draft.wrong("dice-contradicted", sentences.CONTRADICTED.format(", ".join(map(str, strange))))


def all_known(draft: RoundDraft, random: Random) -> bool:
    """Enter no result, with all dice known at an interruption: they count; sometimes a loser is paid."""
    interrupted(draft, draft.dice)
    draft.drop("result", *random.choice(((), (), ("settled",))))
    bet = losing_bet(draft, random) if draft.has("settled") and random.random() < 2 / 3 else None

    def record(_: RoundDraft) -> None:
        if bet is not None:
            bet.net = bet.stake

    draft.slips.append(record if draft.has("settled") else leave_out)
    return True


def together(*happenings: Happening) -> Happening:
    def all_of_them(draft: RoundDraft, random: Random) -> None:
        for happening in happenings:
            happening(draft, random)

    return all_of_them


#: By the situation that each event shows.
HAPPENINGS: dict[str, tuple[Happening, ...]] = {
    "few-tumbles": (few_tumbles, few_tumbles_early, jammed),
    "die-not-flat": (die_not_flat,),
    "dice-exposed-early": (exposed_early,),
    "tumbler-early": (tumbler_early,),
    "tumbler-not-activated": (not_activated,),
    "interruption": (
        interrupted_knowing, interrupted_blind, interrupted_afterwards, interrupted_contradicting,
    ),
}  # fmt: skip
TOGETHER = (
    together(few_tumbles, die_not_flat), together(die_not_flat, interrupted_blind),
    together(not_activated, die_not_flat), together(not_activated, interrupted_knowing),
)  # fmt: skip


def faults(table: PlayedTable) -> Iterator[Fault]:
    """Yield every fault that the rulebook does not let stand."""
    standing = {situation.code for situation in table.book.situations if situation.action == "stand"}
    for situation, happenings in HAPPENINGS.items():
        if situation not in standing:
            yield from (partial(happens, happening) for happening in happenings)
    yield from (partial(happens, happening) for happening in TOGETHER)
    yield partial(breaks_off, interrupted_knowing)
    yield partial(breaks_off, interrupted_blind)
    yield all_known


def happens(happening: Happening, draft: RoundDraft, random: Random) -> bool:
    happening(draft, random)
    if draft.is_void:
        handle(draft, random)
    return True


def breaks_off(happening: Happening, draft: RoundDraft, random: Random) -> bool:
    """Record nothing more."""
    happening(draft, random)
    if draft.is_void:
        handle(draft, random)
        return True
    return leave_unfinished(draft, random)
