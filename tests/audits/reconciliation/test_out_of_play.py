"""Rounds at tables that were not in play: warned of and found at once, and one finding from then on."""

from typing import Any

import pytest
from django.core.exceptions import PermissionDenied
from django.db import connection, transaction
from django.db.utils import DatabaseError, IntegrityError

from audits import tasks
from audits.findings.selectors import FindingFilter, alerts, findings_list
from audits.findings.services.escalation import findings_escalate
from audits.findings.services.findings import finding_acknowledge
from audits.models import DaySummary, Finding, Severity
from audits.reconciliation.services.live_warnings import warnings_take, warnings_waiting
from audits.reports.kinds.findings import Procedural
from games.floor.services.tables import table_assign, table_close, table_open, table_resume, table_suspend
from games.live.services import live_open
from games.models import LiveRound, LiveWarning, Round, Table
from tests.audits.playing import DAY, RIGHT, day_run, drain, kinds, played, record, summary_of
from tests.audits.reports.asking import asked_by
from tests.conftest import OPERATOR, House
from tests.games.floor_setup import HOUR, MINUTE, NOON, bare_table, open_table, put_sign, ready_table, sign_checks
from tests.games.live.playing import Player, person

DIVISION: dict[str, Any] = {"rulebook": "division-9-2008", "layout": "1"}
BY_7_4 = ["division-9-2008#7.4"]
BY_5_0 = ["division-9-2008#5.0"]


@pytest.fixture
def suspended(house: House, clock: Any) -> Table:
    """A Division 9 table that was suspended for a malfunction an hour before noon."""
    clock.move_to(NOON - 2 * HOUR)
    table = open_table(house, **DIVISION)
    clock.move_to(NOON - HOUR)
    table_suspend(actor=house["pit-manager"], table=table, reason="Two areas do not light", cause="malfunction")
    clock.move_to(NOON)
    return table


def play_on(player: Player) -> None:
    player.do("tumbler", tumbles=3)
    player.do("place-bets")
    player.bet("seat-1", "small", "100")
    player.do("no-more-bets")
    player.do("result", dice=[1, 2, 3])
    player.do("settled", nets=[{"player": "seat-1", "box": "small", "net": "100"}])


# --- Rounds in play ---


def test_7_4_a_round_opened_at_a_suspended_table_is_taken_warned_of_and_found_at_once(suspended: Table) -> None:
    player = Player(suspended)
    code, body = player.open(dealer="D102")
    warning = {
        "kind": "table-suspended", "rules": BY_7_4, "explain": "The table was suspended from 2026-11-15 19:00+08:00.",
    }  # fmt: skip
    assert (code, body["warnings"]) == (201, [warning])
    assert player.open(dealer="D102") == (200, body)
    assert warnings_take() == 1
    found = Finding.objects.get()
    assert (found.round, found.live_round, found.kind, found.severity, found.rule, found.rules, found.detail) == (
        None, LiveRound.objects.get(), "table-suspended", Severity.HIGH, BY_7_4[0], BY_7_4, warning["explain"],
    )  # fmt: skip
    assert (found.category, found.gaming_day, found.round_started_at, found.state) == ("procedural", DAY, NOON, "open")
    assert player.do("tumbler", tumbles=3)["warnings"] == [warning]
    assert (warnings_take(), Finding.objects.count()) == (0, 1)


@pytest.mark.parametrize("by", ["arrival", "day run"])
def test_the_finding_of_a_round_in_play_becomes_that_of_the_recorded_round(
    house: House, suspended: Table, by: str
) -> None:
    player = Player(suspended)
    player.open()
    warnings_take()
    before = Finding.objects.get()
    finding_acknowledge(actor=house["pit-supervisor"], finding=before)
    play_on(player)
    drain() if by == "arrival" else day_run(suspended)
    after = Finding.objects.get()
    recorded = Round.objects.get()
    assert (after.pk, after.round, after.live_round, after.state) == (
        before.pk, recorded, before.live_round, "acknowledged",
    )  # fmt: skip
    assert (after.round_started_at, after.gaming_day) == (recorded.started_at, recorded.gaming_day)
    assert (after.lapsed_at, summary_of(suspended).procedural) == (None, 1)
    assert [row.history_change_reason for row in after.history.all()] == ["The round was recorded", "Seen"]
    for _ in range(2):
        day_run(suspended)
    assert Finding.objects.get().history.count() == 2
    assert warnings_take() == 0


