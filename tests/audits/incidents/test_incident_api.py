"""The API of log entries, incidents, search and advice: what it takes, what it answers, and what stays confidential."""

import json
import re
from typing import Any

import pytest
from django.utils import timezone

from audits.incidents.services.incidents import IncidentReport, incident_note, incident_open, incident_relate
from audits.incidents.services.log import log_write
from audits.models import Incident, IncidentNote, LogEntry
from games.floor.moments import as_text
from games.models import Denial, Round, Staff, Table
from games.rounds.services.recording import round_record
from tests.conftest import OPERATOR, House
from tests.games.floor_setup import HOUR, bare_table, open_table
from tests.games.logins import logged_in
from tests.games.rounds.samples import current, line

PIT = ("pit-supervisor", "pit-manager", "shift-manager", "casino-manager")
SECRET_READERS = ("surveillance", "compliance", "auditor")
SECRET = "zebra"


@pytest.fixture
def table(house: House) -> Table:
    return open_table(house)


def get(house: House, role: str, path: str, **query: str) -> tuple[int, Any]:
    answer = logged_in(house[role]).get(f"/api/v1/{path}", query)
    return answer.status_code, answer.json()


def post(house: House, role: str, path: str, body: object) -> tuple[int, Any]:
    answer = logged_in(house[role]).post(f"/api/v1/{path}", json.dumps(body), content_type="application/json")
    return answer.status_code, answer.json()


def fields(problem: Any) -> list[str]:
    return [error["field"] for error in problem.get("errors", [])]


def now(house: House) -> str:
    return as_text(timezone.now(), house.casino)


def new(house: House, **changes: Any) -> dict[str, Any]:
    return {
        "table": "TS-01",
        "occurred_from": now(house),
        "situation": "die-not-flat",
        "account": "It leaned.",
    } | changes


def opened(house: House, table: Table | None, role: str = "surveillance", **changes: Any) -> Incident:
    values: dict[str, Any] = {"situation": "other", "account": "A quarrel.", "table": table} | changes
    return incident_open(actor=house[role], report=IncidentReport(house.casino, timezone.now(), **values))


# --- The daily log ---


def test_an_entry_is_written_read_and_added_to(house: House, table: Table) -> None:
    body = {"table": "ts-01", "at": now(house), "summary": "A die leaned.", "camera": "C-14", "monitored": True,
            "keep_until": "2027-02-15"}  # fmt: skip
    code, entry = post(house, "surveillance", "log-entries/", body)
    assert (code, entry["table"], entry["pit"], entry["monitored"]) == (201, "TS-01", "P1", True)
    assert (entry["author"], entry["keep_until"], entry["addenda"]) == ("SURVEILLANCE", "2027-02-15", [])
    code, addendum = post(house, "surveillance", f"log-entries/{entry['id']}/addenda/", {"summary": "It was seat 4."})
    assert (code, addendum["addendum_to"]) == (201, entry["id"])
    _, again = get(house, "auditor", f"log-entries/{entry['id']}/")
    assert [one["summary"] for one in again["addenda"]] == ["It was seat 4."]
    assert again["summary"] == "A die leaned."
    _, page = get(house, "pit-supervisor", "log-entries/", table="TS-01", day=entry["gaming_day"])
    assert [one["id"] for one in page["results"]] == [addendum["id"], entry["id"]]
    assert get(house, "auditor", "log-entries/", to="2020-01-01")[1]["results"] == []


def test_who_names_no_place_writes_for_his_own_pit(house: House) -> None:
    code, entry = post(house, "pit-supervisor", "log-entries/", {"at": now(house), "summary": "Spilt tea."})
    assert (code, entry["pit"], entry["table"]) == (201, "P1", None)
    assert post(house, "pit-supervisor", "log-entries/", {"at": now(house), "summary": "x", "pit": "P2"})[0] == 403
    assert post(house, "auditor", "log-entries/", {"at": now(house), "summary": "x"})[0] == 403
    assert LogEntry.objects.count() == 1


def test_every_fault_of_an_entry_is_told_at_once(house: House, table: Table) -> None:
    body = {"at": "21:07", "summary": " ", "table": "TS-99", "camera": "x" * 61, "keep_until": "soon", "monitored": 1,
            "colour": "red"}  # fmt: skip
    code, problem = post(house, "surveillance", "log-entries/", body)
    assert (code, set(fields(problem))) == (400, set(body))
    later = as_text(timezone.now() + HOUR, house.casino)
    assert fields(post(house, "surveillance", "log-entries/", {"at": later, "summary": "x"})[1]) == ["at"]
    both = {"at": now(house), "summary": "x", "pit": "P1", "table": "TS-01"}
    assert fields(post(house, "surveillance", "log-entries/", both)[1]) == ["pit"]
    mine = {"at": now(house), "summary": "x", "confidential": True}
    assert post(house, "pit-supervisor", "log-entries/", mine)[0] == 403
    assert not LogEntry.objects.exists()


