"""Acting appointments added past the service, for what the database itself refuses."""

from django.db import connection


def duty_copy(change: str) -> None:
    """Add a copy of the latest appointment with one column different: `column = expression`."""
    column, _, value = change.partition(" = ")
    with connection.cursor() as cursor:
        names = [one.name for one in connection.introspection.get_table_description(cursor, "games_duty")]
        assert column in names
        values = {name: value if name == column else name for name in names if name != "id"}
        cursor.execute(
            f"INSERT INTO games_duty ({', '.join(values)}) SELECT {', '.join(values.values())} "
            "FROM games_duty ORDER BY id DESC LIMIT 1"
        )