def test_a_round_that_is_recorded_before_the_task_comes_is_found_by_the_reconciliation_alone(suspended: Table) -> None:
    player = Player(suspended)
    player.open()
    play_on(player)
    assert (warnings_waiting(), warnings_take()) == ([], 0)
    drain()
    found = Finding.objects.get()
    assert (found.round, found.live_round, found.kind, found.rules) == (
        Round.objects.get(), None, "table-suspended", BY_7_4,
    )  # fmt: skip


def test_a_round_called_off_before_betting_keeps_its_finding(house: House, suspended: Table) -> None:
    player = Player(suspended)
    player.open()
    player.do("tumbler", tumbles=0)
    player.do("void", rule="7.1(d)")
    warnings_take()
    record(played("R-7", RIGHT, at=NOON - 90 * MINUTE))
    drain()
    day_run(suspended)
    found = Finding.objects.get(kind="table-suspended")
    assert (found.round, found.lapsed_at, found.round_ref, found.source) == (None, None, "R-1", "floor")
    assert "procedural table-suspended" not in summary_of(suspended).kinds  # which counts the rounds on record
    page = person(house, "pit-manager").get(f"/admin/audits/finding/{found.pk}/change/").content.decode()
    assert "not recorded" in page
    assert f"/admin/games/liveround/{found.live_round_id}/change/" in page


def test_a_table_suspended_between_the_opening_and_the_call_for_bets(house: House, clock: Any) -> None:
    clock.move_to(NOON - HOUR)
    table = open_table(house, **DIVISION)
    clock.move_to(NOON)
    player = Player(table)
    assert player.open()[1]["warnings"] == []
    first = player.do("tumbler", tumbles=3, call="first")
    clock.shift(MINUTE)
    table_suspend(actor=house["pit-manager"], table=table, reason="Lights out")
    clock.shift(MINUTE)
    (warning,) = player.do("place-bets")["warnings"]
    assert (warning["kind"], warning["rules"]) == ("table-suspended", BY_7_4)
    assert player.send("tumbler", call="first", tumbles=3) == (200, first)  # a repeat is answered as before
    assert player.open() == (200, player.open()[1])
    assert player.open()[1]["warnings"] == []
    assert player.bet("seat-1", "small", "100")["warnings"] == [warning]
    assert person(house).get(f"/api/v1/live-rounds/{player.key}/").json()["warnings"] == [warning]
    assert LiveWarning.objects.get().step == 2


@pytest.mark.parametrize(
    ("game", "rules", "explain"),
    [
        ({}, [], "The table was never opened."),
        (DIVISION, BY_5_0, "The table was never opened, and its opening checks were never signed."),
    ],
)
def test_a_round_in_play_at_a_table_that_nobody_opened(
    house: House, clock: Any, game: dict[str, Any], rules: list[str], explain: str
) -> None:
    player = Player(ready_table(house, **game))
    (warning,) = player.open()[1]["warnings"]
    assert warning == {"kind": "table-closed", "rules": rules, "explain": explain}


def test_a_round_in_play_at_a_closed_table_of_each_rulebook(house: House, clock: Any) -> None:
    clock.move_to(NOON - HOUR)
    tables = [open_table(house, "TS-01"), open_table(house, "TS-02", **DIVISION)]
    clock.move_to(NOON)
    for table, rules in zip(tables, ([], BY_5_0), strict=True):
        assert Player(table, name=f"open {table}").open(f"O-{table}")[1]["warnings"] == []
        LiveRound.objects.filter(table=table).update(ended_at=NOON)
        table_close(actor=house["pit-manager"], table=table, notice_given_at=NOON - MINUTE, reason="Quiet")
        (warning,) = Player(table, name=f"closed {table}").open(f"C-{table}")[1]["warnings"]
        assert (warning["kind"], warning["rules"]) == ("table-closed", rules)


