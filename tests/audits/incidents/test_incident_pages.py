"""The pages of incidents: what they show, refuse and hide. What is confidential is nowhere for the pit."""

import datetime as dt
import io
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.utils import timezone

from audits.incidents.services.disputes import dispute_raise
from audits.incidents.services.evidence import camera_add, evidence_add
from audits.incidents.services.incidents import IncidentReport, incident_note, incident_open
from audits.incidents.services.log import handover_sign, log_write
from audits.models import CustodyStep, Evidence, Handover, Incident, IncidentState, LogEntry, Shift
from games.models import Denial, Round, Table
from games.rounds.services.recording import round_record
from tests.audits.files import PNG, leaves
from tests.conftest import OPERATOR, House
from tests.games.engine.oracle import DIVISION_9
from tests.games.floor_setup import HOUR, open_table, ready_table, sign
from tests.games.logins import logged_in
from tests.games.rounds.samples import current, line

ADMIN = "/admin/audits"
PIT = ("pit-supervisor", "pit-manager", "shift-manager", "casino-manager")
SEERS = ("surveillance", "compliance", "auditor")


def text_of(client: Client, address: str) -> str:
    answer = client.get(address, follow=True)
    return answer.content.decode()


def a_file(house: House, table: Table, account: str = "A quarrel at seat 3.", **more: Any) -> Incident:
    report = IncidentReport(house.casino, timezone.now(), "other", account, table=table, **more)
    return incident_open(actor=house["surveillance"], report=report)


# --- What is confidential --------------------------------------------------------------------------


@pytest.fixture
def secrets(house: House) -> dict[str, Any]:
    """One word, zebra, in all that can be confidential, beside an open file that everybody sees."""
    table, watch = open_table(house), house["surveillance"]
    entry = log_write(
        actor=watch, casino=house.casino, at=timezone.now(), summary="A zebra at the door.", table=table,
        is_confidential=True,
    )  # fmt: skip
    incident = a_file(house, table, entry=entry)
    incident_note(actor=watch, incident=incident, text="The zebra is known.", is_confidential=True)
    picture = evidence_add(
        actor=watch, about=incident, description="The zebra itself", name="zebra.png", content=io.BytesIO(PNG),
        is_confidential=True,
    )  # fmt: skip
    camera_add(actor=watch, about=entry, description="Zebra from above", camera="PTZ-zebra")
    handover = handover_sign(actor=watch, casino=house.casino, watch="Mind the zebra", is_confidential=True)
    return {"entry": entry, "incident": incident, "picture": picture, "handover": handover}


def pages_with_secrets(secrets: dict[str, Any]) -> list[str]:
    incident, entry = secrets["incident"].pk, secrets["entry"].pk
    return [
        "/admin/",
        f"{ADMIN}/logentry/",
        f"{ADMIN}/logentry/?text=zebra",
        f"{ADMIN}/logentry/{entry}/change/",
        f"{ADMIN}/logentry/{entry}/history/",
        f"{ADMIN}/logentry/{entry}/append/",
        f"{ADMIN}/logentry/{entry}/evidence/",
        f"{ADMIN}/incident/?state=",
        f"{ADMIN}/incident/{incident}/change/",
        f"{ADMIN}/incident/{incident}/history/",
        f"{ADMIN}/incident/add/?entry={entry}",
        f"{ADMIN}/evidence/",
        f"{ADMIN}/evidence/{secrets['picture'].pk}/change/",
        f"{ADMIN}/evidence/{secrets['picture'].pk}/picture/",
        f"{ADMIN}/handover/",
        f"{ADMIN}/handover/{secrets['handover'].pk}/change/",
        f"{ADMIN}/handover/{secrets['handover'].pk}/take/",
    ]


def said_by(client: Client, page: str) -> str:
    """What a page says by itself, without the words that it was asked for."""
    return text_of(client, page).lower().replace('value="zebra"', "").replace("text=zebra", "")


