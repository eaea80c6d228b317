"""Look up what a rulebook says about a situation."""

from collections.abc import Callable, Mapping

from games.engine.dice import parse_known_dice
from games.engine.errors import InputError
from games.engine.rules.loader import listed
from games.engine.rules.rulebook import Rulebook, Situation


def _known_dice(value: str) -> str:
    return "some" if parse_known_dice(value, "known_dice") else "none"


def _yes_or_no(name: str) -> Callable[[str], str]:
    def read(value: str) -> str:
        if value not in ("yes", "no"):
            raise InputError(f"{name}: {value!r:.40} is neither yes nor no; write {name}=yes or {name}=no.")
        return value

    return read


#: How the facts of a situation are read: what a person wrote, as the value that rulebooks use.
FACTS: dict[str, Callable[[str], str]] = {
    "known_dice": _known_dice,
    **{name: _yes_or_no(name) for name in ("settled", "with_chips", "in_time")},
}
#: How a fact is written, for messages.
EXAMPLES = {
    "known_dice": "known_dice=2,?,?",
    "settled": "settled=no",
    "with_chips": "with_chips=yes",
    "in_time": "in_time=yes",
}


def advise(book: Rulebook, code: str, facts: Mapping[str, str] | None = None) -> Situation:
    """Return the entry of the rulebook that applies."""
    facts = facts or {}
    candidates = [situation for situation in book.situations if situation.code == code]
    if not candidates:
        codes = dict.fromkeys(situation.code for situation in book.situations)
        raise InputError(f"situation: {code!r:.60} is not one of {book.id}; choose {listed(codes)}.")
    verify_facts(code, candidates[0].facts, facts)
    return situation_of(book, code, **{name: FACTS[name](value) for name, value in facts.items()})


def verify_facts(code: str, needed: tuple[str, ...], given: Mapping[str, str]) -> None:
    faults = [f"{name}: {code} has no such fact; leave it out." for name in given if name not in needed]
    faults += [
        f"{name}: {code} needs this fact; give it, such as {EXAMPLES[name]}."
        for name in needed
        if given.get(name) is None
    ]
    if faults:
        raise InputError(*faults)


def situation_of(book: Rulebook, code: str, **facts: str) -> Situation:
    """Return the entry that applies, given valid facts."""
    return next(
        situation
        for situation in book.situations
        if situation.code == code and all(facts.get(name) == value for name, value in situation.when.items())
    )
