"""Tumblers: those that somebody may see, one with its inspections, and which one a table has or had."""

from django.http import Http404
from django.utils import timezone
from rest_framework.request import Request
from rest_framework.response import Response

from games.access.gate import authorize, visible
from games.api.query_parameters import PAGES, allowed, moment
from games.api.views import GatedView
from games.floor.api import tumbler_operations as operations
from games.floor.api.tables import CodePages, TableDetail
from games.floor.selectors import tumblers_now
from games.floor.serializers import tumbler_document, tumbler_fit_document, tumbler_inspection_document
from games.models import Tumbler
from games.rounds.terms import terms_at


class TableTumbler(TableDetail):
    """Which tumbler a table has now, or had at `at`."""

    @operations.table_tumbler
    def get(self, request: Request, code: str) -> Response:
        table = self.table(code)
        allowed(request, "at")
        fit = terms_at(table, moment(request, "at") or timezone.now()).tumbler
        if fit is None:
            raise Http404(f"{table} had no tumbler on record at that moment.")
        return Response(tumbler_fit_document(fit))


class TumblerList(GatedView):
    @operations.tumbler_list
    def get(self, request: Request) -> Response:
        authorize(self.actor, "tumbler.view")
        allowed(request, *PAGES)
        pages = CodePages()
        tumblers = visible(self.actor, Tumbler.objects.select_related("casino", "pit"))
        page = pages.paginate_queryset(tumblers, request, view=self) or []
        fits = tumblers_now(page)
        return pages.get_paginated_response([tumbler_document(one, fits.get(one.pk)) for one in page])


class TumblerDetail(GatedView):
    @operations.tumbler_read
    def get(self, request: Request, key: int) -> Response:
        tumbler = Tumbler.objects.select_related("casino", "pit").filter(pk=key).first()
        if tumbler is None:
            raise Http404(f"There is no tumbler {key}.")
        authorize(self.actor, "tumbler.view", tumbler)
        allowed(request)
        inspections = tumbler.inspections.select_related("by", "tumbler__casino")[:100]
        document = tumbler_document(tumbler, tumblers_now([tumbler]).get(tumbler.pk))
        return Response(
            document | {"inspections": [tumbler_inspection_document(inspection) for inspection in inspections]}
        )
