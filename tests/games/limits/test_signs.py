"""Signs: what a table shows its players, on the page and on paper, and which print it is."""

import re
import zlib
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from games.engine.rules.loader import rulebook
from games.limits.selectors import limits_at
from games.limits.services.sign_prints import sign_print
from games.limits.signs.pdf import sign_pdf
from games.limits.signs.sign import Sign, rows, sign_of
from games.models import SignPrint, Table
from tests.conftest import House
from tests.games.engine.oracle import DIVISION_9, V6
from tests.games.floor_setup import NOON, bare_table, put_sign, sign
from tests.games.logins import logged_in

LIMITS = sign({"big-small": (50, 10000), "total": (20, 2000), "total-4": (10, 500)}, {"big-small": 8000})


@pytest.fixture
def table(house: House, clock: Any) -> Table:
    table = bare_table(house, layout="C")
    put_sign(table, LIMITS)
    return table


def sign_now(table: Table) -> Sign:
    shown = limits_at(table=table, at=NOON)
    assert shown.assignment
    return sign_of(table, shown.limit_set, shown.assignment)


def printed(house: House, table: Table, form: str = "pdf") -> SignPrint:
    one = sign_now(table)
    return sign_print(
        actor=house["pit-supervisor"], table=table, limit_set=one.limit_set, assignment=one.assignment, form=form
    )


def page(house: House, role: str, table: Table, path: str = "sign/", **query: str) -> str:
    client = logged_in(house[role])
    return client.get(f"/admin/games/table/{table.pk}/{path}", query).content.decode()


def test_3_3_the_sign_shows_minimum_maximum_differential_and_odds(house: House, table: Table) -> None:
    one = sign_now(table)
    lines = {f"{row.name} {row.boxes}".strip(): (row.minimum, row.maximum, row.odds) for row in one.rows}
    assert lines["Big and Small"] == ("50", "10,000", "1 to 1")
    assert lines["Total 4"] == ("10", "500", "62 to 1")
    assert lines["Total 17"] == ("20", "2,000", "62 to 1")
    assert lines["Single die"] == ("–", "–", "1 to 1 / 2 to 1 / 12 to 1")
    assert one.differentials == [("Big and Small", "8,000")]
    assert one.rules == (f"{V6}#3.3",)
    shown = page(house, "pit-supervisor", table)
    for words in ("10,000", "62 to 1", "version 6, layout C", "In force from 1 January 2026, 08:00", f"{V6}#3.3"):
        assert words in shown


@pytest.mark.parametrize("layout", ["1", "2"])
def test_division_9_asks_for_no_sign_and_gets_one_without_a_citation(house: House, clock: Any, layout: str) -> None:
    table = bare_table(house, rulebook=DIVISION_9, layout=layout)
    put_sign(table)
    assert sign_now(table).rules == ()


@pytest.mark.parametrize("book", ["rws-tai-sai-v6", "rws-tai-sai-open-cover-v5", "division-9-2008"])
def test_every_box_of_a_layout_stands_in_exactly_one_row(book: str) -> None:
    for layout in rulebook(book).layouts.values():
        counts = [len(row.boxes.split(", ")) if row.boxes else None for row in rows(layout, LIMITS)]
        whole = [row.name for row, count in zip(rows(layout, LIMITS), counts, strict=True) if count is None]
        named = sum(count for count in counts if count)
        of_whole = sum(len(layout.boxes_of(type_)) for type_ in layout.types if _name(type_) in whole)
        assert named + of_whole == len(layout.boxes)


def _name(type_: str) -> str:
    from games.limits.signs.names import TYPE_NAMES

    return TYPE_NAMES[type_]


def test_the_first_print_is_the_original_and_every_later_one_a_reprint(house: House, table: Table) -> None:
    prints = [printed(house, table), printed(house, table, "html"), printed(house, table)]
    assert [(print_.number, print_.is_reprint) for print_ in prints] == [(1, False), (2, True), (3, True)]
    assert prints[0].who == "PIT-SUPERVISOR Person PIT-SUPERVISOR, pit supervisor"


