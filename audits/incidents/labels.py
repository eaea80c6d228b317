"""Names of situations, actions and authorities for people."""

#: The situations of the rulebooks, grouped as people at a table look for them.
SITUATIONS: dict[str, dict[str, str]] = {
    "Dice and tumbler": {
        "die-not-flat": "A die does not lie flat",
        "few-tumbles": "Tumbled only once or twice",
        "dice-exposed-early": "Dice seen before betting was closed",
        "tumbler-early": "Tumbler started before betting was closed",
        "tumbler-not-activated": "Tumbler never started",
        "tumbler-fault": "Tumbler did not run correctly",
        "dice-damaged": "Damaged dice found",
        "interruption": "Game interrupted",
    },
    "Bets": {
        "late-bet": "Bet after betting was closed",
        "bet-misplaced": "Bet misplaced by the player",
        "chips-moved": "Chips moved by the dealer or another patron",
        "house-placed-wrongly": "Bet placed wrongly by staff",
        "line-touching": "Chips touch the line of a box",
        "oral-wager": "Bet called out by a player",
        "player-left": "Player left the table",
    },
    "Limits": {
        "over-limit-noticed": "Over the limit, noticed before betting was closed",
        "over-limit-unnoticed": "Over the limit, noticed after betting was closed",
        "below-minimum-noticed": "Below the minimum, noticed before betting was closed",
        "below-minimum-unnoticed": "Below the minimum, noticed after betting was closed",
    },
    "Result": {
        "wrong-result-entered": "Wrong result entered",
        "lights-wrong": "Wrong areas lit",
        "display-wrong": "Wrong display",
        "error-noticed-later": "Error noticed in a later round",
    },
    "Other": {"other": "Other: no rule covers it"},
}
SITUATION_LABELS = {code: label for group in SITUATIONS.values() for code, label in group.items()}
ACTIONS = {
    "void": "Void the round",
    "void-affected": "Void every affected round",
    "conclude": "Conclude the round",
    "accept": "Accept the bet",
    "refuse": "Refuse the bet",
    "reject-excess": "Reject the excess",
    "pro-rate": "Settle pro rata",
    "advise-player": "Inform the player",
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
    "rule": "The rule itself",
    "pit-supervisor": "Pit supervisor",
    "casino-operator": "The casino operator",
    "shift-manager": "Shift manager or above",
    "unspecified": "Not specified by the rulebook; a shift manager decides",
}


def situation_label(code: str) -> str:
    """Name a situation: `Damaged dice found` for `dice-damaged`."""
    return SITUATION_LABELS.get(code) or code.replace("-", " ").capitalize()
