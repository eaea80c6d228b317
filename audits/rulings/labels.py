"""Names for people of readings, settlement policies and the marks on refunds and recoveries."""

#: What each settlement policy cuts in an over-full box.
EXCESS = {
    "proportional": "every bet in proportion",
    "filled": "the larger bets, until the box holds exactly what it may",
    "in-full": "nothing; every bet counts in full",
}


#: The marks on a refund or recovery.
MARKS = {
    "told": "Patron informed",
    "paid": "Paid",
    "not-told": "Not informed after all",
    "not-paid": "Not paid after all",
}


def reading_label(name: str) -> str:
    """Name a reading: `Excess in proportion` for `excess-in-proportion`."""
    return name.replace("-", " ").capitalize()
