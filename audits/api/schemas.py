"""What calls on log entries, incidents and evidence take and answer, as JSON Schema, each with an example."""

from audits.incidents.parser import (
    LONGEST_CAMERA,
    LONGEST_LINE,
    LONGEST_TEXT,
    LONGEST_TIME_CODE,
    MOST_PEOPLE,
    MOST_ROUNDS,
)
from audits.incidents.search import INCIDENT_NUMBERS, MOST_HITS
from audits.incidents.serializers import KINDS, LONGEST_EXCERPT
from audits.incidents.situations import situations
from audits.models import CustodyStep, IncidentPerson, IncidentState
from games.access.roles import access_policy
from games.api.openapi import Schema
from games.api.schemas import (
    CODE,
    MOMENT,
    MONEY,
    NAME,
    NET,
    NUMBER,
    RULEBOOK,
    TEXT,
    list_of,
    nullable,
    page_of,
    record,
    ref,
)

FLAG: Schema = {"type": "boolean"}
DAY: Schema = {"type": "string", "format": "date"}
WORDS: Schema = {"type": "string", "pattern": r"\S", "description": f"At most {LONGEST_TEXT} characters."}
LINE: Schema = {"type": "string", "minLength": 1, "maxLength": LONGEST_LINE}
CAMERA: Schema = LINE | {"maxLength": LONGEST_CAMERA}
TIME_CODE: Schema = LINE | {"maxLength": LONGEST_TIME_CODE}
INCIDENT_NUMBER: Schema = {"type": "string", "pattern": f"^{INCIDENT_NUMBERS.pattern}$", "examples": ["IN-2026-000123"]}
SITUATION: Schema = {"type": "string", "enum": list(situations())}
STATE: Schema = {"type": "string", "enum": IncidentState.values}
PART: Schema = {"type": "string", "enum": IncidentPerson.Part.values}
PARTY: Schema = {"type": "string", "enum": [str(one) for one in IncidentPerson.PARTIES]}
COUNT: Schema = {"type": "integer", "minimum": 0}
FACTS_IN: Schema = {
    "type": "object",
    "description": "What the situation needs: `known_dice` for an interruption, `settled` for a wrong result, "
    "`with_chips` and `in_time` for a bet that was called out.",
    "additionalProperties": nullable(LINE),
}

# --- The daily log ---------------------------------------------------------------------------------

DEPARTMENTS = list(access_policy().departments)
PLACE_OF_RECORDING = {
    "camera": nullable(CAMERA),
    "time_code": nullable(TIME_CODE),
    "recording": nullable(LINE) | {"description": "Where the recording is."},
    "keep_until": nullable(DAY) | {"description": "Until when the recording is to be kept."},
}
NEW_ENTRY = record(
    "What somebody saw. Who names neither table nor pit writes for his own pit, or for the casino. Only surveillance "
    "writes confidential entries.",
    {
        "casino": nullable(LINE), "pit": nullable(LINE), "table": nullable(LINE), "at": MOMENT, "summary": WORDS,
        "location": nullable(LINE), **PLACE_OF_RECORDING, "monitored": nullable(FLAG), "confidential": nullable(FLAG),
    },
    optional=("casino", "pit", "table", "location", *PLACE_OF_RECORDING, "monitored", "confidential"),
    example={"table": "TS-01", "at": "2026-11-15T21:07:00+08:00", "summary": "A die leaned on the wall of the dome.",
             "camera": "C-14", "time_code": "21:07:12:04", "monitored": True},
)  # fmt: skip
ENTRY_FIELDS: dict[str, Schema] = {
    "id": NUMBER, "casino": CODE, "pit": nullable(CODE), "table": nullable(CODE), "at": MOMENT, "gaming_day": DAY,
    "shift": TEXT, "location": nullable(TEXT), "camera": nullable(TEXT), "time_code": nullable(TEXT),
    "recording": nullable(TEXT), "keep_until": nullable(DAY), "monitored": FLAG, "summary": TEXT,
    "confidential": FLAG, "addendum_to": nullable(NUMBER), "author": TEXT,
    "department": {"type": "string", "enum": DEPARTMENTS}, "written_by": TEXT, "recorded_at": MOMENT,
}  # fmt: skip
ENTRY_EXAMPLE = {
    "id": 71, "casino": "RWS", "pit": "P1", "table": "TS-01", "at": "2026-11-15T21:07:00+08:00",
    "gaming_day": "2026-11-15", "shift": "Swing", "location": None, "camera": "C-14", "time_code": "21:07:12:04",
    "recording": None, "keep_until": None, "monitored": True, "summary": "A die leaned on the wall of the dome.",
    "confidential": False, "addendum_to": None, "author": "SV41", "department": "surveillance",
    "written_by": "SV41 Observer 41, surveillance", "recorded_at": "2026-11-15T21:08:10+08:00",
}  # fmt: skip
ADDENDUM = record(
    "What was added to an entry.",
    {"id": NUMBER, "summary": TEXT, "author": TEXT, "written_by": TEXT, "recorded_at": MOMENT},
)
LOG_ENTRY = record(
    "An entry of the daily log, with what was added to it and the files that were made of it.",
    {**ENTRY_FIELDS, "addenda": list_of(ADDENDUM), "incidents": list_of(INCIDENT_NUMBER)},
    example=ENTRY_EXAMPLE | {"addenda": [], "incidents": ["IN-2026-000123"]},
)

