"""Every call of the API in words: a decorator each, for the view that answers it."""

from collections.abc import Iterable
from typing import Any

from drf_spectacular.utils import OpenApiParameter

from games.api.openapi import RefusalAnswer, Schema, operation
from games.api.schemas import CODE, MOMENT, NUMBER, PROPOSAL_STATES, TEXT, ref
from games.api.views import Pages
from games.floor.moments import EXAMPLE
from games.models import Round, TableState

# --- What stands in addresses ----------------------------------------------------------------------


def in_path(name: str, schema: Schema, about: str) -> OpenApiParameter:
    return OpenApiParameter(name, schema, OpenApiParameter.PATH, description=about)


def in_query(name: str, schema: Schema, about: str) -> OpenApiParameter:
    return OpenApiParameter(name, schema, OpenApiParameter.QUERY, description=about)


def moment(name: str, about: str) -> OpenApiParameter:
    schema: dict[str, Any] = {"type": MOMENT["type"], "format": MOMENT["format"], "examples": [EXAMPLE]}
    return in_query(name, schema, f"{about} ISO 8601 with its offset; write the + of an offset as %2B.")


def state(values: Iterable[str]) -> OpenApiParameter:
    return in_query("state", {"type": "string", "enum": list(values)}, "Only those in this state.")


TABLE_CODE = in_path("code", CODE | {"examples": ["TS-01"]}, "The table's code, in capitals or not.")
PROPOSAL_KEY = in_path("key", NUMBER, "The proposal's number.")
DICE_SET_KEY = in_path("key", NUMBER, "The dice set's `id`.")
PAGES = [
    in_query("cursor", TEXT, "Which page; taken from `next` or `previous`, and nowhere else."),
    in_query(
        "page_size",
        {"type": "integer", "minimum": 1, "maximum": Pages.max_page_size, "default": Pages.page_size},
        "How many to a page.",
    ),
]

# --- Tables ----------------------------------------------------------------------------------------

table_list = operation(
    "table_list",
    "Tables that you may see, as they are now",
    parameters=[state(TableState.values), in_query("casino", TEXT, "Only those of this casino, by its code."), *PAGES],
    answers={200: ref("TablePage")},
)
table_read = operation("table_read", "One table as it is now", parameters=[TABLE_CODE], answers={200: ref("Table")})
table_limits = operation(
    "table_limits",
    "What a table's sign says, or said",
    about="404 where no limits were in force at that moment, as known then.",
    parameters=[
        TABLE_CODE,
        moment("at", "The moment in question; now, where it is left out."),
        moment("known_at", "As it was known at this moment; now, where it is left out."),
    ],
    answers={200: ref("Sign")},
)
table_timeline = operation(
    "table_timeline",
    "What happened to a table, who did it and why",
    about="For what lies further back, ask for what was `before` the last one.",
    parameters=[TABLE_CODE, moment("before", "Only what was before this moment.")],
    answers={200: ref("Timeline")},
)
table_dice = operation(
    "table_dice",
    "Which dice are under a table's dome, or were",
    about="404 where it had none.",
    parameters=[TABLE_CODE, moment("at", "The moment in question; now, where it is left out.")],
    answers={200: ref("DiceFit")},
)

# --- Dice ------------------------------------------------------------------------------------------

dice_set_list = operation(
    "dice_set_list", "Dice sets that you may see", parameters=PAGES, answers={200: ref("DiceSetPage")}
)
dice_set_read = operation(
    "dice_set_read",
    "One dice set, with what inspections found",
    parameters=[DICE_SET_KEY],
    answers={200: ref("InspectedDiceSet")},
)

# --- Limit proposals -------------------------------------------------------------------------------

QUICKER = {
    409: RefusalAnswer(
        "Somebody else was quicker: the proposal is decided, and nothing has changed.",
        "Overtaken",
        "This proposal was approved by SM31 Shift manager 31, shift manager at 2026-11-15T20:05:00+08:00 (Agreed); "
        "nothing has changed.",
    )
}

