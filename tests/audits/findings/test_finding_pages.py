"""Findings on pages: a list that counts nothing, a finding with its rules, and every step with its refusals."""

import re
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from audits.findings.services.findings import finding_acknowledge, finding_assign, finding_resolve
from audits.models import Escalation, Finding, Notice, NoticeMail
from games.engine.play.findings import VERSION
from games.models import Round
from tests.audits.sittings import GRAVE, OVERPAID, played
from tests.conftest import House
from tests.games.logins import logged_in
from tests.games.rounds.samples import bet

LIST = "/admin/audits/finding/"
TOLD = "Overpaid seat-3 on Small: paid 300.00, due 100.00"


def page(house: House, path: str = LIST, role: str = "pit-manager", **query: str) -> str:
    answer = logged_in(house[role]).get(path, query)
    assert answer.status_code == 200
    return answer.content.decode()


def send(house: House, finding: Finding, step: str, role: str, **sent: str) -> str:
    """A step's form, and the page behind it."""
    answer = logged_in(house[role]).post(f"{LIST}{finding.pk}/{step}/", sent, follow=True)
    assert answer.status_code == 200
    return answer.content.decode()


def fresh(finding: Finding) -> Finding:
    return Finding.objects.get(pk=finding.pk)


# --- The list ---


def test_an_empty_list_says_that_nothing_waits(house: House) -> None:
    assert "No finding needs action" in page(house)
    assert "No finding matches" in page(house, state="resolved")


def test_a_line_says_in_plain_words_what_was_found_and_by_which_rule(house: House) -> None:
    played(house)
    shown = page(house)
    for text in (TOLD, "R-1", "TS-01", "200.00", "Overpaid", "rws-tai-sai-v6#4.1.2", "open"):
        assert text in shown, text


def test_findings_are_found_by_all_that_a_person_asks_for(house: House) -> None:
    (one,) = played(house)
    played(house, [bet("seat-1", "small", "10.00", net="10.00")], table="TS-02", ref="R-2")  # under the minimum
    finding_assign(actor=house["shift-manager"], finding=one, to=house["pit-manager"], reason="Yours")
    day = one.gaming_day.isoformat()
    for query, is_found in [
        ({"category": "discrepancy"}, True), ({"category": "breach"}, False), ({"kind": "overpaid"}, True),
        ({"kind": "below-minimum"}, False), ({"severity": "1"}, True), ({"severity": "3"}, False),
        ({"table": "TS-01"}, True), ({"table": "TS-02"}, False), ({"first": day, "last": day}, True),
        ({"last": "2020-01-01"}, False), ({"ref": "R-1"}, True), ({"ref": "R-2"}, False), ({"mine": "on"}, True),
        ({"round": str(one.round_id)}, True), ({"round": "1"}, False), ({"state": "open"}, True),
        ({"state": "acknowledged"}, False), ({"state": "all"}, True), ({"state": "lapsed"}, False),
    ]:  # fmt: skip
        assert (TOLD in page(house, **query)) is is_found, query
    assert TOLD not in page(house, role="shift-manager", mine="on")


def test_what_lapsed_is_shown_to_who_asks_for_it(house: House) -> None:
    (one,) = played(house)
    Finding.objects.filter(pk=one.pk).update(lapsed_by=one.found_by, lapsed_at=timezone.now())
    assert TOLD not in page(house)
    assert TOLD in page(house, state="lapsed")
    shown = page(house, f"{LIST}{one.pk}/change/")
    assert "no longer found it" in shown
    assert f"{LIST}{one.pk}/acknowledge/" not in shown


def test_what_waits_for_compliance_needs_somebody_and_what_is_resolved_does_not(house: House) -> None:
    small, grave = played(house, [OVERPAID, GRAVE])
    for one in (small, grave):
        finding_resolve(actor=house["pit-manager"], finding=one, outcome="written-off", reason="Too late")
    shown = page(house)
    assert TOLD not in shown
    assert "to be confirmed" in shown
    assert "seat-7" in page(house, state="awaiting")


