"""Rulings for API and commands: by their numbers, and the register by gaming days."""

from typing import Any

from django.db.models import QuerySet

from audits.incidents.searching import ALWAYS, Period, casinos_of, numbered
from audits.models import Ruling
from audits.rulings.lists import NUMBER, RulingFilter, rulings_found
from audits.rulings.precedents import SHOWN, UNREAD

#: By which the register is filtered.
STATES = ("in-force", "superseded", "withdrawn")


def rulings_numbered(actor: Any, number: str, casino: str | None = None) -> list[Ruling]:
    """As with files: one, perhaps several for people of no single casino, or none at all."""
    rulings = Ruling.objects.select_related(*SHOWN, "follows", "departs_from").defer(*UNREAD)
    return numbered(actor, rulings, NUMBER.fullmatch(number), casino)


def rulings_within(actor: Any, wanted: RulingFilter, period: Period) -> QuerySet[Ruling]:
    """Of the register, those of these gaming days, by each casino's own clock."""
    rulings = rulings_found(actor, wanted).select_related(*SHOWN).defer(*UNREAD)
    return rulings if period == ALWAYS else rulings.filter(period.within(casinos_of(actor), "made_at"))
