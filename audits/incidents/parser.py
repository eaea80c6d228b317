"""Parse log entries, incidents and evidence sent by other programs; all faults are reported at once, by field."""

import datetime as dt
from collections.abc import Iterable, Mapping
from typing import Any

from audits.incidents.advice import AdviceQuestion
from audits.incidents.search import rounds_named
from audits.incidents.services.incidents import IncidentReport
from audits.incidents.situations import situations
from audits.models import Finding, IncidentPerson, IncidentState, LogEntry
from games.access.gate import Actor, visible, within_reach
from games.engine.errors import InputError
from games.engine.json_input import InputFaults, is_plain_text, shown_key
from games.engine.rules.loader import listed
from games.floor.moments import FIRST, LAST, MomentError, parse_moment
from games.models import Casino, Pit, RecordingConflict, Round, Table

LONGEST_TEXT = 20_000
LONGEST_LINE = 200
LONGEST_CAMERA, LONGEST_TIME_CODE = 60, 40
MOST_ROUNDS, MOST_PEOPLE = 1000, 100
LONGEST_QUERY = 500
LARGEST_KEY = 2**63 - 1

ENTRY_FIELDS = (
    "casino", "pit", "table", "at", "summary", "location", "camera", "time_code", "recording", "keep_until",
    "monitored", "confidential",
)  # fmt: skip
REPORT_FIELDS = (
    "casino", "table", "occurred_from", "occurred_to", "situation", "facts", "account", "rounds", "people", "entry",
    "finding", "conflict",
)  # fmt: skip
ASKED_FIELDS = ("table", "at", "until", "situation", "facts", "rounds", "patrons")
CAMERA_FIELDS = ("description", "camera", "time_code", "recording", "keep_until", "confidential")
FILE_FIELDS = ("description", "confidential")
FLAGS = {"true": True, "false": False}


