"""Rulings by their numbers."""

from typing import Any

from audits.incidents.search import numbered
from audits.models import Ruling
from audits.rulings.precedents import SHOWN, UNREAD
from audits.rulings.selectors import NUMBER


def rulings_numbered(actor: Any, number: str, casino: str | None = None) -> list[Ruling]:
    """As with files: one, perhaps several for people of no single casino, or none at all."""
    rulings = Ruling.objects.with_state().select_related(*SHOWN, "follows", "departs_from").defer(*UNREAD)
    return numbered(actor, rulings, NUMBER.fullmatch(number), casino)