# --- Incident files ---


def test_a_file_is_opened_with_all_that_belongs_to_it(house: House, table: Table) -> None:
    round_record(actor=OPERATOR, line=line(current()), channel="api")
    entry = log_write(actor=house["surveillance"], casino=house.casino, table=table, at=timezone.now(), summary="x")
    ref = Round.objects.get().ref
    people = [{"part": "dealer", "reference": "D102"}, {"part": "patron", "reference": "seat-3"}]
    body = new(house, rounds=[ref, f"floor {ref}"], people=people, entry=entry.pk)
    code, made = post(house, "pit-supervisor", "incidents/", body)
    assert (code, made["number"]) == (201, f"IN-{timezone.now().year}-000001")
    assert (made["advice"]["action"], made["advice"]["rules"]) == ("void", ["rws-tai-sai-v6#5.5.2"])
    named = [person | {"confirmed_by": None} for person in people]
    assert (made["people"], [one["ref"] for one in made["rounds"]], made["entry"]) == (named, [ref], entry.pk)
    assert made["next"] == ["under-investigation", "awaiting-ruling"]
    assert get(house, "auditor", f"incidents/{made['number']}/")[1] == made | {"next": []}
    _, page = get(house, "auditor", "incidents/", table="ts-01", state="open", situation="die-not-flat")
    assert [one["number"] for one in page["results"]] == [made["number"]]
    assert get(house, "auditor", "incidents/", state="closed")[1]["results"] == []
    assert get(house, "auditor", "incidents/", **{"from": "2999-01-01"})[1]["results"] == []
    assert get(house, "auditor", f"log-entries/{entry.pk}/")[1]["incidents"] == [made["number"]]


def test_a_round_that_two_sources_have_is_asked_back(house: House, table: Table) -> None:
    for source in ("floor", "hall 2"):
        round_record(actor=OPERATOR, line=line(current(source=source, ref="R 1")), channel="api")
    code, problem = post(house, "surveillance", "incidents/", new(house, rounds=["R 1"]))
    assert (code, fields(problem)) == (400, ["rounds[0]"])
    assert "'floor R 1'" in problem["detail"]
    for source in ("floor", "hall 2"):
        _, made = post(house, "surveillance", "incidents/", new(house, rounds=[f"{source} R 1"]))
        assert [(one["source"], one["ref"]) for one in made["rounds"]] == [(source, "R 1")]


def test_every_fault_of_a_report_is_told_at_once(house: House, table: Table) -> None:
    hidden = log_write(
        actor=house["surveillance"], casino=house.casino, at=timezone.now(), summary=SECRET, is_confidential=True
    )
    body = {"table": "TS-99", "occurred_from": 1, "situation": "fire", "account": "", "facts": {"settled": 1},
            "rounds": ["R-1"], "people": [{"part": "king", "reference": ""}], "entry": hidden.pk}  # fmt: skip
    code, problem = post(house, "pit-supervisor", "incidents/", body)
    wanted = {"table", "occurred_from", "situation", "account", "facts.settled", "rounds[0]", "people[0].part",
              "people[0].reference", "entry"}  # fmt: skip
    assert (code, set(fields(problem))) == (400, wanted)
    assert SECRET not in json.dumps(problem)
    assert "there is no log entry" in json.dumps(problem)


@pytest.mark.parametrize("named", [True, False])
def test_a_fact_that_is_missing_or_wrong_is_told_with_and_without_a_table(
    house: House, table: Table, named: bool
) -> None:
    for facts in ({}, {"known_dice": "7,?,?"}, {"known_dice": "2,?,?", "settled": "no"}):
        body = new(house, situation="interruption", facts=facts, table="TS-01" if named else None)
        code, problem = post(house, "surveillance", "incidents/", body)
        assert (code, fields(problem)) == (400, ["situation"])
    assert not Incident.objects.exists()


