"""Statements of our own, where the ORM's way of putting a question takes longer than the answer."""

from typing import Any

from django.db import connection


def query_rows(statement: str, *values: Any) -> list[Any]:
    with connection.cursor() as cursor:
        cursor.execute(statement, values)
        found: list[Any] = cursor.fetchall()
    return found
