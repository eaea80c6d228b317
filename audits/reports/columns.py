"""Columns that several reports have, and short ways to write others."""

from audits.exports.document import Column, ColumnKind

CASINO = Column("casino", "Casino", width=8)
PIT = Column("pit", "Pit", width=7)
INCIDENT = Column("incident", "Incident", width=15)
CONFIDENTIAL = Column("confidential", "Confidential", ColumnKind.YES_NO, width=12)


def moment_column(name: str, title: str) -> Column:
    return Column(name, title, ColumnKind.MOMENT, width=19)


def text_column(name: str, title: str, width: int = 30) -> Column:
    """A column of sentences."""
    return Column(name, title, width=width)


def person_column(name: str, title: str) -> Column:
    """A column of people: number and name, with the post where the record keeps it."""
    return Column(name, title, width=26)


def list_column(name: str, title: str, width: int = 18) -> Column:
    return Column(name, title, ColumnKind.LIST, width=width)
