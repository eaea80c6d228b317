"""What calls on rulings and what follows from them take and answer, as JSON Schema, each with an example."""

from collections.abc import Iterable

from audits.api.schemas import COUNT, FLAG, INCIDENT_NUMBER, LINE, ROUND_NAMES, SITUATION, WORDS
from audits.models import Consequence, RepaymentMark, RulingKind, RulingState, Scope
from audits.rulings.parser import LONGEST_RULE, MOST_READINGS, MOST_RULES
from audits.rulings.precedents import MOST_SHOWN
from audits.rulings.selectors import NUMBER as RULING_NUMBERS
from audits.rulings.selectors import STATES
from games.api.openapi import Schema
from games.api.schemas import (
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
    ref,
)
from games.engine.rules.readings import SETTINGS
from games.rounds.prepared import MOST_BETS
from games.settlement_policies.models import EXCESS as EXCESS_POLICIES


def one_of(values: Iterable[str]) -> Schema:
    return {"type": "string", "enum": list(values)}


RULING_NUMBER: Schema = {"type": "string", "pattern": f"^{RULING_NUMBERS.pattern}$", "examples": ["RU-2026-000045"]}
KIND, SCOPE, EXCESS = one_of(RulingKind.values), one_of(Scope.values), one_of(EXCESS_POLICIES)
STATE, FILTER_STATE = one_of(RulingState.values), one_of(STATES)
CONSEQUENCE_KIND = one_of(Consequence.Kind.values)
RULES = list_of(TEXT) | {"description": "As citations, such as `rws-tai-sai-v6#5.1.2`."}

# --- Rulings ---------------------------------------------------------------------------------------