class BodyReader(InputFaults):
    """Read one document for its sender. Records that the sender may not see are treated as missing."""

    def __init__(self, actor: Actor, document: object, fields: tuple[str, ...], *needed: str) -> None:
        super().__init__()
        if not isinstance(document, dict):
            raise InputError("The input is not a JSON object; write it as {…}.")
        self.actor = actor
        self.data = self.table(document, "", fields)
        self.required(self.data, "", *needed)

    # --- Words and numbers ---

    def line(self, name: str, longest: int = LONGEST_LINE) -> str:
        """Read a short text on one line; empty where it is left out."""
        value = self.data.get(name, "")
        if name in self.data:
            self.verify_line(value, name, longest)
        return value if isinstance(value, str) else ""

    def verify_line(self, value: object, where: str, longest: int = LONGEST_LINE) -> bool:
        if not is_plain_text(value) or not str(value).strip():
            self.add(where, f"{value!a:.40} is not plain text; write it in quotes, on one line.")
        elif len(str(value)) > longest:
            self.add(where, f"is longer than {longest} characters; shorten it.")
        else:
            return True
        return False

    def words(self, name: str) -> str:
        """Read a longer text, on one line or several; empty where it is left out."""
        value = self.data.get(name, "")
        if not isinstance(value, str):
            self.add(name, "is not a text; write it in quotes.")
        elif name in self.data and not (value.strip() and is_storable(value)):
            self.add(name, "is empty, or is not plain text; write some words.")
        elif len(value) > LONGEST_TEXT:
            self.add(name, f"is longer than {LONGEST_TEXT} characters; shorten it.")
        else:
            return value
        return ""

    def flag(self, name: str) -> bool:
        value = self.data.get(name, False)
        if not isinstance(value, bool):
            self.add(name, "is neither true nor false; write one of them.")
        return value is True

    def place_in_list(self, name: str) -> int:
        """Read a position in a list, counted from 1."""
        value = self.data.get(name, 1)
        if type(value) is not int or not 0 < value <= LARGEST_KEY:
            self.add(name, f"{value!r:.40} is not a place in a list; write a whole number from 1.")
            return 1
        return value

    def choice(self, name: str, choices: Iterable[str]) -> str:
        value = self.data.get(name)
        if value is not None and value not in list(choices):
            self.add(name, f"{value!r:.60} is not a valid choice; choose {listed(choices)}.")
        return str(value)

    def moment(self, name: str) -> dt.datetime | None:
        if name not in self.data:
            return None
        value = self.data[name]
        try:
            return parse_moment(value if isinstance(value, str) else type(value).__name__)
        except MomentError as error:
            self.add(name, f"{error}.")
            return None

    def day(self, name: str) -> dt.date | None:
        if name not in self.data:
            return None
        try:
            return day_of(self.data[name])
        except ValueError:
            self.add(name, f"{self.data[name]!r:.40} is not a day; write it as 2026-11-15.")
            return None

    def texts(self, name: str, most: int) -> list[str]:
        """Read a list of short texts."""
        value = self.data.get(name, [])
        if not isinstance(value, list) or len(value) > most:
            self.add(name, f"is not a list of at most {most}; write it as […].")
            return []
        sound = [self.verify_line(text, f"{name}[{index}]") for index, text in enumerate(value)]
        return value if all(sound) else []

    # --- What is on record ---

    def coded(self, name: str, model: Any, **place: Any) -> Any:
        """Find a casino, pit or table by its code; None where none is named."""
        code = self.line(name)
        if not code or "\x00" in code:
            return None
        found = model.objects.filter(code__iexact=code, **place).first()
        if found is None:
            self.add(name, f"there is no {name} {code!r:.40}; check the code.")
        return found

    def keyed(self, name: str, records: Any) -> Any:
        """Find a record by its number, of those that the sender may see; None where none is named."""
        if name not in self.data:
            return None
        key = self.data[name]
        if type(key) is not int or not 0 < key <= LARGEST_KEY:
            self.add(name, f"{key!r:.40} is not a number of a record; write a whole number.")
            return None
        found = records.filter(pk=key).first()
        if found is None:
            self.add(name, f"there is no {records.model._meta.verbose_name} {key}; check the number.")
        return found

    def casino_meant(self) -> Casino | None:
        """Return the casino whose rounds are meant: the named one, that of the named table, or the sender's own."""
        for name, records in (("casino", Casino.objects), ("table", Table.objects.select_related("casino"))):
            code = self.data.get(name)
            if isinstance(code, str) and is_plain_text(code) and (found := records.filter(code__iexact=code).first()):
                return found if isinstance(found, Casino) else found.casino
        return getattr(self.actor, "casino", None)

    def rounds(self, casino: Casino | None = None) -> list[Round]:
        """Find the named rounds, each once; only those of one casino, where one is meant."""
        names = self.texts("rounds", MOST_ROUNDS)
        known = rounds_named(self.actor, names, casino or self.casino_meant())
        for index, name in enumerate(names):
            self.verify_unique(f"rounds[{index}]", name, known[name])
        return list({round_.pk: round_ for found in known.values() for round_ in found}.values())

    def round(self, casino: Casino | None = None) -> Round | None:
        """Find one round by its name; None where none is named."""
        if "round" not in self.data or not self.verify_line(name := self.data["round"], "round"):
            return None
        found = rounds_named(self.actor, [name], casino or self.casino_meant())[name]
        self.verify_unique("round", name, found)
        return found[0] if found else None

    def verify_unique(self, where: str, name: str, found: list[Round]) -> None:
        """Report a fault unless the name leads to exactly one round."""
        match found:
            case []:
                self.add(where, f"there is no round {name!r:.60}; check its ref.")
            case [first, _, *_] if len({round_.casino_id for round_ in found}) > 1:
                self.add(where, f"rounds of several casinos have the name {first.ref!r:.60}; name the casino.")
            case [first, _, *_]:
                example = f"{first.source} {first.ref}"
                self.add(where, f"several sources have a round of this name; add the source, as in {example!r:.80}.")

    def people(self) -> list[tuple[str, str]]:
        value = self.data.get("people", [])
        if not isinstance(value, list) or len(value) > MOST_PEOPLE:
            self.add("people", f"is not a list of at most {MOST_PEOPLE}; write it as […].")
            return []
        return [
            (part, reference) for index, person in enumerate(value) for part, reference in self._person(index, person)
        ]

    def _person(self, index: int, value: object) -> list[tuple[str, str]]:
        where = f"people[{index}]"
        entry = self.table(value, where, ("part", "reference"))
        if isinstance(value, dict):
            self.required(entry, where, "part", "reference")
        if "part" in entry and entry["part"] not in IncidentPerson.Part.values:
            parts = listed(IncidentPerson.Part.values)
            self.add(f"{where}.part", f"{entry['part']!r:.40} is not a part in an incident; choose {parts}.")
        if "reference" in entry:
            self.verify_line(entry["reference"], f"{where}.reference")
        return [(str(entry.get("part")), str(entry.get("reference")))]

    def facts(self) -> dict[str, str]:
        """Read the facts by name; the rulebook decides later which of them the situation takes."""
        entry = self.table(self.data.get("facts", {}), "facts")
        sound = {name: value for name, value in entry.items() if self.verify_line(value, f"facts.{shown_key(name)}")}
        return {name: str(value) for name, value in sound.items()}

    def house(self, table: Table | None) -> Casino | None:
        """Return the named casino, that of the table, or the sender's own."""
        named: Casino | None = self.coded("casino", Casino)
        if named or table:
            return named or (table.casino if table else None)
        own = getattr(self.actor, "casino", None)
        if own is None and "casino" not in self.data and "table" not in self.data:
            self.add("casino", "is missing; name the casino.")
        return own

    def place(self) -> tuple[Casino, Table | None]:
        """Return casino and table; raise all faults found so far."""
        table = self.coded("table", Table)
        casino = self.house(table)
        self.done()
        if casino is None:  # then there was a fault
            raise AssertionError
        return casino, table


