"""The descriptions of the calls on log entries, incidents and evidence."""

from drf_spectacular.utils import OpenApiParameter

from audits.api.schemas import DAY, INCIDENT_NUMBER, SITUATION, STATE
from audits.incidents.parser import LONGEST_QUERY
from games.access.roles import DEPARTMENTS
from games.api.openapi import RefusalAnswer, operation
from games.api.operations import PAGES, in_path, in_query
from games.api.schemas import NUMBER, TEXT, ref

ENTRY_KEY = in_path("key", NUMBER, "The entry's `id`.")
EVIDENCE_KEY = in_path("key", NUMBER, "The evidence's `id`.")
INCIDENT = [
    in_path("number", INCIDENT_NUMBER, "The number of the incident."),
    in_query("casino", TEXT, "The code of its casino; for group staff, who belong to no single casino."),
]
TABLE = in_query("table", TEXT, "Only those at the table with this code.")
PERIOD = [
    in_query("day", DAY, "Only those of this gaming day."),
    in_query("from", DAY, "Only those of this gaming day and later ones."),
    in_query("to", DAY, "Only those of this gaming day and earlier ones."),
]
OVERTAKEN = RefusalAnswer(
    "The present state of the incident does not allow this; nothing has changed.",
    "Overtaken",
    "IN-2026-000123 is closed; the next state can be reopened. Nothing has changed.",
)
REPORTED = RefusalAnswer(
    "You have already reported the same; nothing has changed.",
    "Overtaken",
    "You have already reported this as IN-2026-000123; nothing has changed.",
)
WORDS_SOUGHT = {"type": "string", "pattern": r"\S", "maxLength": LONGEST_QUERY}
TOO_LARGE = RefusalAnswer(
    "The file is too large and was not stored.",
    "Too large",
    "The file is larger than 1024 MB and was not stored; send a part of it.",
)
ADD_EVIDENCE = (
    "A file as a form (`multipart/form-data`), or a camera reference as JSON. Files must be images, video, sound or "
    "PDF by their content; they are hashed when stored, and never shown by a browser."
)

# --- The daily log ---------------------------------------------------------------------------------

entry_list = operation(
    "log_entry_list",
    "Log entries that you may see, the newest first",
    parameters=[
        TABLE,
        in_query("shift", TEXT, "Only those of this shift, by its name."),
        in_query("department", {"type": "string", "enum": list(DEPARTMENTS)}, "Only those of this department."),
        *PERIOD,
        *PAGES,
    ],
    answers={200: ref("LogEntryPage")},
)
entry_add = operation(
    "log_entry_add",
    "Write an entry into the daily log",
    about="An entry never changes; correct a mistake with an addendum.",
    takes=ref("NewLogEntry"),
    answers={201: ref("LogEntry")},
)
entry_read = operation(
    "log_entry_read", "One entry of the daily log", parameters=[ENTRY_KEY], answers={200: ref("LogEntry")}
)
entry_addendum = operation(
    "log_entry_addendum",
    "Add to an entry",
    about="The addendum is kept beside the entry, and is as confidential as the entry.",
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
    "Open an incident",
    about="It gets the next number of the casino's year, and keeps the advice given now. All faults are reported at "
    "once.",
    takes=ref("NewIncident"),
    answers={201: ref("Incident")},
    refusals={409: REPORTED},
)
incident_read = operation(
    "incident_read", "One incident, as far as you may see it", parameters=INCIDENT, answers={200: ref("Incident")}
)
incident_step = operation(
    "incident_step",
    "Take an incident to another state",
    parameters=INCIDENT,
    takes=ref("NewIncidentStep"),
    answers={200: ref("Incident")},
    refusals={409: OVERTAKEN},
)
incident_checklist = operation(
    "incident_checklist",
    "Tick or untick a step of the checklist",
    about="Each change is kept with person and time. A call that changes nothing writes nothing.",
    parameters=INCIDENT,
    takes=ref("NewChecklistTick"),
    answers={200: ref("ChecklistStep")},
)
incident_confirm = operation(
    "incident_confirm",
    "Confirm a named dealer or supervisor",
    about="By surveillance or compliance, but not by the person who reported the incident or named them. A confirmed "
    "person cannot rule on the incident.",
    parameters=INCIDENT,
    takes=ref("NewConfirmation"),
    answers={201: ref("Incident")},
    refusals={409: OVERTAKEN},
)
ruling_consent = operation(
    "ruling_consent",
    "Consent to a ruling by a group casino manager",
    about="By compliance, where no one of the casino can rule: `ruling_needs` of the incident then says so.",
    parameters=INCIDENT,
    takes=ref("NewRulingConsent"),
    answers={201: ref("Incident")},
    refusals={409: OVERTAKEN},
)
incident_note = operation(
    "incident_note",
    "Add a note to an incident",
    parameters=INCIDENT,
    takes=ref("NewIncidentNote"),
    answers={201: ref("IncidentNote")},
)

# --- Evidence --------------------------------------------------------------------------------------

FORM = {"multipart/form-data": ref("NewFile")}

incident_evidence_list = operation(
    "incident_evidence_list",
    "Evidence of an incident that you may see, the oldest first",
    parameters=[*INCIDENT, *PAGES],
    answers={200: ref("EvidencePage")},
)
incident_evidence_add = operation(
    "incident_evidence_add",
    "Add evidence to an incident",
    about=ADD_EVIDENCE,
    parameters=INCIDENT,
    takes=ref("NewCamera"),
    takes_also=FORM,
    answers={201: ref("Evidence")},
    refusals={413: TOO_LARGE},
)
entry_evidence_list = operation(
    "log_entry_evidence_list",
    "Evidence of a log entry that you may see, the oldest first",
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
    about="Always as a download. The chain of custody records that you copied it.",
    parameters=[EVIDENCE_KEY],
    answers={200: {"type": "string", "format": "binary"}},
    answer_type="application/octet-stream",
)

# --- Search and advice -----------------------------------------------------------------------------

search = operation(
    "search",
    "Search log entries, incidents and notes",
    about='Every word must match; "words in quotes" side by side, a minus excludes a word, `or` means either. Only '
    "records that you may see; of very many matches, the best of the newest.",
    parameters=[
        OpenApiParameter(
            "q", WORDS_SOUGHT, OpenApiParameter.QUERY, required=True, description="The words to search for."
        )
    ],
    answers={200: ref("Hits")},
)
advice = operation(
    "advice",
    "Advice on a situation at a table",
    about="As it would be kept with an incident; nothing is written.",
    takes=ref("AdviceAsked"),
    answers={200: ref("Advice")},
)