NEW_RULING = record(
    "On a file (`incident`), in place of another ruling (`supersedes`), or only to take one away (`withdraws`, with "
    "`reasoning` and nothing else but `effective_from` and `override`). `kind`, `question`, `decision` and `reasoning` "
    "are needed, but to withdraw. Without `facts` the account of the file is taken.",
    {
        "incident": nullable(LINE), "kind": nullable(KIND), "question": nullable(WORDS), "facts": nullable(WORDS),
        "decision": nullable(WORDS), "reasoning": WORDS,
        "rules": nullable(list_of(LINE, maxItems=MOST_RULES)) | {"description": "Considered; as citations."},
        "scope": nullable(SCOPE),
        "effective_from": nullable(MOMENT) | {"description": "Of a standing one; left out it is now."},
        "excess": nullable(EXCESS) | {"description": "One that the rulebook leaves open."},
        "rounding": nullable(MONEY_IN),
        "readings": nullable(list_of(LINE, maxItems=MOST_READINGS))
        | {"description": "Of an interpretation, by name: which readings of the rulebook it is about. Those that "
                          "`excess` and `rounding` change are added."},
        "follows": nullable(LINE), "departs_from": nullable(LINE),
        "departure": nullable(WORDS) | {"description": "Why it departs."},
        "override": nullable(WORDS) | {"description": "Why who reported it rules himself; compliance is told."},
        "supersedes": nullable(LINE), "withdraws": nullable(LINE),
    },
    optional=(
        "incident", "kind", "question", "facts", "decision", "rules", "scope", "effective_from", "excess", "rounding",
        "readings", "follows", "departs_from", "departure", "override", "supersedes", "withdraws",
    ),
    example={
        "incident": "IN-2026-000123", "kind": "interpretation", "question": "How do bets of an over-full box give way?",
        "decision": "The larger bets are cut first.", "reasoning": "The box ends at what it may hold.",
        "rules": ["rws-tai-sai-v6#5.1.2"], "scope": "standing", "effective_from": "2026-11-16T06:00:00+08:00",
        "excess": "filled", "readings": ["excess-in-proportion"],
    },
)  # fmt: skip
RULING_FIELDS: dict[str, Schema] = {
    "number": RULING_NUMBER, "casino": CODE, "pit": nullable(CODE), "table": nullable(CODE),
    "incident": INCIDENT_NUMBER, "kind": KIND, "situation": SITUATION, "rulebook": nullable(RULEBOOK), "rules": RULES,
    "readings": list_of(TEXT) | {"description": "Of its rulebook, by name: what it is an interpretation of."},
    "question": TEXT, "decision": TEXT, "scope": SCOPE, "effective_from": nullable(MOMENT),
    "state": STATE | {"description": "Now. `to-come` until its `effective_from`; `superseded` or `withdrawn` from the "
                                     "moment of the ruling that replaces it; a `withdrawal` only withdraws another."},
    "replaces": nullable(RULING_NUMBER), "replaced_by": nullable(RULING_NUMBER), "ruled_by": TEXT,
    "post": TEXT | {"description": "As it was held at that moment."},
    "rests_on": list_of(TEXT) | {"description": "Readings of its rulebook by which that post rules: "
                                 "`acting-shift-manager`, `shift-manager-decides`."},
    "made_at": MOMENT,
}  # fmt: skip
RULING_EXAMPLE: Schema = {
    "number": "RU-2026-000045", "casino": "RWS", "pit": "P1", "table": "TS-01", "incident": "IN-2026-000123",
    "kind": "interpretation", "situation": "over-limit-unnoticed", "rulebook": "rws-tai-sai-v6",
    "rules": ["rws-tai-sai-v6#5.1.2"], "readings": ["excess-in-proportion"],
    "question": "How do bets of an over-full box give way?", "decision": "The larger bets are cut first.",
    "scope": "standing", "effective_from": "2026-11-16T06:00:00+08:00",
    "state": "in-force", "replaces": None, "replaced_by": None, "ruled_by": "M31 Manager 31, shift manager",
    "post": "shift manager", "rests_on": [], "made_at": "2026-11-15T22:40:00+08:00",
}  # fmt: skip
POLICY = record(
    "How rounds are settled from a moment on by a standing ruling; one that sets nothing takes away what was set.",
    {
        "rulebook": RULEBOOK, "from": MOMENT, "excess": nullable(EXCESS), "rounding": nullable(MONEY),
        "not_applied": nullable(TEXT) | {"description": "Why not: the rulebook does not leave it open."},
        "replaces": nullable(RULING_NUMBER),
    },
    example={"rulebook": "rws-tai-sai-v6", "from": "2026-11-16T06:00:00+08:00", "excess": "filled", "rounding": None,
             "not_applied": None, "replaces": None},
)  # fmt: skip
RULING = record(
    "All that is on record of a ruling, as far as you may see it, with what follows from it.",
    {
        **RULING_FIELDS, "facts": TEXT, "reasoning": TEXT, "follows": nullable(RULING_NUMBER),
        "departs_from": nullable(RULING_NUMBER), "departure": nullable(TEXT), "override": nullable(TEXT),
        "policy": nullable(ref("SettlementPolicy")),
        "reviews": list_of(
            record("A look at it in the light of another document.",
                   {"rulebook": RULEBOOK, "outcome": TEXT, "who": TEXT, "at": MOMENT})
        ),
        "consequences": list_of(ref("Consequence")),
    },
    example=RULING_EXAMPLE | {
        "facts": "Two stacks of 2,000 lay on small.", "reasoning": "The box ends at what it may hold.",
        "follows": None, "departs_from": None, "departure": None, "override": None, "policy": POLICY["examples"][0],
        "reviews": [], "consequences": [],
    },
)  # fmt: skip
READING = record(
    "How we read a rule whose words leave room. A `value` can be set by a standing interpretation; what is `excluded` "
    "cannot, as the document itself rules it out.",
    {
        "name": TEXT, "rules": RULES, "text": TEXT,
        "alternatives": list_of(
            record("What else the words can mean.",
                   {"text": TEXT, "value": nullable(TEXT) | {"description": "None: the engine cannot follow it."}})
        ),
        "sets": nullable(one_of(SETTINGS)),
        "excluded": list_of(record("What the document rules out.", {"value": TEXT, "rules": RULES, "text": TEXT})),
    },
    example={
        "name": "excess-in-proportion", "rules": ["rws-tai-sai-v6#5.1.1"],
        "text": "In an over-full box every bet above the minimum counts for stake × permitted ÷ total.",
        "alternatives": [{"text": "The larger bets are cut further.", "value": "filled"}], "sets": "excess",
        "excluded": [{"value": "in-full", "rules": ["rws-tai-sai-v6#5.1.1"], "text": "They are settled pro rata."}],
    },
)  # fmt: skip
PRECEDENTS = record(
    "What stands beside a draft, the most similar rulings first. `binding` is the one that stands on this: a ruling "
    "follows it, or says why it departs. Where `decided_by` names a rule, that rule decides the incident, and a ruling "
    "that it is not covered is refused. `readings` are those that an interpretation can be made on.",
    {
        "decided_by": nullable(TEXT), "readings": list_of(ref("Reading")),
        "binding": nullable(RULING_NUMBER),
        "results": list_of(
            record("A ruling, and in which way it is similar.",
                   {"ruling": ref("RulingLine"),
                    "in_force": FLAG | {"description": "A standing interpretation that is in force now."},
                    "same_situation": FLAG, "shared_rules": RULES}),
            maxItems=MOST_SHOWN,
        ),
    },
    example={
        "decided_by": None, "readings": READING["examples"], "binding": "RU-2026-000045",
        "results": [{"ruling": RULING_EXAMPLE, "in_force": True, "same_situation": True,
                     "shared_rules": ["rws-tai-sai-v6#5.1.2"]}],
    },
)  # fmt: skip

