"""Every admin page of the audits, subject by subject: Django looks for them here."""

from audits.findings.admin import findings
from audits.incidents.admin import disputes, evidence, handovers, incidents, log, shifts
from audits.notifications import admin as notifications
from audits.reconciliation.admin import daily_results, runs
from audits.reports.admin import reports, schedules
from audits.rulings.admin import corrective_actions, discretions, rulings, settlement_policies
from audits.thresholds import admin as thresholds

__all__ = [
    "corrective_actions",
    "daily_results",
    "discretions",
    "disputes",
    "evidence",
    "findings",
    "handovers",
    "incidents",
    "log",
    "notifications",
    "reports",
    "rulings",
    "runs",
    "schedules",
    "settlement_policies",
    "shifts",
    "thresholds",
]