def test_pit_staff_open_files_in_their_own_pit_alone(house: House, table: Table) -> None:
    bare_table(house, "TS-02", pit="P2")
    assert post(house, "pit-supervisor", "incidents/", new(house, table="TS-02"))[0] == 403
    assert post(house, "pit-supervisor", "incidents/", new(house, table=None))[0] == 403
    assert post(house, "auditor", "incidents/", new(house))[0] == 403
    other = opened(house, Table.objects.get(code="TS-02"))
    assert get(house, "pit-supervisor", f"incidents/{other.number}/")[0] == 403
    assert get(house, "pit-supervisor", "incidents/")[1]["results"] == []
    assert len(get(house, "shift-manager", "incidents/")[1]["results"]) == 1


def test_a_number_is_of_ones_own_casino_and_else_asked_back(house: House, table: Table) -> None:
    here = opened(house, table)
    there = incident_open(actor=OPERATOR, report=IncidentReport(house.other, timezone.now(), "other", "Elsewhere."))
    assert here.number == there.number
    assert get(house, "auditor", f"incidents/{here.number}/")[1]["casino"] == "RWS"
    assert get(house, "auditor", f"incidents/{here.number}/", casino="ELSE")[0] == 404
    house.people["everywhere"] = house.hire("A9", "auditor")
    Staff.objects.filter(number="A9").update(casino=None)
    assert fields(get(house, "everywhere", f"incidents/{here.number}/")[1]) == ["casino"]
    assert get(house, "everywhere", f"incidents/{here.number}/", casino="ELSE")[1]["account"] == "Elsewhere."


def test_states_follow_the_table_of_transitions(house: House, table: Table) -> None:
    number = opened(house, table).number
    step = {"to": "under-investigation", "reason": "See the recording"}
    assert post(house, "auditor", f"incidents/{number}/steps/", step)[0] == 403
    code, file = post(house, "pit-supervisor", f"incidents/{number}/steps/", step)
    assert (code, file["state"], file["steps"][-1]["reason"]) == (200, "under-investigation", "See the recording")
    code, problem = post(house, "pit-supervisor", f"incidents/{number}/steps/", step)
    assert (code, problem["title"]) == (409, "Overtaken")
    code, problem = post(house, "compliance", f"incidents/{number}/steps/", {"to": "gone", "reason": " "})
    assert (code, fields(problem)) == (400, ["to", "reason"])


# --- Confidential ---


def test_what_is_confidential_is_nowhere_for_the_pit(house: House, table: Table) -> None:
    surveillance = house["surveillance"]
    entry = log_write(
        actor=surveillance, casino=house.casino, table=table, at=timezone.now(), summary=f"A {SECRET}.",
        is_confidential=True,
    )  # fmt: skip
    incident = opened(house, table, entry=entry)
    incident_note(actor=surveillance, incident=incident, text=f"The {SECRET} again.", is_confidential=True)
    incident_note(actor=surveillance, incident=incident, text="Plain.")
    file = f"incidents/{incident.number}/"
    addresses = ["log-entries/", f"log-entries/{entry.pk}/", f"log-entries/{entry.pk}/evidence/", "incidents/", file,
                 f"{file}evidence/", f"search/?q={SECRET}"]  # fmt: skip
    for role in PIT:
        answers = [logged_in(house[role]).get(f"/api/v1/{address}") for address in addresses]
        assert [answer.status_code for answer in answers] == [200, 404, 404, 200, 200, 200, 200]
        assert not any(SECRET.encode() in answer.content.replace(f"q={SECRET}".encode(), b"") for answer in answers)
        seen = answers[4].json()
        assert (seen["entry"], [note["text"] for note in seen["notes"]]) == (None, ["Plain."])
        assert (answers[0].json()["results"], answers[6].json()["results"]) == ([], [])
        addendum = post(house, role, f"log-entries/{entry.pk}/addenda/", {"summary": "x"})
        assert addendum == (404, get(house, role, f"log-entries/{entry.pk}/")[1])
    assert Denial.objects.filter(action="logentry.view", staff_id=house["pit-supervisor"].pk).exists()
    for role in SECRET_READERS:
        _, seen = get(house, role, file)
        assert (seen["entry"], len(seen["notes"])) == (entry.pk, 2)
        assert len(get(house, role, "search/", q=SECRET)[1]["results"]) == 2


def test_a_missing_entry_and_a_hidden_one_are_told_alike(house: House, table: Table) -> None:
    hidden = log_write(
        actor=house["surveillance"], casino=house.casino, at=timezone.now(), summary=SECRET, is_confidential=True
    )
    answers = [get(house, "pit-manager", f"log-entries/{key}/") for key in (hidden.pk, hidden.pk + 1)]
    shown = [re.sub(r"entry \d+", "entry N", json.dumps(answer)) for answer in answers]
    assert shown[0] == shown[1]


