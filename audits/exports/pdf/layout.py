"""On which paper a table is set, how large, and how wide each column is, so that nothing overflows.

A number, a date or a moment is never broken; text is wrapped between words, and a word that is wider than its column is
broken anywhere.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from audits.exports.document import Column, ColumnKind
from audits.exports.pdf.glyphs import width_of

#: Points.
MARGIN = 40
INSET = 4
#: Above and below the text of a cell, and a line of it in parts of the size.
INSET_Y, LINE = 3, 0.75
#: Width of the paper in points, and sizes of text that are tried on it, the most readable first.
PAPERS = (("a4", False, 595.28, 8.0), ("a4", True, 841.89, 8.0), ("a4", True, 841.89, 7.0), ("a4", True, 841.89, 6.0),
          ("a3", True, 1190.55, 7.0), ("a3", True, 1190.55, 6.0))  # fmt: skip
#: How much more text columns may want than the paper has, upright: beyond that it is turned.
CROWDED = 1.15
#: Thousandths of the font size: an average character, and the longest word that is kept whole if there is room.
CHARACTER, LONGEST_WORD = 560, 15_000
#: A row of more lines is broken between pages.
MOST_LINES_WHOLE = 12
#: What kerning and rounding may add.
SLACK = 1.03
WRAPPED = frozenset({ColumnKind.TEXT, ColumnKind.LIST})
#: A line may end between any two Chinese characters.
WORD = re.compile(r"[\u2e80-\uffef]|[^\s\u2e80-\uffef]+")
ZERO_WIDTH_SPACE = "\u200b"


@dataclass(frozen=True)
class Need:
    """What a column needs so that no word is broken, and what it would like to have, in thousandths of the size."""

    least: float
    wanted: float


@dataclass(frozen=True)
class PageLayout:
    paper: str
    is_landscape: bool
    size: float
    #: Points.
    widths: tuple[float, ...]

    def room(self, number: int) -> float:
        """Return how wide the text of a column may be, in thousandths of the size."""
        return (self.widths[number] - 2 * INSET) / self.size * 1000 / SLACK


def layout_of(columns: Sequence[Column], titles: Sequence[str], texts: Sequence[Sequence[str]]) -> PageLayout:
    """Choose paper, size and widths for a table; the texts are those of each column, the totals included."""
    needs = [need_of(*column) for column in zip(columns, titles, texts, strict=True)]
    for number, (paper, is_landscape, width, size) in enumerate(PAPERS):
        room = width - 2 * MARGIN - 2 * INSET * len(columns)
        points = [Need(need.least * size / 1000, need.wanted * size / 1000) for need in needs]
        fits = sum(need.least for need in points) <= room
        if number == 0:
            fits = fits and sum(need.wanted for need in points) <= room * CROWDED
        if fits or number == len(PAPERS) - 1:
            widths = tuple(width + 2 * INSET for width in shared(points, room))
            return PageLayout(paper, is_landscape, size, widths)
    raise AssertionError("the last paper takes everything")


def need_of(column: Column, title: str, texts: Sequence[str]) -> Need:
    header = max((width_of(word, "bold") for word in WORD.findall(title)), default=0)
    distinct = set(texts)
    widest = max((width_of(line, "bold") for text in distinct for line in text.split("\n")), default=0)
    if column.kind not in WRAPPED:
        least = max(header, widest) * SLACK
        return Need(least, least)
    words = {word for text in distinct for word in WORD.findall(text)}
    longest = min(max((width_of(word, "bold") for word in words), default=0), LONGEST_WORD)
    least = max(header, longest) * SLACK
    return Need(least, max(least, min(widest * SLACK, column.width * CHARACTER)))


def shared(needs: Sequence[Need], room: float) -> list[float]:
    """Give each column the least it needs, then towards what it wants, then the rest in proportion."""
    least, wanted = sum(need.least for need in needs), sum(need.wanted for need in needs)
    if least >= room:
        return [need.least * room / least for need in needs]
    if wanted <= room:
        return [need.wanted * room / wanted if wanted else room / len(needs) for need in needs]
    share = (room - least) / (wanted - least)
    return [need.least + (need.wanted - need.least) * share for need in needs]


def heights_of(texts: Sequence[Sequence[str]], layout: PageLayout) -> list[float | None]:
    """Return the height of every row of one line, in points, and None for the others.

    A row whose height is known is set once instead of twice.
    """
    rooms = [layout.room(number) for number in range(len(texts))]
    line = layout.size * LINE + 2 * INSET_Y
    return [line if all(map(fits, row, rooms)) else None for row in zip(*texts, strict=True)]


def is_kept_whole(row: Sequence[str], layout: PageLayout) -> bool:
    """Say whether a row is kept on one page; a very high one is not, since it may be higher than the page."""
    lines = [text.count("\n") + width_of(text) / layout.room(number) for number, text in enumerate(row)]
    return max(lines) <= MOST_LINES_WHOLE


def fits(text: str, room: float) -> bool:
    return "\n" not in text and width_of(text, "bold") <= room


def broken(text: str, room: float, weight: str = "regular") -> str:
    """Let a line end anywhere within a word that is wider than the room."""
    if width_of(text, weight) <= room:
        return text
    return WORD.sub(lambda word: breakable(word.group(), room, weight), text)


def breakable(word: str, room: float, weight: str) -> str:
    return word if width_of(word, weight) <= room else ZERO_WIDTH_SPACE.join(word)