# --- Consequences ----------------------------------------------------------------------------------

ROUND = record("A round.", {"id": NUMBER, "source": NAME, "ref": NAME, "table": CODE})
ROUND_EXAMPLE = {"id": 4711, "source": "floor", "ref": "TS01-20261115-000123", "table": "TS-01"}
BET: Schema = NUMBER | {"maximum": MOST_BETS, "description": "Its place in the round, from 1."}
NEW_CONSEQUENCE = record(
    "What is to follow. `void` takes rounds and a rule or a ruling; `void-affected` a rule or a ruling and "
    "perhaps a part of the time with the reason; `settlement` a ruling, one round and perhaps dice or nets; "
    "`discretion` a discretion on record and nets, with the round where the record names none; `result` dice and one "
    "round or live_round; `suspension` nothing more.",
    {
        "kind": CONSEQUENCE_KIND,
        "rule": nullable(LINE | {"maxLength": LONGEST_RULE}) | {"description": "That itself says so, such as 5.6."},
        "ruling": nullable(LINE) | {"description": "On this file."},
        "discretion": nullable(NUMBER) | {"description": "On this file, by its `id`."},
        "rounds": nullable(ROUND_NAMES),
        "live_round": nullable(NUMBER) | {"description": "A round in play, by its `id`."},
        "dice": nullable(DICE),
        "nets": nullable(list_of(record("A bet that is decided by itself.", {"bet": BET, "net": NET_IN}),
                                 maxItems=MOST_BETS)),
        "from": nullable(MOMENT) | {"description": "Of a narrowed `void-affected`, within the radius."},
        "to": nullable(MOMENT),
        "narrowing": nullable(WORDS) | {"description": "Why only a part of the affected rounds; stays on record."},
        "reason": WORDS,
    },
    optional=("rule", "ruling", "discretion", "rounds", "live_round", "dice", "nets", "from", "to", "narrowing"),
    example={"kind": "settlement", "ruling": "RU-2026-000045", "rounds": ["TS01-20261115-000123"],
             "nets": [{"bet": 2, "net": "0.00"}], "reason": "As ruled"},
)  # fmt: skip
CONSEQUENCE_FIELDS: dict[str, Schema] = {
    "id": NUMBER, "incident": INCIDENT_NUMBER, "ruling": nullable(RULING_NUMBER), "discretion": nullable(NUMBER),
    "kind": CONSEQUENCE_KIND,
    "rules": RULES,
    "rests_on": list_of(TEXT) | {"description": "Readings of the rulebook by which it reaches its rounds: "
                                 "`affected-by-damaged-dice` (5.6)."},
    "state": one_of(("waiting", "executed", "declined")), "needs_second": FLAG,
    "amount": NET | {"description": "What it moves, to players and back, added up."}, "round_count": COUNT,
    "reason": TEXT, "ordered_by": TEXT, "ordered_at": MOMENT, "decided_by": nullable(TEXT),
    "decided_at": nullable(MOMENT), "decision_reason": nullable(TEXT),
}  # fmt: skip
CONSEQUENCE_EXAMPLE: Schema = {
    "id": 8, "incident": "IN-2026-000123", "ruling": "RU-2026-000045", "discretion": None,
    "kind": "settlement", "rules": ["rws-tai-sai-v6#5.14"], "rests_on": [], "state": "executed", "needs_second": True,
    "amount": "60.00", "round_count": 1,
    "reason": "As ruled", "ordered_by": "M31 Manager 31, shift manager", "ordered_at": "2026-11-15T22:45:00+08:00",
    "decided_by": "M41 Manager 41, casino manager", "decided_at": "2026-11-15T22:52:00+08:00",
    "decision_reason": "Agreed",
}  # fmt: skip
AFFECTED = record(
    "Of damaged dice (5.6): the set, the whole time in which its rounds are affected, and the part that was ordered. "
    "Rounds that were named one by one have no times.",
    {
        "dice_set": CODE, "radius_from": nullable(MOMENT), "radius_to": nullable(MOMENT), "from": nullable(MOMENT),
        "to": nullable(MOMENT), "narrowing": nullable(TEXT), "left_out": COUNT,
    },
)  # fmt: skip
CORRECTION = record(
    "What stands beside a round: what is added to the net of each bet, and what each net is then.",
    {
        "round": ROUND, "ordinal": NUMBER, "void": FLAG, "settled": FLAG, "dice": nullable(DICE),
        "deltas": list_of(NET), "nets": list_of(NET),
        "decided": nullable(list_of(FLAG)) | {"description": "Which bets were decided by discretion."},
        "rules": RULES, "who": TEXT, "at": MOMENT,
    },
    example={
        "round": ROUND_EXAMPLE, "ordinal": 1, "void": False, "settled": True, "dice": [1, 3, 6],
        "deltas": ["0.00", "60.00"], "nets": ["100.00", "0.00"], "decided": None, "rules": ["rws-tai-sai-v6#5.14"],
        "who": "M31 Manager 31, shift manager", "at": "2026-11-15T22:45:00+08:00",
    },
)  # fmt: skip
REPAYMENT = record(
    "What a player is to be paid, or (below zero) is asked to give back; whether he was told, and whether it was paid.",
    {
        "id": NUMBER, "player": TEXT, "amount": NET, "rounds": NUMBER, "told": FLAG, "paid": FLAG,
        "marks": list_of(
            record("A mark.", {"what": one_of(RepaymentMark.What.values), "note": nullable(TEXT), "who": TEXT,
                               "at": MOMENT})
        ),
    },
    example={
        "id": 15, "player": "seat-4", "amount": "60.00", "rounds": 1, "told": True, "paid": False,
        "marks": [{"what": "told", "note": None, "who": "M21 Manager 21, pit manager",
                   "at": "2026-11-15T22:50:00+08:00"}],
    },
)  # fmt: skip
PREVIEW = record(
    "What an order that waits would change in a round, for the second person; empty once it is decided, where the "
    "books have changed since it was ordered, and for more than 500 rounds.",
    {
        "round": ROUND,
        "bets": list_of(
            record("A bet whose net changes.", {"bet": BET, "player": TEXT, "box": TEXT, "stake": NET,
                                               "before": NET, "after": NET})
        ),
    },
)  # fmt: skip
CONSEQUENCE = record(
    "What was ordered, by whom it was decided, and what it changed. One that waits is executed or declined by a "
    "second person.",
    {
        **CONSEQUENCE_FIELDS, "table": nullable(CODE), "dice": nullable(DICE),
        "nets": list_of(record("A bet that was decided by itself.", {"bet": BET, "net": NET})),
        "affected": nullable(AFFECTED), "preview": list_of(PREVIEW), "rounds": list_of(ROUND),
        "corrections": list_of(ref("Correction")), "repayments": list_of(ref("Repayment")),
    },
    example=CONSEQUENCE_EXAMPLE | {
        "table": None, "dice": None, "nets": [{"bet": 2, "net": "0.00"}], "affected": None,
        "preview": [], "rounds": [ROUND_EXAMPLE],
        "corrections": CORRECTION["examples"], "repayments": REPAYMENT["examples"],
    },
)  # fmt: skip

