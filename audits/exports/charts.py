"""Charts as SVG text with bars, a line and a band behind them, for pages and PDF, without scripts.

On a page, text and line take the colour of the surrounding text (currentColor), so they suit light and dark themes.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from hashlib import sha256
from xml.sax.saxutils import escape

from audits.exports.document import Chart

WIDTH, HEIGHT = 720, 276
LEFT, RIGHT, TOP, BOTTOM = 78, 12, 50, 34
#: The place of the legend under the title, the width of its symbols, and the distance between its entries.
LEGEND_Y, SIGN, GAP = 34, 18, 22
FONT_SIZE = 11
#: The approximate width of a character of a label.
CHARACTER = 6.5
TICKS = 5


@dataclass(frozen=True)
class Palette:
    ink: str
    bar: str
    loss: str
    #: The font families of the text. Empty for those of the page.
    font: str = ""


ON_PAGE = Palette("currentColor", "#3b82f6", "#dc2626")
IN_PRINT = Palette("#111827", "#2563a8", "#b91c1c", "Noto Sans CJK SC")


@dataclass(frozen=True)
class Scale:
    """The axis of values, with ticks in equal steps, and the place of each value in the drawing."""

    low: float
    high: float
    step: float
    count: int

    def y(self, value: float) -> float:
        share = (value - self.low) / (self.high - self.low)
        return round(HEIGHT - BOTTOM - share * (HEIGHT - TOP - BOTTOM), 1)

    def x(self, index: int) -> float:
        """Return the middle of a label's place."""
        return round(LEFT + (index + 0.5) * self.slot, 1)

    @property
    def slot(self) -> float:
        return (WIDTH - LEFT - RIGHT) / max(self.count, 1)

    def ticks(self) -> list[float]:
        steps = round((self.high - self.low) / self.step)
        return [self.low + number * self.step for number in range(steps + 1)]


def chart_svg(chart: Chart, palette: Palette = ON_PAGE) -> str:
    """Draw a chart with its title and a description for screen readers."""
    scale = scale_of(chart)
    parts = [*axis(chart, scale, palette), *band(chart, scale, palette), *bars(chart, scale, palette)]
    parts += [*zero_line(scale, palette), *line(chart, scale, palette), *labels(chart, scale, palette)]
    parts += legend(chart, palette)
    key = sha256(repr(chart).encode()).hexdigest()[:10]
    font = f' font-family="{escape(palette.font)}"' if palette.font else ""
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" '
            f'aria-labelledby="chart-{key}-title chart-{key}-desc" fill="{palette.ink}" font-size="{FONT_SIZE}"{font}>',
            f'<title id="chart-{key}-title">{escape(chart.title)}</title>',
            f'<desc id="chart-{key}-desc">{escape(description(chart))}</desc>',
            f'<text x="{LEFT}" y="16" font-size="13" font-weight="bold">{escape(title_text(chart))}</text>',
            *parts,
            "</svg>",
        ]
    )


def title_text(chart: Chart) -> str:
    return f"{chart.title} ({chart.unit})" if chart.unit else chart.title


def description(chart: Chart) -> str:
    """Describe in words what the chart shows."""
    if not chart.labels:
        return "No data."
    sentences = [f"{len(chart.labels)} values, {chart.labels[0]} to {chart.labels[-1]}."]
    for name, values in ((chart.bars_name or "Bars", chart.bars), (chart.line_name or "Line", chart.line)):
        if values:
            sentences.append(
                f"{name} from {value_text(min(values))} to {value_text(max(values))} {chart.unit}".rstrip() + "."
            )
    if chart.low and chart.high:
        low, high = value_text(min(chart.low)), value_text(max(chart.high))
        sentences.append(f"{chart.band_name or 'Band'} from {low} to {high} {chart.unit}".rstrip() + ".")
    return " ".join(sentences)


def scale_of(chart: Chart) -> Scale:
    """Choose round ticks that cover all values and zero."""
    values = [0.0, *(value for part in (chart.bars, chart.line, chart.low, chart.high) for value in part)]
    low, high = min(values), max(values)
    step = round_step((high - low) / TICKS)
    if all(float(value).is_integer() for value in values):
        step = max(step, 1.0)  # half a finding does not exist
    low, high = math.floor(low / step) * step, math.ceil(high / step) * step
    return Scale(low, high if high > low else low + step, step, len(chart.labels))


def round_step(least: float) -> float:
    """Return the smallest of 1, 2, 2.5, 5, 10 … that is not less than a number."""
    if least <= 0:
        return 1.0
    power = 10.0 ** math.floor(math.log10(least))
    return next(factor * power for factor in (1, 2, 2.5, 5, 10) if factor * power >= least * 0.999999)


def value_text(value: float, step: float = 0) -> str:
    """Write a value with the decimals that the steps of the axis need. Without a step, use at most two."""
    if step:
        decimals = next((number for number in range(7) if math.isclose(round(step, number), step)), 6)
    else:
        decimals = 0 if float(value).is_integer() else 2
    text = f"{value:,.{decimals}f}"
    return text.replace("-", "−") if value < 0 else text


