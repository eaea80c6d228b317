"""SQL functions on boxes: the box numbers of each layout, the code of each number, and the best odds of a box.

They are made from the published rulebooks after every migrate, so that a new rulebook needs no migration.
"""

from collections.abc import Sequence
from typing import Any

from psycopg import sql

from games.engine.box_numbers import CODES, numbers_of
from games.engine.rules.loader import rulebooks
from games.engine.rules.rulebook import Layout

LAYOUT_BOXES = """
CREATE OR REPLACE FUNCTION layout_boxes(rulebook text, layout text) RETURNS smallint[]
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$ SELECT CASE rulebook || '/' || layout {cases} END $$
"""
BOX_CODE = """
CREATE OR REPLACE FUNCTION box_code(number smallint) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$ SELECT ({codes}::text[])[number] $$
"""
#: Odds to 1 by box number; null if the layout has no such box.
BEST_ODDS = """
CREATE OR REPLACE FUNCTION best_odds(rulebook text, layout text, box smallint) RETURNS integer
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$ SELECT (CASE rulebook || '/' || layout {cases} END)[box] $$
"""


def create_box_functions(cursor: Any) -> None:
    """Create or replace the functions."""
    boxes = [sorted(numbers_of(layout)) for _, layout in _layouts()]
    cursor.execute(sql.SQL(LAYOUT_BOXES).format(cases=_cases(boxes, "smallint")))
    cursor.execute(sql.SQL(BEST_ODDS).format(cases=_cases([_odds(layout) for _, layout in _layouts()], "integer")))
    cursor.execute(sql.SQL(BOX_CODE).format(codes=sql.Literal("{" + ",".join(CODES) + "}")))


def _layouts() -> list[tuple[str, Layout]]:
    """List all layouts with the key by which SQL finds them."""
    return [(f"{book.id}/{layout.code}", layout) for book in rulebooks().values() for layout in book.layouts.values()]


def _odds(layout: Layout) -> list[int | str]:
    """List the best odds of every box by its number, from 1."""
    return [layout.boxes[code].best_odds if code in layout.boxes else "NULL" for code in CODES]


def _cases(arrays: Sequence[Sequence[object]], kind: str) -> sql.Composed:
    """Write one array for each layout."""
    cases = [
        sql.SQL("WHEN {key} THEN {array}::{kind}[]").format(
            key=sql.Literal(key), array=sql.Literal("{" + ",".join(map(str, array)) + "}"), kind=sql.SQL(kind)
        )
        for (key, _), array in zip(_layouts(), arrays, strict=True)
    ]
    return sql.SQL(" ").join(cases)
