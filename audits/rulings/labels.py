"""Names for people of what rulings are about: readings and settlement policies."""

#: What each settlement policy cuts in an over-full box.
EXCESS = {
    "proportional": "every bet in proportion",
    "filled": "the larger bets, until the box holds exactly what it may",
    "in-full": "nothing; every bet counts in full",
}


def reading_label(name: str) -> str:
    """Name a reading: `Excess in proportion` for `excess-in-proportion`."""
    return name.replace("-", " ").capitalize()
