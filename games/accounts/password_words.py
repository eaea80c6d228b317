"""Refuse passwords made of common words or of the casino's own: its names, its pits, the product, the person."""

import re
from collections.abc import Iterable

from django.contrib.auth.password_validation import CommonPasswordValidator
from django.core.exceptions import ValidationError

from games.models import Casino, Pit, Staff

#: Words of the product and its trade: the first that an attacker would try here.
PRODUCT = ("tai", "sai", "taisai", "sic", "sicbo", "backoffice", "office", "casino", "dealer", "pit", "dice")
#: Characters often written in place of a letter.
ALIKE = str.maketrans("013457@$!", "oieastasi")
SHORTEST_WORD = 2
#: How many other characters a password needs.
LEAST_OTHER = 8


class HouseWordsValidator:
    """Refuse a password with fewer than eight characters besides words of the casino, the product and the person.

    Such a word may occur, but does not count: "P1" in a long random password is no reason to refuse it.
    """

    def validate(self, password: str, user: Staff | None = None) -> None:
        if len(without_words(password, house_words(user))) < LEAST_OTHER:
            raise ValidationError(
                "This password is mostly made of words of the casino, the product or your own name or number. "
                f"Use at least {LEAST_OTHER} other characters.",
                code="password_of_house_words",
            )

    def get_help_text(self) -> str:
        return (
            f"Your password needs at least {LEAST_OTHER} characters besides words of the casino, its pits, the product "
            "and your own name and number."
        )


class PaddedPasswordValidator(CommonPasswordValidator):
    """Refuse a common password made longer by repetition or by digits and symbols around it.

    Most common passwords are shorter than our minimum: people extend them to "Sunshine2026!".
    """

    def validate(self, password: str, user: Staff | None = None) -> None:
        text = unrepeated(password.casefold())
        core = without_padding(text)
        if len(text) - len(core) < LEAST_OTHER and not self.passwords.isdisjoint({core, core.translate(ALIKE)}):
            raise ValidationError(
                f"This is a common password with few characters added. Use at least {LEAST_OTHER} other characters.",
                code="password_padded",
            )

    def get_help_text(self) -> str:
        return "Your password can't be a common one with a few digits or symbols added."


def unrepeated(text: str) -> str:
    """Return the part that a text repeats, or the whole text if it repeats none.

    >>> unrepeated("welcomewelcome")
    'welcome'
    """
    return text[: (text + text).find(text, 1)]


def without_padding(text: str) -> str:
    """Return a text without the digits and symbols at its start and end.

    >>> without_padding("2026-p@ssw0rd!!")
    'p@ssw0rd'
    """
    return re.sub(r"^[\W\d_]+|[\W\d_]+$", "", text)


def without_words(password: str, words: Iterable[str]) -> str:
    """Remove the words from a password, the longest first, as typed and as read."""
    left = password.casefold()
    for word in sorted(words, key=lambda text: (-len(text), text)):
        left = left.replace(word, "")
        while (place := left.translate(ALIKE).find(word.translate(ALIKE))) >= 0:
            left = left[:place] + left[place + len(word) :]
    return left


def house_words(user: Staff | None) -> set[str]:
    """List the words of the person's casino; of every casino for a person without one."""
    casino_id = getattr(user, "casino_id", None)
    casinos = Casino.objects.all() if casino_id is None else Casino.objects.filter(pk=casino_id)
    pits = Pit.objects.filter(casino__in=casinos)
    texts = [
        *PRODUCT,
        *(text for row in casinos.values_list("code", "name", "operator") for text in row),
        *(text for row in pits.values_list("code", "name") for text in row),
    ]
    if user is not None:
        texts += [user.number, user.name]
    return {word for text in texts for word in words_of(text)}


def words_of(text: str) -> set[str]:
    """Return a text as one word, and each of its words."""
    plain = text.casefold()
    parts = {*re.findall(r"\w+", plain), plain, re.sub(r"\W+", "", plain)}
    return {part for part in parts if len(part) >= SHORTEST_WORD}
