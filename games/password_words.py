"""Passwords that are made of the casino's own words: its names, its pits, the product, the person."""

import re
from collections.abc import Iterable

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
        if len(without(password, house_words(user))) < LEAST_OTHER:
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


def without(password: str, words: Iterable[str]) -> str:
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
