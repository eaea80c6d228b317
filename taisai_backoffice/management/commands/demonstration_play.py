"""Fill the demonstration floor with the rounds of the last days, then play some of its tables live."""

import datetime as dt
import io
import signal
from collections.abc import Container, Iterator
from threading import Event, Thread
from typing import Any

import msgspec
from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import connection
from django.db.models import Max, Min
from django.utils import timezone

from games.access.gate import Operator
from games.floor.moments import day_bounds, gaming_day
from games.models import Casino, LiveRound, Round, Table, TableState, Terminal
from games.rounds.services.imports import rounds_import
from games.simulation.live_table import LiveTable
from games.simulation.play import SOURCE
from games.simulation.played_floor import PlayedTable, played_tables
from games.simulation.playing_terminal import Caller, Refused, Stopped
from games.simulation.writer import days_played
from games.terminals.services import terminal_create
from taisai_backoffice.management.commands.demonstration import PATH, REASON

SEED = 2026
DAYS = 6
ROUNDS_A_TABLE = 70
FAULTS = 0.03
LIVE = ("TS-01", "TS-03", "TS-06", "TS-10")
TERMINAL = "Demonstration"
MOST_HOURS = 8
A_ROUND = dt.timedelta(seconds=120)  # no round takes longer
NEVER = dt.datetime(1970, 1, 2, tzinfo=dt.UTC)


class Command(BaseCommand):
    help = "Play on the demonstration floor: missing rounds of the last days, then some tables live."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--address", help="address of the site; if left out, no table is played live")
        parser.add_argument("--host", default="localhost", help="a host name that the site answers to")
        parser.add_argument("--hours", type=float, default=MOST_HOURS, help=f"hours to play live, at most {MOST_HOURS}")

    def handle(self, *args: Any, **options: Any) -> None:
        if settings.PRODUCTION:
            raise CommandError("The demonstration is for local use; nothing is played in production.")
        stopped = Event()
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, lambda *_: stopped.set())
        now = timezone.now()
        tables = list(demonstration_tables(now))
        if not tables:
            return
        self._fill(tables, now, stopped)
        if options["address"] and not stopped.is_set():
            hours = min(max(options["hours"], 0), MOST_HOURS)
            caller = Caller(options["address"], terminal_key(), options["host"], stopped)
            self._play(tables, caller, now + dt.timedelta(hours=hours))

    def _fill(self, tables: list[PlayedTable], now: dt.datetime, stopped: Event) -> None:
        """Import one file a day; rounds already on record are not repeated."""
        today = gaming_day(tables[0].casino, now)
        new = bets = 0
        for back in range(DAYS - 1, -1, -1):
            day = today - dt.timedelta(days=back)
            if stopped.is_set():
                return
            known = set(Round.objects.filter(gaming_day=day, source=SOURCE).values_list("ref", flat=True))
            text, count = played_until(tables, day, now, known)
            done = rounds_import(actor=Operator(), stream=io.BytesIO(text), name=f"demonstration-{day}.ndjson")
            new, bets = new + done.new, bets + count
            self.stdout.write(f"  Rounds of {day}: {done.new:,} new, {len(known):,} already on record")
            self.stdout.flush()
        self.stdout.write(f"  The floor has its last {DAYS} days: {new:,} new rounds, {bets:,} bets.")

    def _play(self, tables: list[PlayedTable], caller: Caller, until: dt.datetime) -> None:
        there = set(Table.objects.filter(code__in=LIVE, state=TableState.OPEN).values_list("code", flat=True))
        live = [table for table in tables if table.code in there]
        connection.close()
        self.stdout.write(
            f"  Played live until {until:%H:%M} UTC: {', '.join(table.code for table in live) or 'no table'}."
        )
        self.stdout.flush()
        threads = [Thread(target=self._table, args=(table, caller, until), daemon=True) for table in live]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    def _table(self, table: PlayedTable, caller: Caller, until: dt.datetime) -> None:
        own = Caller(caller.address, caller.key, caller.host, caller.stopped)
        try:
            LiveTable(table, own, seed=int(until.timestamp())).play(until)
        except Stopped:
            pass
        except Refused as error:
            self.stderr.write(f"{table.code} is no longer played live: {error}")
        finally:
            own.close()


def demonstration_tables(now: dt.datetime) -> Iterator[PlayedTable]:
    """List the tables of the demonstration floor; none in any other casino."""
    codes = set(Table.objects.values_list("code", flat=True))
    tables = list(played_tables(PATH, now.date()))
    if codes >= {table.code for table in tables}:
        yield from tables


def played_until(tables: list[PlayedTable], day: dt.date, now: dt.datetime, known: Container[str]) -> tuple[bytes, int]:
    """Return the finished rounds of a day, one per line, and their number of bets.

    Left out are rounds on record, even if another version of the simulation played them differently, and rounds at
    the time of live ones.
    """
    lines, bets = [], 0
    played_live = live_spans(tables[0].casino, day)
    for played in days_played(tables=tables, days=[day], rounds=ROUNDS_A_TABLE, seed=SEED, faults=FAULTS):
        first, last = played_live.get(played.document["table"], (NEVER, NEVER))
        ended_at = dt.datetime.fromisoformat(played.document["events"][-1]["at"])
        if played.document["ref"] not in known and ended_at < now and not first - A_ROUND < played.started_at < last:
            lines.append(msgspec.json.encode(played.document))
            bets += len(played.document["bets"])
    return b"\n".join(lines), bets


def live_spans(casino: Casino, day: dt.date) -> dict[str, tuple[dt.datetime, dt.datetime]]:
    """Return from when to when each table was played live on a gaming day."""
    rounds = LiveRound.objects.filter(opened_at__range=day_bounds(casino, day)).order_by().values_list("table__code")
    spans = rounds.annotate(first=Min("opened_at"), last=Max("last_step_at"))
    return {code: (first, last) for code, first, last in spans}


def terminal_key() -> str:
    """Return the terminal's key, created once and stored beside the logins; a revoked key is replaced."""
    path = settings.HOME.path / "secrets" / "terminal"
    names = (TERMINAL, *(f"{TERMINAL} {number}" for number in range(2, 100)))
    if path.exists() and Terminal.objects.filter(name__in=names, revoked_at=None).exists():
        return str(path.read_text().strip())
    taken = set(Terminal.objects.values_list("name", flat=True))
    name = next(name for name in names if name not in taken)
    tables = list(Table.objects.filter(code__in=LIVE))
    _, key = terminal_create(actor=Operator(), name=name, tables=tables, reason=REASON)
    path.touch(mode=0o600)
    path.write_text(key)
    return key