def test_a_question_that_makes_no_sense_is_told(house: House) -> None:
    played(house)
    assert "Enter a valid date, written as 2026-11-15." in page(house, first="yesterday")
    assert TOLD in page(house, after="nonsense,x")


def test_a_long_list_goes_on_where_the_last_page_ended_and_counts_nothing(house: House) -> None:
    found = played(house, [bet(f"seat-{at:02d}", "small", "50.00", net="60.00") for at in range(60)])
    assert len(found) == 60
    with CaptureQueriesContext(connection) as queries:
        first = page(house, state="open")
    counts = [
        captured_query["sql"]
        for captured_query in queries.captured_queries
        if "COUNT(" in captured_query["sql"] and "audits_finding" in captured_query["sql"]
    ]
    assert [sql for sql in counts if "LIMIT" not in sql] == []
    assert len(re.findall(r'name="finding" value=', first)) == 50
    older = re.search(r'href="(\?[^"]*after=[^"]*)"', first)
    assert older is not None
    second = page(house, LIST + older.group(1).replace("&amp;", "&"))
    assert len(re.findall(r'name="finding" value=', second)) == 10


def test_a_person_sees_the_findings_of_his_own_pit(house: House) -> None:
    (near,) = played(house)
    (far,) = played(house, table="TS-09", pit="P2", ref="R-9")
    shown = page(house, role="pit-supervisor")
    assert f"{LIST}{near.pk}/change/" in shown
    assert f"{LIST}{far.pk}/change/" not in shown
    assert logged_in(house["pit-supervisor"]).get(f"{LIST}{far.pk}/change/").status_code == 403


# --- Several at once ---


def test_the_chosen_are_acknowledged_and_who_was_overtaken_is_told(house: House) -> None:
    small, grave = played(house, [OVERPAID, GRAVE])
    finding_acknowledge(actor=house["surveillance"], finding=grave)
    sent = {"finding": [str(small.pk), str(grave.pk)], "back": f"{LIST}?state=all"}
    answer = logged_in(house["pit-supervisor"]).post(f"{LIST}acknowledge/", sent, follow=True)
    assert answer.redirect_chain == [(f"{LIST}?state=all", 302)]
    shown = answer.content.decode()
    assert "Finding acknowledged." in shown
    assert "This finding was acknowledged by SURVEILLANCE" in shown
    assert fresh(small).acknowledged_by.startswith("PIT-SUPERVISOR")
    assert fresh(grave).acknowledged_by.startswith("SURVEILLANCE")


def test_where_one_is_out_of_reach_none_is_acknowledged(house: House) -> None:
    (near,) = played(house)
    (far,) = played(house, table="TS-09", pit="P2", ref="R-9")
    sent = {"finding": [str(near.pk), str(far.pk)]}
    assert logged_in(house["pit-supervisor"]).post(f"{LIST}acknowledge/", sent).status_code == 403
    assert fresh(near).state == "open"


def test_nothing_chosen_and_a_foreign_way_back_change_nothing(house: House) -> None:
    sent = {"finding": ["x", "9" * 30], "back": "https://else.example/admin/"}
    answer = logged_in(house["pit-supervisor"]).post(f"{LIST}acknowledge/", sent, follow=True)
    assert answer.redirect_chain == [(LIST, 302)]
    assert "No finding was selected" in answer.content.decode()


# --- One ---


def test_a_finding_s_page_names_the_rules_with_their_text_and_all_that_it_is_pinned_to(house: House) -> None:
    (one,) = played(house)
    shown = page(house, f"{LIST}{one.pk}/change/")
    for text in (TOLD, "Expected", "rws-tai-sai-v6#4.1.2", f"version {VERSION}", "arrivals", "Not yet"):
        assert text in shown, text
    for address in (f"games/round/{one.round_id}/", f"games/limitset/{one.limit_set_id}/", f"run/{one.found_by_id}/"):
        assert address in shown, address


