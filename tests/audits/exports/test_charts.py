"""Charts as SVG: well-formed, described in words, and drawn within their frame."""

import re
from dataclasses import replace
from itertools import pairwise
from xml.etree import ElementTree

import pytest

from audits.exports.charts import (
    HEIGHT,
    IN_PRINT,
    LEGEND_Y,
    ON_PAGE,
    WIDTH,
    chart_svg,
    round_step,
    scale_of,
    value_text,
)
from audits.exports.document import Chart

SVG = "{http://www.w3.org/2000/svg}"
MONTH = Chart(
    title="Results <against> the band",
    labels=tuple(f"{day} Nov" for day in range(1, 31)),
    bars=tuple(float(1000 * (-1) ** day * day) for day in range(1, 31)),
    line=tuple(float(day) for day in range(30)),
    low=(-20_000.0,) * 30,
    high=(40_000.0,) * 30,
    unit="AUD",
)


def drawn(chart: Chart) -> ElementTree.Element:
    return ElementTree.fromstring(chart_svg(chart))


def test_it_has_a_title_and_a_description_that_its_label_names() -> None:
    svg = drawn(MONTH)
    title, desc = svg.find(f"{SVG}title"), svg.find(f"{SVG}desc")
    assert title is not None
    assert desc is not None
    assert svg.get("aria-labelledby") == f"{title.get('id')} {desc.get('id')}"
    assert title.text == "Results <against> the band"
    assert desc.text == (
        "30 values, 1 Nov to 30 Nov. Bars from −29,000 to 30,000 AUD. Line from 0 to 29 AUD. "
        "Band from −20,000 to 40,000 AUD."
    )


def test_everything_lies_within_the_frame() -> None:
    for element in drawn(MONTH):
        for name in ("x", "x1", "x2", "cx"):
            assert 0 <= float(element.get(name, 0)) <= WIDTH
        for name in ("y", "y1", "y2", "cy"):
            assert 0 <= float(element.get(name, 0)) <= HEIGHT
        for x, y in re.findall(r"([\d.-]+),([\d.-]+)", element.get("points", "")):
            assert 0 <= float(x) <= WIDTH
            assert 0 <= float(y) <= HEIGHT


def test_a_loss_is_below_the_zero_line_and_has_another_colour() -> None:
    zero = scale_of(MONTH).y(0)
    rects = drawn(MONTH).findall(f"{SVG}rect")
    assert len(rects) == 30
    losses = [float(rect.get("y", 0)) == zero for rect in rects]
    assert losses == [value < 0 for value in MONTH.bars]
    assert len({rect.get("fill") for rect in rects}) == 2


def test_a_legend_names_bars_line_and_band_and_only_what_is_drawn() -> None:
    named = replace(MONTH, bars_name="Findings", line_name="Result", band_name="Theoretical ± 2σ")
    for palette in (ON_PAGE, IN_PRINT):
        svg = ElementTree.fromstring(chart_svg(named, palette))
        places = [(text.text, text.get("y")) for text in svg.findall(f"{SVG}text")]
        assert [name for name, y in places if y == str(LEGEND_Y)] == ["Findings", "Result", "Theoretical ± 2σ"]
        signs = [rect for rect in svg.findall(f"{SVG}rect") if rect.get("class") == "legend"]
        assert len(signs) == 2
        assert signs[0].get("fill") == palette.bar
    desc = drawn(named).find(f"{SVG}desc")
    assert desc is not None
    assert "Theoretical ± 2σ from −20,000 to 40,000 AUD." in (desc.text or "")
    assert "Result" not in chart_svg(Chart("Bars", ("a",), bars=(1.0,), line_name="Result"))


def test_whole_numbers_have_no_ticks_between_them() -> None:
    assert scale_of(Chart("One finding", ("a",), bars=(1.0,))).ticks() == [0, 1]
    assert scale_of(Chart("Cents", ("a",), line=(0.5,))).ticks() == pytest.approx([0, 0.1, 0.2, 0.3, 0.4, 0.5])


def test_labels_do_not_overlap() -> None:
    labels = [text for text in drawn(MONTH).findall(f"{SVG}text") if (text.text or "").endswith("Nov")]
    places = [float(text.get("x", 0)) for text in labels]
    assert len(places) > 5
    assert min(right - left for left, right in pairwise(places)) > 6 * 6.5


def test_on_a_page_it_takes_the_colour_of_the_text_and_in_print_a_fixed_one() -> None:
    assert 'fill="currentColor"' in chart_svg(MONTH)
    assert "currentColor" not in chart_svg(MONTH, IN_PRINT)
    assert "script" not in chart_svg(MONTH)
    assert "style=" not in chart_svg(MONTH)


@pytest.mark.parametrize(
    "chart",
    [
        Chart("Nothing", ()),
        Chart("Zeros", ("a", "b"), bars=(0.0, 0.0)),
        Chart("One", ("a",), bars=(5.0,), line=(5.0,), low=(1.0,), high=(9.0,)),
        Chart("Losses only", ("a", "b"), line=(-5.0, -1.0)),
        Chart("Long", ("a label that is far too long for its place & more",) * 12, bars=(0.001,) * 12),
    ],
    ids=lambda chart: chart.title,
)
def test_small_and_odd_charts_are_drawn(chart: Chart) -> None:
    svg = drawn(chart)
    assert len(svg.findall(f"{SVG}rect")) == len(chart.bars)
    assert len(svg.findall(f"{SVG}circle")) == len(chart.line)


@pytest.mark.parametrize(("least", "step"), [(0, 1), (0.9, 1), (1.1, 2), (2.1, 2.5), (3, 5), (7, 10), (0.03, 0.05)])
def test_ticks_are_round_numbers(least: float, step: float) -> None:
    assert round_step(least) == pytest.approx(step)


@pytest.mark.parametrize(
    ("value", "step", "text"), [(-20_000, 10_000, "−20,000"), (0.5, 0.25, "0.50"), (12.5, 0, "12.50"), (3, 0, "3")]
)
def test_values_have_separators_and_a_true_minus(value: float, step: float, text: str) -> None:
    assert value_text(value, step) == text
