"""Corrective actions: ordered, executed or declined by a second person, and paid."""

from rest_framework import status
from rest_framework.request import Request
from rest_framework.response import Response

from audits.api.lookup import consequence_of, incident_of, repayment_of
from audits.models import Consequence, Repayment
from audits.rulings.api import operations
from audits.rulings.parser import OrderRequest, read_mark, read_order, read_reason
from audits.rulings.serializers import consequence_document, repayment_document
from audits.rulings.services.corrective_actions import (
    affected_void,
    consequence_decline,
    consequence_execute,
    repayment_mark,
    result_amend,
    round_settle,
    rounds_void,
    table_suspend_for,
)
from audits.rulings.services.discretions import discretion_settle
from games.access.gate import authorize
from games.api.query_parameters import allowed
from games.api.views import GatedView
from games.models import Staff

Kind = Consequence.Kind


class IncidentConsequences(GatedView):
    @operations.consequence_order
    def post(self, request: Request, number: str) -> Response:
        """Order a corrective action; `state` says whether it is executed or waits for a second person."""
        allowed(request, "casino")
        incident = incident_of(self.actor, number, request)
        authorize(self.actor, "consequence.void", incident)  # whoever may order anything may do this at least
        made = ordered(self.actor, read_order(self.actor, incident, request.data))
        document = consequence_document(self.actor, consequence_of(self.actor, made.pk))
        return Response(document, status=status.HTTP_201_CREATED)


def ordered(actor: Staff, order: OrderRequest) -> Consequence:
    """Order a corrective action by the service of its kind."""
    round_ = order.rounds[0] if order.rounds else None
    match order.kind:
        case Kind.VOID:
            return rounds_void(actor=actor, basis=order.basis, rounds=order.rounds, reason=order.reason)
        case Kind.VOID_AFFECTED:
            return affected_void(
                actor=actor, basis=order.basis, reason=order.reason, narrowed=order.narrowed
            )  # fmt: skip
        case Kind.SETTLEMENT if round_ is not None:
            return round_settle(
                actor=actor, basis=order.basis, round=round_, reason=order.reason, dice=order.dice, nets=order.nets
            )
        case Kind.DISCRETION if order.basis.discretion is not None:
            return discretion_settle(
                actor=actor, discretion=order.basis.discretion, nets=order.nets, reason=order.reason, round=round_
            )
        case Kind.RESULT if order.dice is not None:
            return result_amend(
                actor=actor, basis=order.basis, dice=order.dice, reason=order.reason, live=order.live, round=round_
            )
        case Kind.SUSPENSION:
            return table_suspend_for(actor=actor, basis=order.basis, reason=order.reason)
    raise AssertionError(order.kind)  # the parser has refused all other kinds


class ConsequenceDetail(GatedView):
    @operations.consequence_read
    def get(self, request: Request, key: int) -> Response:
        consequence = consequence_of(self.actor, key)
        allowed(request)
        return Response(consequence_document(self.actor, consequence))


class ConsequenceExecute(GatedView):
    @operations.consequence_execute
    def post(self, request: Request, key: int) -> Response:
        consequence = consequence_of(self.actor, key)
        authorize(self.actor, "consequence.order", consequence.incident)
        allowed(request)
        reason = read_reason(self.actor, request.data)
        consequence_execute(actor=self.actor, consequence=consequence, reason=reason)
        return Response(consequence_document(self.actor, consequence_of(self.actor, key)))


class ConsequenceDecline(GatedView):
    @operations.consequence_decline
    def post(self, request: Request, key: int) -> Response:
        consequence = consequence_of(self.actor, key)
        authorize(self.actor, "consequence.order", consequence.incident)
        allowed(request)
        reason = read_reason(self.actor, request.data)
        consequence_decline(actor=self.actor, consequence=consequence, reason=reason)
        return Response(consequence_document(self.actor, consequence_of(self.actor, key)))


class RepaymentMarks(GatedView):
    @operations.repayment_mark
    def post(self, request: Request, key: int) -> Response:
        """Mark a refund or recovery; answer with it and all its marks."""
        repayment = repayment_of(self.actor, key)
        incident = repayment.consequence.incident
        authorize(self.actor, "repayment.mark", incident)
        allowed(request)
        what, note = read_mark(self.actor, request.data)
        repayment_mark(actor=self.actor, repayment=repayment, what=what, note=note)
        marked = Repayment.objects.prefetch_related("marks").get(pk=key)
        return Response(repayment_document(marked, incident.casino), status=status.HTTP_201_CREATED)
