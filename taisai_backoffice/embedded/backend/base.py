"""Django's PostgreSQL backend on the embedded server, started at the first connection.

A command that never uses the database (`settle`, `help`) starts nothing.
"""

from typing import Any

from django.db.backends.postgresql import base

from taisai_backoffice.embedded.database import leased_postgres


class DatabaseWrapper(base.DatabaseWrapper):
    def get_connection_params(self) -> dict[str, Any]:
        postgres = leased_postgres()
        role = self.settings_dict["USER"]
        self.settings_dict |= {"HOST": "127.0.0.1", "PORT": postgres.port(), "PASSWORD": postgres.password(role)}
        return super().get_connection_params() | {"sslmode": "disable"}
