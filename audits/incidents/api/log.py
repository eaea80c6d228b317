"""The daily log: to read, to write, to add to."""

from rest_framework import status
from rest_framework.request import Request
from rest_framework.response import Response

from audits.api import operations
from audits.api.lookup import entry_of
from audits.api.periods import PERIOD, period
from audits.incidents.parser import read_addendum, read_entry
from audits.incidents.search import EntryFilter, entries_found
from audits.incidents.serializers import entry_document, entry_line
from audits.incidents.services.log import log_addendum, log_write
from games.access.gate import authorize
from games.access.roles import access_policy
from games.access.services.access_records import confidential_read
from games.api.query_parameters import PAGES, allowed, choice, text
from games.api.views import GatedView, Pages


class EntryPages(Pages):
    ordering = ("-at", "-pk")


class LogEntryList(GatedView):
    @operations.entry_list
    def get(self, request: Request) -> Response:
        authorize(self.actor, "logentry.view")
        allowed(request, "table", "shift", "department", *PERIOD, *PAGES)
        department = choice(request, "department", tuple(access_policy().departments))
        wanted = EntryFilter(text(request, "table"), text(request, "shift"), department, period(request))
        pages = EntryPages()
        page = pages.paginate_queryset(entries_found(self.actor, wanted), request, view=self) or []
        confidential_read(self.actor, page)
        return pages.get_paginated_response([entry_line(self.actor, one) for one in page])

    @operations.entry_add
    def post(self, request: Request) -> Response:
        authorize(self.actor, "logentry.add")
        allowed(request)
        entry = log_write(actor=self.actor, **read_entry(self.actor, request.data))
        return Response(entry_document(self.actor, entry), status=status.HTTP_201_CREATED)


class LogEntryDetail(GatedView):
    @operations.entry_read
    def get(self, request: Request, key: int) -> Response:
        entry = entry_of(self.actor, key)
        allowed(request)
        return Response(entry_document(self.actor, entry))


class LogEntryAddenda(GatedView):
    @operations.entry_addendum
    def post(self, request: Request, key: int) -> Response:
        """Answers the addendum, which is an entry itself."""
        entry = entry_of(self.actor, key)
        authorize(self.actor, "logentry.add", entry)
        allowed(request)
        addendum = log_addendum(actor=self.actor, entry=entry, summary=read_addendum(self.actor, request.data))
        return Response(entry_document(self.actor, addendum), status=status.HTTP_201_CREATED)
