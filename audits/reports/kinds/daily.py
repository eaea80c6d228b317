"""The report of daily results by table, pit and casino, for the day, the month to date and the year to date.

It reads only the daily results of tables, never bets, and adds them up in the database.
"""

import datetime as dt
import math
from collections.abc import Iterator, Sequence
from decimal import Decimal
from itertools import groupby
from typing import Any

from django.db import connection

from audits.exports.document import Chart, Column, ColumnKind, Row
from audits.findings.labels import kind_name
from audits.models import COUNTS, Category
from audits.reconciliation.models.summary import THROWS
from audits.reports.kinds.pit_days import PitDays, pit_days
from audits.reports.report_kind import ReportKind, Shelf
from games.models import Casino, Pit, Table

CHUNK = 2000
#: How many days and tables the charts show.
CHART_DAYS, CHART_TABLES = 31, 20
FINDINGS = "Findings"
CENTS = 100
CENT = Decimal("0.01")
TABLE, PIT, CASINO = "table", "pit", "casino"
LEVELS = (TABLE, PIT, CASINO)
DAY, MONTH, YEAR = "day", "month to date", "year to date"
FIGURES = ("rounds", "bets", "turnover", "house_recorded", "house_expected", "mean_216", "variance_scaled")
#: The days of tables, each in the pit where the table was when the gaming day began, and the condition of a period.
DAYS = """
FROM audits_daysummary s
JOIN unnest(%s::bigint[], %s::bigint[], %s::date[], %s::date[]) AS place (table_id, pit_id, first_day, until)
    ON place.table_id = s.table_id AND s.gaming_day >= place.first_day AND s.gaming_day < place.until
JOIN games_table t ON t.id = s.table_id
JOIN games_casino c ON c.id = t.casino_id
JOIN games_pit p ON p.id = place.pit_id
"""
PERIOD = "WHERE s.gaming_day BETWEEN %s AND %s AND s.rounds > 0"
LEVEL = "CASE WHEN GROUPING(t.code) = 0 THEN 0 WHEN GROUPING(p.code) = 0 THEN 1 ELSE 2 END"
SUMS = f"""
SELECT {{day}} AS day, {LEVEL} AS level, c.code, string_agg(DISTINCT p.code, ', '), t.code,
    {", ".join(f"sum(s.{name})::numeric(60)" for name in (*FIGURES, *COUNTS, "voids"))}
{DAYS} {PERIOD}
GROUP BY {{by_day}} GROUPING SETS ((c.code, t.code), (c.code, p.code), (c.code))
HAVING {LEVEL} = ANY (%s)
ORDER BY 1, c.code, 2, p.code, t.code
"""
KINDS = f"""
SELECT kinds.key, sum(kinds.value::bigint)::bigint {DAYS}
CROSS JOIN LATERAL jsonb_each_text(s.kinds) AS kinds {PERIOD}
GROUP BY kinds.key ORDER BY 2 DESC, kinds.key
"""


def count_column(name: str, title: str) -> Column:
    """Return a column of counts."""
    return Column(name, title, ColumnKind.INTEGER, width=9)


def money_column(name: str, title: str) -> Column:
    """Return a column of amounts."""
    return Column(name, title, ColumnKind.MONEY, width=14)


