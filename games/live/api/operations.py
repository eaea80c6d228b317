"""Descriptions of the API calls on rounds in play."""

from games.api.openapi import RefusalAnswer, operation
from games.api.operations import PAGES, TOO_MANY, in_path, in_query, state
from games.api.schemas import NUMBER, TEXT, ref

KEY = in_path("key", NUMBER, "The `id` from the answer when the round was opened.")
TAKEN = RefusalAnswer(
    "The name is taken, or another round is in play at the table. Nothing was changed.",
    "Conflict",
    "TS-01 has a round in play, floor TS01-20261115-000122; end it first (its id is 71).",
)
OUT_OF_ORDER = RefusalAnswer(
    "The step is out of order, or the call's name was used before; `rules` cites the rules. Nothing was changed.",
    "Out of order",
    "result: out of order in a round that is open; the next step may be tumbler (rws-tai-sai-v6#3.7), no-more-bets "
    "(rws-tai-sai-v6#3.6), void (rws-tai-sai-v6#5.12).",
)

live_list = operation(
    "live_round_list",
    "List rounds in play and ended ones, newest first",
    parameters=[state(["in-play", "over"]), in_query("table", TEXT, "Only rounds of this table, by its code."), *PAGES],
    answers={200: ref("LiveRoundPage")},
    refusals={429: TOO_MANY},
)
live_add = operation(
    "live_round_open",
    "Open a round",
    about="One round at a time per table. 201: it is new. 200: it was opened before, and nothing has changed. A round "
    "at a table that is closed, suspended or not opened with its checks is accepted; `warnings` then cites the rule.",
    takes=ref("LiveOpening"),
    answers={200: ref("LiveStand"), 201: ref("LiveStand")},
    refusals={409: TAKEN, 429: TOO_MANY},
)
live_read = operation(
    "live_round_read",
    "Read a round in play",
    parameters=[KEY],
    answers={200: ref("LiveStand")},
    refusals={429: TOO_MANY},
)
live_step = operation(
    "live_round_step",
    "Send a step of a round",
    about="201: it is new. 200: this call was made before; the answer is the same. After `no-more-bets` a bet, an "
    "increase or a withdrawal is refused by the rule, and the attempt is recorded. `settled` or `void` ends the round "
    "and records it.",
    parameters=[KEY],
    takes=ref("LiveStep"),
    answers={200: ref("LiveStand"), 201: ref("LiveStand")},
    refusals={409: OUT_OF_ORDER, 429: TOO_MANY},
)