@pytest.mark.parametrize(
    ("role", "steps"),
    [
        ("pit-supervisor", {"acknowledge"}), ("pit-manager", {"acknowledge", "assign", "resolve"}),
        ("compliance", {"acknowledge", "assign"}), ("auditor", set()),
    ],
)  # fmt: skip
def test_each_role_is_offered_what_it_may_do(house: House, role: str, steps: set[str]) -> None:
    (one,) = played(house)
    assert steps_on(page(house, f"{LIST}{one.pk}/change/", role), one) == steps


def steps_on(shown: str, finding: Finding) -> set[str]:
    return set(re.findall(rf'class="ts-step[^"]*" href="{LIST}{finding.pk}/(\w+)/"', shown))


def test_the_life_of_a_grave_one(house: House) -> None:
    (one,) = played(house, [GRAVE])
    send(house, one, "acknowledge", "pit-supervisor", reason="Seen")
    answer = send(house, one, "assign", "shift-manager", to=str(house["pit-manager"].pk), reason="Yours")
    assert "Assigned to PIT-MANAGER" in answer
    answer = send(house, one, "resolve", "pit-manager", outcome="recovered", amount="2,500.5", reason="He paid")
    assert "Compliance must confirm it" in answer
    assert fresh(one).settled_amount == 250050
    assert steps_on(page(house, f"{LIST}{one.pk}/change/", "compliance"), one) == {"confirm", "return"}
    assert "Returned to be resolved again" in send(house, one, "return", "compliance", reason="No receipt")
    assert fresh(one).state == "acknowledged"
    send(house, one, "resolve", "pit-manager", outcome="written-off", amount="", reason="He left")
    assert "Confirmed: discrepancy" in send(house, one, "confirm", "compliance", reason="Agreed")
    assert fresh(one).confirmed_by == house["compliance"]
    assert steps_on(page(house, f"{LIST}{one.pk}/change/"), one) == {"reopen"}
    assert "Reopened" in send(house, one, "reopen", "pit-manager", reason="He came back")
    history = page(house, f"{LIST}{one.pk}/history/")
    for text in ("No receipt", "He left", "Agreed", "He came back", "acknowledged", "2,500.50"):
        assert text in history, text
    assert "Deleted" not in history


def test_the_first_step_has_its_old_and_new_in_the_history(house: House) -> None:
    (one,) = played(house)
    finding_acknowledge(actor=house["pit-supervisor"], finding=one, reason="Looked at the tape")
    shown = page(house, f"{LIST}{one.pk}/history/")
    assert "Looked at the tape" in shown
    assert re.search(r"State:</strong>\s*<del>open</del> → <ins>acknowledged</ins>", shown)


@pytest.mark.parametrize(
    ("sent", "fault"),
    [
        ({"outcome": "recovered"}, "Enter the amount that was recovered or paid"),
        ({"outcome": "written-off", "amount": "5"}, "Leave the amount empty"),
        ({"outcome": "recovered", "amount": "-5"}, "is not an amount"),
        ({"outcome": "recovered", "amount": "1.999"}, "is not an amount"),
        ({}, "This field is required"),
    ],
)
def test_a_resolution_that_says_too_little_is_refused_at_its_field(
    house: House, sent: dict[str, str], fault: str
) -> None:
    (one,) = played(house)
    assert fault in send(house, one, "resolve", "pit-manager", reason="x", **sent)
    assert fresh(one).state == "open"


def test_the_second_click_is_told_and_changes_nothing(house: House) -> None:
    (one,) = played(house)
    send(house, one, "acknowledge", "pit-supervisor", reason="Seen")
    assert "acknowledged by PIT-SUPERVISOR" in send(house, one, "acknowledge", "pit-manager", reason="Seen")
    assert fresh(one).acknowledged_by.startswith("PIT-SUPERVISOR")
    assert one.history.count() == 1


def test_a_finding_is_offered_to_those_who_may_resolve_it(house: House) -> None:
    (one,) = played(house)
    house.hire("PM-2", "pit-manager", pit=house.pits["P2"])
    shown = page(house, f"{LIST}{one.pk}/assign/", "shift-manager")
    offered = set(re.findall(r">\s*([A-Z0-9-]+) Person [A-Z0-9-]+\s*</option>", shown))
    assert offered == {"PIT-MANAGER", "SHIFT-MANAGER", "CASINO-MANAGER"}