@pytest.mark.parametrize("role", PIT)
def test_nothing_confidential_is_on_any_page_of_the_pit(role: str, house: House, secrets: dict[str, Any]) -> None:
    client = logged_in(house[role])
    told = [page for page in pages_with_secrets(secrets) if "zebra" in said_by(client, page)]
    assert told == []
    found = text_of(client, f"{ADMIN}/incident/search/?q=zebra")
    assert "No matches among the records that you can see" in found
    assert "zebra" not in found.lower().replace('value="zebra"', "")
    copy = client.post(f"{ADMIN}/evidence/{secrets['picture'].pk}/copy/")
    assert copy.status_code == 404
    assert "zebra" not in copy.content.decode()


@pytest.mark.parametrize("role", SEERS)
def test_those_who_may_see_it_see_it_marked(role: str, house: House, secrets: dict[str, Any]) -> None:
    client = logged_in(house[role])
    page = text_of(client, f"{ADMIN}/incident/{secrets['incident'].pk}/change/")
    assert "The zebra is known." in page
    assert "confidential" in page
    assert "The zebra itself" in page
    assert "A zebra at the door." in text_of(client, f"{ADMIN}/incident/search/?q=zebra")
    assert "Zebra from above" in text_of(client, f"{ADMIN}/logentry/{secrets['entry'].pk}/change/")


def test_a_confidential_entry_is_not_copied_into_the_account_of_a_file(house: House, secrets: dict[str, Any]) -> None:
    page = text_of(logged_in(house["surveillance"]), f"{ADMIN}/incident/add/?entry={secrets['entry'].pk}")
    assert "its text is not copied" in page
    assert "zebra" not in page


def test_the_pit_is_not_even_asked_whether_it_is_confidential(house: House) -> None:
    incident = a_file(house, open_table(house))
    client = logged_in(house["pit-supervisor"])
    for page in ("logentry/add/", f"incident/{incident.pk}/note/", f"incident/{incident.pk}/evidence/"):
        assert "is_confidential" not in text_of(client, f"{ADMIN}/{page}")
    client.post(f"{ADMIN}/incident/{incident.pk}/note/", {"text": "Tea was spilt.", "is_confidential": "on"})
    assert incident.notes.get().is_confidential is False


# --- The log ---------------------------------------------------------------------------------------


def test_an_entry_is_written_in_seconds_and_added_to(house: House) -> None:
    table = open_table(house)
    client = logged_in(house["pit-supervisor"])
    answer = client.post(f"{ADMIN}/logentry/add/", {"summary": "Spilt tea.", "table": table.pk}, follow=True)
    assert "Spilt tea." in answer.content.decode()
    entry = LogEntry.objects.get()
    assert timezone.now() - entry.at < HOUR
    client.post(f"{ADMIN}/logentry/{entry.pk}/append/", {"summary": "It was coffee."})
    page = text_of(client, f"{ADMIN}/logentry/{entry.pk}/change/")
    assert "It was coffee." in page
    assert "Spilt tea." in page


def test_an_entry_without_a_table_belongs_to_the_pit_of_who_wrote_it(house: House) -> None:
    logged_in(house["pit-supervisor"]).post(f"{ADMIN}/logentry/add/", {"summary": "A quarrel at the bar."})
    assert LogEntry.objects.get().pit == house.pits["P1"]


def test_what_the_service_refuses_stands_at_its_field(house: House) -> None:
    client = logged_in(house["surveillance"])
    tomorrow = timezone.localtime() + dt.timedelta(days=1)
    answer = client.post(f"{ADMIN}/logentry/add/", {"summary": "Later", "at": f"{tomorrow:%Y-%m-%d %H:%M}"})
    assert "This moment is in the future" in answer.content.decode()
    assert not LogEntry.objects.exists()


