"""Checks of the procedure that a round did not pass, each with the rule that it guards."""

from collections.abc import Iterator

from audits.models import Category
from audits.reports import Asked, Row
from audits.reports.findings import FIRST, LAST, found, framed

COLUMNS = (*FIRST, "kind", "rule", "detail", *LAST)


def rows(asked: Asked) -> Iterator[Row]:
    for one in found(Category.PROCEDURAL, asked):
        yield framed(one, kind=one.kind, rule=one.rule, detail=one.detail)