# --- Advice ----------------------------------------------------------------------------------------

BOXES = list_of(TEXT)
SUMS = {"rounds": COUNT, "settled": COUNT, "stakes": MONEY, "refunds": MONEY, "recoveries": MONEY}
AFFECTED_SUMS = record("Begun before the incident. Refunds are what players lost, recoveries what they won.", SUMS)
FIGURES = {
    "DecidedBoxes": record(
        "Which boxes are decided by the dice that are known; the open ones need a ruling.",
        {"won": BOXES, "lost": BOXES, "open": BOXES, "open_rules": list_of(TEXT)},
    ),
    "AffectedRounds": record(
        "All rounds that a damaged dice set affected: after its last good inspection before the incident (or from its "
        "first fitting) until the damage was found or the set was taken out, whichever is later. What goes back to "
        "each player; negative is what a player has to give back.",
        {
            "dice_set": CODE, "last_good": nullable(MOMENT), "from": MOMENT, "to": MOMENT,
            "in_place": FLAG | {"description": "The set is still fitted: the radius ends now."},
            "timeline": list_of(record("A moment.", {"what": TEXT, "at": MOMENT, "table": nullable(CODE)})),
            "before": AFFECTED_SUMS, "after": AFFECTED_SUMS | {"description": "Begun at the incident or later."},
            "tables": list_of(record("A table.", {"table": CODE, "rulebook": TEXT, **SUMS})),
            "in_play": list_of(record("A round in play with the set.", {"ref": NAME, "table": CODE})), "count": COUNT,
            "rounds": list_of(record("A round.", {"ref": NAME, "table": CODE, "status": TEXT})),
            "players": list_of(record("A player.", {"player": NAME, "rounds": COUNT, "refund": NET})),
            "player_count": COUNT, "total": NET,
        },
    ),
    "LimitFigures": record(
        "Which boxes of the rounds are over or under their limits, and what of each bet stands.",
        {
            "rounds": list_of(
                record(
                    "A round.",
                    {
                        "round": NAME,
                        "breaches": list_of(
                            record("A breach.", {"kind": TEXT, "boxes": BOXES, "player": nullable(NAME),
                                                 "placed": MONEY, "permitted": MONEY})
                        ),
                        "cut": list_of(
                            record("A bet that gives way.", {"player": NAME, "box": TEXT, "stake": MONEY,
                                                             "stands": MONEY, "goes_back": MONEY})
                        ),
                    },
                )
            )
        },
    ),
    "KeptWinnings": record(
        "What is kept for players who have left.",
        {
            "kept": list_of(
                record("A bet that won.", {"round": NAME, "player": NAME, "box": TEXT, "stake": MONEY, "won": MONEY,
                                           "kept": MONEY})
            )
        },
    ),
    "NoFigures": record("Nothing is to be counted; perhaps `explain` says why.", {"explain": TEXT},
                        optional=("explain",)),
}  # fmt: skip
ADVICE = record(
    "What the rulebook says, what to do next, and the figures that go with it. `explain` alone where the table had no "
    "game at that moment.",
    {
        "rulebook": RULEBOOK,
        "layout": TEXT,
        "facts": {"type": "object", "additionalProperties": TEXT},
        "situation": SITUATION,
        "action": TEXT,
        "rules": list_of(TEXT),
        "authority": TEXT,
        "explain": TEXT,
        "steps": list_of(TEXT),
        "figures": {"anyOf": [ref(name) for name in FIGURES]},
    },
    optional=("rulebook", "layout", "facts", "situation", "action", "rules", "authority", "steps", "figures"),
    example={
        "rulebook": "rws-tai-sai-v6", "layout": "C", "facts": {}, "situation": "die-not-flat", "action": "void",
        "rules": ["rws-tai-sai-v6#5.5.2"], "authority": "rule", "explain": "A die that is not flat voids the round.",
        "steps": ["Return every stake of the round"], "figures": {},
    },
)  # fmt: skip
ROUND_NAMES: Schema = list_of(LINE, maxItems=MOST_ROUNDS) | {
    "description": "By their `ref`; with the source before it, as `floor TS01-000123`, where several have it."
}
ASKED = record(
    "A situation, as far as it is known. `patrons` are for winnings that are kept (player-left).",
    {
        "table": LINE, "at": MOMENT, "until": nullable(MOMENT), "situation": SITUATION, "facts": nullable(FACTS_IN),
        "rounds": nullable(ROUND_NAMES), "patrons": nullable(list_of(LINE, maxItems=MOST_PEOPLE)),
    },
    optional=("until", "facts", "rounds", "patrons"),
    example={"table": "TS-01", "at": "2026-11-15T21:07:00+08:00", "situation": "interruption",
             "facts": {"known_dice": "2,?,?"}},
)  # fmt: skip

