"""What is known to be wrong with a round, as rows of the reports with their sentences."""

from dataclasses import dataclass, field
from typing import Any

Row = dict[str, Any]

TURNED = "The tumbler turned {} times."
NOT_ACTIVATED = "The tumbler was not activated."
TUMBLER_EARLY = "The tumbler ran before betting was closed."
EXPOSED_EARLY = "The dice were seen before betting was closed."
NOT_FLAT = "A die did not rest flat."
INTERRUPTED = "Interrupted with dice known: {}."
INTERRUPTED_AFTER = "Interrupted after the result."
AMENDED_BEFORE = "Amended before settlement."
AMENDED_AFTER = "Amended after settlement."
VOIDED = "Voided at the table."
VOIDED_BY_RULING = "Voided by a ruling."
VOIDED_UNDER = "Voided under {}."
VOIDED_TOO_LATE = "Voided under {} after settlement; the round was over."
WITHDRAWN_LATE = "{} {} withdrawn after no-more-bets"
MINIMUMS = "The minimums of a box are more than it may hold."
UNFINISHED = "The round has no result, or was not settled."

# --- Of the procedure ---
NO_TUMBLE = "Settled without a tumble of {} turns or more before the result."
MISPLACED = "The tumbler ran {}."
BEFORE_BETTING, WHILE_OPEN, WHEN_CLOSED = "before betting began", "while bets were open", "after betting was closed"
ONCE_MORE, AFTER_RESULT = "again after a valid tumble", "after the result"
SETTLED_FIRST = "Settled before the result was on record."
VOIDED_AFTERWARDS = "Voided under {} after the round was settled."
CONTRADICTED = "Known at the interruption, and not in the result: {}."
NO_AUTHORITY = "Voided by a ruling: {}."
NO_RULING = "no ruling on this round is on record"
NO_MANAGER = "{} was not a shift manager or above at that moment"
AMENDED_BY = "Amended by {}, not by a pit supervisor or above."
NO_NAME = "a person who is not named"
EARLY_BET = "{} {} was placed before betting began."
OVERLAP = "Began while {} ({}) was still on."
UNKNOWN = "{} {} is not on record."
WRONG_POST = "{} {} was not {} here at that moment."
CLOSED_FROM, SUSPENDED_FROM = "The table was closed from {}.", "The table was suspended from {}."
UNCHECKED = "The table was opened at {} without the signed opening checks of this rulebook."
NO_SIGN = "No sign with limits was on record for this table."
SIGN_LACKED = "The sign lacked {}."

#: The order of the procedural faults of one round; of people, the dealer comes first.
LISTED = (
    ("no-valid-tumble",), ("tumbler-out-of-order",), ("settled-before-result",), ("void-after-settlement",),
    ("dice-contradicted",), ("void-without-authority",), ("amendment-without-authority",), ("early-bet",), ("overlap",),
    ("unknown-staff", "wrong-post"), ("table-closed", "table-suspended"), ("sign-incomplete",),
)  # fmt: skip
PLACES = {kind: place for place, kinds in enumerate(LISTED) for kind in kinds}


@dataclass
class Findings:
    """Rows of the four reports, each in the order of its report."""

    discrepancies: list[Row] = field(default_factory=list)
    breaches: list[Row] = field(default_factory=list)
    irregularities: list[Row] = field(default_factory=list)
    procedural: list[Row] = field(default_factory=list)

    def add(self, other: "Findings") -> None:
        self.discrepancies += other.discrepancies
        self.breaches += other.breaches
        self.irregularities += other.irregularities
        self.procedural += other.procedural

    def __bool__(self) -> bool:
        return bool(self.discrepancies or self.breaches or self.irregularities or self.procedural)


def discrepancy_kind(due: int, net: int) -> str:
    """Name the kind of a difference between the expected and the recorded net."""
    if due == 0:
        return "void-not-returned"
    if due > 0:
        return "overpaid" if net > due else "underpaid" if net > 0 else "unpaid-winner"
    return "paid-loser" if net > 0 else "over-collected" if net < due else "not-collected"
