"""Drawing a layout's felt as SVG, from the areas of its rulebook."""

from xml.sax.saxutils import escape

from .rulebook import Area, Layout, Rulebook

MARGIN = 10


def draw(book: Rulebook, layout: Layout) -> str:
    """One rectangle an area, with what is printed in it and what the box pays."""
    right = max(area.x + area.width for area in layout.areas) + MARGIN
    bottom = max(area.y + area.height for area in layout.areas) + MARGIN
    size = f'width="{right + MARGIN}" height="{bottom + MARGIN}"'
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="{-MARGIN} {-MARGIN} {right + MARGIN} {bottom + MARGIN}" '
            f'font-family="sans-serif" text-anchor="middle" role="img">',
            f"<title>{escape(f'{book.id}, layout {layout.code} ({layout.drawing})')}</title>",
            f'<rect x="{-MARGIN}" y="{-MARGIN}" {size} fill="#0b5d45"/>',
            *(_area(layout, area) for area in layout.areas),
            "</svg>",
        ]
    )


def _area(layout: Layout, area: Area) -> str:
    size = min(30, area.height // 4, max(10, area.width * 4 // 3 // max(len(area.english), 1)))
    middle_x, middle_y = area.x + area.width / 2, area.y + area.height / 2
    odds = "/".join(map(str, layout.boxes[area.box].odds))
    printed = " ".join(filter(None, (area.english, area.chinese)))
    return (
        f'<g data-box="{area.box}"><rect x="{area.x}" y="{area.y}" width="{area.width}" height="{area.height}" '
        f'fill="none" stroke="#fff" stroke-width="2"/>'
        f'<text x="{middle_x}" y="{middle_y}" font-size="{size}" fill="#fff">{escape(printed)}</text>'
        f'<text x="{middle_x}" y="{middle_y + size}" font-size="{size * 2 // 3}" fill="#ffe08a">1:{odds}</text></g>'
    )