# --- Incident files --------------------------------------------------------------------------------

PERSON = record("Who was there, by staff number or patron's reference.", {"part": PART, "reference": LINE})
NAMED_PERSON = record(
    "Who was there. A dealer or supervisor is a party once surveillance or compliance has confirmed it.",
    {"part": PART, "reference": LINE, "confirmed_by": nullable(TEXT)},
)
NEW_INCIDENT = record(
    "What happened. Without a table there is no advice. `entry`, `finding` or `conflict` is what it is made of.",
    {
        "casino": nullable(LINE), "table": nullable(LINE), "occurred_from": MOMENT, "occurred_to": nullable(MOMENT),
        "situation": SITUATION, "facts": nullable(FACTS_IN), "account": WORDS, "rounds": nullable(ROUND_NAMES),
        "people": nullable(list_of(PERSON, maxItems=MOST_PEOPLE)),
        "entry": nullable(NUMBER), "finding": nullable(NUMBER), "conflict": nullable(NUMBER),
    },
    optional=("casino", "table", "occurred_to", "facts", "rounds", "people", "entry", "finding", "conflict"),
    example={
        "table": "TS-01", "occurred_from": "2026-11-15T21:07:00+08:00", "situation": "die-not-flat",
        "account": "A die leaned on the wall of the dome.", "rounds": ["TS01-20261115-000123"],
        "people": [{"part": "dealer", "reference": "D102"}, {"part": "patron", "reference": "seat-3"}],
    },
)  # fmt: skip
INCIDENT_FIELDS: dict[str, Schema] = {
    "number": INCIDENT_NUMBER, "casino": CODE, "pit": nullable(CODE), "table": nullable(CODE),
    "occurred_from": MOMENT, "occurred_to": nullable(MOMENT), "reported_at": MOMENT, "reported_by": TEXT,
    "situation": SITUATION, "facts": {"type": "object", "additionalProperties": TEXT}, "account": TEXT,
    "rulebook": nullable(RULEBOOK), "state": STATE, "state_since": MOMENT,
}  # fmt: skip
INCIDENT_EXAMPLE: Schema = {
    "number": "IN-2026-000123", "casino": "RWS", "pit": "P1", "table": "TS-01",
    "occurred_from": "2026-11-15T21:07:00+08:00", "occurred_to": None, "reported_at": "2026-11-15T21:08:30+08:00",
    "reported_by": "S11 Supervisor 11, pit supervisor", "situation": "die-not-flat", "facts": {},
    "account": "A die leaned on the wall of the dome.", "rulebook": "rws-tai-sai-v6", "state": "open",
    "state_since": "2026-11-15T21:08:30+08:00",
}  # fmt: skip
STEP = record(
    "A step of a file.", {"before": nullable(STATE), "after": STATE, "at": MOMENT, "who": TEXT, "reason": TEXT}
)
NOTE = record(
    "A remark on a file; a confidential one is for surveillance, compliance and auditors.",
    {"id": NUMBER, "text": TEXT, "confidential": FLAG, "at": MOMENT, "who": TEXT},
    example={"id": 9, "text": "The recording is clear.", "confidential": False, "at": "2026-11-15T21:30:00+08:00",
             "who": "SV41 Observer 41, surveillance"},
)  # fmt: skip
DISPUTE = record(
    "A patron's dispute, with the clock of the law.",
    {
        "patron": TEXT, "law": TEXT, "raised_at": MOMENT, "due_at": MOMENT, "notified_at": nullable(MOMENT),
        "patron_told_at": nullable(MOMENT), "resolved_at": nullable(MOMENT), "resolution": nullable(TEXT),
    },
)  # fmt: skip
CHECKLIST_STEP = record(
    "A step of the checklist, with every time it was ticked or unticked.",
    {
        "step": NUMBER, "text": TEXT, "done": FLAG,
        "ticks": list_of(record("A tick, or one taken away.", {"done": FLAG, "at": MOMENT, "who": TEXT})),
    },
    example={"step": 1, "text": "Tell surveillance", "done": True, "ticks": [
        {"done": True, "at": "2026-11-15T21:12:00+08:00", "who": "S11 Supervisor 11, pit supervisor"}]},
)  # fmt: skip
AFFECTED_NOW: Schema = {
    "anyOf": [ref("AffectedRounds"), ref("NoFigures"), {"type": "null"}],
    "description": "Of damaged dice (5.6): the rounds that are affected, as it is now.",
}
INCIDENT = record(
    "A file, as far as you may see it. `next` are the states to which you may take it; `advice` is as it was given "
    "when the file was opened, and none where no table was named.",
    {
        **INCIDENT_FIELDS, "advice": nullable(ref("Advice")), "affected": AFFECTED_NOW,
        "checklist": list_of(ref("ChecklistStep")), "next": list_of(STATE), "people": list_of(NAMED_PERSON),
        "ruling_needs": nullable(TEXT),
        "rounds": list_of(record("A round.", {"id": NUMBER, "source": NAME, "ref": NAME, "table": CODE})),
        "steps": list_of(ref("IncidentStep")), "notes": list_of(ref("IncidentNote")),
        "related": list_of(
            record("Another file.", {"number": INCIDENT_NUMBER, "reason": TEXT, "who": TEXT, "at": MOMENT})
        ),
        "entry": nullable(NUMBER), "finding": nullable(NUMBER), "conflict": nullable(NUMBER),
        "dispute": nullable(ref("Dispute")), "rulings": list_of(ref("RulingLine")),
        "consequences": list_of(ref("ConsequenceLine")), "discretions": list_of(ref("Discretion")),
    },
    example=INCIDENT_EXAMPLE | {
        "advice": ADVICE["examples"][0], "affected": None, "checklist": CHECKLIST_STEP["examples"],
        "next": ["under-investigation", "awaiting-ruling"],
        "people": [{"part": "dealer", "reference": "D102", "confirmed_by": None}], "ruling_needs": None,
        "rounds": [],
        "steps": [{"before": None, "after": "open", "at": "2026-11-15T21:08:30+08:00",
                   "who": "S11 Supervisor 11, pit supervisor", "reason": "Reported"}],
        "notes": [], "related": [], "entry": None, "finding": None, "conflict": None, "dispute": None,
        "rulings": [], "consequences": [], "discretions": [],
    },
)  # fmt: skip

