"""The JSON schemas of the calls on rulings and corrective actions, each with an example."""

from collections.abc import Iterable

from audits.api.schemas import COUNT, FLAG, INCIDENT_NUMBER, LINE, ROUND_NAMES, SITUATION, WORDS
from audits.models import Consequence, RepaymentMark, RulingKind, Scope
from audits.rulings.parser import LONGEST_RULE, MOST_READINGS, MOST_RULES
from audits.rulings.precedents import MOST_SHOWN
from audits.rulings.selectors import NUMBER as RULING_NUMBERS
from audits.rulings.selectors import STATES
from audits.rulings.serializers import SHOWN_STATES
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
STATE, FILTER_STATE = one_of(SHOWN_STATES), one_of(STATES)
CONSEQUENCE_KIND = one_of(Consequence.Kind.values)
RULES = list_of(TEXT) | {"description": "As citations, such as `rws-tai-sai-v6#5.1.2`."}

# --- Rulings ---------------------------------------------------------------------------------------

NEW_RULING = record(
    "A ruling on an incident (`incident`), in place of another ruling (`supersedes`), or one that only withdraws "
    "another (`withdraws`, with `reasoning` and perhaps `effective_from` and `override`). `kind`, `question`, "
    "`decision` and `reasoning` are required, except to withdraw. `facts` defaults to the account of the incident.",
    {
        "incident": nullable(LINE), "kind": nullable(KIND), "question": nullable(WORDS), "facts": nullable(WORDS),
        "decision": nullable(WORDS), "reasoning": WORDS,
        "rules": nullable(list_of(LINE, maxItems=MOST_RULES)) | {"description": "The rules considered, as citations."},
        "scope": nullable(SCOPE),
        "effective_from": nullable(MOMENT) | {"description": "For a standing ruling; defaults to now."},
        "excess": nullable(EXCESS) | {"description": "One that the rulebook leaves open."},
        "rounding": nullable(MONEY_IN),
        "readings": nullable(list_of(LINE, maxItems=MOST_READINGS))
        | {"description": "For an interpretation: the names of the rulebook's readings that it is about. Those that "
                          "`excess` and `rounding` change are added."},
        "follows": nullable(LINE), "departs_from": nullable(LINE),
        "departure": nullable(WORDS) | {"description": "The reason for departing."},
        "override": nullable(WORDS) | {"description": "Why the reporter rules themselves; compliance is notified."},
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
    "readings": list_of(TEXT) | {"description": "The names of the rulebook's readings that it interprets."},
    "question": TEXT, "decision": TEXT, "scope": SCOPE, "effective_from": nullable(MOMENT),
    "state": STATE | {"description": "A `withdrawal` only withdraws another ruling."},
    "replaces": nullable(RULING_NUMBER), "replaced_by": nullable(RULING_NUMBER), "ruled_by": TEXT,
    "post": TEXT | {"description": "The post held at that moment."},
    "rests_on": list_of(TEXT) | {"description": "Readings of its rulebook on which the authority of that post rests: "
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
    "How rounds are settled from a moment on by a standing ruling; one that sets nothing ends what was set before.",
    {
        "rulebook": RULEBOOK, "from": MOMENT, "excess": nullable(EXCESS), "rounding": nullable(MONEY),
        "not_applied": nullable(TEXT) | {"description": "Why it is not applied: the rulebook does not leave it open."},
        "replaces": nullable(RULING_NUMBER),
    },
    example={"rulebook": "rws-tai-sai-v6", "from": "2026-11-16T06:00:00+08:00", "excess": "filled", "rounding": None,
             "not_applied": None, "replaces": None},
)  # fmt: skip
RULING = record(
    "The whole record of a ruling, as far as you may see it, with its corrective actions.",
    {
        **RULING_FIELDS, "facts": TEXT, "reasoning": TEXT, "follows": nullable(RULING_NUMBER),
        "departs_from": nullable(RULING_NUMBER), "departure": nullable(TEXT), "override": nullable(TEXT),
        "policy": nullable(ref("SettlementPolicy")),
        "reviews": list_of(
            record("A review under a rulebook.",
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
    "How we read a rule whose words leave room. A standing interpretation can set a `value`, but nothing `excluded`, "
    "which the rulebook itself rules out.",
    {
        "name": TEXT, "rules": RULES, "text": TEXT,
        "alternatives": list_of(
            record("Another meaning of the words.",
                   {"text": TEXT, "value": nullable(TEXT) | {"description": "Null if the engine cannot apply it."}})
        ),
        "sets": nullable(one_of(SETTINGS)),
        "excluded": list_of(record("What the rulebook rules out.", {"value": TEXT, "rules": RULES, "text": TEXT})),
    },
    example={
        "name": "excess-in-proportion", "rules": ["rws-tai-sai-v6#5.1.1"],
        "text": "In an over-full box every bet above the minimum counts for stake × permitted ÷ total.",
        "alternatives": [{"text": "The larger bets are cut further.", "value": "filled"}], "sets": "excess",
        "excluded": [{"value": "in-full", "rules": ["rws-tai-sai-v6#5.1.1"], "text": "They are settled pro rata."}],
    },
)  # fmt: skip
PRECEDENTS = record(
    "The precedents for a draft, the most similar first. `binding` is the interpretation in force: a ruling follows "
    "it, or departs from it with a reason. If `decided_by` names a rule, that rule decides the incident, and a ruling "
    "that it is not covered is refused. `readings` can be interpreted.",
    {
        "decided_by": nullable(TEXT), "readings": list_of(ref("Reading")),
        "binding": nullable(RULING_NUMBER),
        "results": list_of(
            record("A ruling and its similarity.",
                   {"ruling": ref("RulingLine"), "in_force": FLAG, "same_situation": FLAG, "shared_rules": RULES}),
            maxItems=MOST_SHOWN,
        ),
    },
    example={
        "decided_by": None, "readings": READING["examples"], "binding": "RU-2026-000045",
        "results": [{"ruling": RULING_EXAMPLE, "in_force": True, "same_situation": True,
                     "shared_rules": ["rws-tai-sai-v6#5.1.2"]}],
    },
)  # fmt: skip

# --- Corrective actions ----------------------------------------------------------------------------

ROUND = record("A round.", {"id": NUMBER, "source": NAME, "ref": NAME, "table": CODE})
ROUND_EXAMPLE = {"id": 4711, "source": "floor", "ref": "TS01-20261115-000123", "table": "TS-01"}
BET: Schema = NUMBER | {"maximum": MOST_BETS, "description": "The number of the bet in the round, from 1."}
NEW_CONSEQUENCE = record(
    "A corrective action. `void` takes rounds and a rule or a ruling; `void-affected` a rule or a ruling and "
    "optionally a part of the period with its reason; `settlement` a ruling, one round and optionally dice or nets; "
    "`discretion` a recorded discretion and nets, with the round if the record names none; `result` dice and one "
    "round or live_round; `suspension` nothing more.",
    {
        "kind": CONSEQUENCE_KIND,
        "rule": nullable(LINE | {"maxLength": LONGEST_RULE}) | {"description": "A rule that decides, such as 5.6."},
        "ruling": nullable(LINE) | {"description": "A ruling on this incident."},
        "discretion": nullable(NUMBER) | {"description": "The `id` of a discretion on this incident."},
        "rounds": nullable(ROUND_NAMES),
        "live_round": nullable(NUMBER) | {"description": "A round in play, by its `id`."},
        "dice": nullable(DICE),
        "nets": nullable(list_of(record("A bet with a given net.", {"bet": BET, "net": NET_IN}),
                                 maxItems=MOST_BETS)),
        "from": nullable(MOMENT) | {"description": "For a part of `void-affected`, within the affected period."},
        "to": nullable(MOMENT),
        "narrowing": nullable(WORDS) | {"description": "Why only a part of the affected rounds; kept on record."},
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
    "amount": NET | {"description": "What it moves, to and from players, added up."}, "round_count": COUNT,
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
    "For damaged dice (5.6): the set, the whole affected period, and the part that was ordered. Rounds named "
    "individually have no times.",
    {
        "dice_set": CODE, "radius_from": nullable(MOMENT), "radius_to": nullable(MOMENT), "from": nullable(MOMENT),
        "to": nullable(MOMENT), "narrowing": nullable(TEXT), "left_out": COUNT,
    },
)  # fmt: skip
CORRECTION = record(
    "The correction of a round: what is added to the net of each bet, and the resulting nets.",
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
    "A player's refund, or (below zero) the recovery from them; whether they were informed, and whether it was paid.",
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
    "What a waiting order would change in a round, for the second person; empty once it is decided, if the rounds have "
    "changed since it was ordered, and for more than 500 rounds.",
    {
        "round": ROUND,
        "bets": list_of(
            record("A bet whose net changes.", {"bet": BET, "player": TEXT, "box": TEXT, "stake": NET,
                                               "before": NET, "after": NET})
        ),
    },
)  # fmt: skip
CONSEQUENCE = record(
    "A corrective action: who ordered and decided it, and what it changed. A second person executes or declines a "
    "waiting one.",
    {
        **CONSEQUENCE_FIELDS, "table": nullable(CODE), "dice": nullable(DICE),
        "nets": list_of(record("A bet with a given net.", {"bet": BET, "net": NET})),
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
    "A decision by the operator's discretion, where the rulebook allows it.",
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
    "ConsequenceLine": record("A corrective action.", CONSEQUENCE_FIELDS, example=CONSEQUENCE_EXAMPLE),
    "Consequence": CONSEQUENCE,
    "Correction": CORRECTION,
    "Repayment": REPAYMENT,
    "SecondWord": record("The reason.", {"reason": WORDS}, example={"reason": "I reviewed the recording, too"}),
    "NewMark": record(
        "The patron was informed, or it was paid; or such a mark was wrong, and then `note` gives the reason.",
        {"what": one_of(RepaymentMark.What.values), "note": nullable(WORDS)}, optional=("note",),
        example={"what": "paid", "note": "At the cage"},
    ),
    "Discretion": DISCRETION,
    "DiscretionPage": page_of("Discretion"),
    "NewDiscretion": record(
        "A decision and its reason; optionally the round, by its `ref`, and the bet. Both are required for a bet "
        "placed by the house.",
        {"decision": WORDS, "reason": WORDS, "round": nullable(LINE), "bet": nullable(BET)}, optional=("round", "bet"),
        example={"decision": "The bet counts where it was placed.", "reason": "The recording"},
    ),
}  # fmt: skip
