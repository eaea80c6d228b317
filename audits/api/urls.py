"""Every address of the API that is about what is said of the game; beside those of games.api.urls."""

from django.urls import path

from audits.api import asking, consequences, evidence, incidents, logs, reports, rulings

urlpatterns = [
    path("log-entries/", logs.LogEntryList.as_view(), name="log_entries"),
    path("log-entries/<int:key>/", logs.LogEntryDetail.as_view(), name="log_entry"),
    path("log-entries/<int:key>/addenda/", logs.LogEntryAddenda.as_view(), name="log_entry_addenda"),
    path("log-entries/<int:key>/evidence/", evidence.LogEntryEvidence.as_view(), name="log_entry_evidence"),
    path("incidents/", incidents.IncidentList.as_view(), name="incidents"),
    path("incidents/<str:number>/", incidents.IncidentDetail.as_view(), name="incident"),
    path("incidents/<str:number>/steps/", incidents.IncidentSteps.as_view(), name="incident_steps"),
    path("incidents/<str:number>/checklist/", incidents.IncidentChecklist.as_view(), name="incident_checklist"),
    path(
        "incidents/<str:number>/confirmations/",
        incidents.IncidentConfirmations.as_view(),
        name="incident_confirmations",
    ),
    path("incidents/<str:number>/ruling-consents/", incidents.RulingConsents.as_view(), name="ruling_consents"),
    path("incidents/<str:number>/notes/", incidents.IncidentNotes.as_view(), name="incident_notes"),
    path("incidents/<str:number>/evidence/", evidence.IncidentEvidence.as_view(), name="incident_evidence"),
    path("incidents/<str:number>/precedents/", rulings.IncidentPrecedents.as_view(), name="incident_precedents"),
    path(
        "incidents/<str:number>/consequences/",
        consequences.IncidentConsequences.as_view(),
        name="incident_consequences",
    ),
    path("incidents/<str:number>/discretions/", rulings.IncidentDiscretions.as_view(), name="incident_discretions"),
    path("rulings/", rulings.RulingList.as_view(), name="rulings"),
    path("rulings/<str:number>/", rulings.RulingDetail.as_view(), name="ruling"),
    path("consequences/<int:key>/", consequences.ConsequenceDetail.as_view(), name="consequence"),
    path("consequences/<int:key>/execute/", consequences.ConsequenceExecute.as_view(), name="consequence_execute"),
    path("consequences/<int:key>/decline/", consequences.ConsequenceDecline.as_view(), name="consequence_decline"),
    path("repayments/<int:key>/marks/", consequences.RepaymentMarks.as_view(), name="repayment_marks"),
    path("discretions/", rulings.DiscretionList.as_view(), name="discretions"),
    path("evidence/<int:key>/", evidence.EvidenceDetail.as_view(), name="evidence"),
    path("evidence/<int:key>/content/", evidence.EvidenceContent.as_view(), name="evidence_content"),
    path("reports/", reports.ReportList.as_view(), name="reports"),
    path("reports/<uuid:key>/", reports.ReportDetail.as_view(), name="report"),
    path("reports/<uuid:key>/cancel/", reports.ReportCancel.as_view(), name="report_cancel"),
    path("reports/<uuid:key>/file/", reports.ReportFile.as_view(), name="report_file"),
    path("search/", asking.Search.as_view(), name="search"),
    path("advice/", asking.Advice.as_view(), name="advice"),
]
