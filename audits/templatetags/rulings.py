"""Rulings on the pages of rounds, and names of readings."""

from typing import Any

from django import template

from audits.models import Correction, Ruling
from audits.rulings import labels
from audits.rulings.presenters import changes, ruling_rows
from games.access.gate import can, visible
from games.labels.money import money_label
from games.models import Round

register = template.Library()


@register.filter
def without_sign(amount: int) -> str:
    """Write an amount without its sign."""
    return money_label(abs(amount))


@register.filter
def reading_name(name: str) -> str:
    """Name a reading: `Excess in proportion` for `excess-in-proportion`."""
    return labels.reading_label(name)


@register.filter
def mark_name(what: str) -> str:
    """Name a mark on a refund or recovery: `Patron informed` for `told`."""
    return labels.MARKS[what]


@register.simple_tag(takes_context=True)
def decided_about(context: dict[str, Any], round_: Round) -> dict[str, Any]:
    """Return the visible corrections of a round, the oldest first, and the visible rulings on its incidents."""
    user = context["request"].user
    corrections = Correction.objects.filter(round=round_).select_related("consequence__ruling", "round")
    rulings = Ruling.objects.filter(incident__rounds__round=round_).select_related("replaced_by").defer("search")
    return {
        "corrections": [
            (correction, changes(correction))
            for correction in corrections.order_by("ordinal")
            if can(user, "consequence.view", correction.consequence)
        ],
        "rulings": ruling_rows(visible(user, rulings).distinct().order_by("made_at", "pk")),
    }
