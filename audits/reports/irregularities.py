"""What did not go as it should, each with its rule and what the rule asks for."""

from collections.abc import Iterator

from audits.models import Category
from audits.reports import Asked, Row
from audits.reports.findings import FIRST, LAST, found, framed

COLUMNS = (*FIRST, "rule", "action", "detail", *LAST)


def rows(asked: Asked) -> Iterator[Row]:
    for one in found(Category.IRREGULARITY, asked):
        yield framed(one, rule=one.rule, action=one.kind, detail=one.detail)
