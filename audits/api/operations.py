"""The calls on log entries, incidents and evidence in words."""

from drf_spectacular.utils import OpenApiParameter

from audits.api.schemas import DAY, DEPARTMENTS, INCIDENT_NUMBER, SITUATION, STATE
from audits.incidents.parser import LONGEST_QUERY
from games.api.openapi import RefusalAnswer, operation
from games.api.operations import PAGES, in_path, in_query
from games.api.schemas import NUMBER, TEXT, ref

ENTRY_KEY = in_path("key", NUMBER, "The entry's `id`.")
EVIDENCE_KEY = in_path("key", NUMBER, "The evidence's `id`.")
INCIDENT = [
    in_path("number", INCIDENT_NUMBER, "The number of the file."),
    in_query("casino", TEXT, "Its casino, by the code: for people of no single casino."),
]
TABLE = in_query("table", TEXT, "Only those at this table, by its code.")
PERIOD = [
    in_query("day", DAY, "Only those of this gaming day."),
    in_query("from", DAY, "Only those of this gaming day and later ones."),
    in_query("to", DAY, "Only those of this gaming day and earlier ones."),
]
OVERTAKEN = RefusalAnswer(
    "The step does not follow from the state in which the file is now; nothing has changed.",
    "Overtaken",
    "IN-2026-000123 is closed; what may follow is reopened. Nothing has changed.",
)
REPORTED = RefusalAnswer(
    "You have reported the very same already; nothing has changed.",
    "Overtaken",
    "You have reported this as IN-2026-000123; nothing has changed.",
)
WORDS_SOUGHT = {"type": "string", "pattern": r"\S", "maxLength": LONGEST_QUERY}
TOO_LARGE = RefusalAnswer(
    "The file is larger than is taken; nothing of it was kept.",
    "Too large",
    "The file is larger than 1024 MB, and nothing of it was kept; send a part of it.",
)
ADD_EVIDENCE = (
    "A file as a form (`multipart/form-data`), or the reference to a camera as JSON. Files are images, video, sound "
    "or PDF, by their content; they are hashed on the way and never shown by a browser."
)

# --- The daily log ---------------------------------------------------------------------------------

entry_list = operation(
    "log_entry_list",
    "Log entries that you may see, the newest first",
    parameters=[
        TABLE,
        in_query("shift", TEXT, "Only those of this shift, by its name."),
        in_query("department", {"type": "string", "enum": DEPARTMENTS}, "Only those of this department."),
        *PERIOD,
        *PAGES,
    ],
    answers={200: ref("LogEntryPage")},
)
entry_add = operation(
    "log_entry_add",
    "Write into the daily log",
    about="Never changed from then on; a slip is mended by an addendum.",
    takes=ref("NewLogEntry"),
    answers={201: ref("LogEntry")},
)
entry_read = operation(
    "log_entry_read", "One entry of the daily log", parameters=[ENTRY_KEY], answers={200: ref("LogEntry")}
)
entry_addendum = operation(
    "log_entry_addendum",
    "Add to an entry",
    about="The addendum stands beside the entry, and is as confidential as that.",
    parameters=[ENTRY_KEY],
    takes=ref("NewAddendum"),
    answers={201: ref("LogEntry")},
)

# --- Incident files --------------------------------------------------------------------------------

