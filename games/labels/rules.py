"""Names of rulebooks, layouts and rules. The ids and citations stay in API, files and tooltips."""

from games.engine.rules.citation import SEPARATOR
from games.engine.rules.loader import rulebooks

#: Between the parts of a name: `Tai Sai v6 · Rule 5.1.1`.
BETWEEN = " · "


def rulebook_label(rulebook_id: str) -> str:
    """Name a rulebook in short: `Tai Sai v6`. An id that is not known is shown as it is."""
    book = rulebooks().get(rulebook_id)
    return book.name if book else rulebook_id


def rulebook_title(rulebook_id: str) -> str:
    """Name a rulebook in full: `Tai Sai (RWS), Game Rules, version 6`."""
    book = rulebooks().get(rulebook_id)
    return f"{book.title}, version {book.version}" if book else rulebook_id


def layout_label(code: str) -> str:
    return f"Layout {code}"


def game_label(rulebook_id: str, layout: str) -> str:
    """Name what is played at a table: `Tai Sai v6 · Layout C`."""
    return f"{rulebook_label(rulebook_id)}{BETWEEN}{layout_label(layout)}"


def rule_label(citation: str) -> str:
    """Name a cited rule: `Tai Sai v6 · Rule 5.1.1`. What is no citation is shown as it is."""
    rulebook_id, separator, number = citation.partition(SEPARATOR)
    return f"{rulebook_label(rulebook_id)}{BETWEEN}Rule {number}" if separator else citation


def rules_label(citations: list[str] | tuple[str, ...]) -> str:
    """Name several cited rules, each rulebook once: `Tai Sai v6 · Rules 4.1.2, 5.1.1`."""
    numbers: dict[str, list[str]] = {}
    for citation in citations:
        rulebook_id, separator, number = citation.partition(SEPARATOR)
        numbers.setdefault(rulebook_id, []).extend([number] if separator else [])
    return "; ".join(
        f"{rulebook_label(rulebook_id)}{BETWEEN}Rule{'' if len(found) == 1 else 's'} {', '.join(found)}"
        if found
        else rulebook_id
        for rulebook_id, found in numbers.items()
    )


def rule_about(citation: str) -> str:
    """What a rule is about, in the few words of its rulebook; empty where it is not known."""
    rulebook_id, _, number = citation.partition(SEPARATOR)
    book = rulebooks().get(rulebook_id)
    return book.rules.get(number, "") if book else ""
