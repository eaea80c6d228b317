"""Search in log entries, incidents and notes; and advice without opening an incident."""

from rest_framework.request import Request
from rest_framework.response import Response

from audits.api import operations
from audits.incidents.advice import advice_on
from audits.incidents.parser import LONGEST_QUERY, read_advice_question
from audits.incidents.search import search
from audits.incidents.serializers import hit_document
from audits.incidents.situations import verify_situation
from games.access.gate import authorize
from games.access.services.access_records import confidential_read, words_searched
from games.api.query_parameters import allowed, text
from games.api.views import GatedView
from games.engine.errors import InputError


class Search(GatedView):
    @operations.search
    def get(self, request: Request) -> Response:
        authorize(self.actor, "incident.view")
        allowed(request, "q")
        words = text(request, "q") or ""
        if not words.strip() or len(words) > LONGEST_QUERY:
            raise InputError(f"q: needs words to search for, at most {LONGEST_QUERY} characters.")
        words_searched(self.actor, words)
        hits = search(self.actor, words)
        confidential_read(self.actor, [hit.thing for hit in hits])
        return Response({"results": [hit_document(hit) for hit in hits]})


class Advice(GatedView):
    @operations.advice
    def post(self, request: Request) -> Response:
        """Answer with the advice as it would be kept with an incident; nothing is written."""
        authorize(self.actor, "incident.view")
        allowed(request)
        question = read_advice_question(self.actor, request.data)
        authorize(self.actor, "incident.view", question.table)
        verify_situation(question.situation, question.facts)
        return Response(advice_on(question))
