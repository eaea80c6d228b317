"""Limits that a sign lacks: a minimum or maximum of a box, or the differential of a pair if the document has one."""

from collections.abc import Iterator

from games.simulation import known_findings as sentences
from games.simulation.played_floor import NO_SIGN, PlayedSign, PlayedTable
from games.simulation.round_draft import RoundDraft


class PlantedSignCheck:
    """Follow a table's day until the first round with a bet on a box for which the sign lacks a limit."""

    def __init__(self) -> None:
        self.is_noted = False

    def see(self, draft: RoundDraft) -> None:
        if self.is_noted:
            return
        table, sign = draft.table, draft.sign
        if any(not bet.is_out and any(_lacks(table, sign, bet.box)) for bet in draft.bets):
            self.is_noted = True
            lacking = sentences.SIGN_LACKED.format("; ".join(in_words(table, sign)))
            draft.wrong("sign-incomplete", sentences.NO_SIGN if sign is NO_SIGN else lacking)


def _lacks(table: PlayedTable, sign: PlayedSign, box: str) -> tuple[bool, bool, bool]:
    """Say whether the sign lacks a minimum, a maximum and a differential for a box."""
    limits, type_ = sign.of(box), table.layout.boxes[box].type
    has_differential = bool(table.book.limits.differential_rules) and type_ in table.pairs
    return limits.minimum is None, limits.maximum is None, has_differential and type_ not in sign.differential


def in_words(table: PlayedTable, sign: PlayedSign) -> Iterator[str]:
    """List what the sign lacks in words, by bet type in the order of the layout."""
    for type_ in dict.fromkeys(box.type for box in table.layout.boxes.values()):
        boxes = [box.code for box in table.layout.boxes_of(type_)]
        for place, what in enumerate(("minimum", "maximum", "differential")):
            lacking = [box for box in boxes if _lacks(table, sign, box)[place]]
            if lacking:
                yield f"a {what} for {type_ if lacking == boxes else ', '.join(lacking)}"
