"""Floor files for tests: the contract's example, what is loaded from it, and everything on record at a glance."""

import json
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.db import connection

CASINO = """
[[casino]]
code = "RWS"
name = "Resort casino"
timezone = "Asia/Singapore"
currency = "SGD"
gaming_day_starts = "06:00"
"""
PIT = """
[[pit]]
casino = "RWS"
code = "P1"
name = "Main floor"
"""
TABLE = """
[[table]]
casino = "RWS"
pit = "P1"
code = "TS-01"
rulebook = "rws-tai-sai-v6"
layout = "C"
chip_unit = "0.01"
from = 2026-11-01T06:00:00+08:00
"""
LIMITS = """
[[limits]]
tables = ["TS-01"]
from = 2026-11-01T06:00:00+08:00
boxes = { "big-small" = { min = "50", max = "10000" }, "total" = { min = "20", max = "2000" } }
differential = { "big-small" = "8000" }
"""
STAFF = """
[[staff]]
number = "S11"
name = "Supervisor 11"
casino = "RWS"
department = "pit"       # pit, surveillance, compliance, audit, it
post = "pit-supervisor"  # dealer, pit-supervisor, pit-manager, shift-manager, casino-manager; only in pit
"""
EXAMPLE = CASINO + TABLE + LIMITS + STAFF

Record = dict[str, tuple[int, str | None]]


def edited(text: str, *edits: tuple[str, str]) -> str:
    """A text with some of its words replaced; each of them has to be there."""
    for old, new in edits:
        assert old in text, old
        text = text.replace(old, new)
    return text


def load(path: Path, text: str, *options: str) -> str:
    """What the command says."""
    path.write_text(text)
    return called("load_floor", str(path), *options)


def called(*command: str) -> str:
    output = StringIO()
    call_command(*command, stdout=output)
    return output.getvalue().strip()


def faults(path: Path, text: str | bytes, *options: str) -> list[str]:
    """The sentences with which a file is refused, without its name; and nothing at all has changed."""
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    before = on_record()
    with pytest.raises(CommandError) as refusal:
        call_command("load_floor", str(path), *options)
    assert on_record() == before
    lines = str(refusal.value).split("\n")
    assert all(line.startswith(f"{path}: ") and line.endswith(".") and line.isprintable() for line in lines), lines
    return [line.removeprefix(f"{path}: ") for line in lines]


def fault(path: Path, text: str | bytes, *options: str) -> str:
    """The one sentence."""
    (line,) = faults(path, text, *options)
    return line


def sign(table: str, moment: str, *options: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(called("limits_at", table, moment, *options))
    return found


def on_record() -> Record:
    """Every table of the game: how many rows, and a digest of what they say. Denials are apart: they always stay."""
    with connection.cursor() as cursor:
        names = [name for name in connection.introspection.table_names(cursor) if name.startswith("games_")]
        digest = "count(*), md5(string_agg(one::text, '|' ORDER BY one::text))"
        each = (f"SELECT '{name}', {digest} FROM {name} one" for name in names if name != "games_denial")
        cursor.execute(" UNION ALL ".join(each))
        return {name: (count, said) for name, count, said in cursor.fetchall()}