def test_the_log_is_found_by_day_shift_table_and_words(house: House) -> None:
    table = open_table(house)
    for words, at_table in (("Tea on the felt.", table), ("A hat was lost.", None)):
        log_write(actor=house["surveillance"], casino=house.casino, at=timezone.now(), summary=words, table=at_table)
    entry = LogEntry.objects.latest("pk")
    client = logged_in(house["auditor"])
    for query, shows_tea, shows_hat in (
        (f"day={entry.gaming_day}&shift={entry.shift}", True, True), ("day=2020-01-01", False, False),
        (f"table={table.code}", True, False), ("text=hats", False, True),
    ):  # fmt: skip
        page = text_of(client, f"{ADMIN}/logentry/?{query}")
        assert ("Tea on the felt." in page, "A hat was lost." in page) == (shows_tea, shows_hat), query


# --- Handover --------------------------------------------------------------------------------------


def test_a_shift_is_signed_off_and_taken_over_by_somebody_else(house: House) -> None:
    incident = a_file(house, open_table(house))
    leaving, coming = logged_in(house["pit-supervisor"]), logged_in(house["pit-manager"])
    assert incident.number in text_of(leaving, f"{ADMIN}/handover/add/")
    leaving.post(f"{ADMIN}/handover/add/", {"watch": "Seat 3"})
    handover = Handover.objects.get()
    page = f"{ADMIN}/handover/{handover.pk}/change/"
    assert "Take over" not in text_of(leaving, page)
    assert (
        "You signed this handover off yourself"
        in leaving.post(f"{ADMIN}/handover/{handover.pk}/take/", {"remarks": ""}).content.decode()
    )
    assert "Take over" in text_of(coming, page)
    assert "Waiting handovers" in text_of(coming, "/admin/")
    coming.post(f"{ADMIN}/handover/{handover.pk}/take/", {"remarks": "Seen"})
    assert "Seen" in text_of(coming, page)
    assert "Waiting handovers" not in text_of(coming, "/admin/")


# --- Incidents -------------------------------------------------------------------------------------


def filled(table: Table, **changes: str) -> dict[str, Any]:
    return {
        "table": str(table.pk), "occurred_from": f"{timezone.localtime():%Y-%m-%d %H:%M}", "situation": "interruption",
        "known_dice": "2", "account": "The lights went out.", "patrons": "P-77, P-78",
    } | changes  # fmt: skip


def test_5_4_1_the_advice_keeps_up_with_the_form(house: House) -> None:
    table = open_table(house)
    client = logged_in(house["pit-supervisor"])
    advice = f"{ADMIN}/incident/advice/"
    assert "Choose a table and a situation" in text_of(client, advice)
    asked = client.get(advice, {"table": str(table.pk), "situation": "interruption"}).content.decode()
    assert "Enter the dice that could be read" in asked
    told = client.get(advice, filled(table)).content.decode()
    for words in ("Conclude the round", "rws-tai-sai-v6#5.4.1", "single-2", "The open boxes need a ruling"):
        assert words in told
    assert "<html" not in told
    plain = client.post(f"{ADMIN}/incident/add/", filled(table, advise="1")).content.decode()
    assert "Conclude the round" in plain
    assert "The lights went out." in plain
    assert not Incident.objects.exists()


def test_a_file_is_opened_with_its_people_and_its_round(house: House) -> None:
    table = open_table(house)
    round_record(actor=OPERATOR, line=line(current()), channel="api")
    round_ = Round.objects.get()
    client = logged_in(house["pit-supervisor"])
    page = text_of(client, f"{ADMIN}/incident/add/?round={round_.pk}")
    assert f'value="{round_.ref}"' in page
    assert f'value="{round_.dealer}"' in page
    client.post(f"{ADMIN}/incident/add/", filled(table, rounds=round_.ref))
    incident = Incident.objects.get()
    people = {(person.part, person.reference) for person in incident.people.all()}
    assert people == {("dealer", "DEALER"), ("supervisor", "PIT-SUPERVISOR"), ("patron", "P-77"), ("patron", "P-78")}
    assert incident.rounds.get().round == round_
    assert incident.facts == {"known_dice": "2,?,?"}
    file = text_of(client, f"{ADMIN}/incident/{incident.pk}/change/")
    for words in ("Conclude the round", "The lights went out.", "P-77", round_.ref):
        assert words in file


