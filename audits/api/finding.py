"""Things by their numbers. What is confidential is not there for who may not see it; that he asked is on record."""

from typing import Any, TypeVar

from django.db.models import Model, QuerySet
from django.http import Http404
from rest_framework.request import Request

from audits.incidents.searching import incidents_numbered
from audits.models import Evidence, Incident, LogEntry
from games.api.query import text
from games.engine.errors import InputError
from games.models import Staff
from games.services.gate import authorize, can, deny, is_secret

M = TypeVar("M", bound=Model)


def entry_of(actor: Staff, key: int) -> LogEntry:
    entries = LogEntry.objects.select_related("casino", "pit", "table", "author", "addendum_to")
    return keyed(actor, key, entries, f"There is no log entry {key}.")


def evidence_of(actor: Staff, key: int) -> Evidence:
    evidence = Evidence.objects.select_related("casino", "pit", "incident__casino", "entry").prefetch_related("custody")
    return keyed(actor, key, evidence, f"There is no evidence {key}.")


def keyed(actor: Staff, key: int, records: QuerySet[M], missing: str) -> M:
    found = records.filter(pk=key).first()
    if found is None:
        raise Http404(missing)
    action = f"{found._meta.model_name}.view"
    if is_secret(found) and not can(actor, action, found):
        deny(actor, action, found)
        raise Http404(missing)
    authorize(actor, action, found)
    return found


def incident_of(actor: Staff, number: str, request: Request) -> Incident:
    """By its number, in one's own casino; people of no single casino may have to say in which."""
    casino: Any = text(request, "casino")
    match incidents_numbered(actor, number, casino):
        case [incident]:
            authorize(actor, "incident.view", incident)
            return incident
        case []:
            raise Http404(f"There is no incident {number[:40]}; check the number.")
        case _:
            raise InputError(f"casino: several casinos have an incident {number}; say which with ?casino=CODE.")
