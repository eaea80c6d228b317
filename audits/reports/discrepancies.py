"""Bets that were paid, or taken, otherwise than the rules say."""

from collections.abc import Iterator

from audits.models import Category
from audits.reports import Asked, Row
from audits.reports.findings import FIRST, LAST, found, framed, money

COLUMNS = (*FIRST, "kind", "player", "box", "stake", "expected_net", "recorded_net", "rules", *LAST)


def rows(asked: Asked) -> Iterator[Row]:
    for one in found(Category.DISCREPANCY, asked):
        yield framed(
            one, kind=one.kind, player=one.player, box=one.boxes[0], stake=money(one.stake),
            expected_net=money(one.expected), recorded_net=money(one.recorded), rules=one.rules,
        )  # fmt: skip
