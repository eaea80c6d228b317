"""Choose paper, text size and column widths for a table, so that nothing overflows.

Numbers, dates and moments are never broken. Text is wrapped between words, and words wider than their column anywhere.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from audits.exports.document import Column, ColumnKind
from audits.exports.pdf.glyphs import width_of

#: Points.
MARGIN = 40
INSET = 4
#: The padding above and below the text of a cell, and the height of a line relative to the text size.
INSET_Y, LINE = 3, 0.75
#: Paper, its width in points, and the text size, in the order in which they are tried: the most readable first.
PAPERS = (("a4", False, 595.28, 8.0), ("a4", True, 841.89, 8.0), ("a4", True, 841.89, 7.0), ("a4", True, 841.89, 6.0),
          ("a3", True, 1190.55, 7.0), ("a3", True, 1190.55, 6.0))  # fmt: skip
#: By how much the text columns may exceed upright paper before landscape is used.
CROWDED = 1.15
#: In thousandths of the text size: an average character, and the longest word that is kept whole if there is room.
CHARACTER, LONGEST_WORD = 560, 15_000
#: Rows of more lines may be split between pages.
MOST_LINES_WHOLE = 12
#: The width that kerning and rounding may add.
SLACK = 1.03
WRAPPED = frozenset({ColumnKind.TEXT, ColumnKind.LIST})
#: A line may end between any two Chinese characters.
WORD = re.compile(r"[\u2e80-\uffef]|[^\s\u2e80-\uffef]+")
ZERO_WIDTH_SPACE = "\u200b"


@dataclass(frozen=True)
class Need:
    """The least width of a column that breaks no word, and its width on one line, in thousandths of the size."""

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
        """Return the room for the text of a column, in thousandths of the size."""
        return (self.widths[number] - 2 * INSET) / self.size * 1000 / SLACK


def layout_of(columns: Sequence[Column], titles: Sequence[str], texts: Sequence[Sequence[str]]) -> PageLayout:
    """Choose paper, size and widths for a table. `texts` are those of each column, with the totals."""
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
    """Give each column its least width, then more towards its full width, then share the rest in proportion."""
    least, wanted = sum(need.least for need in needs), sum(need.wanted for need in needs)
    if least >= room:
        return [need.least * room / least for need in needs]
    if wanted <= room:
        return [need.wanted * room / wanted if wanted else room / len(needs) for need in needs]
    share = (room - least) / (wanted - least)
    return [need.least + (need.wanted - need.least) * share for need in needs]


def heights_of(texts: Sequence[Sequence[str]], layout: PageLayout) -> list[float | None]:
    """Return the height in points of each row of one line, and None for the others.

    Rows with a known height are typeset once instead of twice.
    """
    rooms = [layout.room(number) for number in range(len(texts))]
    line = layout.size * LINE + 2 * INSET_Y
    return [line if all(map(fits, row, rooms)) else None for row in zip(*texts, strict=True)]


def is_kept_whole(row: Sequence[str], layout: PageLayout) -> bool:
    """Say whether a row is kept on one page. A very high row is not: it may be higher than the page."""
    lines = [text.count("\n") + width_of(text) / layout.room(number) for number, text in enumerate(row)]
    return max(lines) <= MOST_LINES_WHOLE


def fits(text: str, room: float) -> bool:
    return "\n" not in text and width_of(text, "bold") <= room


def broken(text: str, room: float, weight: str = "regular") -> str:
    """Allow line breaks anywhere in words that are wider than the room."""
    if width_of(text, weight) <= room:
        return text
    return WORD.sub(lambda word: breakable(word.group(), room, weight), text)


def breakable(word: str, room: float, weight: str) -> str:
    return word if width_of(word, weight) <= room else ZERO_WIDTH_SPACE.join(word)
