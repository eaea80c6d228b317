"""Check the fields of rounds, bets and events one by one, and report their faults with their place."""

import datetime as dt
from typing import Any

from games.engine.dice import parse_dice, parse_known_dice
from games.engine.json_input import InputFaults, is_plain_text
from games.floor.moments import MomentError, parse_moment

LONGEST = 200
MOST_TUMBLES = 1000


class FieldFaults(InputFaults):
    """Collects faults of fields. `latest` is the last moment a field may contain: a later one means a wrong clock."""

    def __init__(self, latest: dt.datetime) -> None:
        super().__init__()
        self.latest = latest

    def text(self, value: object, where: str, longest: int = LONGEST) -> bool:
        if not is_plain_text(value):
            self.add(where, f"{value!a:.40} is not a plain text; write letters and digits in quotes.")
        elif len(str(value)) > longest:
            self.add(where, f"is longer than {longest} characters; shorten it.")
        elif not str(value).isprintable():
            self.add(where, f"{value!a:.40} has invisible characters; leave them out.")
        else:
            return True
        return False

    def moment(self, value: object, where: str) -> dt.datetime | None:
        try:
            moment = parse_moment(value if isinstance(value, str) else str(type(value).__name__))
        except MomentError as error:
            self.add(where, f"{error}.")
            return None
        if moment > self.latest:
            self.add(where, f"{value} is in the future; correct the clock of the table system.")
            return None
        return moment

    def detail(self, name: str, value: Any, where: str) -> None:
        """Check one detail of an event."""
        if name == "tumbles" and (type(value) is not int or not 0 <= value <= MOST_TUMBLES):
            fault = f"{value!r:.40} is not a count; write a whole number from 0 to {MOST_TUMBLES}."
            self.add(where, fault)
        elif name == "activated" and not isinstance(value, bool):
            self.add(where, "is neither true nor false; write one of them.")
        elif name == "dice":
            self.trying(parse_dice, value, where)
        elif name == "known_dice":
            self.trying(parse_known_dice, value, where)
        elif name in ("rule", "by"):
            self.text(value, where)

    def activation(self, entry: dict[str, Any], where: str) -> None:
        """Require that a tumbler that was not activated did not tumble."""
        if entry.get("activated") is False and entry.get("tumbles") not in (None, 0):
            self.add(where, "a tumbler that tumbled was activated; leave it out, or write true.")