def test_who_was_told_and_by_which_mail_stands_on_the_page_and_on_the_notice_s(house: House) -> None:
    (one,) = played(house)
    manager = house["pit-manager"]
    notice = Notice.objects.create(
        casino=house.casino, pit=house.pits["P1"], role="pit-manager", text="1 findings wait", people=[str(manager)]
    )
    Escalation.objects.create(finding=one, level=1, notice=notice)
    NoticeMail.objects.create(notice=notice, staff=manager, address="pm@house.example", fault="refused")
    for path, role in (
        (f"{LIST}{one.pk}/change/", "pit-supervisor"),
        (f"/admin/audits/notice/{notice.pk}/change/", "auditor"),
    ):
        shown = page(house, path, role)
        for text in ("Pit manager", "PIT-MANAGER Person", "pm@house.example", "refused"):
            assert text in shown, (path, text)
    assert "Pit manager" in page(house, "/admin/audits/notice/", "auditor")


def test_a_round_s_page_leads_to_its_findings(house: House) -> None:
    (one,) = played(house)
    shown = page(house, f"/admin/games/round/{one.round_id}/change/", "surveillance")
    assert TOLD in shown
    assert f"?round={one.round_id}&amp;state=all" in shown
    played(house, [bet("seat-3", "small", "100.00", net="100.00")], table="TS-02", ref="R-2")
    assert "This round has no findings" in page(house, f"/admin/games/round/{Round.objects.get(ref='R-2').pk}/change/")


# --- The overview ---


def overview(house: House, role: str) -> str:
    return page(house, "/admin/", role)


def test_a_grave_finding_stands_on_the_overview_until_somebody_acknowledges_it(house: House) -> None:
    _, grave = played(house, [OVERPAID, GRAVE])
    alert = "Loser paid, seat-7 on Big: paid 2,500.00, should have collected 2,500.00"
    shown = overview(house, "pit-supervisor")
    assert alert in shown
    assert TOLD not in shown
    sent = {"finding": str(grave.pk), "back": "/admin/"}
    answer = logged_in(house["pit-supervisor"]).post(f"{LIST}acknowledge/", sent, follow=True)
    assert answer.redirect_chain == [("/admin/", 302)]
    assert alert not in answer.content.decode()
    assert "Acknowledge finding no." not in overview(house, "auditor")


def test_the_overview_tells_each_what_waits_for_him(house: House) -> None:
    small, grave = played(house, [OVERPAID, GRAVE])
    notice = Notice.objects.create(casino=house.casino, pit=house.pits["P1"], role="pit-manager", text="x")
    Escalation.objects.create(finding=small, level=1, notice=notice)
    assert "Escalated to you" in overview(house, "pit-manager")
    assert "Escalated to you" not in overview(house, "shift-manager")
    finding_assign(actor=house["shift-manager"], finding=small, to=house["pit-manager"], reason="Yours")
    assert "Assigned to you" in overview(house, "pit-manager")
    assert "Assigned to you" not in overview(house, "casino-manager")
    finding_resolve(actor=house["pit-manager"], finding=grave, outcome="written-off", reason="He left")
    assert "To be confirmed" in overview(house, "compliance")
    assert "To be confirmed" not in overview(house, "shift-manager")


def test_an_administrator_s_overview_has_no_findings(house: House) -> None:
    played(house, [GRAVE])
    shown = overview(house, "administrator")
    assert "seat-7" not in shown
    assert "Open findings" not in shown


def test_the_sidebar_counts_the_grave_ones_that_nobody_saw(house: House) -> None:
    def badge(role: str) -> Any:
        return re.search(r"<span>Findings</span>.*?</a>", overview(house, role), re.DOTALL)

    assert "1" not in re.sub(r"<[^>]*>", "", badge("pit-manager").group())
    played(house, [GRAVE])
    assert re.sub(r"<[^>]*>|\s", "", badge("pit-manager").group()) == "Findings1"
