"""Find rulings by their numbers."""

from typing import Any

from audits.incidents.search import numbered
from audits.models import Ruling
from audits.rulings.precedents import SHOWN, UNREAD
from audits.rulings.selectors import NUMBER


def rulings_numbered(actor: Any, number: str, casino: str | None = None) -> list[Ruling]:
    """Return the rulings with this number; group staff, who belong to no single casino, may find several."""
    rulings = Ruling.objects.select_related(*SHOWN, "follows", "departs_from").defer(*UNREAD)
    return numbered(actor, rulings, NUMBER.fullmatch(number), casino)
