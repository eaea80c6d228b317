"""What is known to be wrong with a round, as the rows of the reports; and the sentences that they say."""

from dataclasses import dataclass, field
from typing import Any

Row = dict[str, Any]

TURNED = "The tumbler turned {} times."
NOT_ACTIVATED = "The tumbler was not activated."
TUMBLER_EARLY = "The tumbler ran before betting was closed."
EXPOSED_EARLY = "The dice were seen before betting was closed."
NOT_FLAT = "A die did not rest flat."
INTERRUPTED = "Interrupted with dice known: {}."
AMENDED_BEFORE = "Amended before settlement."
AMENDED_AFTER = "Amended after settlement."
VOIDED = "Voided at the table."
VOIDED_BY_RULING = "Voided by a ruling."
VOIDED_UNDER = "Voided under {}."
MINIMUMS = "The minimums of a box are more than it may hold."
UNFINISHED = "The round has no result, or was not settled."


@dataclass
class Findings:
    """Rows of the three reports, each in the order in which its report lists them."""

    discrepancies: list[Row] = field(default_factory=list)
    breaches: list[Row] = field(default_factory=list)
    irregularities: list[Row] = field(default_factory=list)

    def add(self, other: "Findings") -> None:
        self.discrepancies += other.discrepancies
        self.breaches += other.breaches
        self.irregularities += other.irregularities

    def __bool__(self) -> bool:
        return bool(self.discrepancies or self.breaches or self.irregularities)


def discrepancy_kind(due: int, net: int) -> str:
    """What to call it that a player got, or gave, another amount than was due."""
    if due == 0:
        return "void-not-returned"
    if due > 0:
        return "overpaid" if net > due else "underpaid" if net > 0 else "unpaid-winner"
    return "paid-loser" if net > 0 else "over-collected" if net < due else "not-collected"