proposal_list = operation(
    "proposal_list",
    "Limit proposals that you may see, the newest first",
    parameters=[state(PROPOSAL_STATES), in_query("table", TEXT, "Only those for this table, by its code."), *PAGES],
    answers={200: ref("ProposalPage")},
)
proposal_add = operation(
    "proposal_add",
    "Propose limits for a table, or for several of a pit",
    about="Either a whole sign (`boxes`) or single figures (`changes`). Somebody else has to approve them. Every fault "
    "is told at once, with its field; 400 names every limit that would be removed without being listed in `remove`.",
    takes={"oneOf": [ref("NewProposal"), ref("NewEdits")]},
    answers={201: ref("PendingProposal")},
)
proposal_read = operation(
    "proposal_read",
    "One limit proposal with what it changes, figure by figure",
    parameters=[PROPOSAL_KEY],
    answers={200: {"oneOf": [ref("PendingProposal"), ref("DecidedProposal")]}},
)
proposal_approve = operation(
    "proposal_approve",
    "Approve limits that somebody else proposed",
    about="The sign changes at the proposed moment, or as soon as notice allows. Nobody decides on their own proposal. "
    "409 where a sign has changed since the proposal was made.",
    parameters=[PROPOSAL_KEY],
    takes=ref("Approval"),
    answers={200: ref("DecidedProposal")},
    refusals=QUICKER,
)
proposal_reject = operation(
    "proposal_reject",
    "Reject limits that somebody else proposed",
    parameters=[PROPOSAL_KEY],
    takes=ref("Reasoned"),
    answers={200: ref("DecidedProposal")},
    refusals=QUICKER,
)
proposal_withdraw = operation(
    "proposal_withdraw",
    "Take back limits that you proposed yourself",
    parameters=[PROPOSAL_KEY],
    takes=ref("Reasoned"),
    answers={200: ref("DecidedProposal")},
    refusals=QUICKER,
)

# --- Rounds ----------------------------------------------------------------------------------------

ROUND_KEY = in_path("key", NUMBER, "The round's `id`.")
TAKEN = RefusalAnswer(
    "The name is taken by a round with different content. Nothing was changed, and the conflict is on record.",
    "Conflict",
    "floor TS01-20261115-000123 is on record with different content. Nothing was changed, and the conflict is on "
    "record. "
    "Send it under a ref of its own, or leave it.",
)
TOO_LARGE = RefusalAnswer(
    "The body is larger than a call may be.", "Too large", "The body is larger than a call may be."
)
TOO_MANY = RefusalAnswer(
    "The terminal calls too often; `Retry-After` says in how many seconds it may go on.",
    "Too Many Requests",
    "Request was throttled. Expected available in 12 seconds.",
)
SENDING = {413: TOO_LARGE, 429: TOO_MANY}

round_list = operation(
    "round_list",
    "Rounds that you may see, the newest first",
    parameters=[
        in_query("table", TEXT, "Only those of this table, by its code."),
        in_query("day", {"type": "string", "format": "date"}, "Only those of this gaming day."),
        in_query("dealer", TEXT, "Only those of this dealer, by the number that was sent."),
        in_query("player", TEXT, "Only those in which this player has a bet."),
        in_query("status", {"type": "string", "enum": Round.Status.values}, "Only those of this status."),
        *PAGES,
    ],
    answers={200: ref("RoundPage")},
    refusals={429: TOO_MANY},
)
round_add = operation(
    "round_add",
    "Record a round",
    about="201: it is new. 200: it is on record already, and nothing has changed. Every fault is told at once, with "
    "its field. For terminals, and for shift managers.",
    takes=ref("NewRound"),
    answers={200: ref("Round"), 201: ref("Round")},
    refusals=SENDING | {409: TAKEN},
)
round_import = operation(
    "round_import",
    "Record a file of rounds, one a line, also gzipped",
    about="All of the file or nothing of it; every fault is told with its line, the first hundred.",
    takes={"type": "string", "format": "binary"},
    media_type="application/octet-stream",
    answers={201: ref("Imported")},
    refusals=SENDING,
)
round_read = operation("round_read", "One round on record", parameters=[ROUND_KEY], answers={200: ref("Round")})