def test_a_suspension_for_another_reason_cites_no_rule(house: House, clock: Any) -> None:
    clock.move_to(NOON - HOUR)
    table = open_table(house, **DIVISION)
    table_suspend(actor=house["pit-manager"], table=table, reason="A spilled drink", cause="other")
    clock.move_to(NOON)
    (warning,) = Player(table).open()[1]["warnings"]
    assert (warning["kind"], warning["rules"]) == ("table-suspended", [])


def test_the_sweep_takes_what_no_message_told_of(suspended: Table) -> None:
    Player(suspended).open()
    tasks.sweep()
    assert Finding.objects.get().kind == "table-suspended"


def test_a_finding_of_a_round_in_play_is_alerted_listed_escalated_and_reported(
    house: House, suspended: Table, clock: Any
) -> None:
    Player(suspended).open("LIVE-7")
    tasks.take_warnings()
    manager = house["pit-manager"]
    found = Finding.objects.get()
    assert list(alerts(manager)) == [found]
    assert list(findings_list(manager, FindingFilter(ref="LIVE-7"))) == [found]
    assert not findings_list(manager, FindingFilter(ref="R-1"))
    clock.shift(31 * MINUTE)
    (notice,) = findings_escalate()
    assert "high severity: The table was suspended" in notice.text
    (row,) = Procedural(asked_by(house["compliance"], DAY, DAY)).rows()
    assert (row[0], row[1], row[-1]) == ("LIVE-7", "TS-01", "floor")
    client = person(house, "pit-manager")
    listed = client.get("/admin/audits/finding/?state=all").content.decode()
    assert "LIVE-7" in listed
    assert "in play" in listed
    for address in ("change/", "acknowledge/", "resolve/", "history/"):
        assert client.get(f"/admin/audits/finding/{found.pk}/{address}").status_code == 200
    assert client.get("/admin/").status_code == 200
    page = client.get(f"/admin/audits/incident/add/?finding={found.pk}").content.decode()
    assert found.detail in page
    live = client.get(f"/admin/games/liveround/{found.live_round_id}/change/").content.decode()
    assert live.count("The table was suspended from") == 2  # the warning, and the finding


# --- Rounds on record ---


def test_7_4_a_file_with_rounds_of_a_suspended_table(suspended: Table) -> None:
    record(played("R-1", at=NOON - 90 * MINUTE), played("R-2", at=NOON - 30 * MINUTE))
    drain()
    found = Finding.objects.get(kind="table-suspended")
    assert (found.round_ref, found.severity, found.rules) == ("R-2", Severity.HIGH, BY_7_4)


def test_5_0_a_table_opened_without_the_checks_of_its_rulebook(house: House, clock: Any) -> None:
    clock.move_to(NOON - 5 * HOUR)
    table = ready_table(house)  # of a rulebook that has none
    table_open(actor=house["shift-manager"], table=table, reason="Start of shift")
    clock.move_to(NOON - 4 * HOUR)
    table_assign(
        actor=house["casino-manager"], table=table, pit=house.pits["P1"], chip_unit="1.00",
        starts_at=NOON - 3 * HOUR, reason="Another game", **DIVISION,
    )  # fmt: skip
    clock.move_to(NOON)
    record(played("R-1", at=NOON - 210 * MINUTE), played("R-2", at=NOON - 150 * MINUTE))
    drain()
    (one,) = Finding.objects.filter(kind="table-closed")
    assert (one.round_ref, one.severity, one.rules) == ("R-2", Severity.HIGH, BY_5_0)
    assert one.detail == (
        "The table was opened at 2026-11-15 15:00+08:00 without the signed opening checks of this rulebook."
    )
    table_close(actor=house["pit-manager"], table=table, notice_given_at=NOON - MINUTE, reason="Checks")
    sign_checks(house["pit-supervisor"], table)
    table_open(actor=house["pit-manager"], table=table, reason="Checked")
    clock.shift(HOUR)
    record(played("R-3", at=NOON + 30 * MINUTE))
    drain()
    assert kinds(table).count(("R-3", "table-closed")) == 0


