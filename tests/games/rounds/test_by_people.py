"""Rounds that people bring: one entered by hand while a terminal is down, and files that are uploaded."""

import datetime as dt
import io
import os
from pathlib import Path
from typing import Any

import pytest
from celery import Celery
from django.core.exceptions import PermissionDenied
from django.core.files.uploadedfile import SimpleUploadedFile

from audits.models import Finding
from audits.reconciliation.services.arrivals import arrivals_take
from games.models import Denial, ImportJob, Round, Table
from games.rounds.services.recording import round_enter
from games.rounds.services.uploads import upload_accept, upload_take, uploads
from taisai_backoffice.run import ProcessPart, celery_command
from tests import servers
from tests.conftest import House, build_house
from tests.games.floor_setup import NOON
from tests.games.logins import logged_in
from tests.games.rounds.samples import EXAMPLE, bet, current, example, floor, line
from tests.patience import wait_for

HAND = {
    "started_at": "19:07", "closed_at": "19:08", "settled_at": "19:09", "dice": "1 3 6", "void": "",
    "dealer": "DEALER", "supervisor": "PIT-SUPERVISOR", "bets": "seat-3 small 100 100\nseat-4 big 50 -50",
    "reason": "The terminal is down",
}  # fmt: skip


@pytest.fixture
def table(house: House, clock: Any) -> Table:
    clock.move_to(NOON - dt.timedelta(hours=8))
    found = floor(house)
    clock.move_to(NOON)
    return found


# --- By hand ---


def enter(house: House, table: Table, role: str = "pit-supervisor", **changes: str) -> str:
    answer = logged_in(house[role]).post(f"/admin/games/table/{table.pk}/enter/", HAND | changes, follow=True)
    return answer.content.decode()


def test_a_pit_supervisor_enters_a_round_by_hand_and_it_is_marked(house: House, table: Table) -> None:
    assert "as entered by hand" in enter(house, table)
    found = Round.objects.get()
    assert (found.channel, found.source, found.note) == ("hand", "hand", "The terminal is down")
    assert (found.status, found.dice, found.nets) == ("settled", [1, 3, 6], [10000, -5000])
    assert found.dealer_staff == house.people["dealer"]
    assert found.who == "PIT-SUPERVISOR Person PIT-SUPERVISOR, pit supervisor"
    assert "already on record" in enter(house, table)  # a second click
    assert Round.objects.count() == 1


def test_a_void_round_needs_no_dice_and_no_nets(house: House, table: Table) -> None:
    enter(house, table, closed_at="", settled_at="", dice="", void="5.6", bets="seat-3 small 100")
    assert Round.objects.get().status == "void"


def test_everything_of_a_round_can_be_entered(house: House, table: Table) -> None:
    bets = """seat-3 small 100 100 at 19:07:10 withdrawn 19:08:01
        seat-4 big 50 -50 house call

        seat-5 big 60 withdrawn 19:07:30
        seat-5 big 70 refused at 19:07:59"""
    events = "19:08:20 interruption 2 ? ?\n19:08:40 result 1,3,5\n19:08:50 result-amended 1 3 6 by PIT-SUPERVISOR"
    page = enter(house, table, tumbler_at="19:08", tumbles="3", dice="", events=events, bets=bets)
    assert "as entered by hand" in page
    found = Round.objects.get()
    assert [event["kind"] for event in found.events] == [
        "place-bets", "no-more-bets", "tumbler", "interruption", "result", "result-amended", "settled",
    ]  # fmt: skip
    assert (found.events[3]["known_dice"], found.events[5]["by"], found.dice) == ("2,?,?", "PIT-SUPERVISOR", [1, 3, 6])
    assert (found.withdrawn, found.refused) == ([False, False, True, False], [False, False, False, True])
    assert (found.call, found.house_placed) == ([False, True, False, False], [False, True, False, False])
    assert found.withdrawn_at
    assert found.withdrawn_at[0] == dt.datetime(2026, 11, 15, 11, 8, 1, tzinfo=dt.UTC)


def test_a_jammed_tumbler_and_who_voided_the_round_can_be_entered(house: House, table: Table) -> None:
    jammed = {"tumbler_at": "19:08", "tumbles": "0", "activated": "on", "dice": "", "settled_at": ""}
    enter(house, table, **jammed, void="5.5.1", void_by="PIT-SUPERVISOR", bets="seat-3 small 100")
    found = Round.objects.get()
    assert (found.status, found.events[2]["activated"], found.events[3]["by"]) == ("void", True, "PIT-SUPERVISOR")


def kinds_of(found: Round) -> list[str]:
    return [event["kind"] for event in found.events]


