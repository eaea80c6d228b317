"""Widths of columns: within the paper, and wide enough for what is in them."""

from decimal import Decimal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from audits.exports.document import Column, ColumnKind
from audits.exports.pdf.glyphs import width_of
from audits.exports.pdf.layout import MARGIN, PAPERS, ZERO_WIDTH_SPACE, broken, layout_of
from audits.exports.pdf.writer import content_of
from tests.audits.exports.samples import document

KINDS = st.sampled_from([ColumnKind.TEXT, ColumnKind.MONEY])


@settings(max_examples=60, deadline=None)
@given(
    st.lists(
        st.tuples(KINDS, st.text("ab W小", max_size=80), st.integers(1, 60)),
        min_size=1, max_size=45,
    )
)  # fmt: skip
def test_no_text_is_wider_than_its_column_and_no_table_wider_than_the_paper(
    drawn: list[tuple[ColumnKind, str, int]],
) -> None:
    columns = [Column(f"c{number}", "Title", kind, width) for number, (kind, _, width) in enumerate(drawn)]
    layout = layout_of(columns, [column.title for column in columns], [[text] for _, text, _ in drawn])
    paper = next(
        width for name, landscape, width, _ in PAPERS if (name, landscape) == (layout.paper, layout.is_landscape)
    )
    assert sum(layout.widths) <= paper - 2 * MARGIN + 0.01
    for number, (_, text, _) in enumerate(drawn):
        room = layout.room(number)
        for word in broken(text, room, "bold").replace(ZERO_WIDTH_SPACE, " ").split():
            latin = word.replace("小", " ").split()
            assert all(width_of(part, "bold") <= room or len(part) == 1 for part in latin)


def test_a_number_is_not_broken_while_there_is_paper() -> None:
    columns = tuple(Column(f"c{number}", "Turnover", ColumnKind.MONEY) for number in range(15))
    content = content_of(document(columns=columns), [tuple(10**9 for _ in columns)], None)
    assert set(content["cells"]) == {"10,000,000.00"}
    assert (content["paper"], content["landscape"]) == ("a4", True)


def test_forty_columns_of_amounts_still_fit_on_the_largest_paper() -> None:
    columns = tuple(Column(f"c{number}", "Turnover", ColumnKind.MONEY) for number in range(40))
    content = content_of(document(columns=columns), [tuple(10**11 for _ in columns)], None)
    assert content["paper"] == "a3"
    assert all(ZERO_WIDTH_SPACE in cell for cell in content["cells"])


def test_rows_of_one_line_have_their_height_beforehand() -> None:
    columns = (Column("detail", "Detail", width=20), Column("hold", "Hold", ColumnKind.PERCENT))
    rows = [("short", Decimal(1)), ("word " * 200, Decimal(1)), ("two\nlines", Decimal(1))]
    heights = content_of(document(columns=columns), rows, None)["heights"]
    assert [height is None for height in heights] == [False, True, True]


@pytest.mark.parametrize("kind", list(ColumnKind))
def test_every_kind_of_column_may_be_empty(kind: ColumnKind) -> None:
    columns = (Column("only", "Only", kind),)
    assert content_of(document(columns=columns), [(None,)], None)["cells"] == [""]
