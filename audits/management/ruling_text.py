"""A ruling as text for a terminal, from its JSON document."""

from collections.abc import Iterator
from typing import Any

from audits.management.incident_text import consequence_text, part, printed, shortened

#: The marks on a refund or recovery.
MARKS = {"told": "patron informed", "paid": "paid"}


def ruling_line_text(line: dict[str, Any]) -> str:
    """Write a ruling on one line."""
    place = line["table"] or "–"
    return printed(
        f"{line['number']}  {line['made_at']}  {place:<8} {line['kind']:<14} {line['scope']:<8} {line['state']:<10} "
        f"{line['situation']:<24} {shortened(line['decision'])}"
    )


def ruling_text(document: dict[str, Any]) -> str:
    """Write a whole ruling."""
    parts = (_head(document), _words(document), _links(document), _corrective_actions(document))
    return printed("\n".join(line for lines in parts for line in lines))


def _head(document: dict[str, Any]) -> Iterator[str]:
    place = ", ".join(filter(None, (document["casino"], document["pit"], document["table"])))
    later = f" by {document['replaced_by']}" if document["replaced_by"] else ""
    yield f"{document['number']}  {document['state']}{later}"
    yield f"{document['kind']} on {document['incident']}, {document['situation']} at {place}"
    if document["effective_from"]:
        yield f"In force from {document['effective_from']}"
    yield f"Ruled by {document['ruled_by']} at {document['made_at']}"
    if document["rests_on"]:
        yield f"By our reading: {', '.join(document['rests_on'])}"
    if document["rules"]:
        yield f"Rules: {', '.join(document['rules'])}"
    if document["readings"]:
        yield f"Interpretation of: {', '.join(document['readings'])}"


def _words(document: dict[str, Any]) -> Iterator[str]:
    for name in ("question", "facts", "decision", "reasoning"):
        yield from part(name.capitalize(), document[name].splitlines())


def _links(document: dict[str, Any]) -> Iterator[str]:
    names = {"replaces": "Replaces", "follows": "Follows", "departs_from": "Departs from"}
    links = [f"{label} {document[name]}" for name, label in names.items() if document[name]]
    reasons = [f"Reason: {document[name]}" for name in ("departure", "override") if document[name]]
    yield from part("Links", links + reasons)
    policy = document["policy"]
    if policy:
        settings = [
            f"{name}: {policy[name]}"
            for name in ("rulebook", "from", "excess", "rounding", "not_applied")
            if policy[name]
        ]
        yield from part("Policy", settings)
    yield from part(
        "Reviews", [f"{review['rulebook']}: {review['outcome']} ({review['who']})" for review in document["reviews"]]
    )


def _corrective_actions(document: dict[str, Any]) -> Iterator[str]:
    for order in document["consequences"]:
        yield from part(f"Corrective action {consequence_text(order)}", list(_corrections(order)))


def _corrections(order: dict[str, Any]) -> Iterator[str]:
    for correction in order["corrections"]:
        became = "void" if correction["void"] else "settled" if correction["settled"] else "amended"
        dice = f" on {', '.join(map(str, correction['dice']))}" if correction["dice"] else ""
        name = f"{correction['round']['source']} {correction['round']['ref']}"
        yield f"{name}: {became}{dice}, nets {' '.join(correction['nets'])}"
    for repayment in order["repayments"]:
        marks = ", ".join(label for name, label in MARKS.items() if repayment[name]) or "nothing marked"
        yield f"{repayment['player']}: {repayment['amount']} ({marks})"
