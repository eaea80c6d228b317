"""JSON Schemas of the API's requests and answers, each with an example.

They are exact: an object has the fields named here and no others, so that an answer that differs from its description
fails a test (tests/games/api/test_schema.py) and programs can rely on it.
"""

from typing import Any

from games.api.openapi import Schema
from games.engine.dice import COUNT
from games.engine.rules.loader import published
from games.floor.approval import CasinoApproval
from games.floor.moments import EXAMPLE as MOMENT_EXAMPLE
from games.limits.serializers import STATES
from games.models import DiceInspection, DiceSet, LimitDecision, LimitSet, Round, TableState
from games.rounds.prepared import EVENT_FIELDS, MOST_BETS


def ref(name: str) -> Schema:
    """Refer to one of SCHEMAS by its name."""
    return {"$ref": f"#/components/schemas/{name}"}


def record(about: str, fields: dict[str, Schema], *, optional: tuple[str, ...] = (), example: Any = None) -> Schema:
    """Describe an object with exactly these fields."""
    schema = {
        "type": "object",
        "description": about,
        "properties": fields,
        "required": [name for name in fields if name not in optional],
        "additionalProperties": False,
    }
    return schema if example is None else schema | {"examples": [example]}


def nullable(schema: Schema) -> Schema:
    if "type" in schema and "enum" not in schema:
        return schema | {"type": [schema["type"], "null"]}
    return {"anyOf": [schema, {"type": "null"}]}


def list_of(schema: Schema, **bounds: int) -> Schema:
    return {"type": "array", "items": schema, **bounds}


def page_of(name: str) -> Schema:
    """Describe one page of a list, with the addresses of the next and previous pages."""
    return record(
        "A page of a list. Follow `next` until it is null.",
        {"next": nullable(ADDRESS), "previous": nullable(ADDRESS), "results": list_of(ref(name))},
    )


# --- Values ----------------------------------------------------------------------------------------

TEXT: Schema = {"type": "string"}
NUMBER: Schema = {"type": "integer", "minimum": 1}
ADDRESS: Schema = {"type": "string", "format": "uri"}
MOMENT: Schema = {"type": "string", "format": "date-time", "description": "In the casino's time, with its offset."}
CODE: Schema = {"type": "string", "pattern": r"^[A-Za-z0-9][A-Za-z0-9._-]*$", "maxLength": 20}
RULEBOOK: Schema = {"type": "string", "enum": list(published())}
REASON: Schema = {"type": "string", "pattern": r"\S", "description": "Kept in the history."}

#: Answers always write money with two decimals; requests may leave them out.
MONEY: Schema = {"type": "string", "pattern": r"^[0-9]+\.[0-9]{2}$"}
MONEY_IN: Schema = {"type": "string", "pattern": r"^[0-9]{1,20}(\.[0-9]{1,2})?$"}

#: A bet type, or one box of it.
BOX_KEY: Schema = {
    "pattern": r"^(big-small|big|small|odd-even|odd|even|single(-[1-6])?|total(-([4-9]|1[0-7]))?|domino(-[1-6]{2})?"
    r"|double(-[1-6])?|triple(-[1-6])?|any-triple|four(-[1-6]{4})?|three(-[1-6]{3})?|pair(-[1-6]{3})?)$"
}


#: The bet types that may have a differential.
DIFFERENTIAL_KEY: Schema = {"enum": ["big-small", "odd-even"]}


def by_key(key: Schema, value: Schema, about: str) -> Schema:
    return {"type": "object", "description": about, "propertyNames": key, "additionalProperties": value}


LIMITS = "By bet type or by box. The entry of a box replaces the whole entry of its type."
DIFFERENTIAL = "By bet type: the largest difference allowed between the totals placed on its two boxes."


def limit_range(money: Schema) -> Schema:
    """Describe a minimum per player's bet and a maximum per box; one that is left out is no such limit."""
    return record("", {"min": money, "max": money}, optional=("min", "max"))


#: The content of a sign in answers.
SIGN_FIELDS = {
    "boxes": by_key(BOX_KEY, limit_range(MONEY), LIMITS),
    "differential": by_key(DIFFERENTIAL_KEY, MONEY, DIFFERENTIAL),
}
SIGN_EXAMPLE = {"boxes": {"big-small": {"min": "100.00", "max": "10000.00"}}, "differential": {"big-small": "8000.00"}}

