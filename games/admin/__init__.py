from games.admin import casino, denial, duty, staff, system

__all__ = ["casino", "denial", "duty", "staff", "system"]
