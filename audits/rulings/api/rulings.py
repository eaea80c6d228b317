"""Rulings: list, read, and one call to rule, supersede or withdraw; precedents; discretion."""

from rest_framework import status
from rest_framework.request import Request
from rest_framework.response import Response

from audits.api.lookup import incident_of, ruling_of
from audits.api.periods import PERIOD, period
from audits.incidents.parser import LONGEST_QUERY
from audits.incidents.search import ALWAYS, casinos_of, table_key
from audits.incidents.situations import situations
from audits.models import Discretion, RulingKind, Scope
from audits.rulings.api import operations
from audits.rulings.numbers import rulings_numbered
from audits.rulings.parser import MOST_RULES, RulingRequest, read_discretion, read_ruling
from audits.rulings.precedents import LONGEST_WORDS, binding, precedents
from audits.rulings.precedents import PrecedentQuery as Similar
from audits.rulings.remit import book_of, not_covered_fault, readings_shown
from audits.rulings.selectors import STATES, RulingFilter, rulings_found
from audits.rulings.serializers import (
    discretion_document,
    precedent_document,
    reading_document,
    ruling_document,
    ruling_line,
)
from audits.rulings.services.discretions import discretion_record
from audits.rulings.services.rulings import is_rule, ruling_make, ruling_supersede, ruling_withdraw
from games.access.gate import authorize, can, visible
from games.api.query_parameters import PAGES, allowed, choice, text
from games.api.views import GatedView, Pages
from games.engine.errors import InputError
from games.engine.rules.loader import rulebooks
from games.models import Casino, Staff

FILTERS = ("kind", "scope", "state", "rulebook", "situation", "table", "text")


class RulingPages(Pages):
    ordering = ("-made_at", "-pk")


class DiscretionPages(Pages):
    ordering = ("-at", "-pk")


class RulingList(GatedView):
    @operations.ruling_list
    def get(self, request: Request) -> Response:
        authorize(self.actor, "ruling.view")
        allowed(request, *FILTERS, *PERIOD, *PAGES)
        pages = RulingPages()
        page = pages.paginate_queryset(rulings_found(self.actor, filter_from(request)), request, view=self) or []
        return pages.get_paginated_response([ruling_line(ruling) for ruling in page])

    @operations.ruling_add
    def post(self, request: Request) -> Response:
        """Rule, supersede or withdraw; 409 if another person was first. Each refusal is on record."""
        authorize(self.actor, "ruling.make")
        allowed(request, "casino")
        ruling_request = read_ruling(self.actor, request.data, casino_asked(self.actor, request))
        (ruling,) = rulings_numbered(self.actor, *ruled(self.actor, ruling_request))
        return Response(ruling_document(self.actor, ruling), status=status.HTTP_201_CREATED)


def ruled(actor: Staff, ruling_request: RulingRequest) -> tuple[str, str]:
    """Make the ruling; return its number and its casino."""
    draft, replaces = ruling_request.draft, ruling_request.replaces
    if replaces is None:
        if ruling_request.incident is None:  # the parser has refused this
            raise AssertionError
        made = ruling_make(actor=actor, incident=ruling_request.incident, draft=draft)
    elif draft.is_withdrawal:
        made = ruling_withdraw(
            actor=actor, ruling=replaces, reason=draft.reasoning, effective_from=draft.effective_from,
            override=draft.override,
        )  # fmt: skip
    else:
        made = ruling_supersede(actor=actor, ruling=replaces, draft=draft)
    return made.number, made.casino.code


def casino_asked(actor: Staff, request: Request) -> Casino | None:
    """Return the casino named in the query, whose numbers are meant; for group staff."""
    code = text(request, "casino")
    if code is None:
        return None
    casino = casinos_of(actor).filter(code=code).first()
    if casino is None:
        raise InputError(f"casino: there is no casino {code!r:.40}; check the code.")
    return casino


