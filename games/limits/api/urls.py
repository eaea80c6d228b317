from django.urls import path

from games.limits.api import views

urlpatterns = [
    path("limit-proposals/", views.ProposalList.as_view(), name="limit_proposals"),
    path("limit-proposals/<int:key>/", views.ProposalDetail.as_view(), name="limit_proposal"),
    path("limit-proposals/<int:key>/approve/", views.ProposalApproval.as_view(), name="limit_proposal_approve"),
    path("limit-proposals/<int:key>/reject/", views.ProposalRejection.as_view(), name="limit_proposal_reject"),
    path("limit-proposals/<int:key>/withdraw/", views.ProposalWithdrawal.as_view(), name="limit_proposal_withdraw"),
]
