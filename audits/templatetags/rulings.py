"""Rulings on pages of the game: what was decided about a round, as far as the reader may see it."""

from typing import Any

from django import template

from audits.findings import labels
from audits.models import Correction, Ruling
from audits.rulings.presenters import changes, ruling_rows
from games.access.gate import can, visible
from games.models import Round

register = template.Library()


@register.filter
def without_sign(amount: int) -> str:
    return labels.money(abs(amount))


@register.simple_tag(takes_context=True)
def decided_about(context: dict[str, Any], round_: Round) -> dict[str, Any]:
    """The corrections of a round, the first one first, and the rulings on its incidents."""
    user = context["request"].user
    corrections = Correction.objects.filter(round=round_).select_related("consequence__ruling", "round")
    rulings = Ruling.objects.with_state().filter(incident__rounds__round=round_).select_related("replaced_by")
    return {
        "corrections": [
            (found, changes(found))
            for found in corrections.order_by("ordinal")
            if can(user, "consequence.view", found.consequence)
        ],
        "rulings": ruling_rows(visible(user, rulings).defer("search").distinct().order_by("made_at", "pk")),
    }