# --- Discretion ------------------------------------------------------------------------------------

DISCRETION = record(
    "What the operator decided where a document leaves it to the operator.",
    {
        "id": NUMBER, "casino": CODE, "table": CODE, "incident": nullable(INCIDENT_NUMBER), "round": nullable(ROUND),
        "bet": nullable(BET), "rule": TEXT, "decision": TEXT, "reason": TEXT, "decided_by": TEXT, "post": TEXT,
        "at": MOMENT,
    },
    example={
        "id": 3, "casino": "RWS", "table": "D9-01", "incident": "IN-2026-000123", "round": None, "bet": None,
        "rule": "division-9-2008#4.9", "decision": "The bet counts where it was placed.", "reason": "The recording",
        "decided_by": "M21 Manager 21, pit manager", "post": "pit manager", "at": "2026-11-15T22:50:00+08:00",
    },
)  # fmt: skip

RULING_SCHEMAS: dict[str, Schema] = {
    "NewRuling": NEW_RULING,
    "RulingLine": record("A ruling.", RULING_FIELDS, example=RULING_EXAMPLE),
    "RulingPage": page_of("RulingLine"),
    "SettlementPolicy": POLICY,
    "Ruling": RULING,
    "Reading": READING,
    "Precedents": PRECEDENTS,
    "NewConsequence": NEW_CONSEQUENCE,
    "ConsequenceLine": record("A consequence.", CONSEQUENCE_FIELDS, example=CONSEQUENCE_EXAMPLE),
    "Consequence": CONSEQUENCE,
    "Correction": CORRECTION,
    "Repayment": REPAYMENT,
    "SecondWord": record("Why.", {"reason": WORDS}, example={"reason": "The recording was seen by me, too"}),
    "NewMark": record(
        "The patron was told, or it was paid; or such a mark was a slip, and then `note` says why.",
        {"what": one_of(RepaymentMark.What.values), "note": nullable(WORDS)}, optional=("note",),
        example={"what": "paid", "note": "At the cage"},
    ),
    "Discretion": DISCRETION,
    "DiscretionPage": page_of("Discretion"),
    "NewDiscretion": record(
        "What was decided, and why; perhaps the round, by its `ref`, and the bet. Both are needed for a bet that the "
        "house placed.",
        {"decision": WORDS, "reason": WORDS, "round": nullable(LINE), "bet": nullable(BET)}, optional=("round", "bet"),
        example={"decision": "The bet counts where it was placed.", "reason": "The recording"},
    ),
}  # fmt: skip
