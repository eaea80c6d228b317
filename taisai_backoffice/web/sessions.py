"""Sessions in the database, with keys such as we make: what else a cookie holds is never asked of it."""

from django.contrib.sessions.backends import db


class SessionStore(db.SessionStore):
    def _validate_session_key(self, key: str | None) -> bool:
        return bool(key) and key.isascii() and key.isalnum() and bool(super()._validate_session_key(key))  # type: ignore[misc, union-attr]
