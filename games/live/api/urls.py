from django.urls import path

from games.live.api import views

urlpatterns = [
    path("live-rounds/", views.LiveRoundList.as_view(), name="live_rounds"),
    path("live-rounds/<int:key>/", views.LiveRoundDetail.as_view(), name="live_round"),
    path("live-rounds/<int:key>/steps/", views.LiveRoundSteps.as_view(), name="live_round_steps"),
]
