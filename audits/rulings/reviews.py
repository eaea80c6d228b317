"""Standing interpretations to be looked at again: since they were made, tables play by another document."""

from collections import defaultdict
from dataclasses import dataclass
from typing import Any

from django.db.models import QuerySet
from django.utils import timezone

from audits.models import Ruling, RulingReview, Scope
from games.models import TableAssignment
from games.services.gate import visible


@dataclass(frozen=True)
class ToReview:
    ruling: Ruling
    rulebook: str  # the new one
    tables: tuple[str, ...]  # that went from the old one to it


def standing(actor: Any) -> QuerySet[Ruling]:
    """The interpretations that hold, or will."""
    held = Ruling.objects.filter(scope=Scope.STANDING, is_withdrawal=False, replaced_by=None)
    return visible(actor, held).select_related("casino", "table", "incident")


def to_review(actor: Any) -> list[ToReview]:
    """A table that went from one document to another puts the interpretations of the first to review."""
    held = list(standing(actor).order_by("made_at", "pk"))
    moves = _moves({one.casino_id for one in held})
    done = set(RulingReview.objects.filter(ruling__in=held).values_list("ruling", "rulebook"))
    found = []
    for ruling in held:
        tables: dict[str, list[str]] = defaultdict(list)
        for casino_id, before, after, starts_at, code in moves:
            if (casino_id, before) == (ruling.casino_id, ruling.rulebook) and starts_at > ruling.made_at:
                tables[after].append(code)
        found += [
            ToReview(ruling, after, tuple(sorted(set(codes))))
            for after, codes in tables.items()
            if (ruling.pk, after) not in done
        ]
    return found


def _moves(casinos: set[int]) -> list[tuple[int, str, str, Any, str]]:
    """Every change of document that has come into force: casino, from which, to which, when, at which table."""
    rows = TableAssignment.objects.filter(casino__in=casinos, during__startswith__lte=timezone.now())
    moves: list[tuple[int, str, str, Any, str]] = []
    last: dict[int, str] = {}
    for one in rows.select_related("table").order_by("table", "during"):
        before = last.get(one.table_id)
        if before is not None and before != one.rulebook:
            moves.append((one.casino_id, before, one.rulebook, one.starts_at, one.table.code))
        last[one.table_id] = one.rulebook
    return moves
