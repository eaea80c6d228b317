"""Find local times that occur twice because the clock is set back. They are written with their offset."""

from datetime import datetime


class LocalDays:
    """The days on which the clock of a time zone changes. Only on these days a time can be ambiguous."""

    def __init__(self) -> None:
        self.changes: dict[int, bool] = {}

    def is_ambiguous(self, local: datetime) -> bool:
        day = local.toordinal()
        changes = self.changes.get(day)
        if changes is None:
            midnight = local.replace(hour=0, minute=0, second=0, microsecond=0)
            evening = local.replace(hour=23, minute=59, second=59, fold=1)
            changes = self.changes[day] = midnight.replace(fold=0).utcoffset() != evening.utcoffset()
        return changes and is_ambiguous(local)


def is_ambiguous(local: datetime) -> bool:
    return local.replace(fold=0).utcoffset() != local.replace(fold=1).utcoffset()


def offset_text(local: datetime) -> str:
    return f"UTC{local.strftime('%z')[:3]}:{local.strftime('%z')[3:5]}"
