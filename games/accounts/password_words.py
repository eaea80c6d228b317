"""Passwords that are made of the casino's own words (its names, its pits, the product, the person) or common ones."""

import re
from collections.abc import Iterable

from django.contrib.auth.password_validation import CommonPasswordValidator
from django.core.exceptions import ValidationError

from games.models import Casino, Pit, Staff

#: The product and its trade: the first words that anybody would try here.
PRODUCT = ("tai", "sai", "taisai", "sic", "sicbo", "backoffice", "office", "casino", "dealer", "pit", "dice")
#: Written in place of a letter, and read as that letter.
ALIKE = str.maketrans("013457@$!", "oieastasi")
SHORTEST_WORD = 2
#: What a password has beside these words.
LEAST_OTHER = 8


class HouseWordsValidator:
    """Refuse a password with fewer than eight characters beside words of the casino, the product and the person.

    A word may occur: it only counts for nothing. "P1" in a long random password is no reason to refuse it.
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
            f"Your password needs at least {LEAST_OTHER} characters beside words of the casino, its pits, the product "
            "and your own name and number."
        )


class PaddedPasswordValidator(CommonPasswordValidator):
    """Refuse a common password that was only made longer: repeated, or with figures and signs around it.

    Most common passwords are shorter than ours have to be: "Sunshine2026!" is what people make of them.
    """

    def validate(self, password: str, user: Staff | None = None) -> None:
        text = unrepeated(password.casefold())
        core = without_padding(text)
        if len(text) - len(core) < LEAST_OTHER and not self.passwords.isdisjoint({core, core.translate(ALIKE)}):
            raise ValidationError(
                "This password is a common one with few characters added. "
                f"Use at least {LEAST_OTHER} other characters.",
                code="password_padded",
            )

    def get_help_text(self) -> str:
        return "Your password can't be a common one with a few figures or signs added."


def unrepeated(text: str) -> str:
    """Return the part that a text repeats; the text itself where it repeats none.

    >>> unrepeated("welcomewelcome")
    'welcome'
    """
    return text[: (text + text).find(text, 1)]


def without_padding(text: str) -> str:
    """Return a text without the figures and signs at its beginning and end.

    >>> without_padding("2026-p@ssw0rd!!")
    'p@ssw0rd'
    """
    return re.sub(r"^[\W\d_]+|[\W\d_]+$", "", text)


def without_words(password: str, words: Iterable[str]) -> str:
    """Return what is left of a password, the longest words taken out first, as typed and as read."""
    left = password.casefold()
    for word in sorted(words, key=lambda one: (-len(one), one)):
        left = left.replace(word, "")
        while (place := left.translate(ALIKE).find(word.translate(ALIKE))) >= 0:
            left = left[:place] + left[place + len(word) :]
    return left


def house_words(user: Staff | None) -> set[str]:
    """Words of the person's casino; of every casino for a person who belongs to none."""
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
    """Return the text as one word, and each of its words."""
    plain = text.casefold()
    parts = {*re.findall(r"\w+", plain), plain, re.sub(r"\W+", "", plain)}
    return {part for part in parts if len(part) >= SHORTEST_WORD}
