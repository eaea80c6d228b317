"""All reports, by the names that commands and programs use."""

from audits.reports.kinds.access import Access
from audits.reports.kinds.corrections import Corrections
from audits.reports.kinds.daily import Daily
from audits.reports.kinds.disputes import Disputes
from audits.reports.kinds.exports import Exports
from audits.reports.kinds.findings import Breaches, ByRuling, Discrepancies, Irregularities, Procedural
from audits.reports.kinds.incidents import Incidents
from audits.reports.kinds.limits import LimitsInForce
from audits.reports.kinds.log import Log
from audits.reports.kinds.rulings import Rulings
from audits.reports.kinds.voids import Voids
from audits.reports.report_kind import ReportKind

#: In the order of the page.
ORDERED: tuple[type[ReportKind], ...] = (
    Daily, Discrepancies, Breaches, Irregularities, Procedural, Voids, ByRuling, Corrections, Incidents, Log, Disputes,
    Rulings, LimitsInForce, Access, Exports,
)  # fmt: skip
REPORTS: dict[str, type[ReportKind]] = {report.kind: report for report in ORDERED}
