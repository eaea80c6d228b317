from django.urls import path

from games.rounds.api import views

urlpatterns = [
    path("rounds/", views.RoundList.as_view(), name="rounds"),
    path("rounds/import/", views.RoundImport.as_view(), name="round_import"),
    path("rounds/<int:key>/", views.RoundDetail.as_view(), name="round"),
]
