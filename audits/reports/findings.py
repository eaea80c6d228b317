"""What the reports of findings share: which findings, in which order, and the columns that frame a row."""

from collections.abc import Iterator
from typing import Any

from django.db.models.functions import Coalesce

from audits.models import Category, Finding
from audits.reports import Asked, Row
from games.engine.money import format_money
from games.services.gate import within_reach

FIRST, LAST = ("round_ref", "table"), ("source",)
CHUNK = 2000


def found(category: Category, asked: Asked) -> Iterator[Finding]:
    """Those that stand, in order of the round's start, then its ref, then as the engine lists them."""
    wanted = Finding.objects.filter(
        category=category, lapsed_at=None, gaming_day__gte=asked.first, gaming_day__lte=asked.last
    )
    if asked.table is not None:
        wanted = wanted.filter(table=asked.table)
    wanted = within_reach(asked.actor, "report.export", wanted)
    ref = Coalesce("round__ref", "live_round__ref")
    source = Coalesce("round__source", "live_round__source")
    ordered = wanted.order_by("round_started_at", ref, source, "ordinal", "pk")
    return ordered.select_related("round", "live_round", "table").defer(*_heavy()).iterator(CHUNK)


def _heavy() -> list[str]:
    names = ("events", "players", "boxes", "stakes", "nets", "nets_given", "placed_at", "late", "refused")
    return [f"round__{name}" for name in names]


def framed(one: Finding, **columns: Any) -> Row:
    return {"round_ref": one.round_ref, "table": one.table.code, **columns, "source": one.source}


def money(amount: int | None) -> str | None:
    return None if amount is None else format_money(amount)
