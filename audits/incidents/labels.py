"""Situations, actions and authorities in words, for people who have to choose and to act in seconds."""

from functools import cache

from games.engine.rules.citation import SEPARATOR
from games.engine.rules.loader import rulebook, rulebooks

#: The situations that the rulebooks know, in groups as somebody at a table would look for them.
SITUATIONS: dict[str, dict[str, str]] = {
    "Dice and tumbler": {
        "die-not-flat": "A die does not lie flat",
        "few-tumbles": "Tumbled only once or twice",
        "dice-exposed-early": "Dice seen before betting was closed",
        "tumbler-early": "Tumbler started before betting was closed",
        "tumbler-not-activated": "Tumbler never started",
        "tumbler-fault": "Tumbler ran badly",
        "dice-damaged": "Damaged dice found",
        "interruption": "The game was interrupted",
    },
    "Bets": {
        "late-bet": "Bet after betting was closed",
        "bet-misplaced": "Bet misplaced by its player",
        "chips-moved": "Chips moved by the dealer or another patron",
        "house-placed-wrongly": "Bet placed wrongly by staff",
        "line-touching": "Chips touch the line of a box",
        "oral-wager": "Bet called out by a player",
        "player-left": "A player has left the table",
    },
    "Limits": {
        "over-limit-noticed": "Over the limit, seen before betting was closed",
        "over-limit-unnoticed": "Over the limit, seen too late",
        "below-minimum-noticed": "Below the minimum, seen before betting was closed",
        "below-minimum-unnoticed": "Below the minimum, seen too late",
    },
    "Result": {
        "wrong-result-entered": "A wrong result was entered",
        "lights-wrong": "Wrong areas lit",
        "display-wrong": "The display shows something else",
        "error-noticed-later": "An error noticed in a later round",
    },
    "Everything else": {"other": "Something that no rule covers"},
}
WORDS = {code: words for group in SITUATIONS.values() for code, words in group.items()}
ACTIONS = {
    "void": "Void the round",
    "void-affected": "Void every affected round",
    "conclude": "Conclude the round",
    "accept": "Accept the bet",
    "refuse": "Refuse the bet",
    "reject-excess": "Reject the excess",
    "pro-rate": "Settle pro rata",
    "advise-player": "Tell the player",
    "settle-as-placed": "Settle as placed",
    "pay-by-dice": "Pay by the dice",
    "pay-by-dice-and-suspend": "Pay by the dice, then suspend the table",
    "amend": "Amend the result",
    "stand": "The round stands",
    "stand-and-suspend": "The round stands; suspend the table",
    "discretion": "The operator decides",
    "later-rounds-stand": "Later rounds stand",
    "ruling": "Ask for a ruling",
}
AUTHORITIES = {
    "rule": "The rule itself decides",
    "pit-supervisor": "Pit supervisor",
    "casino-operator": "The casino operator",
    "shift-manager": "Shift manager or above",
    "unspecified": "Not said by this rulebook; a shift manager is asked",
}


def situation_words(code: str) -> str:
    return WORDS.get(code, code)


@cache
def facts_asked() -> dict[str, tuple[str, ...]]:
    """The facts that a situation asks for, by what the rulebooks say."""
    return {situation.code: situation.facts for book in rulebooks().values() for situation in book.situations}


def rule_words(citation: str) -> str:
    """What a rule is about, in the few words of its rulebook."""
    book, _, number = citation.rpartition(SEPARATOR)
    return rulebook(book).rules.get(number, "")
