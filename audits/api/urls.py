"""Every address of the API that is about what is said of the game; beside those of games.api.urls."""

from django.urls import path

from audits.api import asking, evidence, incidents, logs

urlpatterns = [
    path("log-entries/", logs.LogEntryList.as_view(), name="log_entries"),
    path("log-entries/<int:key>/", logs.LogEntryDetail.as_view(), name="log_entry"),
    path("log-entries/<int:key>/addenda/", logs.LogEntryAddenda.as_view(), name="log_entry_addenda"),
    path("log-entries/<int:key>/evidence/", evidence.LogEntryEvidence.as_view(), name="log_entry_evidence"),
    path("incidents/", incidents.IncidentList.as_view(), name="incidents"),
    path("incidents/<str:number>/", incidents.IncidentDetail.as_view(), name="incident"),
    path("incidents/<str:number>/steps/", incidents.IncidentSteps.as_view(), name="incident_steps"),
    path("incidents/<str:number>/notes/", incidents.IncidentNotes.as_view(), name="incident_notes"),
    path("incidents/<str:number>/evidence/", evidence.IncidentEvidence.as_view(), name="incident_evidence"),
    path("evidence/<int:key>/", evidence.EvidenceDetail.as_view(), name="evidence"),
    path("evidence/<int:key>/content/", evidence.EvidenceContent.as_view(), name="evidence_content"),
    path("search/", asking.Search.as_view(), name="search"),
    path("advice/", asking.Advice.as_view(), name="advice"),
]
