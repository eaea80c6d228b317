from django.urls import path

from audits.rulings.api import corrective_actions, rulings

urlpatterns = [
    path("incidents/<str:number>/precedents/", rulings.IncidentPrecedents.as_view(), name="incident_precedents"),
    path(
        "incidents/<str:number>/consequences/",
        corrective_actions.IncidentConsequences.as_view(),
        name="incident_consequences",
    ),
    path("incidents/<str:number>/discretions/", rulings.IncidentDiscretions.as_view(), name="incident_discretions"),
    path("rulings/", rulings.RulingList.as_view(), name="rulings"),
    path("rulings/<str:number>/", rulings.RulingDetail.as_view(), name="ruling"),
    path("consequences/<int:key>/", corrective_actions.ConsequenceDetail.as_view(), name="consequence"),
    path(
        "consequences/<int:key>/execute/", corrective_actions.ConsequenceExecute.as_view(), name="consequence_execute"
    ),
    path(
        "consequences/<int:key>/decline/", corrective_actions.ConsequenceDecline.as_view(), name="consequence_decline"
    ),
    path("repayments/<int:key>/marks/", corrective_actions.RepaymentMarks.as_view(), name="repayment_marks"),
    path("discretions/", rulings.DiscretionList.as_view(), name="discretions"),
]