def test_notes_are_written_by_who_may(house: House, table: Table) -> None:
    number = opened(house, table).number
    code, note = post(house, "surveillance", f"incidents/{number}/notes/", {"text": "Seen.", "confidential": True})
    assert (code, note["confidential"]) == (201, True)
    assert post(house, "pit-manager", f"incidents/{number}/notes/", {"text": "x", "confidential": True})[0] == 403
    assert post(house, "auditor", f"incidents/{number}/notes/", {"text": "x"})[0] == 403
    assert fields(post(house, "surveillance", f"incidents/{number}/notes/", {"text": ""})[1]) == ["text"]
    assert IncidentNote.objects.count() == 1


def test_a_related_file_of_another_pit_is_not_shown_there(house: House, table: Table) -> None:
    bare_table(house, "TS-02", pit="P2")
    near, far = opened(house, table), opened(house, Table.objects.get(code="TS-02"))
    incident_relate(actor=house["compliance"], incident=near, other=far, reason="The same player")
    for role, seen in (("auditor", [far.number]), ("pit-supervisor", [])):
        _, file = get(house, role, f"incidents/{near.number}/")
        assert [one["number"] for one in file["related"]] == seen
    assert get(house, "auditor", f"incidents/{far.number}/")[1]["related"][0]["number"] == near.number


# --- Search and advice ---


def test_search_finds_words_numbers_and_notes_the_best_first(house: House, table: Table) -> None:
    incident = opened(house, table, account="A quarrel about the dome. The dome was lifted.")
    log_write(actor=house["surveillance"], casino=house.casino, table=table, at=timezone.now(), summary="The dome.")
    note = incident_note(actor=house["surveillance"], incident=incident, text="The lifted dome is mended.")
    _, found = get(house, "pit-supervisor", "search/", q="dome")
    assert found["results"][0]["kind"] == "incident"
    assert {hit["kind"] for hit in found["results"]} == {"incident", "log-entry", "note"}
    _, found = get(house, "pit-supervisor", "search/", q="mend lifted")
    assert [(hit["kind"], hit["incident"], hit["text"]) for hit in found["results"]] == [
        ("note", incident.number, note.text)
    ]
    assert get(house, "auditor", "search/", q=incident.number)[1]["results"][0]["incident"] == incident.number
    assert get(house, "auditor", "search/", q="dome -quarrel -mended")[1]["results"][0]["kind"] == "log-entry"
    assert get(house, "auditor", "search/", q="unicorn")[1]["results"] == []


@pytest.mark.parametrize("query", [{}, {"q": " "}, {"q": "x" * 501}, {"q": "a\x00b"}, {"q": "x", "page": "2"}])
def test_a_search_for_nothing_is_told(house: House, query: dict[str, str]) -> None:
    code, problem = get(house, "auditor", "search/", **query)
    assert (code, len(fields(problem))) == (400, 1)


def test_advice_is_given_without_opening_a_file(house: House, table: Table) -> None:
    body = {"table": "TS-01", "at": now(house), "situation": "interruption", "facts": {"known_dice": "2,?,?"}}
    code, advice = post(house, "pit-supervisor", "advice/", body)
    assert (code, advice["action"], advice["rules"]) == (200, "conclude", ["rws-tai-sai-v6#5.4.1"])
    assert {"won", "lost", "open", "open_rules"} == set(advice["figures"])
    assert post(house, "auditor", "advice/", body)[0] == 200
    assert post(house, "administrator", "advice/", body)[0] == 403
    assert fields(post(house, "auditor", "advice/", body | {"facts": None})[1]) == ["known_dice"]
    assert fields(post(house, "auditor", "advice/", {"situation": "other"})[1]) == ["table", "at"]
    before = as_text(timezone.now() - 100_000 * HOUR, house.casino)
    assert "had no game" in post(house, "auditor", "advice/", body | {"at": before})[1]["explain"]
    assert not Incident.objects.exists()


def test_advice_on_limits_has_the_figures_of_the_round(house: House, table: Table) -> None:
    bets = [{"player": f"seat-{seat}", "box": "small", "stake": "2000.00", "net": "1500.00"} for seat in (1, 2)]
    round_record(actor=OPERATOR, line=line(current(bets=bets)), channel="api")
    body = {
        "table": "TS-01",
        "at": now(house),
        "situation": "over-limit-unnoticed",
        "rounds": [Round.objects.get().ref],
    }
    _, advice = post(house, "pit-supervisor", "advice/", body)
    (figures,) = advice["figures"]["rounds"]
    assert [(cut["stands"], cut["goes_back"]) for cut in figures["cut"]] == [("1500.00", "500.00")] * 2
