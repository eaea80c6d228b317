"""The characters of the bundled fonts and their widths. PDF/A does not allow characters that the font lacks."""

import json
import unicodedata
from functools import cache, lru_cache
from pathlib import Path

FONTS = Path(__file__).with_name("fonts")
FAMILY = "Noto Sans CJK SC"
#: The width of a character that the font lacks. It may be measured, but is never typeset.
UNKNOWN_WIDTH = 1000
NOTE = "Characters that the font of this report does not have are shown by their code, as [U+1F600]."


@cache
def widths(weight: str) -> dict[str, int]:
    """Return the width of every character in thousandths of the font size."""
    glyphs = json.loads((FONTS / "glyphs.json").read_text(encoding="utf-8"))
    # A character that the bold font lacks is typeset in the regular one.
    fonts = [glyphs["regular"], glyphs[weight]]
    return {character: int(width) for font in fonts for width, text in font.items() for character in text}


@lru_cache(maxsize=20_000)
def width_of(text: str, weight: str = "regular") -> int:
    known = widths(weight)
    return sum([known.get(character, UNKNOWN_WIDTH) for character in text])


class Showable:
    """Replace characters that the fonts lack, and remember whether there were any."""

    def __init__(self) -> None:
        self.known = widths("regular").keys() | {"\n"}
        self.has_replaced = False

    def text(self, text: str) -> str:
        if text.isascii() and text.isprintable():
            return text
        plain = unicodedata.normalize("NFC", text.replace("\r\n", "\n").replace("\r", "\n").replace("\t", " "))
        if self.known.issuperset(plain):
            return plain
        self.has_replaced = True
        return "".join(character if character in self.known else code_of(character) for character in plain)


def code_of(character: str) -> str:
    return f"[U+{ord(character):04X}]"