# --- Refusals --------------------------------------------------------------------------------------

PROBLEM = record(
    "Why a call was refused (RFC 9457): what, where and what to do.",
    {
        "type": TEXT,
        "title": TEXT,
        "status": {"type": "integer", "minimum": 400, "maximum": 599},
        "detail": TEXT,
        "errors": list_of(
            record(
                "One fault.",
                {
                    "field": {"type": "string", "description": "Its path; empty if the fault is not in one field."},
                    "message": TEXT,
                },
            ),
            minItems=1,
        ),
        "rules": list_of(TEXT),
    },
    optional=("errors", "rules"),
    example={
        "type": "about:blank",
        "title": "Wrong input",
        "status": 400,
        "detail": 'boxes.big-small.min: is a number; write money as text, such as "100.00".',
        "errors": [
            {"field": "boxes.big-small.min", "message": 'is a number; write money as text, such as "100.00".'}
        ],
    },
)  # fmt: skip

# --- Tables ----------------------------------------------------------------------------------------

GAME = record(
    "What is played on a table.",
    {
        "rulebook": RULEBOOK,
        "version": TEXT,
        "layout": TEXT,
        "chip_unit": MONEY,
        "from": MOMENT,
        "approval": {
            "type": "string",
            "enum": [approval.value for approval in CasinoApproval],
            "description": "Whether the rule document was approved for the casino's operator.",
        },
    },
)
TABLE = record(
    "A table as it is now.",
    {
        "code": CODE,
        "casino": CODE,
        "pit": nullable(CODE),
        "state": {"type": "string", "enum": TableState.values},
        "opening_on_record": {
            "type": "boolean",
            "description": "False: the table was never opened with this product. It is `closed`, and it is not known "
            "whether it was in play.",
        },
        "since": nullable(MOMENT) | {"description": "The start of this state; null until it is first opened."},
        "game": nullable(ref("Game")),
        "limits_from": nullable(MOMENT),
        "next_limits_from": nullable(MOMENT),
        "dice_set": nullable(CODE),
        "tumbler": nullable(CODE),
        "pending_proposals": {"type": "integer", "minimum": 0},
    },
    example={
        "code": "TS-01", "casino": "RWS", "pit": "P1", "state": "open", "opening_on_record": True,
        "since": "2026-11-15T20:00:00+08:00",
        "game": {"rulebook": "rws-tai-sai-v6", "version": "6", "layout": "A", "chip_unit": "1.00",
                 "from": "2026-11-01T06:00:00+08:00", "approval": "approved"},
        "limits_from": "2026-11-01T06:00:00+08:00", "next_limits_from": None, "dice_set": "D-01", "tumbler": "T-01",
        "pending_proposals": 0,
    },
)  # fmt: skip
SIGN = record(
    "What a table's sign said at a moment, as known at a moment.",
    {
        "table": CODE,
        "at": MOMENT,
        "known_at": MOMENT,
        "rulebook": nullable(RULEBOOK),
        "layout": nullable(TEXT),
        "from": MOMENT,
        "to": nullable(MOMENT) | {"description": "Null while nothing supersedes it."},
        **SIGN_FIELDS,
        "origin": {"type": "string", "enum": LimitSet.Origin.values},
        "proposed_by": nullable(TEXT) | {"description": "A staff number; null for limits from a file."},
        "approved_by": nullable(TEXT),
    },
    example={
        "table": "TS-01", "at": MOMENT_EXAMPLE, "known_at": MOMENT_EXAMPLE,
        "rulebook": "rws-tai-sai-v6", "layout": "C", "from": "2026-11-01T06:00:00+08:00", "to": None, **SIGN_EXAMPLE,
        "origin": "proposal", "proposed_by": "M21", "approved_by": "SM31",
    },
)  # fmt: skip
EVENT = record(
    "Something that happened to a table, or that is scheduled.",
    {
        "at": MOMENT,
        "kind": {"type": "string", "enum": ["table", "limits", "game", "dice", "tumbler", "sign"]},
        "what": TEXT,
        "who": TEXT,
        "why": TEXT,
        "proposal": nullable(NUMBER) | {"description": "The limit proposal it belongs to."},
    },
    example={"at": "2026-11-15T20:00:00+08:00", "kind": "table", "what": "Opened",
             "who": "M21 Manager 21, pit manager", "why": "Start of shift", "proposal": None},
)  # fmt: skip
TIMELINE = record("The latest hundred, the newest first.", {"results": list_of(ref("Event"), maxItems=100)})

