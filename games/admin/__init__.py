from games.admin import casino, denial, dice, duty, limits, round, staff, system, table

__all__ = ["casino", "denial", "dice", "duty", "limits", "round", "staff", "system", "table"]