class Daily(ReportKind):
    """For each gaming day its tables, its pits, then the casino; at the end the month and the year to date."""

    kind, title, things = "daily", "Daily results", "rounds"
    shelf = Shelf.SHIFT
    about = (
        "For managers, compliance and the regulator: recorded, expected and theoretical results by table, pit and "
        "casino, with findings and void rounds. A table's gaming day counts for the pit in which the table was when "
        "the day began."
    )
    needs = ("daysummary.view",)
    rests_on_days = True
    columns = (
        Column("gaming_day", "Gaming day", ColumnKind.DATE, 11),
        Column("span", "Span", width=13, name_of=str.capitalize),
        Column("level", "Level", width=7, name_of=str.capitalize), Column("casino", "Casino", width=8),
        Column("pit", "Pit", width=8), Column("table", "Table", width=9), count_column("rounds", "Rounds"),
        count_column("bets", "Bets"),
        money_column("turnover", "Turnover"), money_column("house_recorded", "Result, recorded"),
        money_column("house_expected", "Result, expected"), money_column("theoretical", "Result, theoretical"),
        money_column("sigma", "σ"),
        Column("hold", "Hold %", ColumnKind.PERCENT, 8), count_column("discrepancies", "Discrepancies"),
        count_column("breaches", "Limit breaches"), count_column("irregularities", "Irregularities"),
        count_column("procedural", "Procedure"), count_column("by_ruling", "By ruling"), count_column("voids", "Voids"),
    )  # fmt: skip

    def rows(self) -> Iterator[Row]:
        places, last, levels = self._places(), self.request.last, self._levels()
        has_rows = False
        for line in self._read(places, self.request.first, last, levels):
            has_rows = True
            yield row_of(DAY, line)
        if has_rows:
            for span, first in ((MONTH, last.replace(day=1)), (YEAR, last.replace(month=1, day=1))):
                for line in self._read(places, first, last, levels, to_date=True):
                    yield row_of(span, line)

    def nil(self) -> str:
        return "No rounds were played in the period."

    def notes(self) -> tuple[str, ...]:
        notes = [
            "A table's gaming day counts for the pit in which the table was when the day began. Month and year to date "
            "are those of the last day of the period. σ is the square root of the summed variances."
        ]
        if self.request.capacity.pit_id is not None:
            notes.append("Only tables that are in the pit now are included, with the days that count for the pit.")
        if self.request.window is not None:
            notes.append("Figures are kept by gaming day: the report has the whole gaming day of the shift.")
        return tuple(notes)

    def charts(self) -> tuple[Chart, ...]:
        places = self._places()
        return (*self._results(places), *self._by_kind(places), *self._by_table(places))

    # --- Sums ---

    def _levels(self) -> Sequence[str]:
        """Return the levels whose sums are complete: for one table only the table, for one pit not the casino."""
        if self.request.table is not None:
            return (TABLE,)
        return (TABLE, PIT) if self.request.capacity.pit_id is not None else LEVELS

    def _places(self) -> PitDays:
        return pit_days(self.within(Table.objects.order_by()), self.request.capacity.pit_id)

    def _read(
        self, places: PitDays, first: dt.date, last: dt.date, levels: Sequence[str], *, to_date: bool = False
    ) -> Iterator[Any]:
        """Yield day, level, casino, pit, table and the sums. With `to_date`, all days are added up."""
        day, by_day = ("%s::date", "") if to_date else ("s.gaming_day", "s.gaming_day,")
        values: list[Any] = [*places.columns(), first, last, [LEVELS.index(level) for level in levels]]
        with connection.chunked_cursor() as cursor:
            cursor.execute(SUMS.format(day=day, by_day=by_day), [last, *values] if to_date else values)
            while lines := cursor.fetchmany(CHUNK):
                yield from lines

    # --- Charts ---

    def _results(self, places: PitDays) -> Iterator[Chart]:
        """Yield for each casino its results of a month, with the theoretical result ± 2 σ behind them."""
        last = self.request.last
        days = [last - dt.timedelta(days=ago) for ago in reversed(range(CHART_DAYS))]
        currencies = dict(Casino.objects.values_list("code", "currency"))
        lines = self._read(places, days[0], last, (CASINO,))
        by_casino = sorted(lines, key=lambda line: (line[2], line[0]))
        for casino, of_casino in groupby(by_casino, key=lambda line: line[2]):
            known = {line[0]: row_of(DAY, line)[9:13] for line in of_casino}
            figures = [known.get(day, (0, 0, 0, 0)) for day in days]
            yield Chart(
                title=f"{self._scope(casino)}: result by gaming day, with the theoretical result ± 2σ",
                line_name="Result, recorded",
                band_name="Result, theoretical ± 2σ",
                labels=tuple(f"{day.day} {day:%b}" for day in days),
                line=tuple(recorded / CENTS for recorded, _, _, _ in figures),
                low=tuple((mean - 2 * sigma) / CENTS for _, _, mean, sigma in figures),
                high=tuple((mean + 2 * sigma) / CENTS for _, _, mean, sigma in figures),
                unit=currencies[casino],
            )

    def _scope(self, casino: str) -> str:
        """Name what the report adds up: the casino, or the requested table, or the pit within reach."""
        if self.request.table is not None:
            return self.request.table.code
        pit_id = self.request.capacity.pit_id
        return casino if pit_id is None else str(Pit.objects.select_related("casino").get(pk=pit_id))

    def _by_kind(self, places: PitDays) -> Iterator[Chart]:
        with connection.cursor() as cursor:
            cursor.execute(KINDS, [*places.columns(), self.request.first, self.request.last])
            kinds = cursor.fetchall()
        if kinds:
            labels, counts = tuple(label_of(kind) for kind, _ in kinds), tuple(count for _, count in kinds)
            yield Chart("Findings by kind", labels, counts, bars_name=FINDINGS)

    def _by_table(self, places: PitDays) -> Iterator[Chart]:
        lines = self._read(places, self.request.first, self.request.last, (TABLE,), to_date=True)
        counted = [(-sum(map(int, line[-1 - len(COUNTS) : -1])), line[4]) for line in lines]
        tables = sorted((negative, code) for negative, code in counted if negative)[:CHART_TABLES]
        if tables:
            title = f"Findings by table, at most {CHART_TABLES} tables"
            counts = tuple(float(-negative) for negative, _ in tables)
            yield Chart(title, tuple(code for _, code in tables), counts, bars_name=FINDINGS)


def row_of(span: str, line: Sequence[Any]) -> Row:
    """Return a row of sums, with the theoretical result, σ and the hold."""
    day, level, casino, pits, table, *sums = line
    rounds, bets, turnover, recorded, expected = map(int, sums[:5])
    theoretical = int((sums[5] / THROWS).to_integral_value())
    sigma = round(math.sqrt(sums[6] / THROWS**3))
    hold = (Decimal(recorded * 100) / turnover).quantize(CENT) if turnover else None
    name = LEVELS[level]
    return (
        day, span, name, casino, None if name == CASINO else pits, table, rounds, bets, turnover, recorded, expected,
        theoretical, sigma, hold, *map(int, sums[7:]),
    )  # fmt: skip


def label_of(kind: str) -> str:
    """Name a kind of the day's figures: `Discrepancy: Overpaid` for `discrepancy overpaid`."""
    category, _, name = kind.partition(" ")
    return f"{Category(category).label}: {kind_name(category, name)}"
