"""Find rulings, and corrective actions that wait. Every query is answered from an index; nothing is counted."""

import re
from dataclasses import dataclass
from typing import Any

from django.db.models import Exists, OuterRef, Q, QuerySet, Subquery
from django.utils import timezone

from audits.incidents.search import ALWAYS, SearchPeriod, by_words, casinos_of, table_key
from audits.models import Consequence, Repayment, RepaymentMark, Ruling
from games.access.gate import visible

#: The states by which the register is filtered.
STATES = ("in-force", "superseded", "withdrawn")
NUMBER = re.compile(r"RU-(\d{4})-(\d{6,9})", re.ASCII | re.IGNORECASE)


@dataclass(frozen=True)
class RulingFilter:
    """A filter on rulings; every part is optional. A text that is a number finds the ruling of that number."""

    kind: str = ""
    scope: str = ""
    state: str = ""  # in-force, superseded, withdrawn
    rulebook: str = ""
    situation: str = ""
    table: str = ""
    period: SearchPeriod = ALWAYS
    text: str = ""


def rulings_found(actor: Any, wanted: RulingFilter) -> QuerySet[Ruling]:
    """Return the visible rulings that match, the newest first."""
    with_all = Ruling.objects.select_related("casino", "pit", "table", "incident", "replaces", "replaced_by")
    rulings = visible(actor, with_all)
    same = {name: getattr(wanted, name) for name in ("kind", "scope", "rulebook", "situation")}
    rulings = rulings.filter(**{name: value for name, value in same.items() if value})
    if wanted.state:
        rulings = rulings.filter(_in_state(wanted.state))
    if wanted.table:
        rulings = rulings.filter(table=table_key(wanted.table))
    if wanted.period != ALWAYS:
        rulings = rulings.filter(wanted.period.within(casinos_of(actor), "made_at"))
    if wanted.text.strip():
        rulings = rulings.filter(_by_text(wanted.text))
    return rulings.defer("search").order_by("-made_at", "-pk")


def _in_state(state: str) -> Q:
    """One that another takes the place of only later on is in force until then, and superseded all the same."""
    match state:
        case "in-force":
            later = Ruling.objects.filter(replaces=OuterRef("pk"))
            begun = later.filter(Q(effective_from=None) | Q(effective_from__lte=timezone.now()))
            return Q(~Exists(begun), is_withdrawal=False)  # asked of each row of a page, not of all first
        case "superseded":
            return Q(replaced_by__is_withdrawal=False)
        case "withdrawn":
            return Q(replaced_by__is_withdrawal=True)
    return Q(pk__in=[])


def _by_text(text: str) -> Q:
    if number := NUMBER.fullmatch(text.strip()):
        return Q(year=int(number[1]), serial=int(number[2]))
    return Q(search=by_words(text))


# --- What waits ---------------------------------------------------------------------------------------


def consequences_waiting(actor: Any) -> QuerySet[Consequence]:
    """Return the visible corrective actions that wait for a second person, the oldest first."""
    waiting = Consequence.objects.filter(decision=None).select_related("incident", "ruling")
    return visible(actor, waiting).order_by("at", "pk")


def repayments_open(actor: Any) -> QuerySet[Repayment]:
    """Return the visible refunds and recoveries that are not paid by their last mark, the oldest first."""
    found = visible(actor, Repayment.objects.select_related("consequence__incident"))
    return unpaid(found).order_by("consequence__at", "pk")


def unpaid(repayments: QuerySet[Repayment]) -> QuerySet[Repayment]:
    """Return the refunds and recoveries that are not paid by their last mark."""
    paid, not_paid = RepaymentMark.What.PAID, RepaymentMark.What.NOT_PAID
    marks = RepaymentMark.objects.filter(repayment=OuterRef("pk"), what__in=[paid, not_paid]).order_by("-at", "-pk")
    marked = repayments.annotate(last_mark=Subquery(marks.values("what")[:1]))
    return marked.filter(Q(last_mark=None) | Q(last_mark=not_paid))