# --- Evidence --------------------------------------------------------------------------------------

NEW_CAMERA = record(
    "Where to find a recording that stays where it is.",
    {"description": WORDS, **PLACE_OF_RECORDING, "camera": CAMERA, "confidential": nullable(FLAG)},
    optional=("time_code", "recording", "keep_until", "confidential"),
    example={"description": "The throw", "camera": "C-14", "time_code": "21:07:12:04", "keep_until": "2027-02-15"},
)
NEW_FILE = record(
    "A file with what it shows: an image, video, sound or PDF, by its content and not only by its name.",
    {
        "file": {"type": "string", "format": "binary"},
        "description": WORDS,
        "confidential": {"type": "string", "enum": ["true", "false"]},
    },
    optional=("confidential",),
)
EVIDENCE = record(
    "A file or a reference to a camera, with everybody who touched it.",
    {
        "id": NUMBER, "casino": CODE, "incident": nullable(INCIDENT_NUMBER), "entry": nullable(NUMBER),
        "description": TEXT, "confidential": FLAG,
        "file": nullable(
            record("The file.", {"name": TEXT, "type": TEXT, "size": {"type": "integer", "minimum": 1},
                                 "sha256": {"type": "string", "pattern": "^[0-9a-f]{64}$"}})
        ),
        "camera": nullable(TEXT), "time_code": nullable(TEXT), "recording": nullable(TEXT),
        "keep_until": nullable(DAY), "added_by": TEXT, "at": MOMENT,
        "custody": list_of(
            record("A touch.", {"what": {"type": "string", "enum": CustodyStep.What.values}, "at": MOMENT,
                                "who": TEXT, "door": TEXT})
        ),
    },
    example={
        "id": 5, "casino": "RWS", "incident": "IN-2026-000123", "entry": None, "description": "The felt",
        "confidential": False, "file": {"name": "felt.png", "type": "image/png", "size": 48211, "sha256": "0f" * 32},
        "camera": None, "time_code": None, "recording": None, "keep_until": None,
        "added_by": "SV41 Observer 41, surveillance", "at": "2026-11-15T21:20:00+08:00",
        "custody": [{"what": "added", "at": "2026-11-15T21:20:00+08:00", "who": "SV41 Observer 41, surveillance",
                     "door": "POST /api/v1/incidents/IN-2026-000123/evidence/"}],
    },
)  # fmt: skip

