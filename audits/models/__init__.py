from audits.models.finding import NEEDS_SOMEBODY, NOBODY_SAW, Category, Finding, Severity
from audits.models.notice import Escalation, Notice, NoticeMail
from audits.models.policy import FindingPolicy, policy_of
from audits.models.run import Run, RunPart
from audits.models.summary import COUNTS, FIGURES, ClosedSummary, DayClose, DaySummary, Figures

__all__ = [
    "COUNTS",
    "FIGURES",
    "NEEDS_SOMEBODY",
    "NOBODY_SAW",
    "Category",
    "ClosedSummary",
    "DayClose",
    "DaySummary",
    "Escalation",
    "Figures",
    "Finding",
    "FindingPolicy",
    "Notice",
    "NoticeMail",
    "Run",
    "RunPart",
    "Severity",
    "policy_of",
]