class RulingDetail(GatedView):
    @operations.ruling_read
    def get(self, request: Request, number: str) -> Response:
        allowed(request, "casino")
        return Response(ruling_document(self.actor, ruling_of(self.actor, number, request)))


class IncidentPrecedents(GatedView):
    @operations.incident_precedents
    def get(self, request: Request, number: str) -> Response:
        """Answer with the precedents for a draft; `binding` is the one to follow, or to depart from with a reason."""
        allowed(request, "casino", "rules", "words")
        incident = incident_of(self.actor, number, request)
        authorize(self.actor, "ruling.view", incident)
        query = Similar(
            incident.rulebook, incident.situation, rules(request), precedent_words(request, incident.account)
        )
        standing = binding(incident, query.rules)
        found = precedents(self.actor, incident, query)
        book = book_of(incident)
        return Response(
            {
                "decided_by": not_covered_fault(incident) or None,
                "readings": [reading_document(book, reading) for reading in readings_shown(incident)] if book else [],
                "binding": standing.number if standing and can(self.actor, "ruling.view", standing) else None,
                "results": [precedent_document(precedent) for precedent in found],
            }
        )


def filter_from(request: Request) -> RulingFilter:
    query = text(request, "text") or ""
    if len(query) > LONGEST_QUERY:
        raise InputError(f"text: is longer than {LONGEST_QUERY} characters; shorten it.")
    return RulingFilter(
        kind=choice(request, "kind", RulingKind.values) or "",
        scope=choice(request, "scope", Scope.values) or "",
        state=choice(request, "state", STATES) or "",
        rulebook=choice(request, "rulebook", rulebooks()) or "",
        situation=choice(request, "situation", situations()) or "",
        table=text(request, "table") or "",
        period=period(request),
        text=query,
    )


def rules(request: Request) -> list[str]:
    """Read the citations in the query, separated by commas."""
    given = [rule.strip() for rule in (text(request, "rules") or "").split(",") if rule.strip()]
    if len(given) > MOST_RULES:
        raise InputError(f"rules: are more than {MOST_RULES}; name only the relevant ones.")
    if unknown := [rule for rule in given if not is_rule(rule)]:
        raise InputError(f"rules: {unknown[0]!r:.60} is not a known rule; write it as rws-tai-sai-v6#5.1.2.")
    return given


def precedent_words(request: Request, account: str) -> str:
    """Return the words of the question; the account of the incident where none are given."""
    given = text(request, "words")
    if given is not None and len(given) > LONGEST_WORDS:
        raise InputError(f"words: are more than {LONGEST_WORDS} characters; shorten them.")
    return account if given is None else given


# --- Discretion ------------------------------------------------------------------------------------


class DiscretionList(GatedView):
    @operations.discretion_list
    def get(self, request: Request) -> Response:
        authorize(self.actor, "discretion.view")
        allowed(request, "table", *PERIOD, *PAGES)
        found = visible(self.actor, Discretion.objects.select_related("casino", "table", "incident", "round__table"))
        if (code := text(request, "table")) is not None:
            found = found.filter(table=table_key(code))
        if (days := period(request)) != ALWAYS:
            found = found.filter(days.within(casinos_of(self.actor), "at"))
        pages = DiscretionPages()
        page = pages.paginate_queryset(found.order_by("-at", "-pk"), request, view=self) or []
        return pages.get_paginated_response([discretion_document(discretion) for discretion in page])


class IncidentDiscretions(GatedView):
    @operations.discretion_add
    def post(self, request: Request, number: str) -> Response:
        allowed(request, "casino")
        incident = incident_of(self.actor, number, request)
        authorize(self.actor, "discretion.add", incident)
        values = read_discretion(self.actor, incident, request.data)
        record = discretion_record(actor=self.actor, incident=incident, **values)
        return Response(discretion_document(record), status=status.HTTP_201_CREATED)
