"""Cite a rule: `<rulebook>#<number>`."""

SEPARATOR = "#"


def cite(rulebook: str, number: str) -> str:
    return f"{rulebook}{SEPARATOR}{number}"


def bare_number(text: str, rulebook: str) -> str | None:
    """Return the number of a rule of this rulebook, bare or from its citation; None for another rulebook's rule."""
    book, separator, number = text.rpartition(SEPARATOR)
    return number if not separator or book == rulebook else None
