"""An incident as text for a terminal, from its JSON document."""

from collections.abc import Iterator
from typing import Any

WIDTH = 60


def line_text(line: dict[str, Any]) -> str:
    """Write an incident on one line."""
    place, account = line["table"] or "–", shortened(line["account"])
    return printed(
        f"{line['number']}  {line['occurred_from']}  {place:<8} {line['state']:<20} {line['situation']:<24} {account}"
    )


def shortened(text: str) -> str:
    """Shorten a text to one line."""
    words = " ".join(text.split())
    return words if len(words) <= WIDTH else f"{words[: WIDTH - 1]}…"


def file_text(document: dict[str, Any]) -> str:
    """Write a whole incident."""
    return printed(
        "\n".join([*_head(document), *_advice(document["advice"]), *_affected(document["affected"]), *_parts(document)])
    )


def printed(text: str) -> str:
    """Replace unprintable characters, so that no text can control the terminal."""
    return "".join(letter if letter.isprintable() or letter == "\n" else "\ufffd" for letter in text)


def _head(document: dict[str, Any]) -> Iterator[str]:
    place = ", ".join(filter(None, (document["casino"], document["pit"], document["table"])))
    ended = f" to {document['occurred_to']}" if document["occurred_to"] else ""
    yield f"{document['number']}  {document['state']} since {document['state_since']}"
    yield f"{document['situation']} at {place}, {document['occurred_from']}{ended}"
    yield f"Reported by {document['reported_by']} at {document['reported_at']}"
    yield from (f"{name} = {value}" for name, value in document["facts"].items())
    yield ""
    yield document["account"]


def _advice(advice: dict[str, Any] | None) -> Iterator[str]:
    if advice is None:
        return
    yield ""
    if "action" not in advice:
        yield f"Advice: {advice['explain']}"
        return
    rules = ", ".join(advice["rules"]) or "no rule"
    yield f"Advice: {advice['action']} ({rules}), decided by: {advice['authority']}"
    yield f"  {advice['explain']}"
    yield from (f"  [ ] {step}" for step in advice["steps"])
    yield from _figures(advice["figures"])


def _figures(figures: dict[str, Any]) -> Iterator[str]:
    """Write each figure on a line, and each record of a list."""
    for name, value in figures.items():
        title = name.replace("_", " ")
        if isinstance(value, list) and value and isinstance(value[0], dict):
            yield f"  {title}:"
            yield from (f"    {_record(record)}" for record in value)
        elif value not in (None, []):
            yield f"  {title}: {_plain(value)}"


def _affected(affected: dict[str, Any] | None) -> Iterator[str]:
    """Write the rounds affected by damaged dice as of now, without the lists of rounds and players."""
    if affected is None:
        return
    yield ""
    yield "Affected rounds now"
    yield from _figures({name: value for name, value in affected.items() if name not in ("rounds", "players")})


def _record(record: dict[str, Any]) -> str:
    return ", ".join(
        f"{name.replace('_', ' ')} {_plain(value)}" for name, value in record.items() if value not in (None, [])
    )


def _plain(value: Any) -> str:
    if isinstance(value, dict):
        return _record(value)
    if isinstance(value, list):
        return "; ".join(_record(item) if isinstance(item, dict) else str(item) for item in value)
    return str(value)


def _parts(document: dict[str, Any]) -> Iterator[str]:
    yield from part("People", [f"{person['part']} {person['reference']}" for person in document["people"]])
    yield from part(
        "Rounds", [f"{round_['source']} {round_['ref']}, {round_['table']}" for round_ in document["rounds"]]
    )
    yield from part("Related", [f"{incident['number']}: {incident['reason']}" for incident in document["related"]])
    yield from part("Dispute", [_record(document["dispute"])] if document["dispute"] else [])
    steps = [f"{step['at']}  {step['after']}: {step['reason']} ({step['who']})" for step in document["steps"]]
    yield from part("Steps", steps)
    yield from part("Notes", [_note(note) for note in document["notes"]])
    rulings = [
        f"{ruling['number']}  {ruling['state']}  {ruling['decision']} ({ruling['ruled_by']})"
        for ruling in document["rulings"]
    ]
    yield from part("Rulings", rulings)
    yield from part("Corrective actions", [consequence_text(order) for order in document["consequences"]])
    discretions = [
        f"{discretion['at']}  {discretion['decision']} ({discretion['rule']}, {discretion['decided_by']})"
        for discretion in document["discretions"]
    ]
    yield from part("Discretion", discretions)


def consequence_text(line: dict[str, Any]) -> str:
    """Write a corrective action and its state on one line."""
    rounds = f", rounds: {line['round_count']}" if line["round_count"] else ""
    basis = line["ruling"] or ", ".join(line["rules"]) or "no rule"
    end = f"{line['state']} by {line['decided_by']}" if line["decided_by"] else "waiting for a second person"
    return f"{line['id']}  {line['kind']} by {basis}{rounds}: {line['reason']} ({line['ordered_by']}); {end}"


def _note(note: dict[str, Any]) -> str:
    mark = "CONFIDENTIAL " if note["confidential"] else ""
    return f"{note['at']}  {mark}{note['text']} ({note['who']})"


def part(title: str, lines: list[str]) -> Iterator[str]:
    """Write a titled part, unless it is empty."""
    if lines:
        yield ""
        yield title
        yield from (f"  {line}" for line in lines)