def axis(chart: Chart, scale: Scale, palette: Palette) -> Iterator[str]:
    for tick in scale.ticks():
        y = scale.y(tick)
        yield f'<line x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{y}" y2="{y}" stroke="{palette.ink}" stroke-opacity="0.15"/>'
        text = value_text(tick, scale.step)
        yield f'<text x="{LEFT - 6}" y="{y + 4:.1f}" text-anchor="end">{text}</text>'
    if not chart.labels:
        yield f'<text x="{WIDTH / 2}" y="{HEIGHT / 2}" text-anchor="middle">No data</text>'


def zero_line(scale: Scale, palette: Palette) -> Iterator[str]:
    y = scale.y(0)
    yield f'<line x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{y}" y2="{y}" stroke="{palette.ink}"/>'


def band(chart: Chart, scale: Scale, palette: Palette) -> Iterator[str]:
    """Draw the band over the whole width of each label, so that a single label has a band, too."""
    half = scale.slot / 2
    places = [scale.x(index) for index in range(min(len(chart.low), len(chart.high), scale.count))]
    if not places:
        return
    places = [places[0] - half, *places, places[-1] + half]
    upper, lower = ends_repeated(chart.high, len(places) - 2), ends_repeated(chart.low, len(places) - 2)
    points = [f"{x:.1f},{scale.y(value)}" for x, value in zip(places, upper, strict=True)]
    points += [f"{x:.1f},{scale.y(value)}" for x, value in reversed(list(zip(places, lower, strict=True)))]
    yield f'<polygon points="{" ".join(points)}" fill="{palette.ink}" fill-opacity="0.12"/>'


def ends_repeated(values: Sequence[float], count: int) -> list[float]:
    return [values[0], *values[:count], values[count - 1]]


def bars(chart: Chart, scale: Scale, palette: Palette) -> Iterator[str]:
    width = round(scale.slot * 0.7, 1)
    for index, value in enumerate(chart.bars[: scale.count]):
        top, bottom = sorted((scale.y(value), scale.y(0)))
        yield (
            f'<rect x="{scale.x(index) - width / 2:.1f}" y="{top}" width="{width}" height="{bottom - top:.1f}" '
            f'fill="{palette.loss if value < 0 else palette.bar}"/>'
        )


def line(chart: Chart, scale: Scale, palette: Palette) -> Iterator[str]:
    points = [(scale.x(index), scale.y(value)) for index, value in enumerate(chart.line[: scale.count])]
    if len(points) > 1:
        path = " ".join(f"{x},{y}" for x, y in points)
        yield f'<polyline points="{path}" fill="none" stroke="{palette.ink}" stroke-width="1.5"/>'
    for x, y in points:
        yield f'<circle cx="{x}" cy="{y}" r="2"/>'


def legend(chart: Chart, palette: Palette) -> Iterator[str]:
    """Draw the legend: the symbol of each part of the chart, then its name."""
    band_sign = f'fill="{palette.ink}" fill-opacity="0.12" stroke="{palette.ink}" stroke-opacity="0.3"'
    entries = [
        (chart.bars_name, chart.bars, f'fill="{palette.bar}"'), (chart.line_name, chart.line, ""),
        (chart.band_name, chart.low, band_sign),
    ]  # fmt: skip
    x = float(LEFT)
    for name, values, box in entries:
        if not name or not values:
            continue
        if box:
            yield f'<rect class="legend" x="{x:.1f}" y="{LEGEND_Y - 9}" width="{SIGN}" height="10" {box}/>'
        else:
            y = LEGEND_Y - 4
            ends = f'x1="{x:.1f}" x2="{x + SIGN:.1f}" y1="{y}" y2="{y}"'
            yield f'<line {ends} stroke="{palette.ink}" stroke-width="1.5"/>'
            yield f'<circle cx="{x + SIGN / 2:.1f}" cy="{y}" r="2"/>'
        yield f'<text x="{x + SIGN + 6:.1f}" y="{LEGEND_Y}">{escape(name)}</text>'
        x += SIGN + 6 + len(name) * CHARACTER + GAP


def labels(chart: Chart, scale: Scale, palette: Palette) -> Iterator[str]:
    """Draw as many labels as fit beside each other. Labels that are too long are cut."""
    room = max((len(label) for label in chart.labels), default=0) * CHARACTER + 8
    every = max(1, math.ceil(min(room, WIDTH / 4) / scale.slot))
    most = max(3, int((scale.slot * every - 4) / CHARACTER))
    for index in range(0, len(chart.labels), every):
        text = chart.labels[index]
        shown = text if len(text) <= most else f"{text[: most - 1]}…"
        yield f'<text x="{scale.x(index)}" y="{HEIGHT - BOTTOM + 18}" text-anchor="middle">{escape(shown)}</text>'
