"""Amounts of money for people: thousands separated, a true minus sign."""

from games.engine.money import format_money

MISSING = "–"
MINUS = "−"


def money_label(amount: float | None) -> str:
    """Write minor units as money: `−1,234.50`."""
    if amount is None:
        return MISSING
    whole, _, cents = format_money(round(abs(amount))).partition(".")
    return f"{MINUS if amount < 0 else ''}{int(whole):,}.{cents}"


def limit_label(amount: int | None) -> str:
    """Write a figure of a sign: as money, without cents where there are none."""
    return money_label(amount).removesuffix(".00")
