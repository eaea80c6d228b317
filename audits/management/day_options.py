"""Options shared by the commands of the audits: days, periods and tables."""

import datetime as dt
from typing import Any

from django.core.management.base import CommandError

from games.models import Table

LONGEST = 366


def day_of(where: str, text: str) -> dt.date:
    """Read a gaming day."""
    try:
        return dt.datetime.strptime(text, "%Y-%m-%d").date()  # noqa: DTZ007  a day has no offset
    except ValueError:
        raise CommandError(f"{where}: {text!r:.40} is not a day; write it as 2026-11-15.") from None


def period_of(options: dict[str, Any]) -> tuple[dt.date, dt.date]:
    """Read the period: `--day`, or `--from` and `--to`, the last day included."""
    day, first, last = options["day"], options["first"], options["last"]
    if day is not None and (first is not None or last is not None):
        raise CommandError("--day: cannot be combined with --from or --to; give a day or a period.")
    if day is not None:
        return day_of("--day", day), day_of("--day", day)
    if first is None or last is None:
        raise CommandError("--day: is missing; give a day, or a period with --from and --to.")
    begins, ends = day_of("--from", first), day_of("--to", last)
    if ends < begins:
        raise CommandError(f"--to: {ends} is before {begins}; give the first day as --from and the last as --to.")
    if (ends - begins).days >= LONGEST:
        raise CommandError(f"--to: the period is longer than {LONGEST} days; split it into shorter ones.")
    return begins, ends


def table_of(code: str | None) -> Table | None:
    """Find the table named by `--table`; None where none is named."""
    if code is None:
        return None
    found = Table.objects.select_related("casino").filter(code=code).first()
    if found is None:
        raise CommandError(f"--table: there is no table {code!r:.40}; check the code.")
    return found