def test_a_form_that_lacks_something_says_what(house: House) -> None:
    table = open_table(house)
    client = logged_in(house["pit-supervisor"])
    answer = client.post(f"{ADMIN}/incident/add/", filled(table, known_dice="", rounds="nowhere", account=""))
    page = answer.content.decode()
    assert "Enter the dice that could be read" in page
    assert "nowhere: there is no such round of TS-01 that you can see" in page
    assert "Choose a table." in client.post(f"{ADMIN}/incident/add/", filled(table) | {"table": ""}).content.decode()
    assert not Incident.objects.exists()
    assert not Denial.objects.filter(action="incident.open", staff=house["pit-supervisor"]).exists()


def test_5_1_1_a_late_limit_shows_the_figures_of_the_round(house: House) -> None:
    table = open_table(house)
    bets = [{"player": "seat-1", "box": "small", "stake": "4000.00", "net": "4000.00"}]
    round_record(actor=OPERATOR, line=line(current(bets=bets)), channel="api")
    client = logged_in(house["pit-supervisor"])
    asked = filled(table, situation="over-limit-unnoticed", rounds="")
    assert "Enter the round to see its figures" in client.get(f"{ADMIN}/incident/advice/", asked).content.decode()
    asked = filled(table, situation="over-limit-unnoticed", rounds=Round.objects.get().ref)
    told = client.get(f"{ADMIN}/incident/advice/", asked).content.decode()
    assert "3,000.00" in told
    assert "1,000.00" in told


def test_steps_are_offered_by_the_one_table_and_by_right(house: House) -> None:
    incident = a_file(house, open_table(house))
    page = f"{ADMIN}/incident/{incident.pk}"
    supervisor, compliance = logged_in(house["pit-supervisor"]), logged_in(house["compliance"])
    seen = text_of(supervisor, f"{page}/change/")
    assert "Investigate" in seen
    assert f"{page}/closed/" not in seen
    assert f"{page}/closed/" in text_of(compliance, f"{page}/change/")
    assert supervisor.post(f"{page}/closed/", {"reason": "Done"}).status_code == 403
    told = supervisor.post(f"{page}/ruled/", {"reason": "So it is"}, follow=True).content.decode()
    assert "the next state can be under investigation" in told
    compliance.post(f"{page}/closed/", {"reason": "Nothing in it"})
    incident.refresh_from_db()
    assert incident.state == IncidentState.CLOSED
    told = supervisor.get(f"{page}/mend/", follow=True).content.decode()
    assert "is closed; reopen it first" in told
    assert logged_in(house["auditor"]).get(f"{page}/note/").status_code == 403


def test_a_slip_is_mended_and_what_stood_there_is_in_the_history(house: House) -> None:
    incident = a_file(house, open_table(house))
    client = logged_in(house["surveillance"])
    page = client.get(f"{ADMIN}/incident/{incident.pk}/mend/")
    form = page.context["form"]
    values = {name: form.initial.get(name, form.fields[name].initial) or "" for name in form.fields}
    client.post(f"{ADMIN}/incident/{incident.pk}/mend/", values | {"account": "At seat 4.", "reason": "A slip"})
    history = text_of(client, f"{ADMIN}/incident/{incident.pk}/history/")
    assert "At seat 4." in history
    assert "A quarrel at seat 3." in history
    assert incident.history.first().history_change_reason == "A slip"
    was = incident.occurred_from
    incident.refresh_from_db()
    assert incident.occurred_from == was


