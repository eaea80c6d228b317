"""Limit proposals: to read, to propose, to approve, to reject and to take back."""

import datetime as dt
from collections.abc import Callable
from functools import cache
from typing import Any

from django.http import Http404
from drf_spectacular.utils import extend_schema_view
from rest_framework import status
from rest_framework.request import Request
from rest_framework.response import Response

from games.api import operations
from games.api.documents import difference_document, proposal_document
from games.api.query import PAGES, allowed, choice, text
from games.api.schemas import PROPOSAL_STATES
from games.api.views import GatedView, Pages
from games.engine.errors import InputError
from games.engine.limits import Limits
from games.engine.loader import rulebooks
from games.engine.requests import Faults, read_differential, read_ranges, shown_key
from games.models import LimitProposal, Staff, Table
from games.moments import MomentError, parse_moment
from games.services.gate import authorize, visible
from games.services.limits import limits_approve, limits_propose, limits_reject, limits_withdraw

FIELDS = ("tables", "from", "correction", "boxes", "differential", "reason")
STATES = tuple(PROPOSAL_STATES)
KNOWN = LimitProposal.objects.select_related(
    "casino", "pit", "sheet", "proposed_by", "decision__decided_by"
).prefetch_related("tables", "sheet__lines", "sheet__differentials")


class ProposalList(GatedView):
    @operations.proposal_list
    def get(self, request: Request) -> Response:
        authorize(self.actor, "limitproposal.view")
        allowed(request, "state", "table", *PAGES)
        proposals = visible(self.actor, KNOWN.all())
        if (state := choice(request, "state", STATES)) is not None:
            proposals = (
                proposals.filter(decision=None) if state == "pending" else proposals.filter(decision__outcome=state)
            )
        if (code := text(request, "table")) is not None:
            proposals = proposals.filter(tables__code=code)
        pages = Pages()
        page = pages.paginate_queryset(proposals, request, view=self) or []
        return pages.get_paginated_response([proposal_document(one) for one in page])

    @operations.proposal_add
    def post(self, request: Request) -> Response:
        """One table or several of a pit. Money and moments as in the contract; `from` left out: as soon as approved."""
        authorize(self.actor, "limits.propose")
        allowed(request)
        tables, limits, starts_at, correction, reason = read_proposal(request.data)
        proposal = limits_propose(
            actor=self.actor, tables=tables, limits=limits, starts_at=starts_at, is_correction=correction, reason=reason
        )
        return Response(answer(proposal), status=status.HTTP_201_CREATED)


def read_proposal(data: object) -> tuple[list[Table], Limits, dt.datetime | None, bool, str]:
    """Every fault at once, with its field."""
    faults = Faults()
    if not isinstance(data, dict):
        raise InputError("The input is not a JSON object; write it as {…}.")
    entry = faults.table(data, "", FIELDS)
    faults.required(entry, "", "tables", "boxes", "reason")
    codes = entry.get("tables", [])
    if not isinstance(codes, list) or not all(isinstance(code, str) for code in codes):
        faults.add("tables", 'is not a list of table codes; write it as ["TS-01"].')
        codes = []
    tables = {table.code: table for table in Table.objects.select_related("casino").filter(code__in=_plain(codes))}
    for code in codes:
        if code not in tables:
            faults.add("tables", f"there is no table {code!r:.40}; check the code.")
    _verify_keys(faults, entry)
    limits = Limits(
        read_ranges(faults, entry.get("boxes", {}), "boxes"), read_differential(faults, entry.get("differential", {}))
    )
    starts_at = _moment(faults, entry.get("from"))
    if not isinstance(entry.get("correction", False), bool):
        faults.add("correction", "is neither true nor false; write one of them.")
    if not isinstance(entry.get("reason", ""), str):
        faults.add("reason", "is not a text; write it in quotes.")
    faults.done()
    reason = entry["reason"].replace("\x00", "")
    return list(tables.values()), limits, starts_at, entry.get("correction", False), reason


def _verify_keys(faults: Faults, entry: dict[str, Any]) -> None:
    """What no layout has is a slip, also where its limit is null; whether it is on this layout, the service asks."""
    for where, known in known_keys().items():
        given = entry.get(where)
        for key in given if isinstance(given, dict) else ():
            if key not in known:
                faults.add(f"{where}.{shown_key(key)}", "is known in no rulebook; check its spelling.")


@cache
def known_keys() -> dict[str, frozenset[str]]:
    """The bet types and boxes of all layouts, and the bet types that may have a differential."""
    books = rulebooks().values()
    layouts = [layout for book in books for layout in book.layouts.values()]
    return {
        "boxes": frozenset(key for layout in layouts for key in (*layout.types, *layout.boxes)),
        "differential": frozenset(key for book in books for key in book.limits.differential),
    }


def _plain(codes: list[str]) -> list[str]:
    return [code for code in codes if "\x00" not in code]  # PostgreSQL holds no NUL


def _moment(faults: Faults, value: object) -> dt.datetime | None:
    if value is None:
        return None
    try:
        return parse_moment(value)
    except MomentError as error:
        faults.add("from", f"{error}.")
        return None


class ProposalDetail(GatedView):
    @operations.proposal_read
    def get(self, request: Request, key: int) -> Response:
        proposal = self.proposal(key)
        authorize(self.actor, "limitproposal.view", proposal)
        allowed(request)
        return Response(answer(proposal))

    def proposal(self, key: int) -> LimitProposal:
        proposal = KNOWN.filter(pk=key).first()
        if proposal is None:
            raise Http404(f"There is no proposal {key}.")
        return proposal


class ProposalDecision(ProposalDetail):
    """POST with a reason; the address says which decision."""

    http_method_names = ["post", "options"]
    decide: Callable[..., Any]

    def post(self, request: Request, key: int) -> Response:
        proposal = self.proposal(key)
        allowed(request)
        faults = Faults()
        entry = faults.table(request.data, "", ("reason",))
        faults.required(entry, "", "reason")
        if "reason" in entry and not isinstance(entry["reason"], str):
            faults.add("reason", "is not a text; write it in quotes.")
        faults.done()
        self.take(self.actor, proposal, entry["reason"].replace("\x00", ""))
        return Response(answer(self.proposal(key)))

    def take(self, actor: Staff, proposal: LimitProposal, reason: str) -> None:
        type(self).decide(actor=actor, proposal=proposal, reason=reason)


@extend_schema_view(post=operations.proposal_approve)
class ProposalApproval(ProposalDecision):
    decide = staticmethod(limits_approve)


@extend_schema_view(post=operations.proposal_reject)
class ProposalRejection(ProposalDecision):
    decide = staticmethod(limits_reject)


@extend_schema_view(post=operations.proposal_withdraw)
class ProposalWithdrawal(ProposalDecision):
    decide = staticmethod(limits_withdraw)


def answer(proposal: LimitProposal) -> dict[str, Any]:
    """While it is pending, with what it would change."""
    document = proposal_document(proposal)
    return document | ({"changes": difference_document(proposal)} if proposal.state == "pending" else {})
