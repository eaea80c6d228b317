"""The reports there are, by the name that commands and programs use."""

from audits.reports.access import Access
from audits.reports.base import ReportKind
from audits.reports.corrections import Corrections
from audits.reports.daily import Daily
from audits.reports.disputes import Disputes
from audits.reports.exported_files import Exports
from audits.reports.findings import Breaches, ByRuling, Discrepancies, Irregularities, Procedural
from audits.reports.incidents import Incidents
from audits.reports.limits import LimitsInForce
from audits.reports.log import Log
from audits.reports.rulings import Rulings
from audits.reports.voids import Voids

#: In the order in which the shelf shows them.
ORDERED: tuple[type[ReportKind], ...] = (
    Daily, Discrepancies, Breaches, Irregularities, Procedural, Voids, ByRuling, Corrections, Incidents, Log, Disputes,
    Rulings, LimitsInForce, Access, Exports,
)  # fmt: skip
REPORTS: dict[str, type[ReportKind]] = {report.kind: report for report in ORDERED}
