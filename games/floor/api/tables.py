"""Tables, their signs, time lines and dice: to read."""

from django.http import Http404
from django.utils import timezone
from rest_framework.request import Request
from rest_framework.response import Response

from games.access.gate import authorize, visible
from games.api import operations
from games.api.query_parameters import PAGES, allowed, choice, moment, text
from games.api.views import GatedView, Pages
from games.floor.selectors import fits_now, floor_lines
from games.floor.serializers import dice_set_document, event_document, fit_document, inspection_document, table_document
from games.floor.timeline import timeline
from games.limits.selectors import NoLimitsError, limits_at
from games.limits.signs.sign import limits_document
from games.models import DiceSet, Table, TableState
from games.rounds.terms import terms_at


class CodePages(Pages):
    ordering = "code"


class TableList(GatedView):
    @operations.table_list
    def get(self, request: Request) -> Response:
        authorize(self.actor, "table.view")
        allowed(request, "state", "casino", *PAGES)
        tables = visible(self.actor, Table.objects.select_related("casino"))
        if (state := choice(request, "state", TableState.values)) is not None:
            tables = tables.filter(state=state)
        if (code := text(request, "casino")) is not None:
            tables = tables.filter(casino__code=code)
        pages = CodePages()
        page = pages.paginate_queryset(tables, request, view=self) or []
        lines = floor_lines(page)
        return pages.get_paginated_response([table_document(lines[table.pk]) for table in page])


class TableDetail(GatedView):
    @operations.table_read
    def get(self, request: Request, code: str) -> Response:
        table = self.table(code)
        allowed(request)
        return Response(table_document(floor_lines([table])[table.pk]))

    def table(self, code: str) -> Table:
        tables = Table.objects.select_related("casino")
        table = None if "\x00" in code else tables.filter(code__iexact=code).first()  # PostgreSQL holds no NUL
        if table is None:
            raise Http404(f"There is no table {code}; check the code.")
        authorize(self.actor, "table.view", table)
        return table


class TableLimits(TableDetail):
    """What the sign says now, or said at `at`, as known now or at `known_at`."""

    @operations.table_limits
    def get(self, request: Request, code: str) -> Response:
        table = self.table(code)
        allowed(request, "at", "known_at")
        at, known_at = moment(request, "at"), moment(request, "known_at")
        try:
            sign = limits_at(table=table, at=at or timezone.now(), known_at=known_at)
        except NoLimitsError as error:
            raise Http404(str(error)) from None
        return Response(limits_document(sign))


class TableTimeline(TableDetail):
    @operations.table_timeline
    def get(self, request: Request, code: str) -> Response:
        table = self.table(code)
        allowed(request, "before")
        events = timeline(table, before=moment(request, "before"), count=100)
        return Response({"results": [event_document(table, event) for event in events]})


class TableDice(TableDetail):
    """Which dice are under the dome now, or were at `at`."""

    @operations.table_dice
    def get(self, request: Request, code: str) -> Response:
        table = self.table(code)
        allowed(request, "at")
        fit = terms_at(table, moment(request, "at") or timezone.now()).dice
        if fit is None:
            raise Http404(f"{table} had no dice at that moment.")
        return Response(fit_document(fit))


class DiceSetList(GatedView):
    @operations.dice_set_list
    def get(self, request: Request) -> Response:
        authorize(self.actor, "diceset.view")
        allowed(request, *PAGES)
        pages = CodePages()
        sets = visible(self.actor, DiceSet.objects.select_related("casino", "pit"))
        page = pages.paginate_queryset(sets, request, view=self) or []
        fits = fits_now(page)
        return pages.get_paginated_response([dice_set_document(one, fits.get(one.pk)) for one in page])


class DiceSetDetail(GatedView):
    @operations.dice_set_read
    def get(self, request: Request, key: int) -> Response:
        dice_set = DiceSet.objects.select_related("casino", "pit").filter(pk=key).first()
        if dice_set is None:
            raise Http404(f"There is no dice set {key}.")
        authorize(self.actor, "diceset.view", dice_set)
        allowed(request)
        inspections = dice_set.inspections.select_related("by", "dice_set__casino")[:100]
        document = dice_set_document(dice_set, fits_now([dice_set]).get(dice_set.pk))
        return Response(document | {"inspections": [inspection_document(inspection) for inspection in inspections]})
