from audits.findings.models.finding import NEEDS_ACTION, NOT_ACKNOWLEDGED, Category, Finding, Severity
from audits.findings.models.policy import FindingPolicy, policy_of
from audits.incidents.models.checklist import ChecklistTick
from audits.incidents.models.dispute import Dispute, DisputeRule, dispute_rule_of
from audits.incidents.models.evidence import CustodyStep, Evidence
from audits.incidents.models.incident import (
    Incident,
    IncidentLink,
    IncidentNote,
    IncidentPerson,
    IncidentRound,
    IncidentState,
    IncidentStep,
    PartyConfirmation,
)
from audits.incidents.models.log import Handover, HandoverTaken, LogEntry, Shift
from audits.incidents.models.number import NumberCounter
from audits.notifications.models import (
    ConsequenceNotice,
    Escalation,
    FindingWeighing,
    Notice,
    NoticeMail,
    ProposerNotice,
    ThresholdNotice,
)
from audits.reconciliation.models.run import Run, RunPart
from audits.reconciliation.models.summary import COUNTS, FIGURES, ClosedSummary, DayClose, DaySummary, Figures
from audits.reports.models import CERTIFIED_FORMATS, ReportCertificate, ReportFormat, ReportRun, ReportSchedule
from audits.rulings.models.corrective_action import (
    Consequence,
    ConsequenceDecision,
    Correction,
    Repayment,
    RepaymentMark,
)
from audits.rulings.models.ruling import (
    Discretion,
    Ruling,
    RulingConsent,
    RulingKind,
    RulingReview,
    RulingSetting,
    Scope,
    ruling_setting_of,
)

__all__ = [
    "CERTIFIED_FORMATS",
    "COUNTS",
    "FIGURES",
    "NEEDS_ACTION",
    "NOT_ACKNOWLEDGED",
    "Category",
    "ChecklistTick",
    "ClosedSummary",
    "Consequence",
    "ConsequenceDecision",
    "ConsequenceNotice",
    "Correction",
    "CustodyStep",
    "DayClose",
    "DaySummary",
    "Discretion",
    "Dispute",
    "DisputeRule",
    "Escalation",
    "Evidence",
    "Figures",
    "Finding",
    "FindingPolicy",
    "FindingWeighing",
    "Handover",
    "HandoverTaken",
    "Incident",
    "IncidentLink",
    "IncidentNote",
    "IncidentPerson",
    "IncidentRound",
    "IncidentState",
    "IncidentStep",
    "LogEntry",
    "Notice",
    "NoticeMail",
    "NumberCounter",
    "PartyConfirmation",
    "ProposerNotice",
    "Repayment",
    "RepaymentMark",
    "ReportCertificate",
    "ReportFormat",
    "ReportRun",
    "ReportSchedule",
    "Ruling",
    "RulingConsent",
    "RulingKind",
    "RulingReview",
    "RulingSetting",
    "Run",
    "RunPart",
    "Scope",
    "Severity",
    "Shift",
    "ThresholdNotice",
    "dispute_rule_of",
    "policy_of",
    "ruling_setting_of",
]
