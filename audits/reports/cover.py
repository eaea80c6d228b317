"""The document of a finished report: everything around its rows, as every writer takes it."""

import datetime as dt
from dataclasses import asdict
from typing import Any
from zoneinfo import ZoneInfo

from audits.exports.document import Certificate, Chart, Document
from audits.models import ReportCertificate, ReportRun
from audits.reports.registry import REPORTS
from games.labels.rules import rulebook_title

ENGINE = "Engine version"


def document_of(run: ReportRun, certificate: ReportCertificate | None = None) -> Document:
    """Return the document of a report whose rows have been read."""
    report, casino = REPORTS[run.kind], run.casino
    return Document(
        title=report.title, columns=report.columns,
        letterhead=tuple(filter(None, (casino.name, casino.operator))) if casino else ("All casinos",),
        parameters=parameters_of(run), about=report.about, rules=report.rules,
        notes=tuple(run.content.get("notes", ())),
        nil=run.content.get("nil", ""), timezone=zone_of_run(run).key, currency=casino.currency if casino else "",
        is_reprint=run.is_reprint, made_at=run.as_of, certificate=_certificate(certificate),
        charts=tuple(chart_from(kept) for kept in run.content.get("charts", ())),
    )  # fmt: skip


def zone_of_run(run: ReportRun) -> ZoneInfo:
    """Return the time zone of a report: the casino's, or UTC for all casinos."""
    return ZoneInfo(run.casino.timezone if run.casino else "UTC")


def period_text(run: ReportRun) -> str:
    """Write the period of a report: `01 Nov 2026 to 30 Nov 2026`."""
    days = f"{run.first_day:%d %b %Y}"
    if run.first_day != run.last_day:
        days += f" to {run.last_day:%d %b %Y}"
    return f"{days}, {run.shift} shift" if run.shift else days


def parameters_of(run: ReportRun) -> tuple[tuple[str, str], ...]:
    """List the parameters of a report and the basis of its figures, as labels and texts."""
    zone = zone_of_run(run)
    lines = [
        ("Gaming days", period_text(run)),
        ("Casino", str(run.casino) if run.casino else "All casinos"),
        ("Pit", run.pit.code if run.pit else ""),
        ("Table", run.table.code if run.table else "All tables"),
        ("Figures as of", moment_text(run.as_of, zone)),
        ("Requested by", run.who),
        ("Rulebooks", "; ".join(map(rulebook_title, run.rulebooks))),
        (ENGINE, run.engine),
        ("Report", str(run.pk)),
        ("Confidential", "Yes. Only for surveillance, compliance and auditors" if run.is_confidential else ""),
        ("Replaces", str(run.again_of_id) if run.again_of_id else ""),
    ]
    return tuple((label, text) for label, text in lines if text)


def moment_text(moment: dt.datetime | None, zone: ZoneInfo) -> str:
    """Write a moment with its time zone; empty for None."""
    return "" if moment is None else f"{moment.astimezone(zone):%d %b %Y %H:%M:%S} ({zone.key})"


def _certificate(kept: ReportCertificate | None) -> Certificate | None:
    return None if kept is None else Certificate(kept.name, kept.post, kept.statement, kept.at)


def chart_as_json(chart: Chart) -> dict[str, Any]:
    """Return a chart as JSON data."""
    return asdict(chart)


def chart_from(kept: dict[str, Any]) -> Chart:
    """Return the chart that was kept as JSON data."""
    values: dict[str, Any] = {name: tuple(value) if isinstance(value, list) else value for name, value in kept.items()}
    return Chart(**values)
