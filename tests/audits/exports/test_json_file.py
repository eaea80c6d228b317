"""JSON: a list of objects, one a line."""

import json

from tests.audits.exports.samples import COLUMNS, EMPTY, ROW, TOTALS, document, of_texts, written


def test_every_kind_reads_as_programs_expect_it() -> None:
    first, second = json.loads(written("json", [ROW, EMPTY], totals=TOTALS))
    assert first == {
        "round_ref": "R-1", "rules": ["5.1.1", "5.12"], "stake": "-1234.56", "bets": 1240, "sigma": "1234.5678",
        "hold": "12.5", "day": "2026-11-15", "started_at": "2026-11-15T10:00:30+11:00", "approved": True,
    }  # fmt: skip
    assert second == dict.fromkeys([column.name for column in COLUMNS]) | {"round_ref": "R-2", "rules": []}


def test_a_row_is_a_line_in_utf_8_without_bom() -> None:
    columns, rows = of_texts("陈小明", "", "=1+1")
    assert written("json", rows, document(columns=columns)).decode() == (
        '[\n {"player":"陈小明"},\n {"player":null},\n {"player":"=1+1"}\n]\n'
    )


def test_an_empty_period_is_an_empty_list() -> None:
    assert written("json", []) == b"[]\n"


def test_blocks_are_joined_without_a_gap() -> None:
    columns, rows = of_texts(*(str(number) for number in range(2001)))
    objects = json.loads(written("json", rows, document(columns=columns)))
    assert [one["player"] for one in objects] == [str(number) for number in range(2001)]
