"""Money: a decimal text outside ("100.00"), an integer of minor units inside."""

import re

MINOR = 100
LARGEST = 10**14  # more than this is a typing error, not a bet
PATTERN = re.compile(r"(\d{1,20})(?:\.(\d{1,2}))?", re.ASCII)


class MoneyError(ValueError):
    """Not an amount; the message says why."""


def parse_money(value: object) -> int:
    """Read an amount of 0 or more as minor units."""
    if not isinstance(value, str):
        kind = "a number" if isinstance(value, int | float) and not isinstance(value, bool) else "not text"
        raise MoneyError(f'is {kind}; write money as text, such as "100.00"')
    match = PATTERN.fullmatch(value)
    if match is None:
        raise MoneyError(f'{value[:40]!r} is not an amount; write digits with at most two decimals, such as "100.00"')
    whole, cents = match.groups()
    amount = int(whole) * MINOR + int((cents or "").ljust(2, "0"))
    if amount > LARGEST:
        raise MoneyError(f"{value[:40]!r} is more than any bet or limit; check the digits")
    return amount


def parse_positive_money(value: object) -> int:
    amount = parse_money(value)
    if amount == 0:
        raise MoneyError(f"{value!r} is zero; write an amount above 0")
    return amount


def parse_net(value: object) -> int:
    """Read what a player gained; negative for a loss."""
    if isinstance(value, str) and value.startswith("-"):
        return -parse_money(value[1:])
    return parse_money(value)


def format_money(amount: int) -> str:
    sign = "-" if amount < 0 else ""
    return f"{sign}{abs(amount) // MINOR}.{abs(amount) % MINOR:02d}"