def test_a_void_after_the_settlement_loses_neither_and_the_round_stays_settled(house: House, table: Table) -> None:
    times = {"result_at": "19:08:40", "void_at": "19:12", "tumbler_at": "19:08:10", "tumbles": "3"}
    assert "as entered by hand" in enter(house, table, **times, void="5.5.1", void_by="PIT-SUPERVISOR")
    found = Round.objects.get()
    assert kinds_of(found) == ["place-bets", "no-more-bets", "tumbler", "result", "settled", "void"]
    assert found.status == "settled"
    arrivals_take()
    named = Finding.objects.filter(round=found).values_list("kind", "rules")
    assert {kind: rules for kind, rules in named if rules == ["rws-tai-sai-v6#5.14"]}
    assert "void-after-settlement" in dict(named)


def test_a_void_before_the_settlement_keeps_the_settlement_on_record(house: House, table: Table) -> None:
    enter(house, table, dice="", void="5.6", void_at="19:08:30", bets="seat-3 small 100 100")
    found = Round.objects.get()
    assert (kinds_of(found), found.status) == (["place-bets", "no-more-bets", "void", "settled"], "void")


def test_an_interruption_after_the_result_does_not_void_the_round(house: House, table: Table) -> None:
    times = {"tumbler_at": "19:08:10", "tumbles": "3", "result_at": "19:08:40"}
    enter(house, table, **times, events="19:08:50 interruption ? ? ?")
    found = Round.objects.get()
    assert kinds_of(found)[-3:] == ["result", "interruption", "settled"]
    assert found.status == "settled"


def test_a_result_amended_between_result_and_settlement_is_taken(house: House, table: Table) -> None:
    events = "19:08:50 result-amended 1 3 6 by PIT-SUPERVISOR"
    assert "as entered by hand" in enter(house, table, dice="1 3 5", result_at="19:08:40", events=events)
    assert Round.objects.get().dice == [1, 3, 6]


@pytest.mark.parametrize(
    ("changes", "fault"),
    [
        ({"tumbler_at": "19:08"}, "Enter the number of tumbles"),
        ({"tumbles": "3"}, "Enter when the tumbler ran"),
        ({"tumbler_at": "19:08", "tumbles": "3", "activated": "on"}, "Only for a tumbler with 0 tumbles"),
        ({"void_by": "S11"}, "Enter the rule by which the round was voided"),
        ({"void_at": "19:09"}, "Enter the rule by which the round was voided"),
        ({"result_at": "19:09", "dice": ""}, "Enter the dice, or leave the time of the result empty"),
        ({"events": "19:08:20 interruption 2 ? ?"}, "Enter the time of the result"),
        ({"void": "5.5.1", "void_at": "19:10"}, "Enter the time of the result"),
        ({"void": "5.5.1", "result_at": "19:08:40"}, "Enter the time of the void"),
        ({"void": "5.5.1", "result_at": "19:08:40", "void_at": "19:09"}, "Enter seconds, for example"),
        ({"events": "19:08:20"}, "Line 1: write the time and one of place-bets, no-more-bets"),
        ({"events": "19:08:20 rain"}, "Line 1: write the time and one of place-bets, no-more-bets"),
        ({"events": "\nsoon dice-exposed"}, "Line 2: soon is not a time"),
        ({"events": "19:08:20 interruption 2 ?"}, "Line 1: write it as in: 21:07:40 interruption 2 ? ?."),
        (
            {"events": "19:08:20 interruption 2 ? 9", "result_at": "19:08:40"},
            "Further events, line 1.known_dice: '2,?,9' does not name three",
        ),
        ({"events": "19:08:20 tumbler often"}, "Line 1: write it as in: 21:07:33 tumbler 3"),
        ({"events": "19:08:20 die-not-flat 5"}, "Line 1: die-not-flat has nothing after it; leave out '5'."),
        ({"events": "19:08:20 result 1 3 6"}, "result may appear only once, and is Further events, line 1 already"),
        ({"events": "19:08:50 result-amended 1 3 5 by"}, "write one staff number after by"),
        ({"bets": "bets[99] small 1 1\nbets[99] small 1 1"}, "Bets, line 2: 'bets[99]' has a bet in small already"),
        ({"bets": "seat-3 small 100 100 gone"}, "Line 1: 'gone' is not known; after the net write refused"),
        ({"bets": "seat-3 small 100 100 withdrawn"}, "Line 1: write the time after withdrawn"),
        ({"bets": "seat-3 small 100 at 25:00"}, "Line 1: 25:00 is not a time"),
        ({"bets": "\nseat-3 small 100 at 19:07:30 withdrawn 19:07:20"}, "Bets, line 2.withdrawn: is before the bet"),
        ({"bets": "seat-3 small"}, "Line 1: write player, box, stake and net"),
        ({"bets": "seat-3 middle 100 100"}, "is not a betting box"),
        ({"bets": "seat-3 small 100"}, "a bet of a settled round has one"),
        ({"dice": "1 3 9"}, "is not a face of a die"),
        ({"dice": "one"}, "Enter the three faces"),
        ({"started_at": "soon"}, "is not a time"),
        ({"void": "9.9", "result_at": "19:08:40", "void_at": "19:10"}, "is not a rule of"),
        ({"reason": ""}, "This field is required"),
        ({"closed_at": ""}, "a result comes after no-more-bets"),
    ],
)
def test_what_is_wrong_is_told_on_the_form(house: House, table: Table, changes: dict[str, str], fault: str) -> None:
    assert fault in enter(house, table, **changes).replace("&#x27;", "'")
    assert not Round.objects.exists()


