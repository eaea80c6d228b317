"""The figures agree to the cent: daily results, discrepancies and corrections, over a simulated month."""

import datetime as dt
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from audits.models import Correction
from audits.reports.kinds.corrections import Corrections
from audits.reports.kinds.daily import Daily
from audits.reports.kinds.findings import Discrepancies
from audits.reports.report_kind import ReportKind
from games.models import Casino, Pit, Round, TableAssignment
from tests.audits.decided import executed, incident_about, ruled, settled_as, voided
from tests.audits.playing import drain
from tests.audits.reports.asking import asked_by
from tests.audits.reports.columns import named
from tests.conftest import PEOPLE, House
from tests.games.engine.oracle import FELTS, V6
from tests.games.floors import called
from tests.games.simulation.runs import floor_of, simulated

FIRST, LAST = dt.date(2026, 10, 1), dt.date(2026, 10, 31)
DAYS = 31
ONE_DAY = dt.timedelta(days=1)
Key = tuple[dt.date, str]


def simulated_house(folder: Path) -> House:
    """A month of a table of every rulebook and layout, reconciled; with people in every role."""
    sizes = {"tables": len(FELTS), "rounds-per-table": 3, "days": DAYS, "faults": 0.5}
    path = simulated(folder / "rounds.ndjson", seed=18, day=FIRST, **sizes)
    called("load_floor", str(floor_of(path)))
    called("import_rounds", str(path))
    drain()
    casino = Casino.objects.get()
    pits = {pit.code: pit for pit in Pit.objects.all()}
    house = House(casino, pits, casino, next(iter(pits.values())))
    for role in PEOPLE:
        if role not in ("dealer", "pit-supervisor", "pit-manager"):
            house.people[role] = house.hire(f"X-{role}".upper(), role)
    return house


def recorded_nets() -> Counter[Key]:
    """Add up what players won in settled and void rounds, with every correction, from the records themselves."""
    nets: Counter[Key] = Counter()
    last = {correction.round_id: correction for correction in Correction.objects.order_by("ordinal")}
    for round_ in Round.objects.select_related("table"):
        correction = last.get(round_.pk)
        if correction is not None:
            nets[round_.gaming_day, round_.table.code] += sum(correction.nets)
        elif round_.status != Round.Status.UNFINISHED:
            nets[round_.gaming_day, round_.table.code] += sum(round_.nets)
    return nets


def of_tables(report: ReportKind, *names: str) -> dict[Key, tuple[int, ...]]:
    rows = named(report, "gaming_day", "table", "span", "level", *names)
    return {(day, table): tuple(more) for day, table, span, level, *more in rows if (span, level) == ("day", "table")}


def assert_the_figures_agree(house: House) -> None:
    reader, nets = house["compliance"], recorded_nets()
    daily = Daily(asked_by(reader, FIRST, LAST))
    by_table = of_tables(daily, "house_recorded", "house_expected", "discrepancies")
    assert len(by_table) == DAYS * len(FELTS)
    for key, (recorded, expected, count) in by_table.items():
        assert recorded + nets[key] == 0, key
        (day, code) = key
        found = Discrepancies(asked_by(reader, day, day, table=house.casino.tables.get(code=code)))
        rows = named(found, "recorded_net", "expected_net")
        assert expected - recorded == sum(paid - due for paid, due in rows), key
        assert count == len(rows)
    # pits and casino are the sums of their tables, and to date the sums of their days
    totals = [sum(cells) for cells in zip(*by_table.values(), strict=True)]
    for span, level in (("day", "pit"), ("day", "casino"), ("month to date", "table"), ("year to date", "pit"),
                        ("year to date", "casino")):  # fmt: skip
        rows = named(daily, "span", "level", "house_recorded", "house_expected", "discrepancies")
        chosen = [row[2:] for row in rows if row[:2] == (span, level)]
        assert [sum(cells) for cells in zip(*chosen, strict=True)] == totals, (span, level)
    # and the month's discrepancies say the same in their totals
    month = Discrepancies(asked_by(reader, FIRST, LAST))
    columns = [column.name for column in month.columns]
    assert len(list(month.counted_rows())) == totals[2]
    row = month.totals()
    assert row is not None
    assert totals[1] - totals[0] == row[columns.index("recorded_net")] - row[columns.index("expected_net")]


def settled_rounds(*, wrongly_paid: bool) -> list[Round]:
    """Settled rounds of a version 6 table that nobody has decided on, in order."""
    tables = TableAssignment.objects.filter(rulebook=V6).values("table")
    rounds = Round.objects.filter(table__in=tables, status="settled", corrections=None).select_related("table__casino")
    found = rounds.filter(findings__category="discrepancy") if wrongly_paid else rounds.filter(findings=None)
    return [one for one in found.order_by("started_at", "pk").distinct() if any(one.nets) and not one.refused]


@pytest.mark.parametrize("how", ["as simulated", "corrected"])
def test_the_figures_agree_to_the_cent(db: None, clock: Any, tmp_path: Path, how: str) -> None:
    house = simulated_house(tmp_path)
    if how == "corrected":
        correct_some(house)
    assert_the_figures_agree(house)


def correct_some(house: House) -> None:
    """Settle rounds by the rules after all, by other dice and by decided amounts, void one, and correct one twice."""
    before = of_tables(Daily(asked_by(house["compliance"], FIRST, LAST)), "house_recorded")
    wrong, right = settled_rounds(wrongly_paid=True), settled_rounds(wrongly_paid=False)

    def decided(round_: Round, account: str = "A quarrel", **how: Any) -> None:
        incident = incident_about(house, round_.table, round_, account=f"{account} about {round_.ref}")
        settled_as(house, ruled(house, incident), round_, **how)

    for one in wrong[:3]:
        decided(one)
    decided(right[0], dice=other_dice(right[0]))
    decided(wrong[3], nets={0: -wrong[3].stakes[0]})
    void = ruled(house, incident_about(house, right[1].table, right[1]))
    executed(house, voided(house, void.incident, right[1], ruling=void))
    decided(right[2], dice=other_dice(right[2]))
    decided(right[2], "Another quarrel", dice=list(right[2].dice or ()))
    drain()
    made = list(Correction.objects.select_related("table"))
    assert len(made) == 8
    moved: Counter[Key] = Counter()
    for correction in made:
        moved[correction.gaming_day, correction.table.code] += sum(correction.deltas)
    assert any(moved.values())
    listed: Counter[Key] = Counter()
    report = Corrections(asked_by(house["compliance"], FIRST, LAST))
    for day, code, difference in named(report, "gaming_day", "table", "difference"):
        listed[day, code] += difference
    assert listed == moved
    after = of_tables(Daily(asked_by(house["compliance"], FIRST, LAST)), "house_recorded")
    assert {key: after[key][0] - before[key][0] for key in after} == {key: -moved[key] for key in after}


def other_dice(round_: Round) -> list[int]:
    return [6, 6, 5] if sorted(round_.dice or ()) != [5, 6, 6] else [1, 1, 2]