def test_the_table_of_an_incident_is_corrected_on_its_page(house: House) -> None:
    first = open_table(house)
    second = ready_table(house, "D9-01", pit="P2", rulebook=DIVISION_9, layout="1", limits=sign())
    incident = a_file(house, first)
    client, address = logged_in(house["surveillance"]), f"{ADMIN}/incident/{incident.pk}/mend/"
    values = as_shown(client, address)
    told = client.post(address, values | {"table": second.pk, "reason": "The wrong table"})
    assert told.status_code == 302
    changed = Incident.objects.get(pk=incident.pk)
    assert (changed.table, changed.pit, changed.rulebook) == (second, house.pits["P2"], DIVISION_9)
    assert (changed.occurred_from, changed.account) == (incident.occurred_from, incident.account)
    newest, *_, oldest = changed.history.all()
    assert (oldest.table, newest.table, newest.history_change_reason) == (first, second, "The wrong table")
    assert leaves("incident-change", newest.pk)[0][1] == {"table": "D9-01"}
    assert "D9-01" in text_of(client, f"{ADMIN}/incident/{incident.pk}/change/")


def test_an_incident_is_not_moved_to_a_table_out_of_reach(house: House) -> None:
    first, elsewhere = open_table(house), ready_table(house, "TS-02", pit="P2", layout="C", limits=sign())
    report = IncidentReport(house.casino, timezone.now(), "other", "A quarrel.", table=first)
    incident = incident_open(actor=house["pit-supervisor"], report=report)
    client, address = logged_in(house["pit-supervisor"]), f"{ADMIN}/incident/{incident.pk}/mend/"
    values = as_shown(client, address)
    page = client.post(address, values | {"table": elsewhere.pk, "reason": "The wrong table"})
    assert (page.status_code, list(page.context["form"].errors)) == (200, ["table"])
    incident.refresh_from_db()
    assert (incident.table, incident.history.count()) == (first, 1)


def as_shown(client: Client, address: str) -> dict[str, Any]:
    """What the form of a page has in its fields."""
    form = client.get(address).context["form"]
    return {name: form.initial.get(name, form.fields[name].initial) or "" for name in form.fields}


def test_related_files_show_on_both_sides(house: House) -> None:
    table = open_table(house)
    one, other = a_file(house, table), a_file(house, table)
    client = logged_in(house["surveillance"])
    client.post(f"{ADMIN}/incident/{one.pk}/relate/", {"other": other.number, "reason": "The same patron"})
    for page, number in ((one, other.number), (other, one.number)):
        assert f"{number}</a>: The same patron" in text_of(client, f"{ADMIN}/incident/{page.pk}/change/")


def test_a_file_of_another_pit_is_refused_on_record(house: House) -> None:
    incident = a_file(house, open_table(house, "TS-09", pit="P2"))
    client = logged_in(house["pit-supervisor"])
    assert client.get(f"{ADMIN}/incident/{incident.pk}/change/").status_code == 403
    assert Denial.objects.filter(action="incident.view").exists()
    assert incident.number not in text_of(client, f"{ADMIN}/incident/")


# --- Evidence --------------------------------------------------------------------------------------


def sent(name: str, content: bytes, **more: str) -> dict[str, Any]:
    return {"description": "The felt", "file": SimpleUploadedFile(name, content), **more}


def test_evidence_is_added_copied_and_never_shown_as_anything_active(house: House) -> None:
    incident = a_file(house, open_table(house))
    client = logged_in(house["pit-supervisor"])
    client.post(f"{ADMIN}/incident/{incident.pk}/evidence/", sent("felt.png", PNG))
    evidence = Evidence.objects.get()
    page = f"{ADMIN}/evidence/{evidence.pk}"
    assert client.get(f"{page}/copy/").status_code == 302  # a copy is asked for by a button
    copy: Any = client.post(f"{page}/copy/")
    picture: Any = client.get(f"{page}/picture/")
    for answer, disposition in ((copy, "attachment"), (picture, "")):
        assert b"".join(answer.streaming_content) == PNG
        assert answer["X-Content-Type-Options"] == "nosniff"
        assert answer["Content-Security-Policy"] == "sandbox; default-src 'none'"
        assert answer.get("Content-Disposition", "").startswith(disposition)
    what = [step.what for step in evidence.custody.all()]
    assert what == [CustodyStep.What.ADDED, CustodyStep.What.COPIED, CustodyStep.What.OPENED]
    assert bytes(evidence.sha256 or b"").hex() in text_of(client, f"{page}/change/")