# --- What is sent ----------------------------------------------------------------------------------


def read_entry(actor: Actor, document: object) -> dict[str, Any]:
    """Parse the arguments of `log_write`. Without pit and table, the entry is for the author's own pit, if any."""
    reader = BodyReader(actor, document, ENTRY_FIELDS, "at", "summary")
    values = {
        "at": reader.moment("at"),
        "summary": reader.words("summary"),
        "location": reader.line("location"),
        "camera": reader.line("camera", LONGEST_CAMERA),
        "time_code": reader.line("time_code", LONGEST_TIME_CODE),
        "recording": reader.line("recording"),
        "keep_until": reader.day("keep_until"),
        "was_monitored": reader.flag("monitored"),
        "is_confidential": reader.flag("confidential"),
    }
    if "pit" in reader.data and "table" in reader.data:
        reader.add("pit", "cannot be given with a table, which has its own pit; leave the pit out.")
    casino, table = reader.place()
    pit = reader.coded("pit", Pit, casino=casino)
    reader.done()
    if pit is None and table is None:
        pit = getattr(actor, "pit", None)
    return {"casino": casino, "table": table, "pit": pit, **values}


def read_report(actor: Actor, document: object) -> IncidentReport:
    """Parse the report of a new incident."""
    reader = BodyReader(actor, document, REPORT_FIELDS, "occurred_from", "situation", "account")
    began, ended = reader.moment("occurred_from"), reader.moment("occurred_to")
    values: dict[str, Any] = {
        "occurred_to": ended,
        "situation": reader.choice("situation", situations()),
        "account": reader.words("account"),
        "facts": reader.facts(),
        "rounds": reader.rounds(),
        "people": reader.people(),
        "entry": reader.keyed("entry", visible(actor, LogEntry.objects.all())),
        "finding": reader.keyed("finding", visible(actor, Finding.objects.all())),
        "conflict": reader.keyed("conflict", within_reach(actor, "round.view", RecordingConflict.objects.all())),
    }
    casino, table = reader.place()
    return IncidentReport(casino=casino, table=table, occurred_from=began, **values)  # type: ignore[arg-type]


