"""Names of a round's events and of the steps of a round in play."""

from typing import Any

EVENTS = {
    "place-bets": "Place your bets",
    "no-more-bets": "No more bets",
    "tumbler": "Tumbler",
    "dice-exposed": "Dice exposed",
    "die-not-flat": "Die not flat",
    "result": "Result in",
    "result-amended": "Result amended",
    "interruption": "Interruption",
    "settled": "Settled",
    "void": "Void",
    # A round in play has these steps too.
    "bet": "Bet",
    "increase": "Bet increased",
    "withdraw": "Bet withdrawn",
    "refuse": "Bet refused",
}


def event_label(kind: str) -> str:
    """Name an event: `Place your bets` for `place-bets`."""
    return EVENTS.get(kind) or kind.replace("-", " ").capitalize()


def tumbler_label(tumbles: int, *, is_activated: bool = True) -> str:
    """Say what the tumbler did: `3 tumbles`, `not activated`."""
    if not tumbles:
        return "activated, did not tumble" if is_activated else "not activated"
    return f"{tumbles} tumble{'' if tumbles == 1 else 's'}"


def event_text(event: dict[str, Any]) -> str:
    """Name an event with what it says of the tumbler: `Tumbler (3 tumbles)`."""
    label = event_label(event["kind"])
    if "tumbles" not in event:
        return label
    return f"{label} ({tumbler_label(event['tumbles'], is_activated=event.get('activated', False))})"
