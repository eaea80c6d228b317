"""The situations of an incident: those of the rulebooks, with the facts that each requires."""

from collections.abc import Mapping
from functools import cache

from games.engine.errors import InputError
from games.engine.rules.advice import FACTS, verify_facts
from games.engine.rules.loader import listed, rulebooks


@cache
def situations() -> dict[str, tuple[str, ...]]:
    """Return the required facts of each situation by its code, in the order of the rulebooks."""
    return {situation.code: situation.facts for book in rulebooks().values() for situation in book.situations}


def verify_situation(code: str, facts: Mapping[str, str]) -> None:
    """Refuse an unknown situation or wrong facts, also where no table and so no rulebook is known."""
    if code not in situations():
        raise InputError(f"situation: {code!r:.60} is not known; choose {listed(situations())}.")
    verify_facts(code, situations()[code], facts)
    for name, value in facts.items():
        FACTS[name](value)