def read_advice_question(actor: Actor, document: object) -> AdviceQuestion:
    """Parse the known facts on which advice is asked."""
    reader = BodyReader(actor, document, ASKED_FIELDS, "table", "at", "situation")
    at, situation, facts = reader.moment("at"), reader.choice("situation", situations()), reader.facts()
    rounds, patrons, until = reader.rounds(), reader.texts("patrons", MOST_PEOPLE), reader.moment("until")
    _, table = reader.place()
    return AdviceQuestion(table, at, situation, facts, rounds, patrons, until)  # type: ignore[arg-type]


def read_step(actor: Actor, document: object) -> tuple[str, str]:
    """Parse the next state of an incident and the reason."""
    reader = BodyReader(actor, document, ("to", "reason"), "to", "reason")
    to, reason = reader.choice("to", IncidentState.values), reader.words("reason")
    reader.done()
    return to, reason


def read_tick(actor: Actor, document: object) -> tuple[int, bool]:
    """Parse a step of the checklist and whether it is done."""
    reader = BodyReader(actor, document, ("step", "done"), "step", "done")
    step, is_done = reader.place_in_list("step"), reader.flag("done")
    reader.done()
    return step, is_done


def read_confirmation(actor: Actor, document: object) -> tuple[str, str, str]:
    """Parse the part and the reference of a named person, and the reason."""
    names = ("part", "reference", "reason")
    reader = BodyReader(actor, document, names, *names)
    part = reader.choice("part", [str(part) for part in IncidentPerson.PARTIES])
    reference, reason = reader.line("reference"), reader.words("reason")
    reader.done()
    return part, reference, reason


def read_consent(actor: Actor, document: object) -> tuple[str, str]:
    """Parse the staff number of the ruler, and the reason."""
    reader = BodyReader(actor, document, ("ruler", "reason"), "ruler", "reason")
    ruler, reason = reader.line("ruler"), reader.words("reason")
    reader.done()
    return ruler, reason


def read_note(actor: Actor, document: object) -> tuple[str, bool]:
    """Parse a note and whether it is confidential."""
    reader = BodyReader(actor, document, ("text", "confidential"), "text")
    text, is_confidential = reader.words("text"), reader.flag("confidential")
    reader.done()
    return text, is_confidential


def read_addendum(actor: Actor, document: object) -> str:
    """Parse the text of an addendum."""
    reader = BodyReader(actor, document, ("summary",), "summary")
    summary = reader.words("summary")
    reader.done()
    return summary


def read_camera(actor: Actor, document: object) -> dict[str, Any]:
    """Parse the arguments of `camera_add`."""
    reader = BodyReader(actor, document, CAMERA_FIELDS, "description", "camera")
    values = {
        "description": reader.words("description"),
        "camera": reader.line("camera", LONGEST_CAMERA),
        "time_code": reader.line("time_code", LONGEST_TIME_CODE),
        "recording": reader.line("recording"),
        "keep_until": reader.day("keep_until"),
        "is_confidential": reader.flag("confidential"),
    }
    reader.done()
    return values


def read_file_form(actor: Actor, form: Mapping[str, Any]) -> dict[str, Any]:
    """Parse the form fields sent with a file: the arguments of `evidence_add` other than the file."""
    document = dict(form)
    if isinstance(document.get("confidential"), str):
        document["confidential"] = FLAGS.get(document["confidential"], document["confidential"])
    reader = BodyReader(actor, document, FILE_FIELDS, "description")
    values = {"description": reader.words("description"), "is_confidential": reader.flag("confidential")}
    reader.done()
    return values


def is_storable(value: str) -> bool:
    """Return whether PostgreSQL can store a text: no NUL, no lone surrogate."""
    return "\x00" not in value and not any("\ud800" <= letter <= "\udfff" for letter in value)


def day_of(value: object) -> dt.date:
    """Parse a day within the bounds of all dates; raise ValueError for anything else."""
    if not isinstance(value, str) or len(value) != len("2026-11-15"):
        raise ValueError
    day = dt.date.fromisoformat(value)
    if not FIRST.date() <= day < LAST.date():
        raise ValueError
    return day
