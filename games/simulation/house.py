"""The casino that `simulate` makes up, as a floor file: tables with every rulebook and layout, limits and people."""

import datetime as dt
from collections.abc import Iterator

from games.engine.rules.loader import rulebooks
from games.engine.rules.rulebook import Layout

#: Rulebooks and layouts in turn, so that the first few tables differ.
GAMES = (
    ("rws-tai-sai-v6", "C"), ("rws-tai-sai-open-cover-v5", "A"), ("division-9-2008", "1"), ("rws-tai-sai-v6", "A"),
    ("rws-tai-sai-open-cover-v5", "C"), ("division-9-2008", "2"), ("rws-tai-sai-v6", "E"),
    ("rws-tai-sai-open-cover-v5", "E"),
)  # fmt: skip
#: The factor for a table's limits, and its chip unit.
LEVELS = ((1, "1.00"), (2, "0.50"), (20, "5.00"), (4, "0.01"), (1, "2.50"))
TABLES_A_PIT = 6
DEALERS_A_PIT, SUPERVISORS_A_PIT, SHIFT_MANAGERS = 18, 3, 3
EVENING_EVERY = 3  # every third table plays higher from eight in the evening of the first day
EVENING = 14
MOST_TABLES = 999

Range = tuple[int | None, int | None]

#: A sign in whole dollars: minimum and maximum.
SIGN: dict[str, Range] = {
    "big-small": (25, 5000), "big": (50, 6000), "odd-even": (25, 5000), "single": (10, 1500), "total": (10, 1000),
    "total-4": (5, 300), "total-17": (5, 300), "domino": (10, 1000), "double": (10, 800), "triple": (5, 100),
    "any-triple": (20, 50), "four": (5, 1000), "three": (5, 200), "pair": (5, 150),
}  # fmt: skip
DIFFERENTIAL = {"big-small": 4000, "odd-even": 1500}
#: Some signs lack limits if faults are wanted. Division 9 requires no sign, so nothing is wrong there.
INCOMPLETE: dict[tuple[str, str], dict[str, Range]] = {
    ("division-9-2008", "2"): {"four": (None, 1000), "three": (5, None)},
    ("rws-tai-sai-v6", "E"): {"four": (None, 1000), "three": (5, None)},
    ("rws-tai-sai-open-cover-v5", "E"): {"four": (None, 1000), "total-4": (5, None)},
}
NO_DIFFERENTIAL = {("rws-tai-sai-open-cover-v5", "E")}

CASINO = """# A made-up house for simulated rounds: load it with `python manage.py load_floor`.

[[casino]]
code = "RWS"
name = "Resort casino"
timezone = "Asia/Singapore"
currency = "SGD"
gaming_day_starts = "06:00"
"""


def first_day() -> dt.date:
    """Return the first gaming day on which every rulebook is in force from its beginning."""
    return max(book.in_force_from for book in rulebooks().values()).date() + dt.timedelta(days=1)


def floor_text(*, tables: int, day: dt.date, is_sound: bool = False) -> str:
    """Write a floor file, in force from the beginning of the first day.

    The kind of a table depends on its number. If no faults are wanted, every sign is complete.
    """
    numbers = range(1, tables + 1)
    entries = [CASINO, *(_table(number, day) for number in numbers)]
    for number in numbers:
        entries += _signs(number, day, is_sound)
    entries += _people((tables - 1) // TABLES_A_PIT + 1)
    return "\n".join(entries)


def _pit(number: int) -> int:
    return (number - 1) // TABLES_A_PIT + 1


def _code(number: int) -> str:
    return f"TS-{number:02d}"


def _moment(day: dt.date, hours: int = 0) -> str:
    """Return the moment this many hours into the gaming day."""
    return f"{day}T{6 + hours:02d}:00:00+08:00"


def _table(number: int, day: dt.date) -> str:
    rulebook, layout = GAMES[(number - 1) % len(GAMES)]
    _, chip_unit = LEVELS[(number - 1) % len(LEVELS)]
    return f"""[[table]]
casino = "RWS"
pit = "P{_pit(number)}"
code = "{_code(number)}"
rulebook = "{rulebook}"
layout = "{layout}"
chip_unit = "{chip_unit}"
from = {_moment(day)}
"""


def _signs(number: int, day: dt.date, is_sound: bool) -> Iterator[str]:
    game = GAMES[(number - 1) % len(GAMES)]
    layout = rulebooks()[game[0]].layouts[game[1]]
    scale, _ = LEVELS[(number - 1) % len(LEVELS)]
    ranges = SIGN if is_sound else SIGN | INCOMPLETE.get(game, {})
    differential = DIFFERENTIAL if is_sound or game not in NO_DIFFERENTIAL else {}
    yield _sign(number, layout, scale, _moment(day), ranges, differential=differential)
    if number % EVENING_EVERY == 0:
        yield _sign(number, layout, scale * 2, _moment(day, EVENING), ranges, differential=differential)


def _sign(
    number: int, layout: Layout, scale: int, starts_at: str, ranges: dict[str, Range], *, differential: dict[str, int]
) -> str:
    lines = [
        f"{key} = {{ {_range(least, most, scale)} }}"
        for key, (least, most) in ranges.items()
        if key in layout.types or key in layout.boxes
    ]
    differential_lines = [f'{key} = "{amount * scale}"' for key, amount in differential.items() if key in layout.types]
    return "\n".join(
        ["[[limits]]", f'tables = ["{_code(number)}"]', f"from = {starts_at}", "[limits.boxes]", *lines,
         "[limits.differential]", *differential_lines, ""]
    )  # fmt: skip


def _range(least: int | None, most: int | None, scale: int) -> str:
    amounts = (("min", least), ("max", most))
    return ", ".join(f'{name} = "{amount * scale}"' for name, amount in amounts if amount is not None)


def _people(pits: int) -> Iterator[str]:
    posts = (("D", 2, "Dealer", "dealer", DEALERS_A_PIT), ("S", 1, "Supervisor", "pit-supervisor", SUPERVISORS_A_PIT))
    for pit in range(1, pits + 1):
        for letter, digits, name, post, count in posts:
            for place in range(1, count + 1):
                number = f"{pit}{place:0{digits}d}"
                yield _person(f"{letter}{number}", f"{name} {number}", post, f"P{pit}")
    for place in range(1, SHIFT_MANAGERS + 1):
        yield _person(f"M{place}", f"Shift manager {place}", "shift-manager")


def _person(number: str, name: str, post: str, pit: str | None = None) -> str:
    place = f'pit = "{pit}"\n' if pit else ""
    return f"""[[staff]]
number = "{number}"
name = "{name}"
casino = "RWS"
{place}department = "pit"
post = "{post}"
"""
