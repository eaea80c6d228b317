from games.admin import casino, denial, dice, duty, importjob, limits, live, round, staff, system, table, terminal

__all__ = [
    "casino",
    "denial",
    "dice",
    "duty",
    "importjob",
    "limits",
    "live",
    "round",
    "staff",
    "system",
    "table",
    "terminal",
]
