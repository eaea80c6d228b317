"""Find records by number. A confidential record is missing for those who may not see it; the denial is on record."""

from typing import TypeVar

from django.db.models import Model, QuerySet
from django.http import Http404
from rest_framework.request import Request

from audits.incidents.search import incidents_numbered
from audits.models import Consequence, Evidence, Incident, LogEntry, Repayment, Ruling
from audits.rulings.numbers import rulings_numbered
from games.access.gate import authorize, can_be_confidential, visible_or_none
from games.api.query_parameters import text
from games.engine.errors import InputError
from games.models import Staff

M = TypeVar("M", bound=Model)


def entry_of(actor: Staff, key: int) -> LogEntry:
    """Return a log entry; 404 or a denial if there is none or the actor may not see it."""
    entries = LogEntry.objects.select_related("casino", "pit", "table", "author", "addendum_to")
    return keyed(actor, key, entries, f"There is no log entry {key}.")


def evidence_of(actor: Staff, key: int) -> Evidence:
    """Return a piece of evidence; 404 or a denial if there is none or the actor may not see it."""
    evidence = Evidence.objects.select_related("casino", "pit", "incident__casino", "entry").prefetch_related("custody")
    return keyed(actor, key, evidence, f"There is no evidence {key}.")


def keyed(actor: Staff, key: int, records: QuerySet[M], missing: str) -> M:
    found = records.filter(pk=key).first()
    if can_be_confidential(records.model):
        found = visible_or_none(actor, records.model, found)
    if found is None:
        raise Http404(missing)
    authorize(actor, f"{found._meta.model_name}.view", found)
    return found


def consequence_of(actor: Staff, key: int) -> Consequence:
    consequences = Consequence.objects.select_related("incident__casino", "incident__pit", "ruling", "decision")
    return keyed(actor, key, consequences, f"There is no corrective action {key}.")


def repayment_of(actor: Staff, key: int) -> Repayment:
    repayments = Repayment.objects.select_related("consequence__incident__casino")
    return keyed(actor, key, repayments, f"There is no refund or recovery {key}.")


# --- By a number of a casino's year ----------------------------------------------------------------


def incident_of(actor: Staff, number: str, request: Request) -> Incident:
    """Return an incident by its number, in the actor's casino; group staff may have to name the casino."""
    return only(actor, incidents_numbered(actor, number, text(request, "casino")), "incident", number)


def ruling_of(actor: Staff, number: str, request: Request) -> Ruling:
    """Return a ruling by its number, in the actor's casino; group staff may have to name the casino."""
    return only(actor, rulings_numbered(actor, number, text(request, "casino")), "ruling", number)


def only(actor: Staff, found: list[M], name: str, number: str) -> M:
    """Return the only record found, if the actor may see it."""
    match found:
        case [record]:
            authorize(actor, f"{name}.view", record)
            return record
        case []:
            raise Http404(f"There is no {name} {number[:40]}; check the number.")
        case _:
            raise InputError(f"casino: several casinos have {name} {number}; choose with ?casino=CODE.")
