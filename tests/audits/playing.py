"""Rounds for tests of the reconciliation, and what was made of them."""

import datetime as dt
from collections.abc import Iterable
from typing import Any

from django.db import connection

from audits.models import COUNTS, FIGURES, DaySummary, Finding, Run, RunPart
from audits.reconciliation.services.arrivals import arrivals_take
from audits.reconciliation.services.runs import part_take, parts_of, run_start
from games.engine.signs.limits import Limits
from games.limits.services.proposals import limits_approve, limits_propose
from games.models import LimitSet, Outbox, Table
from games.rounds.services.recording import round_record
from tests.conftest import OPERATOR, House
from tests.games.floor_setup import NOON, START, bare_table, completed, dropped, put_sign, sign
from tests.games.rounds.samples import bet, line

DAY = dt.date(2026, 11, 15)
DAY_BEFORE = DAY - dt.timedelta(days=1)
BORDER = dt.datetime(2026, 11, 14, 22, tzinfo=dt.UTC)  # 06:00 in Singapore: here the gaming day begins
EARLIER = NOON - dt.timedelta(hours=2)

#: A kind of event, the second at which it came, and its fields.
Happened = tuple[str, int, dict[str, Any]]

#: A die did not lie flat, and the round was called off.
COCKED_EVENTS: tuple[Happened, ...] = (
    ("place-bets", 0, {}), ("no-more-bets", 30, {}), ("tumbler", 32, {"tumbles": 3}), ("die-not-flat", 40, {}),
    ("void", 45, {"rule": "5.5.2"}),
)  # fmt: skip
#: Paid as the rules say on 1, 3, 6 and with the usual sign; and otherwise.
RIGHT = bet(net="100.00")
UNDERPAID = bet(net="90.00")
TOO_HIGH = bet(stake="4000.00", net="3000.00")  # Small holds 3,000 at most: the rest goes back
TWO_HUNDRED = sign({"big-small": (50, 200), "single": (25, 1000)})


def table_for(house: House, code: str = "TS-01", **game: Any) -> Table:
    table = bare_table(house, code, **{"layout": "C", **game})
    put_sign(table, completed(table, sign()))
    return table


def played(
    ref: str, *bets: dict[str, Any], at: dt.datetime | None = None, lasts: int = 60, dice: tuple[int, ...] = (1, 3, 6),
    events: Iterable[Happened] | None = None, **changes: Any,
) -> dict[str, Any]:  # fmt: skip
    """A round of the usual order, two minutes after the one before it by its ref, R-1, R-2 …

    `events` are kinds with their seconds, where it has others.
    """
    begun = at or EARLIER + dt.timedelta(minutes=2 * int(ref.rpartition("-")[2]))
    usual: list[Happened] = [
        ("place-bets", 0, {}), ("no-more-bets", 30, {}), ("tumbler", 32, {"tumbles": 3}),
        ("result", 40, {"dice": list(dice)}), ("settled", lasts, {}),
    ]  # fmt: skip
    told = [
        {"kind": kind, "at": (begun + dt.timedelta(seconds=second)).isoformat(), **fields}
        for kind, second, fields in (usual if events is None else events)
    ]
    return {"source": "floor", "ref": ref, "table": "TS-01", "events": told, "bets": list(bets or [RIGHT]), **changes}


def record(*documents: dict[str, Any]) -> list[int]:
    return [round_record(actor=OPERATOR, line=line(document), channel="api")[0] for document in documents]


def drain() -> None:
    """Until nothing waits: what one pass puts back is taken by the next."""
    while Outbox.objects.exists():
        arrivals_take()


def day_run(table: Table, day: dt.date = DAY) -> Run:
    run = run_start(actor=OPERATOR, casino=table.casino, day=day, table=table)
    for key in parts_of([run]):
        assert part_take(key=key) is not None
    return Run.objects.get(pk=run.pk)


def part_of(table: Table, day: dt.date = DAY) -> RunPart:
    """A part that nobody has begun."""
    run = run_start(actor=OPERATOR, casino=table.casino, day=day, table=table)
    return run.parts.get()


def correct(house: House, table: Table, limits: Limits, starts_at: dt.datetime = START) -> LimitSet:
    """The sign was different, as somebody found out later."""
    whole = completed(table, limits)
    proposal = limits_propose(
        actor=house["pit-manager"], tables=[table], limits=whole, starts_at=starts_at, is_correction=True,
        reason="The sign was wrong", remove=(remove := dropped(whole, table, at=starts_at)),
    )  # fmt: skip
    (found,) = limits_approve(actor=house["shift-manager"], proposal=proposal, reason="Seen on camera", remove=remove)
    return found


# --- What was made of them ---


def summary_of(table: Table, day: dt.date = DAY) -> DaySummary:
    return DaySummary.objects.get(table=table, gaming_day=day)


def figures(table: Table) -> dict[str, dict[str, Any]]:
    """Every figure of every day."""
    names = (*FIGURES, *COUNTS, "kinds")
    return {
        str(day_summary.gaming_day): {name: getattr(day_summary, name) for name in names}
        for day_summary in DaySummary.objects.filter(table=table)
    }


def findings(table: Table, *, lapsed: bool = False) -> list[tuple[Any, ...]]:
    """What was found, in words that do not depend on when it was found, or how often something was looked at."""
    columns = (
        "round__ref", "category", "kind", "key", "rule", "rules", "boxes", "player", "position", "stake", "expected",
        "recorded", "placed", "permitted", "detail", "amount", "severity", "rulebook", "gaming_day",
        "round_started_at", "engine",
    )  # fmt: skip
    chosen = Finding.objects.filter(table=table, lapsed_at__isnull=not lapsed)
    return sorted(chosen.values_list(*columns), key=repr)


def kinds(table: Table) -> list[tuple[str, str]]:
    """Round and kind of all that stands."""
    chosen = Finding.objects.filter(table=table, lapsed_at=None)
    return sorted(chosen.values_list("round__ref", "kind"))


def everything(*prefixes: str) -> dict[str, tuple[int, str]]:
    """Rows of tables and a digest of what they say; all that the reconciliation writes, where nothing is named."""
    with connection.cursor() as cursor:
        names = connection.introspection.table_names(cursor)
        chosen = [name for name in names if name.startswith(prefixes or ("audits_", "games_outbox"))]
        digest = "count(*), md5(string_agg(one::text, '|' ORDER BY one::text))"
        cursor.execute(" UNION ALL ".join(f"SELECT '{name}', {digest} FROM {name} one" for name in chosen))
        return {name: (count, said) for name, count, said in cursor.fetchall()}
