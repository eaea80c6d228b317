"""Columns that several reports share, and functions that make others."""

from audits.exports.document import Column, ColumnKind

CASINO = Column("casino", "Casino", width=8)
PIT = Column("pit", "Pit", width=7)
INCIDENT = Column("incident", "Incident", width=15)
CONFIDENTIAL = Column("confidential", "Confidential", ColumnKind.YES_NO, width=12)


def moment_column(name: str, title: str) -> Column:
    """Return a column of dates with times."""
    return Column(name, title, ColumnKind.MOMENT, width=19)


def text_column(name: str, title: str, width: int = 30) -> Column:
    """Return a column of sentences."""
    return Column(name, title, width=width)


def person_column(name: str, title: str) -> Column:
    """Return a column of people: number and name, with the post if the record has it."""
    return Column(name, title, width=26)


def list_column(name: str, title: str, width: int = 18) -> Column:
    """Return a column of lists."""
    return Column(name, title, ColumnKind.LIST, width=width)
