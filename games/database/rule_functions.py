"""SQL functions on rules: what a rulebook decides, which readings it rests on, and which policies it leaves open.

They are made from the published rulebooks after every migrate, so that a new rulebook needs no migration.
"""

import json
from typing import Any

from psycopg import sql

from games.engine.rules.loader import rulebooks
from games.engine.rules.readings import ROUNDING

#: Facts are compared as the rulebooks use them: for known dice, only whether there are any.
RULES_DECIDE = """
CREATE OR REPLACE FUNCTION rules_decide(of_rulebook text, of_situation text, facts jsonb) RETURNS boolean
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT EXISTS (
        SELECT 1 FROM (VALUES {rows}) AS decided (rulebook, situation, conditions)
        WHERE decided.rulebook = of_rulebook AND decided.situation = of_situation
        AND facts || jsonb_build_object(
            'known_dice', CASE WHEN facts ->> 'known_dice' ~ '[1-6]' THEN 'some' ELSE 'none' END
        ) @> decided.conditions::jsonb)
$$
"""
READING_IN_QUESTION = """
CREATE OR REPLACE FUNCTION reading_in_question(of_rulebook text, of_situation text, named text[]) RETURNS boolean
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT EXISTS (
        SELECT 1 FROM (VALUES {rows}) AS known (rulebook, situation, reading)
        WHERE known.rulebook = of_rulebook AND known.situation = of_situation AND known.reading = ANY (named))
$$
"""
POLICY_IS_OPEN = """
CREATE OR REPLACE FUNCTION policy_is_open(of_rulebook text, of_excess text, of_rounding bigint) RETURNS boolean
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT EXISTS (
        SELECT 1 FROM (VALUES {rows}) AS opened (rulebook, excess, rounds)
        WHERE opened.rulebook = of_rulebook AND of_excess IN ('', opened.excess)
        AND (of_rounding IS NULL OR opened.rounds))
$$
"""


def create_rule_functions(cursor: Any) -> None:
    """Create or replace the functions."""
    cursor.execute(sql.SQL(READING_IN_QUESTION).format(rows=_rows(_readings())))
    cursor.execute(sql.SQL(RULES_DECIDE).format(rows=_rows(_decided())))
    cursor.execute(sql.SQL(POLICY_IS_OPEN).format(rows=_rows(_open_policies())))


def _rows(rows: list[tuple[object, ...]]) -> sql.Composed:
    return sql.SQL(", ").join(sql.SQL("({})").format(sql.SQL(", ").join(map(sql.Literal, row))) for row in rows)


def _decided() -> list[tuple[object, ...]]:
    """List rulebook, situation, and the facts under which the rulebook decides it."""
    return [
        (book.id, situation.code, json.dumps(situation.when))
        for book in rulebooks().values()
        for situation in book.situations
        if situation.is_decided
    ]


def _readings() -> list[tuple[object, ...]]:
    """List rulebook, situation and its readings; with an empty situation, the readings that set something."""
    return [
        *(
            (book.id, situation.code, name)
            for book in rulebooks().values()
            for situation in book.situations
            for name in situation.readings
        ),
        *(
            (book.id, "", reading.name)
            for book in rulebooks().values()
            for reading in book.readings.values()
            if reading.sets
        ),
    ]


def _open_policies() -> list[tuple[object, ...]]:
    return [
        (book.id, policy, book.reading_that_sets(ROUNDING) is not None)
        for book in rulebooks().values()
        for policy in book.open_policies()
    ]