# --- Search ----------------------------------------------------------------------------------------

HIT = record(
    "What was found: `incident` is the number of the file, also of a note's; `id` that of a log entry. `text` is its "
    "beginning.",
    {
        "kind": {"type": "string", "enum": list(KINDS.values())}, "id": nullable(NUMBER),
        "incident": nullable(INCIDENT_NUMBER), "casino": CODE, "table": nullable(CODE), "at": MOMENT,
        "confidential": FLAG, "text": {"type": "string", "maxLength": LONGEST_EXCERPT},
    },
    example={
        "kind": "note", "id": None, "incident": "IN-2026-000123", "casino": "RWS", "table": "TS-01",
        "at": "2026-11-15T21:30:00+08:00", "confidential": False, "text": "The recording is clear.",
    },
)  # fmt: skip

INCIDENT_SCHEMAS: dict[str, Schema] = {
    "NewLogEntry": NEW_ENTRY,
    "NewAddendum": record("What is to be added.", {"summary": WORDS}, example={"summary": "It was seat 4, not 3."}),
    "LogEntry": LOG_ENTRY,
    "LogEntryLine": record("An entry of the daily log.", ENTRY_FIELDS, example=ENTRY_EXAMPLE),
    "LogEntryPage": page_of("LogEntryLine"),
    **FIGURES,
    "Advice": ADVICE,
    "AdviceAsked": ASKED,
    "NewIncident": NEW_INCIDENT,
    "IncidentLine": record("A file.", INCIDENT_FIELDS, example=INCIDENT_EXAMPLE),
    "IncidentPage": page_of("IncidentLine"),
    "Incident": INCIDENT,
    "IncidentStep": STEP,
    "NewIncidentStep": record(
        "To which state, and why.", {"to": STATE, "reason": WORDS},
        example={"to": "under-investigation", "reason": "The recording has to be seen first"},
    ),
    "ChecklistStep": CHECKLIST_STEP,
    "NewChecklistTick": record(
        "A step of the checklist by its place, from 1, and whether it is done.",
        {"step": NUMBER, "done": FLAG}, example={"step": 1, "done": True},
    ),
    "NewConfirmation": record(
        "A dealer or supervisor who is named on the file, and why it is so.",
        {"part": PARTY, "reference": LINE, "reason": WORDS},
        example={"part": "supervisor", "reference": "S11", "reason": "On the recording."},
    ),
    "NewRulingConsent": record(
        "A casino manager of no single casino, by staff number, who rules where nobody of the casino can.",
        {"ruler": LINE, "reason": WORDS}, example={"ruler": "CM1", "reason": "All managers here are parties."},
    ),
    "IncidentNote": NOTE,
    "NewIncidentNote": record(
        "A remark. Only surveillance and compliance write confidential ones.",
        {"text": WORDS, "confidential": nullable(FLAG)}, optional=("confidential",),
        example={"text": "The recording is clear.", "confidential": False},
    ),
    "Dispute": DISPUTE,
    "NewCamera": NEW_CAMERA,
    "NewFile": NEW_FILE,
    "Evidence": EVIDENCE,
    "EvidencePage": page_of("Evidence"),
    "Hit": HIT,
    "Hits": record("The best first.", {"results": list_of(ref("Hit"), maxItems=MOST_HITS)}),
}  # fmt: skip
