from django.urls import path

from audits.incidents.api import evidence, incidents, log, search

urlpatterns = [
    path("log-entries/", log.LogEntryList.as_view(), name="log_entries"),
    path("log-entries/<int:key>/", log.LogEntryDetail.as_view(), name="log_entry"),
    path("log-entries/<int:key>/addenda/", log.LogEntryAddenda.as_view(), name="log_entry_addenda"),
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
    path("evidence/<int:key>/", evidence.EvidenceDetail.as_view(), name="evidence"),
    path("evidence/<int:key>/content/", evidence.EvidenceContent.as_view(), name="evidence_content"),
    path("search/", search.Search.as_view(), name="search"),
    path("advice/", search.Advice.as_view(), name="advice"),
]