# --- Dice ------------------------------------------------------------------------------------------

SERIALS = list_of(TEXT, minItems=3, maxItems=3)
FIT = record(
    "A dice set at a table.",
    {
        "table": CODE,
        "dice_set": CODE,
        "serials": SERIALS,
        "from": MOMENT,
        "to": nullable(MOMENT) | {"description": "Null while it is there."},
    },
    example={"table": "TS-01", "dice_set": "D-01", "serials": ["D-01-1", "D-01-2", "D-01-3"],
             "from": "2026-11-15T19:30:00+08:00", "to": None},
)  # fmt: skip
DICE_SET_FIELDS = {
    "id": NUMBER,
    "code": CODE,
    "casino": CODE,
    "pit": CODE,
    "serials": SERIALS,
    "seal": TEXT,
    "state": {"type": "string", "enum": DiceSet.State.values},
    "table": nullable(CODE) | {"description": "Where it is fitted now; null in store."},
}
DICE_SET_EXAMPLE = {
    "id": 4, "code": "D-01", "casino": "RWS", "pit": "P1", "serials": ["D-01-1", "D-01-2", "D-01-3"],
    "seal": "S-D-01", "state": "fit", "table": "TS-01",
}  # fmt: skip
DICE_SET = record("Three dice that are tumbled together.", DICE_SET_FIELDS, example=DICE_SET_EXAMPLE)
INSPECTION = record(
    "What an inspection found.",
    {
        "at": MOMENT,
        "result": {"type": "string", "enum": DiceInspection.Result.values},
        "inspector": TEXT,
        "seal_found": TEXT,
        "new_seal": nullable(TEXT),
        "remarks": nullable(TEXT),
    },
    example={"at": "2026-11-15T19:00:00+08:00", "result": "good", "inspector": "S11", "seal_found": "S-D-01",
             "new_seal": None, "remarks": None},
)  # fmt: skip
INSPECTED_DICE_SET = record(
    "A dice set with its latest hundred inspections, the newest first.",
    {**DICE_SET_FIELDS, "inspections": list_of(ref("Inspection"), maxItems=100)},
)

# --- Limit proposals -------------------------------------------------------------------------------

OUTCOME: Schema = {"type": "string", "enum": LimitDecision.Outcome.values}
PENDING: Schema = {"type": "string", "const": "pending"}
PROPOSAL_STATES = list(STATES)

