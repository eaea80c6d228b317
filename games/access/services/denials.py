"""Record denials on a separate connection, so that no rollback removes them."""

from typing import Any

import structlog
from django.db import DatabaseError, connection

from games.models import Staff

log = structlog.get_logger(__name__)

# SQL by hand: it is written in a connection of its own, so that a rollback does not take it along.
INSERT = """
INSERT INTO games_denial (at, staff_id, casino_id, who, action, thing, door)
VALUES (statement_timestamp(), %s, %s, %s, %s, %s, %s)
"""


def denial_record(*, actor: Any, who: str, action: str, thing: str, door: str) -> None:
    """Record a denial. If that fails, log it; the action stays denied."""
    log.warning("denied", who=who, action=action, thing=thing, door=door)
    own = connection.copy()
    try:
        with own.cursor() as cursor:
            place = getattr(actor, "casino_id", None)
            texts = [text.replace("\x00", "\\x00") for text in (who, action, thing, door)]  # PostgreSQL stores no NUL
            person = actor.pk if isinstance(actor, Staff) else None
            cursor.execute(INSERT, [person, place, *texts])
    except DatabaseError:
        log.exception("denial not recorded", who=who, action=action)
    finally:
        own.close()
