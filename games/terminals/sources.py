"""Check the source of a round: a terminal sends its own source, or one that belongs to no other key."""

from games.access.gate import Actor, Denied, deny
from games.models import Terminal
from games.terminals.models import RESERVED_SOURCES


def key_of(actor: Actor) -> int | None:
    """Return the id of the key that a round is sent with; None for a person or the operator."""
    return actor.pk if isinstance(actor, Terminal) else None


def verify_source(actor: Actor, casino_id: int, source: str) -> None:
    """Refuse a source that a key may not use, and record it. People and the operator may send any source."""
    if isinstance(actor, Terminal) and (fault := source_fault(actor, casino_id, source)):
        deny(actor, "round.record", f"source {source}")
        raise Denied(f"source: {fault} The attempt is on record.")


def source_fault(terminal: Terminal, casino_id: int, source: str) -> str:
    """Return why a key may not use a source; empty if it may. The database checks the same (migration 0018)."""
    if source.lower() in RESERVED_SOURCES:
        return (
            f"{source!r:.60} is reserved for rounds entered by people and for practice; send the name of your system."
        )
    if terminal.source:
        if source == terminal.source:
            return ""
        return f"terminal {terminal} sends rounds of source {terminal.source!r}, not {source!r:.60}."
    if Terminal.objects.filter(casino=casino_id, source__iexact=source).exists():
        return f"{source!r:.60} belongs to other keys of this casino; use your own source, or a key for this source."
    return ""