REMOVE: Schema = nullable(list_of(TEXT)) | {
    "description": "The limits to remove, each by its full name: `boxes.odd-even.min`, `boxes.odd-even.max` or "
    "`differential.odd-even`."
}
REMOVE_BY_TABLE: Schema = {
    "anyOf": [
        {"type": "object", "propertyNames": TEXT, "additionalProperties": list_of(TEXT)},
        list_of(TEXT),
        {"type": "null"},
    ],
    "description": "The limits to remove by table, each by its full name: "
    '`{"TS-01": ["boxes.odd-even.min", "differential.odd-even"]}`. A bare list is accepted for one table only.',
}
WHEN_AND_WHY = {
    "from": nullable(MOMENT) | {"description": "If left out: as soon as approved and notice is given."},
    "correction": nullable({"type": "boolean"})
    | {"description": "True for limits that start in the past or replace others with the same start."},
    "reason": REASON,
}
NEW_PROPOSAL = record(
    "One whole sign for one table or several of a pit. A limit that is on a sign now and missing here is refused, "
    "unless `remove` names it.",
    {
        "tables": list_of(TEXT, minItems=1),
        "boxes": by_key(BOX_KEY, nullable(limit_range(nullable(MONEY_IN))), LIMITS),
        "differential": nullable(by_key(DIFFERENTIAL_KEY, nullable(MONEY_IN), DIFFERENTIAL)),
        "remove": REMOVE_BY_TABLE,
        **WHEN_AND_WHY,
    },
    optional=("differential", "remove", "from", "correction"),
    example={
        "tables": ["TS-01", "TS-02"], "boxes": {"big-small": {"min": "100", "max": "10000"}},
        "differential": {"big-small": "8000"}, "from": None, "correction": False, "reason": "A busy weekend",
    },
)  # fmt: skip
TABLE_EDITS = record(
    "Single figures of one table's sign; every other value is kept.",
    {
        "boxes": nullable(by_key(BOX_KEY, nullable(limit_range(nullable(MONEY_IN))), LIMITS)),
        "differential": nullable(by_key(DIFFERENTIAL_KEY, nullable(MONEY_IN), DIFFERENTIAL)),
        "remove": REMOVE,
    },
    optional=("boxes", "differential", "remove"),
    example={"boxes": {"big-small": {"min": "100"}}, "remove": ["differential.odd-even"]},
)
NEW_EDITS = record(
    "Changes of single figures, table by table, for tables of one pit. Every other value of every sign is kept.",
    {
        "changes": {
            "type": "object", "propertyNames": TEXT, "additionalProperties": ref("TableEdits"), "minProperties": 1,
        },
        **WHEN_AND_WHY,
    },
    optional=("from", "correction"),
    example={
        "changes": {"TS-01": {"boxes": {"big-small": {"min": "100"}}}, "TS-02": {"boxes": {"total": {"max": "900"}}}},
        "from": None, "correction": False, "reason": "A busy weekend",
    },
)  # fmt: skip
APPROVAL = record(
    "An approval needs a reason, and the name of every limit that it removes.",
    {"reason": REASON, "remove": REMOVE_BY_TABLE},
    optional=("remove",),
    example={"reason": "Agreed", "remove": {"TS-01": ["differential.odd-even"]}},
)
REASONED = record("A decision needs a reason.", {"reason": REASON}, example={"reason": "Agreed"})
DECISION = record(
    "The decision on a proposal.",
    {
        "outcome": OUTCOME,
        "by": TEXT,
        "at": MOMENT,
        "reason": TEXT,
        "in_force_from": list_of(record("", {"table": CODE, "from": MOMENT})),
    },
    example={"outcome": "approved", "by": "SM31", "at": "2026-11-15T20:05:00+08:00", "reason": "Agreed",
             "in_force_from": [{"table": "TS-01", "from": "2026-11-15T20:25:00+08:00"}]},
)  # fmt: skip
CHANGE = record(
    "One figure of a sign: its present and its new value; null means no such limit.",
    {
        "key": TEXT,
        "figure": {"type": "string", "enum": ["min", "max", "differential"]},
        "old": nullable(MONEY),
        "new": nullable(MONEY),
        "stricter": {"type": "boolean", "description": "Players must be told in advance."},
        "removes": {"type": "boolean", "description": "The limit is removed from the sign; an approval must name it."},
    },
    example={"key": "big-small", "figure": "min", "old": "50.00", "new": "100.00", "stricter": True, "removes": False},
)
PROPOSAL_FIELDS = {
    "id": NUMBER,
    "state": {"type": "string", "enum": PROPOSAL_STATES},
    "casino": CODE,
    "pit": CODE,
    "tables": list_of(CODE, minItems=1),
    "from": nullable(MOMENT) | {"description": "Null: as soon as approved."},
    "correction": {"type": "boolean"},
    **{
        name: nullable(schema) | {"description": "For every table; null if their signs differ."}
        for name, schema in SIGN_FIELDS.items()
    },
    "signs": {
        "type": "object",
        "description": "The whole sign that is proposed for each table.",
        "propertyNames": CODE,
        "additionalProperties": record("", SIGN_FIELDS),
    },
    "reason": TEXT,
    "proposed_by": TEXT,
    "proposed_at": MOMENT,
    "decision": nullable(ref("Decision")),
}
PROPOSAL_EXAMPLE = {
    "id": 7, "state": "pending", "casino": "RWS", "pit": "P1", "tables": ["TS-01"], "from": None, "correction": False,
    **SIGN_EXAMPLE, "signs": {"TS-01": SIGN_EXAMPLE}, "reason": "A busy weekend", "proposed_by": "M21",
    "proposed_at": "2026-11-15T20:00:00+08:00", "decision": None,
}  # fmt: skip
PROPOSAL = record("Proposed limits, and the decision on them.", PROPOSAL_FIELDS, example=PROPOSAL_EXAMPLE)
CHANGES: Schema = {"type": "object", "propertyNames": CODE, "additionalProperties": list_of(ref("Change"))}
PENDING_PROPOSAL = record(
    "A proposal that waits for a decision, with what it would change at each of its tables.",
    PROPOSAL_FIELDS
    | {
        "state": PENDING,
        "decision": {"type": "null"},
        "changes": CHANGES,
        "overtaken": list_of(TEXT)
        | {"description": "Signs that have changed since the proposal; it can no longer be approved."},
        "until": {
            "type": "object",
            "description": "When an already approved sign takes over from the proposed one; null if none does.",
            "propertyNames": CODE,
            "additionalProperties": nullable(MOMENT),
        },
    },
    example=PROPOSAL_EXAMPLE | {"changes": {"TS-01": CHANGE["examples"]}, "overtaken": [], "until": {"TS-01": None}},
)
DECIDED_PROPOSAL = record(
    "A proposal with the decision on it, and what it changed on the signs that it was worked out from.",
    PROPOSAL_FIELDS | {"state": OUTCOME, "decision": ref("Decision"), "changes": CHANGES},
    example=PROPOSAL_EXAMPLE
    | {"state": "approved", "decision": DECISION["examples"][0], "changes": {"TS-01": CHANGE["examples"]}},
)

