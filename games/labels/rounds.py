"""Names of the states of a round in play, and of the actions and details of its irregularities."""

from games.engine.box_numbers import NUMBERS
from games.labels.boxes import box_label
from games.labels.events import EVENTS

#: States by the order of play of the rulebooks.
STATES = {
    "new": "Not started",
    "spun": "Tumbled, betting not open",
    "open": "Betting open",
    "open-tumbled": "Betting open, dice tumbled",
    "closed": "Betting closed",
    "tumbled": "Dice tumbled",
    "resulted": "Result in",
    "settled": "Settled",
    "void": "Void",
    "conflict": "Conflict",
}
ACTIONS = {
    "void": "Void",
    "void-affected": "Void, affected bets",
    "ruling": "Needs a ruling",
    "refuse": "Refuse",
    "conclude": "Conclude the round",
    "pay-by-dice": "Pay by the dice",
    "amend": "Amend the result",
    "unfinished": "Unfinished",
}
RESULTS = {"win": "Wins", "lose": "Loses", "void": "Void"}


def state_label(code: str) -> str:
    """Name the state of a round in play: `Betting open` for `open`."""
    return STATES.get(code) or code.replace("-", " ").capitalize()


def action_label(code: str) -> str:
    """Name what the rules want done: `Needs a ruling` for `ruling`."""
    return ACTIONS.get(code) or code.replace("-", " ").capitalize()


def detail_label(detail: str) -> str:
    """Name the boxes and events in the detail of an irregularity: `seat-1 Small withdrawn after No more bets`."""
    player, *words = detail.split(" ")  # a player may be called like a box
    names = [box_label(word) if word in NUMBERS else EVENTS[word] if "-" in word and word in EVENTS else word
             for word in words]  # fmt: skip
    return " ".join([player, *names])


def result_label(code: str) -> str:
    """Name what became of a bet: `Wins` for `win`."""
    return RESULTS.get(code) or code.replace("-", " ").capitalize()