incident_list = operation(
    "incident_list",
    "Incidents that you may see, the newest first",
    parameters=[
        TABLE,
        in_query("state", STATE, "Only those in this state."),
        in_query("situation", SITUATION, "Only those of this situation."),
        *PERIOD,
        *PAGES,
    ],
    answers={200: ref("IncidentPage")},
)
incident_add = operation(
    "incident_open",
    "Open an incident file",
    about="It gets the next number of the casino's year, and the advice of this moment. Every fault is told at once.",
    takes=ref("NewIncident"),
    answers={201: ref("Incident")},
    refusals={409: REPORTED},
)
incident_read = operation(
    "incident_read", "One incident file, as far as you may see it", parameters=INCIDENT, answers={200: ref("Incident")}
)
incident_step = operation(
    "incident_step",
    "Take a file to another state",
    parameters=INCIDENT,
    takes=ref("NewIncidentStep"),
    answers={200: ref("Incident")},
    refusals={409: OVERTAKEN},
)
incident_checklist = operation(
    "incident_checklist",
    "Tick a step of a file's checklist, or untick it",
    about="Each change is kept with who and when; a step that is so already changes nothing.",
    parameters=INCIDENT,
    takes=ref("NewChecklistTick"),
    answers={200: ref("ChecklistStep")},
)
incident_confirm = operation(
    "incident_confirm",
    "Confirm that a named dealer or supervisor was that",
    about="By surveillance or compliance, not by who reported or named them. They then do not rule on the incident.",
    parameters=INCIDENT,
    takes=ref("NewConfirmation"),
    answers={201: ref("Incident")},
    refusals={409: OVERTAKEN},
)
ruling_consent = operation(
    "ruling_consent",
    "Consent to a ruling by a casino manager of no single casino",
    about="By compliance, where nobody of the casino can rule: `ruling_needs` of the incident says so.",
    parameters=INCIDENT,
    takes=ref("NewRulingConsent"),
    answers={201: ref("Incident")},
    refusals={409: OVERTAKEN},
)
incident_note = operation(
    "incident_note",
    "Add a note to a file",
    parameters=INCIDENT,
    takes=ref("NewIncidentNote"),
    answers={201: ref("IncidentNote")},
)

# --- Evidence --------------------------------------------------------------------------------------

FORM = {"multipart/form-data": ref("NewFile")}

incident_evidence_list = operation(
    "incident_evidence_list",
    "Evidence of a file that you may see, the first one first",
    parameters=[*INCIDENT, *PAGES],
    answers={200: ref("EvidencePage")},
)
incident_evidence_add = operation(
    "incident_evidence_add",
    "Add evidence to a file",
    about=ADD_EVIDENCE,
    parameters=INCIDENT,
    takes=ref("NewCamera"),
    takes_also=FORM,
    answers={201: ref("Evidence")},
    refusals={413: TOO_LARGE},
)
entry_evidence_list = operation(
    "log_entry_evidence_list",
    "Evidence of a log entry that you may see, the first one first",
    parameters=[ENTRY_KEY, *PAGES],
    answers={200: ref("EvidencePage")},
)
entry_evidence_add = operation(
    "log_entry_evidence_add",
    "Add evidence to a log entry",
    about=f"{ADD_EVIDENCE} It is at least as confidential as the entry.",
    parameters=[ENTRY_KEY],
    takes=ref("NewCamera"),
    takes_also=FORM,
    answers={201: ref("Evidence")},
    refusals={413: TOO_LARGE},
)
evidence_read = operation(
    "evidence_read", "One piece of evidence, with its chain of custody",
    parameters=[EVIDENCE_KEY], answers={200: ref("Evidence")},
)  # fmt: skip
evidence_content = operation(
    "evidence_content",
    "The file of a piece of evidence",
    about="Always as a file to keep. That you copied it stands in its chain of custody.",
    parameters=[EVIDENCE_KEY],
    answers={200: {"type": "string", "format": "binary"}},
    answer_type="application/octet-stream",
)

# --- Search and advice -----------------------------------------------------------------------------

search = operation(
    "search",
    "Log entries, incidents and notes by their words",
    about='Words that have to be there; "in quotes" side by side, -without this one, this or that. Of all that you '
    "may see; where very many match, the best of the newest.",
    parameters=[OpenApiParameter("q", WORDS_SOUGHT, OpenApiParameter.QUERY, required=True, description="The words.")],
    answers={200: ref("Hits")},
)
advice = operation(
    "advice",
    "What a rulebook says about a situation at a table",
    about="As it would be kept with an incident; nothing is written.",
    takes=ref("AdviceAsked"),
    answers={200: ref("Advice")},
)