def test_the_same_moment_with_other_bets_is_told_as_a_conflict(house: House, table: Table) -> None:
    enter(house, table)
    assert "is on record with different content" in enter(house, table, bets="seat-3 small 100 100")


def test_who_may_not_enter_a_round_is_refused_on_record(house: House, table: Table) -> None:
    for role in ("surveillance", "compliance", "auditor", "administrator"):
        with pytest.raises(PermissionDenied):
            round_enter(actor=house[role], table=table, document=EXAMPLE, reason="Terminal down")
    assert Denial.objects.filter(action="round.enter", casino=house.casino).count() == 4
    assert not Round.objects.exists()


# --- Uploaded ---


def file_of(*documents: Any) -> SimpleUploadedFile:
    return SimpleUploadedFile("rounds.ndjson", b"\n".join(map(line, documents)))


def test_an_uploaded_file_is_set_down_and_taken_in(house: House, table: Table) -> None:
    job = upload_accept(actor=house["shift-manager"], name="../../rounds.ndjson", content=file_of(EXAMPLE))
    assert (job.state, job.name) == ("waiting", "rounds.ndjson")
    upload_take(key=job.pk)
    job.refresh_from_db()
    assert (job.state, job.rounds, job.new, job.percent) == ("done", 1, 1, 100)
    assert Round.objects.get().who == "SHIFT-MANAGER Person SHIFT-MANAGER, shift manager"
    assert not (uploads() / job.stored).exists()
    upload_take(key=job.pk)  # a message that came twice
    assert Round.objects.count() == 1


def test_a_refused_file_tells_its_faults_on_the_page(house: House, table: Table) -> None:
    content = file_of(EXAMPLE, example(ref="x", bets=[bet(net="x")]))
    job = upload_accept(actor=house["shift-manager"], name="bad.ndjson", content=content)
    upload_take(key=job.pk)
    page = logged_in(house["shift-manager"]).get(f"/admin/games/importjob/{job.pk}/change/").content.decode()
    assert "No round of this file was recorded" in page
    assert "line 2: bets[0].net" in page
    assert not Round.objects.exists()


def test_the_page_takes_a_file_and_shows_how_far_it_has_come(house: House, table: Table) -> None:
    client = logged_in(house["shift-manager"])
    file = io.BytesIO(line(EXAMPLE))
    file.name = "rounds.ndjson"
    page = client.post("/admin/games/importjob/add/", {"file": file}, follow=True).content.decode()
    assert "Waiting for a worker" in page
    assert 'http-equiv="refresh"' in page
    assert "This field is required" in client.post("/admin/games/importjob/add/", {}).content.decode()


def test_who_may_not_upload_is_refused(house: House, table: Table) -> None:
    with pytest.raises(PermissionDenied):
        upload_accept(actor=house["pit-manager"], name="x", content=file_of(EXAMPLE))
    assert not ImportJob.objects.exists()


@pytest.mark.usefixtures("clone")
def test_a_real_worker_takes_it_in(clone: str, tmp_path: Path) -> None:
    broker = f"{servers.servers()[1].url().removesuffix('/0')}/8"
    environment = os.environ | {"BROKER_URL": broker, "DATABASE_URL": servers.database_url(clone)}
    house = build_house()
    floor(house)
    stored = "by-test"
    (uploads() / stored).write_bytes(line(current()))
    job = ImportJob.objects.create(by=house["shift-manager"], name="x", stored=stored, size=1)
    worker = ProcessPart("Worker", celery_command("worker", "--concurrency", "1"), environment, tmp_path / "worker.log")
    try:
        with Celery(broker=broker, set_as_current=False) as sender:
            sender.send_task("games.tasks.take_upload", [job.pk])
        wait_for(lambda: ImportJob.objects.get(pk=job.pk).state == "done", "the file was not taken in")
    finally:
        worker.stop()
    assert Round.objects.count() == 1
