"""The descriptions of the calls on rulings, corrective actions and discretion."""

from audits.api.operations import INCIDENT, PERIOD, TABLE
from audits.api.schemas import SITUATION
from audits.incidents.parser import LONGEST_QUERY
from audits.rulings.api.schemas import FILTER_STATE, KIND, RULING_NUMBER, SCOPE
from audits.rulings.precedents import LONGEST_WORDS
from games.api.openapi import RefusalAnswer, operation
from games.api.operations import PAGES, in_path, in_query
from games.api.schemas import NUMBER, RULEBOOK, TEXT, ref

IN_CASINO = INCIDENT[1]
RULING = [in_path("number", RULING_NUMBER, "The number of the ruling."), IN_CASINO]
CONSEQUENCE_KEY = in_path("key", NUMBER, "The corrective action's `id`.")
REPAYMENT_KEY = in_path("key", NUMBER, "The `id` of the refund or recovery.")
OVERTAKEN = RefusalAnswer(
    "Another person was first, or it is already so; nothing has changed.",
    "Overtaken",
    "IN-2026-000123 was ruled on in RU-2026-000045 by M31 Manager 31, shift manager. Nothing has changed; supersede "
    "that ruling if necessary.",
)

# --- Rulings ---------------------------------------------------------------------------------------

ruling_list = operation(
    "ruling_list",
    "Rulings that you may see, the newest first",
    parameters=[
        in_query("kind", KIND, "Only those of this kind."),
        in_query("scope", SCOPE, "Only those for one case, or only standing ones."),
        in_query("state", FILTER_STATE, "Only those in this state now."),
        in_query("rulebook", RULEBOOK, "Only those on this rulebook."),
        in_query("situation", SITUATION, "Only those on this situation."),
        TABLE,
        in_query(
            "text", {"type": "string", "maxLength": LONGEST_QUERY}, "Only those with these words, or this number."
        ),
        *PERIOD,
        *PAGES,
    ],
    answers={200: ref("RulingPage")},
)
ruling_add = operation(
    "ruling_make",
    "Rule on an incident, supersede a ruling, or withdraw one",
    about="By a shift manager or above at this moment who neither dealt nor supervised; a person who reported the "
    "incident needs an `override`. Each refusal is on record. Of two rulings at once the first is kept, the other "
    "refused. A ruling never changes, and a standing one does not apply to earlier rounds.",
    parameters=[IN_CASINO],
    takes=ref("NewRuling"),
    answers={201: ref("Ruling")},
    refusals={409: OVERTAKEN},
)
ruling_read = operation(
    "ruling_read", "One ruling with its corrective actions", parameters=RULING, answers={200: ref("Ruling")}
)
incident_precedents = operation(
    "incident_precedents",
    "Earlier rulings on similar incidents",
    about="By situation, rules and words; only a few, the most similar first.",
    parameters=[
        *INCIDENT,
        in_query("rules", TEXT, "Rules considered, as citations separated by commas; write # as %23."),
        in_query(
            "words",
            {"type": "string", "maxLength": LONGEST_WORDS},
            "The words of the question; defaults to the account of the incident.",
        ),
    ],
    answers={200: ref("Precedents")},
)

# --- Corrective actions ----------------------------------------------------------------------------

consequence_order = operation(
    "consequence_order",
    "Order a corrective action",
    about="Void rounds, amend a settlement by a ruling or by discretion, amend a result, or suspend a table. From the "
    "casino's amount on, a change of a settled round waits for a second person (`state`: `waiting`); everything else "
    "is executed at once. A net must lie between minus the stake and the stake at the best odds of its box. A round on "
    "record never changes; corrections are kept beside it, and it is reconciled again.",
    parameters=INCIDENT,
    takes=ref("NewConsequence"),
    answers={201: ref("Consequence")},
    refusals={409: OVERTAKEN},
)
consequence_read = operation(
    "consequence_read", "One corrective action with its corrections, refunds and recoveries",
    parameters=[CONSEQUENCE_KEY], answers={200: ref("Consequence")},
)  # fmt: skip
consequence_execute = operation(
    "consequence_execute",
    "Execute a corrective action that another person ordered",
    about="By a person who neither ordered it, nor made the ruling or discretion, nor dealt or supervised, and who "
    "reaches every round. 409 if the rounds have changed since it was ordered.",
    parameters=[CONSEQUENCE_KEY],
    takes=ref("SecondWord"),
    answers={200: ref("Consequence")},
    refusals={409: OVERTAKEN},
)
consequence_decline = operation(
    "consequence_decline",
    "Decline a corrective action, so that it is never executed",
    parameters=[CONSEQUENCE_KEY],
    takes=ref("SecondWord"),
    answers={200: ref("Consequence")},
    refusals={409: OVERTAKEN},
)
repayment_mark = operation(
    "repayment_mark",
    "Mark a refund or recovery: patron informed, or paid",
    about="A mark is never removed; a wrong one is reversed by another mark. The people who ordered or executed the "
    "change can mark neither `paid` nor `not-paid`.",
    parameters=[REPAYMENT_KEY],
    takes=ref("NewMark"),
    answers={201: ref("Repayment")},
    refusals={409: OVERTAKEN},
)

# --- Discretion ------------------------------------------------------------------------------------

discretion_list = operation(
    "discretion_list",
    "Decisions by the operator's discretion, the newest first",
    parameters=[TABLE, *PERIOD, *PAGES],
    answers={200: ref("DiscretionPage")},
)
discretion_add = operation(
    "discretion_record",
    "Record a decision by the operator's discretion (Division 9, 4.3 and 4.9)",
    parameters=INCIDENT,
    takes=ref("NewDiscretion"),
    answers={201: ref("Discretion")},
    refusals={409: OVERTAKEN},
)
