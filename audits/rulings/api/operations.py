"""The calls on rulings, what follows from them, and discretion, in words."""

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
CONSEQUENCE_KEY = in_path("key", NUMBER, "The consequence's `id`.")
REPAYMENT_KEY = in_path("key", NUMBER, "The repayment's `id`.")
QUICKER = RefusalAnswer(
    "Somebody else was quicker, or it stands so already; nothing has changed.",
    "Overtaken",
    "IN-2026-000123 was ruled on in RU-2026-000045 by M31 Manager 31, shift manager. Nothing has changed; supersede "
    "that ruling if need be.",
)

# --- Rulings ---------------------------------------------------------------------------------------

ruling_list = operation(
    "ruling_list",
    "Rulings that you may see, the newest first",
    parameters=[
        in_query("kind", KIND, "Only those of this kind."),
        in_query("scope", SCOPE, "Only those on one case, or only standing ones."),
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
    "Rule: on a file, in place of another ruling, or to withdraw one",
    about="By a shift manager or above at this moment, who neither dealt nor supervised, and reported it only with an "
    "`override`; each refusal is on record. Of two at once one stands, and the other is told. A ruling is never "
    "changed; what was played before a standing one holds is not touched by it.",
    parameters=[IN_CASINO],
    takes=ref("NewRuling"),
    answers={201: ref("Ruling")},
    refusals={409: QUICKER},
)
ruling_read = operation(
    "ruling_read", "One ruling with all that follows from it", parameters=RULING, answers={200: ref("Ruling")}
)
incident_precedents = operation(
    "incident_precedents",
    "What was decided before on the like of a file",
    about="By the situation, the rules and the words; at most a few, the most similar first.",
    parameters=[
        *INCIDENT,
        in_query("rules", TEXT, "Rules considered, as citations with commas between them; write # as %23."),
        in_query(
            "words", {"type": "string", "maxLength": LONGEST_WORDS}, "Of the question; left out, those of the file."
        ),
    ],
    answers={200: ref("Precedents")},
)

# --- Consequences ----------------------------------------------------------------------------------

consequence_order = operation(
    "consequence_order",
    "Void rounds, settle one by a ruling or by discretion, amend a result, suspend a table",
    about="A change of a settled round waits for a second person (`state`: `waiting`), from the casino's amount on; "
    "all else is done at once. A net given by hand lies between minus the stake and the stake at the best odds of its "
    "box. A round on record never changes; corrections are kept beside it, and it is reconciled again.",
    parameters=INCIDENT,
    takes=ref("NewConsequence"),
    answers={201: ref("Consequence")},
    refusals={409: QUICKER},
)
consequence_read = operation(
    "consequence_read", "One consequence with its corrections and repayments",
    parameters=[CONSEQUENCE_KEY], answers={200: ref("Consequence")},
)  # fmt: skip
consequence_execute = operation(
    "consequence_execute",
    "Execute what another person ordered",
    about="By a person who neither ordered it, nor made the ruling or discretion, nor dealt or supervised, and who "
    "reaches every round. 409 where the books have changed since it was ordered.",
    parameters=[CONSEQUENCE_KEY],
    takes=ref("SecondWord"),
    answers={200: ref("Consequence")},
    refusals={409: QUICKER},
)
consequence_decline = operation(
    "consequence_decline",
    "Decline what was ordered: it does not happen",
    parameters=[CONSEQUENCE_KEY],
    takes=ref("SecondWord"),
    answers={200: ref("Consequence")},
    refusals={409: QUICKER},
)
repayment_mark = operation(
    "repayment_mark",
    "Mark that the patron was told, or that it was paid",
    about="A mark is never taken away; one that was a slip gets another beside it. Whoever ordered or executed the "
    "change marks neither `paid` nor `not-paid`.",
    parameters=[REPAYMENT_KEY],
    takes=ref("NewMark"),
    answers={201: ref("Repayment")},
    refusals={409: QUICKER},
)

# --- Discretion ------------------------------------------------------------------------------------

discretion_list = operation(
    "discretion_list",
    "What was decided where a document leaves it to the operator, the newest first",
    parameters=[TABLE, *PERIOD, *PAGES],
    answers={200: ref("DiscretionPage")},
)
discretion_add = operation(
    "discretion_record",
    "Keep what was decided under the operator's discretion (Division 9, 4.3 and 4.9)",
    parameters=INCIDENT,
    takes=ref("NewDiscretion"),
    answers={201: ref("Discretion")},
    refusals={409: QUICKER},
)
