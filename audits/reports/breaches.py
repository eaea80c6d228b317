"""Boxes, pairs of boxes and bets that were over or under a limit."""

from collections.abc import Iterator

from audits.models import Category
from audits.reports import Asked, Row
from audits.reports.findings import FIRST, LAST, found, framed, money

COLUMNS = (*FIRST, "kind", "boxes", "player", "placed", "permitted", "rules", *LAST)


def rows(asked: Asked) -> Iterator[Row]:
    for one in found(Category.BREACH, asked):
        yield framed(
            one, kind=one.kind, boxes=one.boxes, player=one.player, placed=money(one.placed),
            permitted=money(one.permitted), rules=one.rules,
        )  # fmt: skip
