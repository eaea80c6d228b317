"""How the product treats each numbered rule: one file per rulebook, read strictly. README.md explains them."""

import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from games.engine.rules.loader import rulebook
from games.engine.rules.rulebook import Rulebook

FOLDER = Path(__file__).parent
DONE = ("computed", "checked", "recorded", "shown")  # done by the product: each has a module and a test
LEFT = ("procedural", "statement")  # left to people, or asking for nothing: each says why
TREATMENTS = (*DONE, *LEFT)
FIELDS = {"rule", "treatment", "modules", "tests", "why", "planned", "cited_for"}
MATTERS = ("sign", "suspension", "entry-terminal", "losing-bet")


class ClausesError(Exception):
    """A file of clauses is wrong; the message says where."""


@dataclass(frozen=True)
class Clause:
    rule: str
    about: str
    treatment: str
    modules: tuple[str, ...]
    tests: tuple[str, ...]
    planned: str | None
    cited_for: str | None
    why: str | None


def clauses(book: Rulebook) -> list[Clause]:
    """Return every rule of the document, in its order."""
    return read(book, (FOLDER / f"{book.id}.toml").read_text())


@cache
def cited_for(book_id: str, matter: str) -> tuple[str, ...]:
    """Return the rules that the product cites for a matter (a sign, a suspension); none if the document is silent."""
    book = rulebook(book_id)
    return tuple(book.cite(*(clause.rule for clause in clauses(book) if clause.cited_for == matter)))


def read(book: Rulebook, text: str) -> list[Clause]:
    clauses_by_rule: dict[str, Clause] = {}
    for entry in tomllib.loads(text)["clause"]:
        rule = entry.get("rule")
        where = f"clauses of {book.id}: rule {rule}"
        if unknown := entry.keys() - FIELDS:
            raise ClausesError(f"{where} has the unknown key {min(unknown)}.")
        if rule not in book.rules:
            raise ClausesError(f"{where} is not a rule of the document.")
        if rule in clauses_by_rule:
            raise ClausesError(f"{where} appears twice.")
        if entry.get("treatment") not in TREATMENTS:
            raise ClausesError(f"{where} has no treatment of {', '.join(TREATMENTS)}.")
        if entry.get("cited_for") not in (None, *MATTERS):
            raise ClausesError(
                f"{where} is cited for {entry['cited_for']!r}, which is not one of {', '.join(MATTERS)}."
            )
        clauses_by_rule[rule] = Clause(
            rule,
            book.rules[rule],
            entry["treatment"],
            tuple(entry.get("modules", ())),
            tuple(entry.get("tests", ())),
            entry.get("planned"),
            entry.get("cited_for"),
            entry.get("why"),
        )
        if fault := _fault(clauses_by_rule[rule]):
            raise ClausesError(f"{where} {fault}.")
    if missing := [rule for rule in book.rules if rule not in clauses_by_rule]:
        raise ClausesError(f"clauses of {book.id}: rule {missing[0]} has no entry.")
    return [clauses_by_rule[rule] for rule in book.rules]


def _fault(clause: Clause) -> str:
    """Describe what an entry claims without the proof it needs."""
    if clause.treatment in LEFT and not clause.why:
        return f"is {clause.treatment} and does not say why"
    if clause.treatment in DONE and not (clause.modules and clause.tests):
        return f"is {clause.treatment} and names no module or no test"
    return ""
