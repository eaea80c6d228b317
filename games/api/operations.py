"""Descriptions of the API's calls: one decorator for each view method."""

from collections.abc import Iterable
from typing import Any

from drf_spectacular.utils import OpenApiParameter

from games.api.openapi import RefusalAnswer, Schema, operation
from games.api.schemas import CODE, MOMENT, NUMBER, PROPOSAL_STATES, TEXT, ref
from games.api.views import Pages
from games.floor.moments import EXAMPLE
from games.models import Round, TableState

# --- Parameters in addresses -----------------------------------------------------------------------


def in_path(name: str, schema: Schema, about: str) -> OpenApiParameter:
    return OpenApiParameter(name, schema, OpenApiParameter.PATH, description=about)


def in_query(name: str, schema: Schema, about: str) -> OpenApiParameter:
    return OpenApiParameter(name, schema, OpenApiParameter.QUERY, description=about)


def moment(name: str, about: str) -> OpenApiParameter:
    schema: dict[str, Any] = {"type": MOMENT["type"], "format": MOMENT["format"], "examples": [EXAMPLE]}
    return in_query(name, schema, f"{about} ISO 8601 with its offset; write the + of an offset as %2B.")


def state(values: Iterable[str]) -> OpenApiParameter:
    return in_query("state", {"type": "string", "enum": list(values)}, "Only records in this state.")


TABLE_CODE = in_path("code", CODE | {"examples": ["TS-01"]}, "The table's code, in any case.")
PROPOSAL_KEY = in_path("key", NUMBER, "The proposal's number.")
DICE_SET_KEY = in_path("key", NUMBER, "The dice set's `id`.")
PAGES = [
    in_query("cursor", TEXT, "The page, taken from `next` or `previous` only."),
    in_query(
        "page_size",
        {"type": "integer", "minimum": 1, "maximum": Pages.max_page_size, "default": Pages.page_size},
        "Records per page.",
    ),
]

# --- Tables ----------------------------------------------------------------------------------------

table_list = operation(
    "table_list",
    "Tables that you may see, as they are now",
    parameters=[state(TableState.values), in_query("casino", TEXT, "Only tables of this casino, by its code."), *PAGES],
    answers={200: ref("TablePage")},
)
table_read = operation("table_read", "One table as it is now", parameters=[TABLE_CODE], answers={200: ref("Table")})
table_limits = operation(
    "table_limits",
    "A table's sign now or at a moment",
    about="404 if no limits were in force at that moment, as known then.",
    parameters=[
        TABLE_CODE,
        moment("at", "The moment in question; defaults to now."),
        moment("known_at", "As known at this moment; defaults to now."),
    ],
    answers={200: ref("Sign")},
)
table_timeline = operation(
    "table_timeline",
    "What happened at a table, who did it and why",
    about="For older events, pass the time of the last one as `before`.",
    parameters=[TABLE_CODE, moment("before", "Only events before this moment.")],
    answers={200: ref("Timeline")},
)
table_dice = operation(
    "table_dice",
    "The dice under a table's dome now or at a moment",
    about="404 if it had none.",
    parameters=[TABLE_CODE, moment("at", "The moment in question; defaults to now.")],
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
        "Another person decided the proposal first. Nothing was changed.",
        "Overtaken",
        "This proposal was approved by SM31 Shift manager 31, shift manager at 2026-11-15T20:05:00+08:00 (Agreed). "
        "Nothing was changed.",
    )
}

proposal_list = operation(
    "proposal_list",
    "Limit proposals that you may see, the newest first",
    parameters=[state(PROPOSAL_STATES), in_query("table", TEXT, "Only proposals for this table, by its code."), *PAGES],
    answers={200: ref("ProposalPage")},
)
proposal_add = operation(
    "proposal_add",
    "Propose limits for a table, or for several of a pit",
    about="Either a whole sign (`boxes`) or single figures (`changes`). Another person must approve them. All faults "
    "are reported at once, each with its field; 400 names every limit that would be removed but is not in `remove`.",
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
    "Approve limits that another person proposed",
    about="The sign changes at the proposed time, or as soon as notice allows. You cannot decide on your own proposal. "
    "409 if a sign has changed since the proposal was made.",
    parameters=[PROPOSAL_KEY],
    takes=ref("Approval"),
    answers={200: ref("DecidedProposal")},
    refusals=QUICKER,
)
proposal_reject = operation(
    "proposal_reject",
    "Reject limits that another person proposed",
    parameters=[PROPOSAL_KEY],
    takes=ref("Reasoned"),
    answers={200: ref("DecidedProposal")},
    refusals=QUICKER,
)
proposal_withdraw = operation(
    "proposal_withdraw",
    "Withdraw limits that you proposed",
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
TOO_LARGE = RefusalAnswer("The body is too large for a call.", "Too large", "The body is larger than a call may be.")
TOO_MANY = RefusalAnswer(
    "The terminal calls too often; `Retry-After` says in how many seconds it may continue.",
    "Too Many Requests",
    "Request was throttled. Expected available in 12 seconds.",
)
SENDING = {413: TOO_LARGE, 429: TOO_MANY}

round_list = operation(
    "round_list",
    "Rounds that you may see, the newest first",
    parameters=[
        in_query("table", TEXT, "Only rounds of this table, by its code."),
        in_query("day", {"type": "string", "format": "date"}, "Only rounds of this gaming day."),
        in_query("dealer", TEXT, "Only rounds of this dealer, by the number that was sent."),
        in_query("player", TEXT, "Only rounds in which this player has a bet."),
        in_query("status", {"type": "string", "enum": Round.Status.values}, "Only rounds with this status."),
        *PAGES,
    ],
    answers={200: ref("RoundPage")},
    refusals={429: TOO_MANY},
)
round_add = operation(
    "round_add",
    "Record a round",
    about="201: it is new. 200: it is already on record, and nothing was changed. All faults are reported at once, "
    "each with its field. For terminals, and for shift managers.",
    takes=ref("NewRound"),
    answers={200: ref("Round"), 201: ref("Round")},
    refusals=SENDING | {409: TAKEN},
)
round_import = operation(
    "round_import",
    "Record a file of rounds, one per line; may be gzipped",
    about="The whole file is recorded, or nothing of it. The first hundred faults are reported, each with its line.",
    takes={"type": "string", "format": "binary"},
    media_type="application/octet-stream",
    answers={201: ref("Imported")},
    refusals=SENDING,
)
round_read = operation("round_read", "One round on record", parameters=[ROUND_KEY], answers={200: ref("Round")})
