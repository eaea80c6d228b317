"""JSON Schemas of the API calls on rounds in play."""

from games.api.openapi import Schema
from games.api.schemas import (
    BOX_KEY,
    CODE,
    DICE,
    MOMENT,
    MONEY,
    MONEY_IN,
    NAME,
    NET,
    NET_IN,
    NUMBER,
    RULEBOOK,
    TEXT,
    list_of,
    nullable,
    page_of,
    record,
)
from games.engine.play.live_play import KINDS
from games.live.parser import LONGEST_CALL
from games.models import LiveWarning
from games.rounds.prepared import MOST_BETS

BOX: Schema = BOX_KEY | {"type": "string"}
RULES: Schema = list_of(TEXT)
PLAYER_STAKES = list_of(record("A player and an amount.", {"player": NAME, "stake": MONEY}))

OPENING = record(
    "A new round. Its name (source, ref) is permanent; repeating the call changes nothing.",
    {"source": NAME, "ref": NAME, "table": NAME, "dealer": nullable(NAME), "supervisor": nullable(NAME)},
    optional=("dealer", "supervisor"),
    example={"source": "floor", "ref": "TS01-20261115-000123", "table": "TS-01", "dealer": "D102"},
)
STEP = record(
    "A step of a round. `call` is the terminal's own name for it: repeating the call changes nothing. `bet`, "
    "`increase`, `withdraw` and `refuse` have `player`, `box` and `stake` (what is added, withdrawn or put back; "
    "`withdraw` without it withdraws all); `bet` and `increase` may have `house_placed` and `call_bet` (placed by the "
    "house on the player's oral call); `tumbler` has `tumbles` (0: it was not activated, unless `activated` is true), "
    "`result` and `result-amended` have `dice`, `interruption` has `known_dice` (with all three known they are the "
    "result), `void` has `rule`, `settled` has `nets`. `at` defaults to now.",
    {
        "call": {"type": "string", "minLength": 1, "maxLength": LONGEST_CALL},
        "kind": {"type": "string", "enum": list(KINDS)},
        "at": nullable(MOMENT),
        "player": nullable(NAME),
        "box": nullable(BOX),
        "stake": nullable(MONEY_IN),
        "house_placed": nullable({"type": "boolean"}),
        "call_bet": nullable({"type": "boolean"}),
        "tumbles": nullable({"type": "integer", "minimum": 0, "maximum": 1000}),
        "activated": nullable({"type": "boolean"}),
        "dice": nullable(DICE),
        "known_dice": nullable(TEXT),
        "rule": nullable(NAME),
        "by": nullable(NAME),
        "nets": nullable(
            list_of(
                record("What was paid for a bet; negative: collected.", {"player": NAME, "box": BOX, "net": NET_IN}),
                maxItems=MOST_BETS,
            )
        ),
    },
    optional=(
        "at",
        "player",
        "box",
        "stake",
        "house_placed",
        "call_bet",
        "tumbles",
        "activated",
        "dice",
        "known_dice",
        "rule",
        "by",
        "nets",
    ),
    example={"call": "17", "kind": "bet", "player": "seat-3", "box": "small", "stake": "100.00"},
)
STAND = record(
    "The state of a round. `refused`: the step came too late, and the attempt is on record. `warnings`: the table was "
    "closed, suspended or not opened with its checks when the round or its betting opened; each answer of the round "
    "repeats them. `boxes`, `differentials` and `worst` are given while betting is open: `room` is what may still be "
    "placed (null: no limit), `excess` the stakes to return, the last placed first, `worst` the house's worst result "
    "over the 216 throws.",
    {
        "id": NUMBER,
        "source": NAME,
        "ref": NAME,
        "table": CODE,
        "state": TEXT,
        "steps": {"type": "integer", "minimum": 0},
        "next": list_of({"type": "string", "enum": list(KINDS)}),
        "refused": nullable(record("Why it was refused.", {"rules": RULES, "explain": TEXT})),
        "warnings": list_of(
            record(
                "A fault of the table. The round is accepted all the same, and a finding is made.",
                {
                    "kind": {"type": "string", "enum": LiveWarning.Kind.values},
                    "rules": RULES,
                    "explain": TEXT,
                },
                example={
                    "kind": "table-suspended",
                    "rules": ["division-9-2008#7.4"],
                    "explain": "The table was suspended from 2026-11-15 21:07+08:00.",
                },
            )
        ),
        "void": {"type": "boolean"},
        "irregularities": list_of(
            record(
                "An irregularity, with its rule and the action it requires.",
                {"rule": nullable(TEXT), "action": TEXT, "detail": TEXT},
            )
        ),
        "dice": nullable(DICE),
        "bets": list_of(record("A bet on the felt.", {"player": NAME, "box": BOX, "stake": MONEY})),
        "boxes": nullable(
            list_of(
                record(
                    "A box while betting is open.",
                    {
                        "box": BOX,
                        "total": MONEY,
                        "min": nullable(MONEY),
                        "max": nullable(MONEY),
                        "room": nullable(MONEY),
                        "excess": PLAYER_STAKES,
                        "below_minimum": PLAYER_STAKES,
                    },
                )
            )
        ),
        "differentials": nullable(
            list_of(
                record(
                    "Two boxes, the heavier first.",
                    {"type": TEXT, "boxes": list_of(BOX, minItems=2, maxItems=2), "difference": MONEY, "limit": MONEY},
                )
            )
        ),
        "worst": nullable(record("The worst throw.", {"dice": DICE, "house": NET})),
    },
)
LIVE_ROUND = record(
    "A round in play, or an ended one.",
    {
        "id": NUMBER,
        "source": NAME,
        "ref": NAME,
        "table": CODE,
        "dealer": nullable(NAME),
        "supervisor": nullable(NAME),
        "rulebook": RULEBOOK,
        "layout": TEXT,
        "state": TEXT,
        "steps": {"type": "integer", "minimum": 0},
        "opened_at": MOMENT,
        "last_step_at": MOMENT,
        "left_open": {"type": "boolean"},
        "recorded": nullable(NUMBER),
    },
)

LIVE_SCHEMAS: dict[str, Schema] = {
    "LiveOpening": OPENING,
    "LiveStep": STEP,
    "LiveStand": STAND,
    "LiveRound": LIVE_ROUND,
    "LiveRoundPage": page_of("LiveRound"),
}
