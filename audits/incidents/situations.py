"""The situations that a file may be about: those of the rulebooks, with the facts that each one needs."""

from collections.abc import Mapping
from functools import cache

from games.engine.errors import InputError
from games.engine.rules.advice import FACTS, verify_facts
from games.engine.rules.loader import listed, rulebooks


@cache
def situations() -> dict[str, tuple[str, ...]]:
    """The facts of each, by its code, in the order of the rulebooks."""
    return {situation.code: situation.facts for book in rulebooks().values() for situation in book.situations}


def verify_situation(code: str, facts: Mapping[str, str]) -> None:
    """Also where no table is named, and so no rulebook is asked."""
    if code not in situations():
        raise InputError(f"situation: {code!r:.60} is not known; choose {listed(situations())}.")
    verify_facts(code, situations()[code], facts)
    for name, value in facts.items():
        FACTS[name](value)
