"""What the database knows of boxes: the numbers of each layout's, the code of each number, and what a box pays at best.

SQL functions, made from the published rulebooks after every migrate, so that a new rulebook needs no migration.
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
#: To 1, by the number of the box; nothing where the layout has no such box.
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
    """All layouts, each with the key by which SQL finds it."""
    return [(f"{book.id}/{layout.code}", layout) for book in rulebooks().values() for layout in book.layouts.values()]


def _odds(layout: Layout) -> list[int | str]:
    """The best odds of every box there is, by its number from 1."""
    return [layout.boxes[code].best_odds if code in layout.boxes else "NULL" for code in CODES]


def _cases(arrays: Sequence[Sequence[object]], kind: str) -> sql.Composed:
    """One array for each layout."""
    cases = [
        sql.SQL("WHEN {key} THEN {array}::{kind}[]").format(
            key=sql.Literal(key), array=sql.Literal("{" + ",".join(map(str, array)) + "}"), kind=sql.SQL(kind)
        )
        for (key, _), array in zip(_layouts(), arrays, strict=True)
    ]
    return sql.SQL(" ").join(cases)
