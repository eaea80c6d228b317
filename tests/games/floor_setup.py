"""Tables, signs and dice for tests: what a house needs before anything can be played."""

import datetime as dt
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from django.db.backends.postgresql.psycopg_any import DateTimeTZRange
from django.utils import timezone

from games.access.gate import Actor
from games.engine.rules.loader import rulebook as rulebook_of
from games.engine.signs.completeness import DIFFERENTIAL, MAXIMUM, MINIMUM, missing_on_sign
from games.engine.signs.limits import Limits, Range
from games.floor.services.dice import dice_fit, dice_set_create
from games.floor.services.tables import opening_checks_sign, table_create, table_open
from games.floor.services.tumblers import tumbler_create, tumbler_fit
from games.history.audited_save import record_save
from games.limits.services.drafts import LimitDraft, base_at, first_free_minute
from games.limits.services.proposals import limit_set_load
from games.models import DiceFit, DiceSet, LimitSet, Staff, Table, Tumbler
from tests.conftest import OPERATOR, House
from tests.games.engine.oracle import V6

NOON = dt.datetime(2026, 11, 15, 12, tzinfo=dt.UTC)  # 20:00 in Singapore
START = dt.datetime(2026, 1, 1, tzinfo=dt.UTC)  # since when tables and signs are there
SECOND, MINUTE, HOUR = (dt.timedelta(**{name: 1}) for name in ("seconds", "minutes", "hours"))
MICROSECOND = dt.timedelta(microseconds=1)

#: A limit that no bet of a test reaches, in cents.
WIDE = 10**12
#: The sign of a table in tests, where nothing else is said: in dollars.
USUAL = {"big-small": (50, 3000), "single": (25, 1000)}


def sign(
    boxes: Mapping[str, tuple[int | None, int | None]] | None = None, differential: Mapping[str, int] | None = None
) -> Limits:
    """Limits in whole dollars: minimum and maximum by bet type or box, and differentials."""

    def cents(dollars: int | None) -> int | None:
        return None if dollars is None else dollars * 100

    lines = USUAL if boxes is None else boxes
    return Limits(
        {key: Range(cents(minimum), cents(maximum)) for key, (minimum, maximum) in lines.items()},
        {type_: amount * 100 for type_, amount in (differential or {}).items()},
    )


def bare_table(
    house: House, code: str = "TS-01", pit: str = "P1", rulebook: str = V6, layout: str = "A", **changes: Any
) -> Table:
    """With a game, and neither sign nor dice."""
    values: dict[str, Any] = {
        "chip_unit": "1.00",
        "starts_at": START,
        "reason": "New table",
        "actor": OPERATOR,
    } | changes
    return table_create(
        casino=house.casino, pit=house.pits[pit], code=code, rulebook=rulebook, layout=layout, **values
    )  # fmt: skip


def put_sign(table: Table, limits: Limits | None = None, starts_at: dt.datetime = START) -> LimitSet:
    limit_set_load(
        actor=OPERATOR, table=table, limits=limits or sign(), sheet=None, starts_at=starts_at, source="floor.toml"
    )
    return table.limit_sets.get(starts_at=starts_at)


def dropped(limits: Limits, *tables: Table, at: dt.datetime | None = None) -> dict[str, list[str]]:
    """The limits that signs have and that this one would remove, by table: what a proposer and an approver tick."""
    moment = at or first_free_minute(tables, timezone.now())
    drafts = [LimitDraft(table, moment, base_at(table, moment), limits) for table in tables]
    return {draft.table.code: names for draft in drafts if (names := [removal.name for removal in draft.removals])}


def dice_of(house: House, code: str = "D-01", pit: str = "P1", actor: Actor = OPERATOR, **changes: Any) -> DiceSet:
    values: dict[str, Any] = {
        "serials": [f"{code}-{number}" for number in (1, 2, 3)], "seal": f"S-{code}", "reason": "Delivered",
    } | changes  # fmt: skip
    return dice_set_create(actor=actor, casino=house.casino, pit=house.pits[pit], code=code, **values)


def tumbler_for(house: House, code: str = "T-01", pit: str = "P1", actor: Actor = OPERATOR, **changes: Any) -> Tumbler:
    values: dict[str, Any] = {
        "serial": f"TB-{code}", "activation": "electronic", "lock": f"L-{code}", "reason": "Delivered",
    } | changes  # fmt: skip
    return tumbler_create(actor=actor, casino=house.casino, pit=house.pits[pit], code=code, **values)


def completed(table: Table, limits: Limits) -> Limits:
    """The limits, with what the sign of this table still needs: so wide that no bet of a test meets it."""
    assignment = table.assignments.get()
    book = rulebook_of(assignment.rulebook)
    lacking = missing_on_sign(book, book.layouts[assignment.layout], limits)
    by_key, apart = dict(limits.by_key), dict(limits.differential)
    for one in lacking:
        if one.what == DIFFERENTIAL:
            apart[one.type] = WIDE
        for key in [one.type] if one.is_whole_type else one.boxes:
            known = by_key.get(key, Range())
            low = 1 if one.what == MINIMUM else known.minimum
            high = WIDE if one.what == MAXIMUM else known.maximum
            by_key[key] = Range(low, high)
    return replace(limits, by_key=by_key, differential=apart)


def ready_table(house: House, code: str = "TS-01", pit: str = "P1", limits: Limits | None = None, **game: Any) -> Table:
    """Closed, with all that it needs to be opened but the checks."""
    table = bare_table(house, code, pit, **game)
    put_sign(table, completed(table, limits or sign()))
    boss = house["shift-manager"]
    dice_fit(actor=boss, dice_set=dice_of(house, f"D-{code}", pit), table=table, reason="Before opening")
    tumbler_fit(actor=boss, tumbler=tumbler_for(house, f"T-{code}", pit), table=table, reason="Before opening")
    return table


def fit_since(house: House, table: Table, since: dt.datetime, code: str = "") -> DiceFit:
    """A fitting that is recorded afterwards: the set was there since that moment."""
    dice = dice_of(house, code or f"D-{table.code}", table.pit.code if table.pit else "P1")
    fit = DiceFit(dice_set=dice, table=table, during=DateTimeTZRange(since, None))
    record_save(fit, actor=OPERATOR, reason="Recorded afterwards")
    return fit


def fitted_table(house: House, code: str = "TS-01", limits: Limits | None = None, **game: Any) -> Table:
    """Closed, with a sign, and with dice since an hour ago."""
    table = bare_table(house, code, **game)
    put_sign(table, completed(table, limits or sign()))
    fit_since(house, table, timezone.now() - HOUR)
    return table


def open_table(house: House, code: str = "TS-01", pit: str = "P1", limits: Limits | None = None, **game: Any) -> Table:
    table = ready_table(house, code, pit, limits, **game)
    if rulebook_of(game.get("rulebook", V6)).opening_checks:
        sign_checks(house["shift-manager"], table)
    table_open(actor=house["shift-manager"], table=table, reason="Start of shift")
    return Table.objects.get(pk=table.pk)


#: Division 9, 5.0 (a) to (d).
CHECKS = ("power", "test-runs", "tumbler", "seal")


def sign_checks(actor: Staff, table: Table, remarks: str = "", **answers: bool) -> Any:
    """All passed, but for what is said; dashes of a check's name are underscores here."""
    passed = dict.fromkeys(CHECKS, True) | {name.replace("_", "-"): answer for name, answer in answers.items()}
    return opening_checks_sign(actor=actor, table=table, passed=passed, remarks=remarks)
