"""What the database knows of boxes: the numbers of each layout's, and the code of each number.

Two SQL functions, made from the published rulebooks after every migrate, so that a new rulebook needs no migration.
"""

from typing import Any

from psycopg import sql

from games.engine.box_numbers import CODES, numbers_of
from games.engine.loader import rulebooks

LAYOUT_BOXES = """
CREATE OR REPLACE FUNCTION layout_boxes(rulebook text, layout text) RETURNS smallint[]
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$ SELECT CASE rulebook || '/' || layout {cases} END $$
"""
BOX_CODE = """
CREATE OR REPLACE FUNCTION box_code(number smallint) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$ SELECT ({codes}::text[])[number] $$
"""


def create_box_functions(cursor: Any) -> None:
    cases = [
        sql.SQL("WHEN {key} THEN {boxes}::smallint[]").format(
            key=sql.Literal(f"{book.id}/{layout.code}"),
            boxes=sql.Literal("{" + ",".join(map(str, sorted(numbers_of(layout)))) + "}"),
        )
        for book in rulebooks().values()
        for layout in book.layouts.values()
    ]
    cursor.execute(sql.SQL(LAYOUT_BOXES).format(cases=sql.SQL(" ").join(cases)))
    cursor.execute(sql.SQL(BOX_CODE).format(codes=sql.Literal("{" + ",".join(CODES) + "}")))
