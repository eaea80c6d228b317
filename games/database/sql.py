"""Our own SQL, where the ORM takes longer to build a query than the database to answer it."""

from typing import Any

from django.db import connection


def query_rows(statement: str, *values: Any) -> list[Any]:
    with connection.cursor() as cursor:
        cursor.execute(statement, values)
        found: list[Any] = cursor.fetchall()
    return found
