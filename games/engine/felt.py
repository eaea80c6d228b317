"""Draw a layout's felt as SVG, from the areas of its rulebook."""

from xml.sax.saxutils import escape

from games.engine.rules.rulebook import Area, Caption, Layout, Rectangle, Rulebook

MARGIN = 10
LARGEST_TEXT, SMALLEST_TEXT = 30, 10
DICE = ("ONE DIE", "TWO DICE", "THREE DICE")


def size_of(layout: Layout) -> tuple[int, int]:
    """Return width and height of the felt, without its margin."""
    parts: list[Rectangle] = [*layout.areas, *layout.captions]
    return max(part.x + part.width for part in parts), max(part.y + part.height for part in parts)


def draw(book: Rulebook, layout: Layout) -> str:
    """Draw a rectangle for each area, with its printed text and odds; and the captions."""
    width, height = (length + 2 * MARGIN for length in size_of(layout))
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="{-MARGIN} {-MARGIN} {width} {height}" '
            f'font-family="sans-serif" text-anchor="middle" role="img">',
            f"<title>{escape(f'{book.id}, layout {layout.code} ({layout.drawing})')}</title>",
            f'<rect x="{-MARGIN}" y="{-MARGIN}" width="{width}" height="{height}" fill="#0b5d45"/>',
            *(_area(layout, area) for area in layout.areas),
            *(_caption(layout, caption) for caption in layout.captions),
            "</svg>",
        ]
    )


def caption_text(layout: Layout, caption: Caption) -> str:
    """Write what the boxes of a bet type pay: one number, or the odds by count of dice for a single."""
    odds = layout.boxes_of(caption.type)[0].odds
    if len(odds) == 1:
        return f"{caption.english} 1 WINS {odds[0]}"
    return " • ".join(f"{pays} TO 1 ON {count}" for pays, count in zip(odds, DICE, strict=True))


def _area(layout: Layout, area: Area) -> str:
    size = min(LARGEST_TEXT, area.height // 4, max(SMALLEST_TEXT, area.width * 4 // 3 // max(len(area.english), 1)))
    middle_x, middle_y = area.x + area.width / 2, area.y + area.height / 2
    odds = "/".join(map(str, layout.boxes[area.box].odds))
    printed = " ".join(filter(None, (area.english, area.chinese)))
    return (
        f'<g data-box="{area.box}"><rect x="{area.x}" y="{area.y}" width="{area.width}" height="{area.height}" '
        f'fill="none" stroke="#fff" stroke-width="2"/>'
        f'<text x="{middle_x}" y="{middle_y}" font-size="{size}" fill="#fff">{escape(printed)}</text>'
        f'<text x="{middle_x}" y="{middle_y + size}" font-size="{size * 2 // 3}" fill="#ffe08a">1:{odds}</text></g>'
    )


def _caption(layout: Layout, caption: Caption) -> str:
    """Print along the longer side: a tall caption reads from the bottom up."""
    text = caption_text(layout, caption)
    is_tall = caption.height > caption.width
    length, depth = (caption.height, caption.width) if is_tall else (caption.width, caption.height)
    size = min(LARGEST_TEXT, depth // 2, max(SMALLEST_TEXT, length * 3 // 2 // len(text)))
    x, y = caption.x + caption.width / 2, caption.y + caption.height / 2
    turn = f' transform="rotate(-90 {x} {y})"' if is_tall else ""
    return (
        f'<text data-caption="{caption.type}" x="{x}" y="{y}" font-size="{size}" fill="#ffe08a" '
        f'dominant-baseline="central"{turn}>{escape(text)}</text>'
    )
