"""Gather the API's addresses of the game by subject."""

from django.urls import path

from games.api import description
from games.floor.api.urls import urlpatterns as floor
from games.limits.api.urls import urlpatterns as limits
from games.live.api.urls import urlpatterns as live
from games.rounds.api.urls import urlpatterns as rounds

urlpatterns = [
    path("schema/", description.Description.as_view(), name="schema"),
    path("docs/", description.page, name="docs"),
    *floor,
    *limits,
    *rounds,
    *live,
]