@pytest.mark.parametrize(
    ("name", "content", "told"),
    [
        ("note.svg", b"<svg onload='alert(1)'/>", "this type is not accepted as evidence"),
        ("felt.pdf", PNG, "the content looks like"),
        ("felt.png", PNG + bytes(600), "This file is larger than 500 bytes"),
        ("bomb.png", PNG + bytes(600_000), "This file is larger than 500 bytes"),
    ],
)
def test_what_is_no_evidence_is_refused_with_a_clear_message(
    name: str, content: bytes, told: str, house: House, settings: Any
) -> None:
    settings.LARGEST_EVIDENCE = 500
    incident = a_file(house, open_table(house))
    client = logged_in(house["surveillance"])
    answer = client.post(f"{ADMIN}/incident/{incident.pk}/evidence/", sent(name, content))
    assert told in answer.content.decode()
    assert "The felt" in answer.content.decode()  # what was written is not lost
    assert not Evidence.objects.exists()


def test_nobody_sends_a_file_without_the_token_of_the_form_or_the_right(house: House) -> None:
    incident = a_file(house, open_table(house))
    address = f"{ADMIN}/incident/{incident.pk}/evidence/"
    strict = Client(enforce_csrf_checks=True)
    assert strict.post(address, sent("felt.png", PNG)).status_code in (302, 403)
    strict.force_login(house["surveillance"])
    assert strict.post(address, sent("felt.png", PNG)).status_code == 403
    assert logged_in(house["auditor"]).post(address, sent("felt.png", PNG)).status_code == 403
    assert not Evidence.objects.exists()


# --- Disputes and shifts ---------------------------------------------------------------------------


def test_disputes_stand_by_what_is_left_of_their_time(house: House) -> None:
    table = open_table(house)
    for days, patron in ((1, "P-1"), (8, "P-8")):
        raised = timezone.now() - dt.timedelta(days=days)
        incident = a_file(house, table)
        dispute_raise(actor=house["compliance"], incident=incident, patron=patron, raised_at=raised, reason="Unhappy")
    client = logged_in(house["compliance"])
    page = text_of(client, f"{ADMIN}/dispute/")
    assert page.index("P-8") < page.index("P-1")
    assert page.count(">overdue<") == 1
    assert "overdue" in text_of(client, "/admin/")
    dispute = incident.dispute
    client.post(f"{ADMIN}/dispute/{dispute.pk}/notify/", {"at": "", "reason": "By letter"})
    client.post(f"{ADMIN}/dispute/{dispute.pk}/tell/", {"at": "", "reason": "At the desk"})
    assert "P-8" not in text_of(client, f"{ADMIN}/dispute/")
    client.post(f"{ADMIN}/dispute/{dispute.pk}/resolve/", {"reason": "Paid in full"})
    assert "Paid in full" in text_of(client, f"{ADMIN}/incident/{incident.pk}/change/")


def test_shifts_are_a_casino_s_own_with_history(house: House) -> None:
    client = logged_in(house["casino-manager"])
    values = {"casino": house.casino.pk, "name": "Early", "starts": "06:00", "reason": "Ours"}
    client.post(f"{ADMIN}/shift/add/", values)
    shift = Shift.objects.get()
    client.post(f"{ADMIN}/shift/{shift.pk}/change/", {"name": "Dawn", "starts": "05:30", "reason": "Earlier"})
    assert [one.name for one in shift.history.all()] == ["Dawn", "Early"]
    client.post(f"{ADMIN}/shift/{shift.pk}/remove/", {"reason": "The usual three again"})
    assert not Shift.objects.exists()
    assert Shift.history.first().history_change_reason == "The usual three again"
