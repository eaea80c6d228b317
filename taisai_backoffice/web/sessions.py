"""Sessions in the database. Cookies whose key we could not have made are never looked up."""

from django.contrib.sessions.backends import db


class SessionStore(db.SessionStore):
    def _validate_session_key(self, key: str | None) -> bool:
        return bool(key) and key.isascii() and key.isalnum() and bool(super()._validate_session_key(key))  # type: ignore[misc, union-attr]