def test_a_new_sign_has_an_original_of_its_own(house: House, table: Table) -> None:
    printed(house, table)
    put_sign(table, sign(), starts_at=NOON)
    assert not printed(house, table).is_reprint


def text_of(pdf: bytes) -> bytes:
    """Enough of a PDF to tell two of them apart: its streams, unpacked."""
    streams = re.findall(rb"stream\r?\n(.*?)endstream", pdf, re.DOTALL)
    return b"".join(_unpacked(stream) for stream in streams)


def _unpacked(stream: bytes) -> bytes:
    try:
        return zlib.decompress(stream)
    except zlib.error:
        return b""


def test_the_pdf_is_a_pdf_and_a_reprint_has_a_watermark_more(house: House, table: Table) -> None:
    first, second = (sign_pdf(sign_now(table), printed(house, table)) for _ in range(2))
    assert first.startswith(b"%PDF-")
    assert len(text_of(second)) > len(text_of(first)) > 1000


def test_printing_is_on_record_before_it_is_on_paper(house: House, table: Table) -> None:
    one = sign_now(table)
    client = logged_in(house["pit-supervisor"])
    values = {"limit_set": one.limit_set.pk, "assignment": one.assignment.pk}
    answer = client.post(f"/admin/games/table/{table.pk}/print/", {**values, "form": "pdf"})
    assert answer.headers["Content-Type"] == "application/pdf"
    assert "sign-TS-01" in answer.headers["Content-Disposition"]
    assert "REPRINT" not in page(house, "pit-supervisor", table)
    again = client.post(f"/admin/games/table/{table.pk}/print/", {**values, "form": "html"}).content.decode()
    assert "REPRINT no. 2" in again
    assert SignPrint.objects.count() == 2
    shown = page(house, "auditor", table)
    assert "Reprint no. 2" in shown
    assert "Print as PDF" not in shown


def test_a_sign_of_another_table_is_not_printed_here(house: House, table: Table) -> None:
    other = bare_table(house, "TS-02", layout="C")
    put_sign(other)
    one = sign_now(other)
    client = logged_in(house["pit-supervisor"])
    values = {"limit_set": one.limit_set.pk, "assignment": one.assignment.pk, "form": "pdf"}
    assert client.post(f"/admin/games/table/{table.pk}/print/", values).status_code == 404
    assert client.post(f"/admin/games/table/{table.pk}/print/", {"limit_set": "x"}).status_code == 404
    assert not SignPrint.objects.exists()


def test_the_page_answers_what_the_sign_said_at_a_moment(house: House, table: Table) -> None:
    put_sign(table, sign({"big-small": (75, 10000)}), starts_at=NOON)
    assert ">75<" in page(house, "compliance", table)
    assert ">75<" not in page(house, "compliance", table, at="2026-11-15 19:59")
    assert ">75<" in page(house, "compliance", table, at="20:00")
    assert "no limits were in force" in page(house, "compliance", table, at="2025-11-15 19:59")
    assert "is not a time" in page(house, "compliance", table, at="yesterday")


def test_the_command_prints_for_a_person_and_not_for_the_operator(house: House, table: Table, tmp_path: Any) -> None:
    file = tmp_path / "sign.pdf"
    call_command("sign", "ts-01", "-o", file, "--as", "PIT-SUPERVISOR")
    assert file.read_bytes().startswith(b"%PDF-")
    with pytest.raises(CommandError, match="may not do this"):
        call_command("sign", "TS-01", "-o", tmp_path / "other.pdf")
    with pytest.raises(CommandError, match="there is no table TS-99"):
        call_command("sign", "TS-99", "-o", file, "--as", "PIT-SUPERVISOR")
    assert SignPrint.objects.count() == 1
