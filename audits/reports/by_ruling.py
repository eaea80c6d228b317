"""Bets that a ruling or discretion settled otherwise than the rules alone would."""

from collections.abc import Iterator

from audits.models import Category
from audits.reports import Asked, Row
from audits.reports.findings import FIRST, LAST, found, framed, money

COLUMNS = (*FIRST, "kind", "player", "box", "stake", "rules_net", "decided_net", "decision", "rules", *LAST)


def rows(asked: Asked) -> Iterator[Row]:
    for one in found(Category.BY_RULING, asked):
        *rules, decision = one.rules
        yield framed(
            one, kind=one.kind, player=one.player, box=one.boxes[0], stake=money(one.stake),
            rules_net=money(one.expected), decided_net=money(one.recorded), decision=decision, rules=rules,
        )  # fmt: skip
