"""The API for rounds in play: open one, send steps, read them."""

from typing import Any

from django.http import Http404
from rest_framework import status
from rest_framework.request import Request
from rest_framework.response import Response

from games.access.gate import authorize, visible
from games.api.query_parameters import PAGES, allowed, choice, text
from games.api.views import GatedView, Pages
from games.live.api import operations
from games.live.serializers import answer_document, live_document, warnings_of
from games.live.services import live_open, live_step
from games.live.session_state import session_state_of
from games.models import LiveRound

STATES = ("in-play", "over")


class LiveRoundList(GatedView):
    terminals_may = True

    @operations.live_list
    def get(self, request: Request) -> Response:
        authorize(self.caller, "liveround.view")
        allowed(request, "state", "table", *PAGES)
        rounds = visible(self.caller, LiveRound.objects.select_related("table__casino"))
        if (state := choice(request, "state", STATES)) is not None:
            rounds = rounds.filter(ended_at__isnull=state == "in-play")
        if (code := text(request, "table")) is not None:
            rounds = rounds.filter(table__code=code)
        pages = Pages()
        page = pages.paginate_queryset(rounds, request, view=self) or []
        return pages.get_paginated_response([live_document(live) for live in page])

    @operations.live_add
    def post(self, request: Request) -> Response:
        """Open a round: 201 new, 200 opened before, 409 if the name or the table is taken."""
        authorize(self.caller, "liveround.play")
        allowed(request)
        return answered(*live_open(actor=self.caller, document=request.data))


class LiveRoundDetail(GatedView):
    terminals_may = True

    @operations.live_read
    def get(self, request: Request, key: int) -> Response:
        live = live_round_numbered(key)
        authorize(self.caller, "liveround.view", live)
        allowed(request)
        session = session_state_of(live)
        warnings = warnings_of(live, live.steps_taken)
        return Response(answer_document(session, session.play(), live.steps_taken, warnings=warnings))


class LiveRoundSteps(GatedView):
    terminals_may = True

    @operations.live_step
    def post(self, request: Request, key: int) -> Response:
        """Take a step: 201 new, 200 sent before, 409 out of order."""
        live = live_round_numbered(key)
        authorize(self.caller, "liveround.play", live)
        allowed(request)
        return answered(*live_step(actor=self.caller, key=live.pk, document=request.data))


def live_round_numbered(key: int) -> LiveRound:
    live = LiveRound.objects.select_related("table__casino").filter(pk=key).first()
    if live is None:
        raise Http404(f"There is no round in play {key}.")
    return live


def answered(document: dict[str, Any], is_new: bool) -> Response:
    return Response(document, status=status.HTTP_201_CREATED if is_new else status.HTTP_200_OK)
