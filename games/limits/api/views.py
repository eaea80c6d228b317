"""Limit proposals: read, propose, approve, reject and withdraw."""

from collections.abc import Callable
from typing import Any

from django.http import Http404
from drf_spectacular.utils import extend_schema_view
from rest_framework import status
from rest_framework.request import Request
from rest_framework.response import Response

from games.access.gate import authorize
from games.api import operations
from games.api.query_parameters import PAGES, allowed, choice, text
from games.api.views import GatedView, Pages
from games.engine.json_input import InputFaults
from games.limits.serializers import (
    KNOWN,
    STATES,
    changes_document,
    proposal_document,
    proposals_seen,
    propose,
    read_removals,
)
from games.limits.services.proposals import limits_approve, limits_reject, limits_withdraw
from games.models import LimitProposal


class ProposalList(GatedView):
    @operations.proposal_list
    def get(self, request: Request) -> Response:
        authorize(self.actor, "limitproposal.view")
        allowed(request, "state", "table", *PAGES)
        proposals = proposals_seen(self.actor, choice(request, "state", STATES))
        if (code := text(request, "table")) is not None:
            proposals = proposals.filter(tables__code=code)
        pages = Pages()
        page = pages.paginate_queryset(proposals, request, view=self) or []
        return pages.get_paginated_response([proposal_document(proposal) for proposal in page])

    @operations.proposal_add
    def post(self, request: Request) -> Response:
        """Propose limits for one table or several of a pit. If `from` is left out, they start once approved."""
        authorize(self.actor, "limits.propose")
        allowed(request)
        return Response(answer(propose(self.actor, request.data)), status=status.HTTP_201_CREATED)


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
    fields: tuple[str, ...] = ("reason",)
    action: str
    decide: Callable[..., Any]

    def post(self, request: Request, key: int) -> Response:
        proposal = self.proposal(key)
        authorize(self.actor, self.action, proposal)  # before reading the body: its faults would name tables
        allowed(request)
        faults = InputFaults()
        entry = faults.table(request.data, "", self.fields)
        faults.required(entry, "", "reason")
        if "reason" in entry and not isinstance(entry["reason"], str):
            faults.add("reason", "is not a text; write it in quotes.")
        codes = [sign.table.code for sign in proposal.signs.all()]
        remove = read_removals(faults, entry.get("remove", []), codes)
        faults.done()
        self.take(proposal, entry["reason"].replace("\x00", ""), remove)
        return Response(answer(self.proposal(key)))

    def take(self, proposal: LimitProposal, reason: str, remove: dict[str, list[str]]) -> None:
        type(self).decide(actor=self.actor, proposal=proposal, reason=reason)


@extend_schema_view(post=operations.proposal_approve)
class ProposalApproval(ProposalDecision):
    """Approve; `remove` names every limit to be removed, table by table."""

    fields = ("reason", "remove")
    action = "limits.approve"

    def take(self, proposal: LimitProposal, reason: str, remove: dict[str, list[str]]) -> None:
        limits_approve(actor=self.actor, proposal=proposal, reason=reason, remove=remove)


@extend_schema_view(post=operations.proposal_reject)
class ProposalRejection(ProposalDecision):
    action = "limits.reject"
    decide = staticmethod(limits_reject)


@extend_schema_view(post=operations.proposal_withdraw)
class ProposalWithdrawal(ProposalDecision):
    action = "limits.withdraw"
    decide = staticmethod(limits_withdraw)


def answer(proposal: LimitProposal) -> dict[str, Any]:
    """Describe a proposal with what it changes and, while it is pending, what changed since."""
    return proposal_document(proposal) | changes_document(proposal)