def test_a_table_without_a_step_is_unknown_to_a_file_under_every_rulebook(house: House, clock: Any) -> None:
    table = bare_table(house, **DIVISION)
    put_sign(table)
    record(played("R-1", at=NOON - HOUR))
    drain()
    assert not Finding.objects.filter(kind="table-closed").exists()


# --- What must never be false ---


def test_a_finding_is_of_a_round_and_moves_only_to_the_one_it_was_recorded_as(house: House, suspended: Table) -> None:
    player = Player(suspended)
    player.open()
    warnings_take()
    other, *_ = record(played("R-7", RIGHT, at=NOON - 90 * MINUTE))

    def refused(statement: str, *values: Any) -> str:
        with pytest.raises(DatabaseError) as error, transaction.atomic(), connection.cursor() as cursor:
            cursor.execute(statement, values)
        return str(error.value)

    adopted = "which its round in play was recorded as"
    assert adopted in refused("UPDATE audits_finding SET round_id = %s", other)
    assert adopted in refused("UPDATE audits_finding SET gaming_day = '2020-01-01'")
    with pytest.raises(IntegrityError, match="finding_once_a_live_round"), transaction.atomic():
        Finding.objects.bulk_create([copied(Finding.objects.get())])
    play_on(player)
    drain()
    assert adopted in refused("UPDATE audits_finding SET round_id = %s", other)
    assert adopted in refused("UPDATE audits_finding SET round_started_at = now()")
    assert "permission denied" in refused("UPDATE audits_finding SET live_round_id = NULL")
    assert "permission denied" in refused("UPDATE games_livewarning SET explain = 'Nothing'")
    assert "permission denied" in refused("DELETE FROM games_livewarning")
    finding = Finding.objects.get(kind="table-suspended")
    with pytest.raises(IntegrityError, match="finding_of_a_round"):
        Finding.objects.bulk_create([copied(finding, round=None, live_round=None, key="x")])


def test_a_warning_stands_once_a_kind_and_of_known_kinds(suspended: Table) -> None:
    Player(suspended).open()
    live_warning = LiveWarning.objects.get()
    for kind, name in (("table-suspended", "live_warning_once_a_kind"), ("sleepy", "live_warning_kind_known")):
        with pytest.raises(IntegrityError, match=name), transaction.atomic():
            LiveWarning.objects.create(live_round=live_warning.live_round, kind=kind, step=1, at=NOON, explain="x")


def copied(finding: Finding, **changes: Any) -> Finding:
    values = {
        name.attname: getattr(finding, name.attname) for name in Finding._meta.concrete_fields if name.name != "id"
    }
    copy = Finding(**values)
    for name, value in changes.items():
        setattr(copy, name, value)
    return copy


def test_nobody_but_a_terminal_of_the_table_opens_a_round_there(house: House, suspended: Table) -> None:
    with pytest.raises(PermissionDenied):
        live_open(actor=house["auditor"], document={"source": "x", "ref": "y", "table": suspended.code})
    assert not LiveWarning.objects.exists()
    live_open(actor=OPERATOR, document={"source": "x", "ref": "y", "table": suspended.code})
    assert LiveWarning.objects.count() == 1
    assert not DaySummary.objects.exists()


def test_table_resume_ends_it(house: House, suspended: Table, clock: Any) -> None:
    table_resume(
        actor=house["pit-manager"], table=suspended, reason="Lights work", rectified="A fuse was replaced",
        rectified_by="Maker's technician", checked_by="PIT-SUPERVISOR",
    )  # fmt: skip
    assert Player(suspended).open()[1]["warnings"] == []
