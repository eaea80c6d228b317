"""Citing a rule: `<rulebook>#<number>`."""

SEPARATOR = "#"


def cite(rulebook: str, number: str) -> str:
    return f"{rulebook}{SEPARATOR}{number}"


def bare_number(text: str, rulebook: str) -> str | None:
    """The number of a rule of this rulebook, written bare or as a citation; None where it cites another one."""
    book, separator, number = text.rpartition(SEPARATOR)
    return number if not separator or book == rulebook else None