# --- Rounds ----------------------------------------------------------------------------------------

NAME: Schema = {"type": "string", "minLength": 1, "maxLength": 200}
NET: Schema = {"type": "string", "pattern": r"^-?[0-9]+\.[0-9]{2}$"}
NET_IN: Schema = {"type": "string", "pattern": r"^-?[0-9]{1,20}(\.[0-9]{1,2})?$"}
DICE: Schema = list_of({"type": "integer", "minimum": 1, "maximum": 6}, minItems=COUNT, maxItems=COUNT)
STATUS: Schema = {"type": "string", "enum": Round.Status.values}

NEW_EVENT = record(
    "An event at the table. `tumbler` has `tumbles` (0: it was not activated, unless `activated` is "
    "true), `result` and `result-amended` have `dice`, `interruption` has `known_dice` (as 2,?,?; with all three known "
    "they are the result), `void` has `rule`.",
    {
        "kind": {"type": "string", "enum": list(EVENT_FIELDS)},
        "at": MOMENT,
        "tumbles": nullable({"type": "integer", "minimum": 0, "maximum": 1000}),
        "activated": nullable({"type": "boolean"}),
        "dice": nullable(DICE),
        "known_dice": nullable(TEXT),
        "rule": nullable(NAME),
        "by": nullable(NAME),
    },
    optional=("tumbles", "activated", "dice", "known_dice", "rule", "by"),
)
NEW_BET = record(
    "A bet. `net` may be left out where it was refused or withdrawn in time, or the round is void or unfinished. "
    "`call`: the house placed it on the player's oral call. `withdrawn`: when the player took it back; at or before "
    "`no-more-bets` the bet counts for nothing, later the withdrawal is refused and the bet is settled.",
    {
        "player": NAME,
        "box": BOX_KEY | {"type": "string"},
        "stake": MONEY_IN,
        "net": nullable(NET_IN),
        "at": nullable(MOMENT),
        "house_placed": nullable({"type": "boolean"}),
        "call": nullable({"type": "boolean"}),
        "refused": nullable({"type": "boolean"}),
        "withdrawn": nullable(MOMENT),
    },
    optional=("net", "at", "house_placed", "call", "refused", "withdrawn"),
)
ROUND_EXAMPLE = {
    "source": "floor", "ref": "TS01-20261115-000123", "table": "TS-01", "dealer": "D102", "supervisor": "S11",
    "events": [
        {"kind": "place-bets", "at": "2026-11-15T21:07:02+08:00"},
        {"kind": "no-more-bets", "at": "2026-11-15T21:07:31+08:00"},
        {"kind": "tumbler", "at": "2026-11-15T21:07:33+08:00", "tumbles": 3},
        {"kind": "result", "at": "2026-11-15T21:07:41+08:00", "dice": [1, 3, 6]},
        {"kind": "settled", "at": "2026-11-15T21:08:20+08:00"},
    ],
    "bets": [
        {"player": "seat-3", "box": "small", "stake": "100.00", "net": "100.00"},
        {"player": "seat-4", "box": "big", "stake": "50.00", "withdrawn": "2026-11-15T21:07:20+08:00"},
        {"player": "seat-5", "box": "big", "stake": "50.00", "net": "-50.00", "house_placed": True, "call": True},
    ],
}  # fmt: skip
NEW_ROUND = record(
    "A round as a table system sends it.",
    {
        "source": NAME, "ref": NAME, "table": NAME, "dealer": nullable(NAME), "supervisor": nullable(NAME),
        "events": list_of(NEW_EVENT), "bets": list_of(NEW_BET, maxItems=MOST_BETS),
    },
    optional=("dealer", "supervisor"),
    example=ROUND_EXAMPLE,
)  # fmt: skip
ROUND = record(
    "A round on record, with what applied when it began.",
    {
        "id": NUMBER,
        "source": NAME,
        "ref": NAME,
        "table": CODE,
        "gaming_day": {"type": "string", "format": "date"},
        "rulebook": RULEBOOK,
        "layout": TEXT,
        "limits": nullable(NUMBER),
        "dice_set": nullable(CODE),
        "dealer": nullable(NAME),
        "supervisor": nullable(NAME),
        "status": STATUS,
        "current_status": STATUS | {"description": "The status now; a correction may have changed it."},
        "corrections": {"type": "integer", "minimum": 0, "description": "How many corrections the round has had."},
        "dice": nullable(DICE),
        "started_at": MOMENT,
        "ended_at": MOMENT,
        "events": list_of({"type": "object"}),
        "bets": list_of(
            record(
                "A bet on record. `late` and `withdrawn_late`: placed, or to be withdrawn, after `no-more-bets`.",
                {
                    "player": NAME, "box": BOX_KEY | {"type": "string"}, "stake": MONEY, "net": nullable(NET),
                    "at": MOMENT, "late": {"const": True}, "refused": {"const": True}, "house_placed": {"const": True},
                    "call": {"const": True}, "withdrawn": MOMENT, "withdrawn_late": {"const": True},
                },
                optional=("at", "late", "refused", "house_placed", "call", "withdrawn", "withdrawn_late"),
            )
        ),
        "fingerprint": {"type": "string", "pattern": "^[0-9a-f]{64}$"},
        "channel": {"type": "string", "enum": Round.Channel.values},
        "after_close": {"type": "boolean"},
        "recorded_at": MOMENT,
        "recorded_by": TEXT,
    },
)  # fmt: skip
COUNT_OF: Schema = {"type": "integer", "minimum": 0}
IMPORTED = record(
    "How many rounds a file had, how many were new, and how many were already on record.",
    {"files": COUNT_OF, "rounds": COUNT_OF, "new": COUNT_OF, "repeated": COUNT_OF},
    example={"files": 1, "rounds": 1200, "new": 1150, "repeated": 50},
)

#: Named schemas, to which calls and other schemas refer.
SCHEMAS: dict[str, Schema] = {
    "Problem": PROBLEM,
    "Game": GAME,
    "Table": TABLE,
    "TablePage": page_of("Table"),
    "Sign": SIGN,
    "Event": EVENT,
    "Timeline": TIMELINE,
    "DiceFit": FIT,
    "DiceSet": DICE_SET,
    "DiceSetPage": page_of("DiceSet"),
    "Inspection": INSPECTION,
    "InspectedDiceSet": INSPECTED_DICE_SET,
    "NewProposal": NEW_PROPOSAL,
    "NewEdits": NEW_EDITS,
    "TableEdits": TABLE_EDITS,
    "Approval": APPROVAL,
    "Reasoned": REASONED,
    "Decision": DECISION,
    "Change": CHANGE,
    "Proposal": PROPOSAL,
    "ProposalPage": page_of("Proposal"),
    "PendingProposal": PENDING_PROPOSAL,
    "DecidedProposal": DECIDED_PROPOSAL,
    "NewRound": NEW_ROUND,
    "Round": ROUND,
    "RoundPage": page_of("Round"),
    "Imported": IMPORTED,
}
