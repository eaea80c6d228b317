"""The API for rounds: record one, import a file, read them."""

import datetime as dt
import tempfile
from typing import Any

from django.http import Http404
from rest_framework import status
from rest_framework.request import Request
from rest_framework.response import Response

from games.access.gate import authorize
from games.access.services.access_records import record_player_search
from games.api import operations
from games.api.query_parameters import PAGES, allowed, text
from games.api.views import GatedView, Pages
from games.engine.errors import InputError
from games.models import Round
from games.rounds.lines import BLOCK, MEGABYTE
from games.rounds.selectors import RoundFilter, rounds_found
from games.rounds.serializers import round_document, round_documents
from games.rounds.services.imports import rounds_import
from games.rounds.services.recording import round_record
from games.rounds.services.uploads import LARGEST_UPLOAD, UploadRefusedError, incoming, space_verify

MOST_IN_MEMORY = 8 * MEGABYTE
FILTERS = ("table", "day", "dealer", "player", "status")


class RoundPages(Pages):
    ordering = ("-started_at", "-pk")


class RoundList(GatedView):
    terminals_may = True

    @operations.round_list
    def get(self, request: Request) -> Response:
        authorize(self.caller, "round.view")
        allowed(request, *FILTERS, *PAGES)
        pages, filters = RoundPages(), filter_from(request)
        record_player_search(self.caller, filters)
        page = pages.paginate_queryset(rounds_found(self.caller, filters), request, view=self) or []
        return pages.get_paginated_response(round_documents(page))

    @operations.round_add
    def post(self, request: Request) -> Response:
        """Record one round: 201 new, 200 already on record, 409 if its name is taken by different content."""
        authorize(self.caller, "round.record")
        key, is_new = round_record(actor=self.caller, line=request.body, channel=Round.Channel.API)
        recorded = Round.objects.select_related("table__casino", "dice_set").get(pk=key)
        code = status.HTTP_201_CREATED if is_new else status.HTTP_200_OK
        return Response(round_document(recorded), status=code)


class RoundImport(GatedView):
    terminals_may = True
    parser_classes: list[Any] = []  # the body is read as it arrives, line by line

    @operations.round_import
    def post(self, request: Request) -> Response:
        """Import a file of rounds, one a line, also gzipped: all of it or nothing."""
        authorize(self.caller, "round.record")
        place = self.caller.casino_id
        space_verify(place, announced(request))
        with tempfile.SpooledTemporaryFile(MOST_IN_MEMORY, dir=str(incoming(place))) as file:
            receive(request._request, file)
            done = rounds_import(actor=self.caller, stream=file, name="API")  # type: ignore[arg-type]
        counts = {"files": 1, "rounds": done.rounds, "new": done.new, "repeated": done.repeated}
        return Response(counts, status=status.HTTP_201_CREATED)


def announced(request: Request) -> int:
    """Return the size that the request announces."""
    text = request.META.get("CONTENT_LENGTH") or ""
    return int(text) if text.isascii() and text.isdecimal() else 0


def receive(body: Any, file: Any) -> None:
    """Store the body so that it can be read twice; refuse more than a file may hold."""
    size = 0
    while block := body.read(BLOCK):
        size += len(block)
        if size > LARGEST_UPLOAD:
            raise UploadRefusedError(
                f"The file is larger than {LARGEST_UPLOAD // MEGABYTE} MB, and nothing of it is on record; send parts."
            )
        file.write(block)
    if size == 0:
        raise InputError("The body is empty; send rounds, one a line.")
    file.seek(0)


class RoundDetail(GatedView):
    @operations.round_read
    def get(self, request: Request, key: int) -> Response:
        round_ = Round.objects.select_related("table__casino", "dice_set").filter(pk=key).first()
        if round_ is None:
            raise Http404(f"There is no round {key}.")
        authorize(self.actor, "round.view", round_)
        return Response(round_document(round_))


def filter_from(request: Request) -> RoundFilter:
    day, state = text(request, "day"), text(request, "status")
    if state is not None and state not in Round.Status.values:
        raise InputError(f"status: {state!r:.60} is not a status; choose one of {', '.join(Round.Status.values)}.")
    try:
        on = dt.date.fromisoformat(day) if day is not None else None
    except ValueError:
        raise InputError(f"day: {day!r:.60} is not a day; write it as 2026-11-15.") from None
    return RoundFilter(text(request, "table"), on, text(request, "dealer"), text(request, "player"), state)
