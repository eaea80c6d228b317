"""The pages of rulings and of what follows from them: what they show, refuse and hide."""

from typing import Any

import pytest
import time_machine
from django.test import Client
from django.utils import timezone

from audits.incidents.services.incidents import incident_step
from audits.models import (
    Consequence,
    Correction,
    Discretion,
    Finding,
    Incident,
    RepaymentMark,
    Ruling,
    RulingReview,
)  # fmt: skip
from audits.reconciliation.services.arrivals import arrivals_take
from audits.rulings.selectors import RulingFilter, repayments_open, rulings_found
from audits.rulings.services.corrective_actions import consequence_execute
from audits.rulings.services.rulings import ruling_make, ruling_withdraw
from games.access.models.acting_appointment import ALL_PITS
from games.access.services.acting_appointments import duty_grant
from games.engine.rules.loader import rulebooks
from games.floor.services.tables import table_assign
from games.models import Denial, Round, SettlementPolicy, Table
from games.settlement_policies.services import Setting
from tests.audits.decided import draft, incident_about, ruled, settled_as, standing, voided
from tests.audits.files import played
from tests.conftest import House
from tests.games.engine.oracle import DIVISION_9, OPEN_COVER, V6
from tests.games.floor_setup import HOUR, MINUTE, NOON, fitted_table, open_table, ready_table, sign
from tests.games.logins import logged_in
from tests.games.rounds.samples import bet

ADMIN = "/admin/audits"
#: On 1, 3, 6: seat 1 wins, seat 2 loses.
BETS = [bet("seat-1", "small", "100", net="100"), bet("seat-2", "big", "60", net="-60")]
UNSETTLED: list[tuple[str, dict[str, Any]]] = [
    ("place-bets", {}),
    ("no-more-bets", {}),
    ("result", {"dice": [1, 3, 6]}),
]
SAID = {
    "kind": "not-covered", "question": "Whose chip is it?", "decision": "Seat 3 is paid.",
    "reasoning": "The camera shows it.", "scope": "round",
}  # fmt: skip
STANDING = SAID | {"kind": "interpretation", "scope": "standing", "rules": "5.1.2"}


@pytest.fixture
def table(house: House) -> Table:
    return fitted_table(house, "TS-01", layout="C", limits=sign())


@pytest.fixture
def incident(house: House, table: Table) -> Incident:
    return incident_about(house, table)


def text_of(client: Client, address: str) -> str:
    return client.get(address, follow=True).content.decode()


def sent(client: Client, address: str, **values: Any) -> str:
    return client.post(address, values, follow=True).content.decode()


def a_round(table: Table, ref: str = "R-1", bets: Any = BETS, **more: Any) -> Round:
    return played(table, timezone.now() - 5 * MINUTE, ref, bets, **more)


def of(thing: Any, step: str = "change") -> str:
    return f"{ADMIN}/{thing._meta.model_name}/{thing.pk}/{step}/"


def denials(house: House, role: str, action: str = "ruling.make") -> int:
    return Denial.objects.filter(staff_id=house[role].pk, action=action).count()


# --- Ruling ----------------------------------------------------------------------------------------


def test_5_14_a_shift_manager_rules_on_the_file_by_page(house: House, incident: Incident) -> None:
    client = logged_in(house["shift-manager"])
    assert f'href="{of(incident, "rule")}"' in text_of(client, of(incident))
    page = text_of(client, of(incident, "rule"))
    assert "A quarrel at seat 3." in page  # the account is filled in as the facts
    assert "No similar rulings" in page
    told = sent(client, of(incident, "rule"), **SAID, rules=f"5.1.2, {V6}#5.14", facts="")
    ruling = Ruling.objects.get()
    assert f"{ruling} was recorded." in told
    assert (ruling.rules, ruling.post) == ([f"{V6}#5.1.2", f"{V6}#5.14"], "shift manager")
    for words in ("Seat 3 is paid.", "The camera shows it.", "Whose chip is it?", f"{V6}#5.14", "Shift manager"):
        assert words in told
    page = text_of(client, of(incident))
    assert ruling.number in page
    assert f'href="{of(incident, "rule")}"' not in page


@pytest.mark.parametrize("role", ["pit-supervisor", "pit-manager", "surveillance", "compliance", "auditor"])
def test_nobody_else_is_shown_the_way_or_let_in(house: House, incident: Incident, role: str) -> None:
    client = logged_in(house[role])
    assert of(incident, "rule") not in text_of(client, of(incident))
    assert client.post(of(incident, "rule"), SAID).status_code == 403
    assert denials(house, role) == 1
    assert not Ruling.objects.exists()


@pytest.mark.parametrize("role", ["dealer", "administrator"])
def test_who_does_not_see_the_file_does_not_rule_on_it(house: House, incident: Incident, role: str) -> None:
    answer = logged_in(house[role]).post(of(incident, "rule"), SAID)
    assert answer.status_code == (302 if role == "dealer" else 403)  # a dealer is led to the login
    assert not Ruling.objects.exists()
    if role == "administrator":
        assert denials(house, role, "incident.view") == 1


def test_who_dealt_the_round_does_not_rule_by_page(house: House, table: Table) -> None:
    incident = incident_about(house, table, a_round(table, dealer="SHIFT-MANAGER"))
    client = logged_in(house["shift-manager"])
    assert of(incident, "rule") not in text_of(client, of(incident))
    assert client.get(of(incident, "rule")).status_code == 403
    assert client.post(of(incident, "rule"), SAID).status_code == 403
    assert denials(house, "shift-manager") == 2
    assert not Ruling.objects.exists()


def test_1_5_whose_acting_post_ended_a_minute_ago_does_not_rule(house: House, incident: Incident) -> None:
    now = timezone.now()
    duty_grant(
        actor=house["casino-manager"], staff=house["pit-manager"], post="shift-manager", casino=house.casino,
        pit=ALL_PITS, starts_at=now, ends_at=now + HOUR, reason="Ill",
    )  # fmt: skip
    assert of(incident, "rule") in text_of(logged_in(house["pit-manager"]), of(incident))
    with time_machine.travel(now + HOUR + MINUTE):
        assert logged_in(house["pit-manager"]).post(of(incident, "rule"), SAID).status_code == 403
    assert denials(house, "pit-manager") == 1
    assert not Ruling.objects.exists()


def test_who_reported_it_is_asked_why_and_compliance_is_told(house: House, table: Table) -> None:
    own = incident_about(house, table, role="shift-manager")
    client = logged_in(house["shift-manager"])
    assert "Reason for ruling yourself" in text_of(client, of(own, "rule"))
    assert "This field is required" in sent(client, of(own, "rule"), **SAID)
    assert not Ruling.objects.exists()
    sent(client, of(own, "rule"), **SAID, override="Nobody else is in the house")
    assert Ruling.objects.get().override == "Nobody else is in the house"
    assert "Reason for ruling yourself" not in text_of(
        logged_in(house["casino-manager"]), of(incident_about(house, table), "rule")
    )


def test_what_the_service_refuses_stands_at_its_field(house: House, incident: Incident) -> None:
    client = logged_in(house["shift-manager"])
    page = sent(client, of(incident, "rule"), **SAID | {"rules": "9.99", "kind": "interpretation"})
    assert f"{V6}#9.99: no such rule" in page
    page = sent(client, of(incident, "rule"), **STANDING | {"effective_from": "2020-01-01 10:00"})
    assert "a ruling cannot apply to earlier rounds" in page
    page = sent(client, of(incident, "rule"), **SAID | {"excess": "filled"})
    assert "Only a standing interpretation" in page
    page = sent(client, of(incident, "rule"), **SAID | {"question": ""})
    assert "This field is required" in page
    assert "Seat 3 is paid." in page  # what was written stays
    assert not Ruling.objects.exists()


def test_5_5_2_the_form_does_not_offer_to_rule_on_what_a_rule_decides(house: House, table: Table) -> None:
    cocked = incident_about(house, table, situation="die-not-flat")
    client = logged_in(house["shift-manager"])
    page = text_of(client, of(cocked, "rule"))
    assert "Tai Sai v6 · Rule 5.5.2 decides this: Void the round." in page
    assert 'value="not-covered"' not in page
    assert 'value="in-full"' not in page
    assert 'value="confirmation" selected' in page
    for name in rulebooks()[V6].readings:
        assert f'value="{name}"' in page
    refused = sent(client, of(cocked, "rule"), **SAID)
    assert "correct the situation of the incident" in refused
    assert not Ruling.objects.exists()
    read = {"kind": "interpretation", "rules": "5.5", "reading": "void-is-not-healed"}
    sent(client, of(cocked, "rule"), **SAID | read)
    made = Ruling.objects.get()
    assert made.readings == ["void-is-not-healed"]
    assert "A round that is void by 5.5 stays void" in text_of(client, of(made))


def test_the_advice_names_the_readings_it_rests_on(house: House, table: Table) -> None:
    incident = incident_about(house, table, situation="late-bet")
    assert rulebooks()[V6].reading("late-counts-as-never-placed").text in text_of(
        logged_in(house["shift-manager"]), of(incident)
    )


def test_a_finding_names_the_readings_that_decide_it(house: House, table: Table) -> None:
    bets = [bet("seat-1", "small", "100", net="0", at=(timezone.now() + MINUTE).isoformat())]
    played(table, timezone.now() - MINUTE, "R-1", bets)
    arrivals_take()
    finding = Finding.objects.filter(category="irregularity", kind="refuse").get()
    page = text_of(logged_in(house["auditor"]), of(finding))
    assert "Our readings that decide this finding" in page
    assert "late-counts-as-never-placed" in page


def test_a_second_click_is_told_and_keeps_what_was_written(house: House, incident: Incident) -> None:
    sent(logged_in(house["shift-manager"]), of(incident, "rule"), **SAID)
    other = logged_in(house["casino-manager"])
    page = sent(other, of(incident, "rule"), **SAID | {"decision": "Nobody is paid."})
    assert "was ruled on in" in page
    assert "Nobody is paid." in page
    assert "was ruled on in" in text_of(other, of(incident, "rule"))
    assert Ruling.objects.count() == 1


# --- Precedents ------------------------------------------------------------------------------------


def test_precedents_stand_beside_the_form_and_keep_up_with_it(house: House, table: Table) -> None:
    first = ruled(house, incident_about(house, table), question="Who owns the chip on the line?", decision="Seat 2.")
    incident = incident_about(house, table, account="A chip between two boxes.")
    client = logged_in(house["shift-manager"])
    piece = text_of(client, f"{of(incident, 'rule')}precedents/?question=The+chip+on+the+line")
    assert first.number in piece
    assert "Seat 2." in piece
    assert "<html" not in piece
    page = sent(client, of(incident, "rule"), ask="1", **SAID | {"question": "The chip on the line"})
    assert first.number in page
    assert "Seat 3 is paid." in page
    assert Ruling.objects.count() == 1
    answer = logged_in(house["pit-manager"]).get(f"{of(incident, 'rule')}precedents/")
    assert answer.status_code == 403


def test_what_stands_is_followed_or_departed_from_with_a_reason(house: House, table: Table) -> None:
    before = incident_about(house, table, situation="chips-moved")
    first = ruling_make(
        actor=house["shift-manager"],
        incident=before,
        draft=standing(decision="They go back.", readings=["moved-chips-stay"]),
    )
    incident = incident_about(house, table, situation="chips-moved", account="Again.")
    client = logged_in(house["casino-manager"])
    read = SAID | {"kind": "interpretation", "rules": "5.9"}
    page = sent(client, of(incident, "rule"), ask="1", **read)
    assert f'name="standing" value="{first.pk}"' in page
    assert "Follow it, or depart from it with a reason." in page
    assert f"{first} is in force" in sent(client, of(incident, "rule"), **read, standing=first.pk)
    said = read | {"standing": first.pk, "precedent": "depart"}
    assert f"Give a reason for departing from {first}" in sent(client, of(incident, "rule"), **said)
    told = sent(client, of(incident, "rule"), **said, departure="Here the dealer moved them.")
    made = Ruling.objects.get(incident=incident)
    assert (made.departs_from, made.departure) == (first, "Here the dealer moved them.")
    assert "Here the dealer moved them." in told
    assert made.number in text_of(client, of(first))
    third = incident_about(house, table, situation="chips-moved", account="Once more.")
    sent(client, of(third, "rule"), **read, standing=first.pk, precedent="follow")
    assert Ruling.objects.get(incident=third).follows == first


# --- The register, and what takes the place of a ruling --------------------------------------------


def test_the_register_finds_rulings_by_all_that_is_said_of_them(house: House, table: Table) -> None:
    one = ruled(house, incident_about(house, table), question="Who owns the zebra?")
    two = ruling_make(
        actor=house["shift-manager"],
        incident=incident_about(house, table, situation="chips-moved"),
        draft=standing(readings=["moved-chips-stay"]),
    )
    ruling_withdraw(actor=house["shift-manager"], ruling=two, reason="Wrong")
    three = ruling_make(actor=house["shift-manager"], incident=incident_about(house, table), draft=standing())
    client = logged_in(house["auditor"])

    def found(query: str) -> set[str]:
        page = text_of(client, f"{ADMIN}/ruling/?{query}")
        return {ruling.number for ruling in (one, two, three) if f">{ruling.number}</a>" in page}

    assert found("") == {one.number, two.number, three.number}
    assert found("scope=round") == {one.number}
    assert found("kind=interpretation&state=in-force") == {three.number}
    assert found("state=withdrawn") == {two.number}
    assert found("state=superseded") == set()
    assert found("situation=chips-moved") == {two.number}
    assert found(f"rulebook={DIVISION_9}") == set()
    assert found("text=zebra") == {one.number}
    assert found(f"text={two.number.lower()}") == {two.number}
    assert found("table=ts-01&first=2020-01-01&last=2020-12-31") == set()
    assert found("first=yesterday") == set()
    assert list(rulings_found(house["auditor"], RulingFilter(state="in-force"))) == [three, one]


def test_a_ruling_is_superseded_and_withdrawn_by_page(house: House, incident: Incident) -> None:
    client = logged_in(house["shift-manager"])
    sent(client, of(incident, "rule"), **STANDING, excess="filled")
    first = Ruling.objects.get()
    assert "Filled" not in text_of(client, of(first))
    assert "the larger bets, until the box holds exactly what it may" in text_of(client, of(first))
    page = text_of(client, of(first, "supersede"))
    assert 'value="filled" selected' in page
    told = sent(client, of(first, "supersede"), **STANDING, excess="proportional", rounding="5.00")
    second = Ruling.objects.get(replaces=first)
    assert f"{second} was recorded." in told
    assert SettlementPolicy.objects.get(ruling=second.number).rounding == 500
    page = text_of(client, of(first))
    assert "superseded" in page
    assert second.number in page
    assert of(first, "supersede") not in page
    assert "was superseded by" in text_of(client, of(first, "supersede"))
    assert "was superseded by" in sent(client, of(first, "withdraw"), reason="Late")
    assert f"{second} was withdrawn" in sent(
        client, of(second, "withdraw"), reason="It was a mistake", effective_from=""
    )
    assert Ruling.objects.get(replaces=second).is_withdrawal
    assert logged_in(house["pit-manager"]).post(of(first, "withdraw"), {"reason": "x"}).status_code == 403


def test_division_9_names_nobody_who_decides_what_it_does_not_cover(house: House, incident: Incident) -> None:
    table = ready_table(house, "D9-01", rulebook=DIVISION_9, layout="1", limits=sign())
    client = logged_in(house["auditor"])
    nobody = text_of(client, of(ruled(house, incident_about(house, table))))
    assert "does not say who decides" in nobody
    assert "does not say who decides" not in text_of(client, of(ruled(house, incident)))


def test_standing_interpretations_are_put_to_review_by_a_new_document(house: House, table: Table) -> None:
    ruling = ruling_make(
        actor=house["shift-manager"], incident=incident_about(house, table),
        draft=standing(setting=Setting(excess="filled")),
    )  # fmt: skip
    now = timezone.now()
    assert "Due for review" not in text_of(logged_in(house["shift-manager"]), f"{ADMIN}/ruling/standing/")
    table_assign(
        actor=house["casino-manager"], table=table, pit=house.pits["P1"], rulebook=OPEN_COVER, layout="C",
        chip_unit="1.00", starts_at=now, reason="A new document",
    )  # fmt: skip
    client = logged_in(house["shift-manager"])
    page = text_of(client, f"{ADMIN}/ruling/standing/")
    assert "Due for review" in page
    assert "the larger bets" in page
    assert of(ruling, "review") in page
    assert of(ruling, "review") not in text_of(logged_in(house["auditor"]), f"{ADMIN}/ruling/standing/")
    assert "Rulings to review" in text_of(client, "/admin/")
    told = sent(client, of(ruling, "review"), rulebook=OPEN_COVER, outcome="It holds there too.")
    assert "It holds there too." in told
    assert "already" in sent(client, of(ruling, "review"), rulebook=OPEN_COVER, outcome="Twice.")
    assert RulingReview.objects.count() == 1
    assert "Due for review" not in text_of(client, f"{ADMIN}/ruling/standing/")


# --- What follows ----------------------------------------------------------------------------------


def test_5_6_a_void_is_ordered_by_one_and_executed_by_another_by_page(house: House, table: Table) -> None:
    one = a_round(table)
    incident = incident_about(house, table, one, situation="dice-damaged")
    first, second = logged_in(house["shift-manager"]), logged_in(house["casino-manager"])
    page = text_of(first, of(incident))
    assert "Void all affected rounds" in page
    told = sent(first, of(incident, "void"), rounds="R-1", rule="5.6", reason="Cracked")
    order = Consequence.objects.get()
    assert "waiting for a second person" in told
    assert of(order, "execute") not in told
    assert "waiting for a second person" in sent(first, of(incident, "void"), rounds="R-1", rule="5.6", reason="Again")
    assert first.post(of(order, "execute"), {"reason": "Mine"}).status_code == 403
    assert denials(house, "shift-manager", "consequence.order") == 1
    assert not Correction.objects.exists()
    assert "Waiting for a second person" in text_of(second, "/admin/")
    assert of(order, "execute") in text_of(second, of(order))
    told = sent(second, of(order, "execute"), reason="Agreed")
    assert "was executed" in told
    assert "100.00" in told  # seat 1 gives back
    assert "60.00" in told  # seat 2 gets
    assert "nothing has changed" in sent(second, of(order, "execute"), reason="Again")
    assert Correction.objects.count() == 1
    page = text_of(logged_in(house["pit-supervisor"]), f"/admin/games/round/{one.pk}/change/")
    assert "Rulings and corrections" in page
    assert str(order) in page


def test_dice_that_were_cracked_void_all_rounds_played_with_them(house: House, clock: Any) -> None:
    clock.move_to(NOON - HOUR)
    table = ready_table(house, "TS-01", layout="C", limits=sign())
    clock.move_to(NOON)
    for place in range(3):
        played(table, timezone.now() - (place + 2) * MINUTE, f"R-{place}", BETS)
    incident = incident_about(house, table, situation="dice-damaged")
    client = logged_in(house["shift-manager"])
    sent(client, of(incident, "void-affected"), rule="5.6", reason="Cracked")
    order = Consequence.objects.get()
    assert (order.kind, len(order.round_ids)) == ("void-affected", 3)
    assert "declined" in sent(logged_in(house["casino-manager"]), of(order, "decline"), reason="They were whole")
    assert not Correction.objects.exists()


def test_a_pit_supervisor_voids_an_unsettled_round_by_a_rule_and_no_settled_one(house: House, table: Table) -> None:
    pending = [bet("seat-1", "small", "100")]
    one, other = a_round(table, kinds=UNSETTLED, bets=pending), a_round(table, "R-2")
    incident = incident_about(house, table, one, other)
    client = logged_in(house["pit-supervisor"])
    told = sent(client, of(incident, "void"), rounds="R-1", rule="5.5.1", reason="Tumbled once")
    assert "was executed" in told
    assert "no such round" in sent(client, of(incident, "void"), rounds="R-9", rule="5.5.1", reason="x")
    answer = client.post(of(incident, "void"), {"rounds": "R-2", "rule": "5.6", "reason": "x"})
    assert answer.status_code == 403
    assert denials(house, "pit-supervisor", "consequence.order") == 1
    page = sent(logged_in(house["shift-manager"]), of(incident, "void"), rounds="R-2", rule="5.5.1", reason="x")
    assert "requires a ruling first" in page
    assert Consequence.objects.count() == 1


def test_a_settlement_is_amended_bet_by_bet(house: House, table: Table) -> None:
    one = a_round(table)
    incident = incident_about(house, table, one)
    client = logged_in(house["shift-manager"])
    assert "have it ruled on first" in text_of(client, of(incident, "settle"))
    ruling = ruled(house, incident)
    address = f"{of(incident, 'settle')}?ruling={ruling.pk}"
    assert address in text_of(client, of(ruling))
    page = text_of(client, address)
    for words in ("seat-2", "big", "60.00", "1, 3, 6"):
        assert words in page
    assert "seat-2" not in text_of(client, f"{address}&player=seat-1")
    assert "not an amount" in sent(client, address, ruling=ruling.pk, net_1="much", reason="As ruled")
    assert "is not a face of a die" in sent(client, address, ruling=ruling.pk, dice="1,3,9", reason="As ruled")
    told = sent(client, address, ruling=ruling.pk, net_1="600.01", reason="As ruled")
    assert "enter a net from −60.00 to 60.00" in told
    told = sent(client, address, ruling=ruling.pk, net_1="0", reason="As ruled")
    assert "waiting for a second person" in told
    order = Consequence.objects.get()
    for role in ("shift-manager", "casino-manager"):
        page = text_of(logged_in(house[role]), of(order))
        assert 'id="preview">Changes' in page
        assert "−60.00" in page
        assert (of(order, "execute") in page) is (role == "casino-manager")
    assert logged_in(house["shift-manager"]).post(of(order, "execute"), {"reason": "Me, too"}).status_code == 403
    assert 'id="preview">Changes' in text_of(logged_in(house["casino-manager"]), of(order, "execute"))
    assert "was executed" in sent(logged_in(house["casino-manager"]), of(order, "execute"), reason="Agreed")
    correction = Correction.objects.get()
    assert (correction.nets, correction.is_decided) == ([10_000, 0], True)
    assert "is already settled this way" in sent(client, address, ruling=ruling.pk, net_1="0", reason="Again")
    assert Consequence.objects.count() == 1


def test_a_result_is_amended_before_settlement_and_a_table_suspended(house: House) -> None:
    table = open_table(house, layout="C", limits=sign())
    one = a_round(table, kinds=UNSETTLED, bets=[bet("seat-1", "small", "100")])
    incident = incident_about(house, table, one)
    client = logged_in(house["pit-supervisor"])
    told = sent(client, of(incident, "amend"), round=f"round-{one.pk}", dice="1 3 5", reason="Read wrongly")
    assert "was executed" in told
    assert Correction.objects.get().dice == [1, 3, 5]
    assert client.post(of(incident, "suspend"), {"reason": "x"}).status_code == 403
    sent(logged_in(house["pit-manager"]), of(incident, "suspend"), reason="The lights fail")
    assert Table.objects.get(pk=table.pk).state == "suspended"
    told = sent(logged_in(house["pit-manager"]), of(incident, "suspend"), reason="Again")
    assert Consequence.objects.filter(kind="suspension").count() == 1


def test_repayments_are_marked_once_and_a_slip_is_taken_back(house: House, table: Table) -> None:
    one = a_round(table)
    order = voided(house, incident_about(house, table, one, situation="dice-damaged"), one, rule="5.6")
    consequence_execute(actor=house["casino-manager"], consequence=order, reason="Agreed")
    repayment = order.repayments.get(player="seat-2")
    client = logged_in(house["pit-manager"])
    assert "Refunds and recoveries not paid" in text_of(client, "/admin/")
    told = sent(client, of(order, "mark"), repayment=repayment.pk, what="told", note="By phone")
    assert "seat-2: patron informed." in told
    assert "By phone" in told
    assert "nothing has changed" in sent(client, of(order, "mark"), repayment=repayment.pk, what="told")
    sent(client, of(order, "mark"), repayment=repayment.pk, what="paid")
    assert [one.player for one in repayments_open(house["pit-manager"])] == ["seat-1"]
    assert "Give a reason" in sent(client, of(order, "mark"), repayment=repayment.pk, what="not-paid")
    sent(client, of(order, "mark"), repayment=repayment.pk, what="not-paid", note="Another seat")
    assert len(repayments_open(house["pit-manager"])) == 2
    assert RepaymentMark.objects.count() == 3
    assert client.get(of(order, "mark")).status_code == 405
    assert client.post(of(order, "mark"), {"repayment": "99999", "what": "paid"}).status_code == 404
    answer = logged_in(house["pit-supervisor"]).post(of(order, "mark"), {"repayment": repayment.pk, "what": "paid"})
    assert answer.status_code == 403
    assert str(order) in text_of(client, f"{ADMIN}/consequence/?show=unpaid")
    assert str(order) not in text_of(client, f"{ADMIN}/consequence/?show=waiting")


# --- Discretion, settings, overview ----------------------------------------------------------------


def test_4_9_discretion_is_recorded_where_the_document_leaves_room(house: House, incident: Incident) -> None:
    table = ready_table(house, "D9-01", rulebook=DIVISION_9, layout="1", limits=sign())
    moved = incident_about(house, table, situation="chips-moved")
    client = logged_in(house["pit-manager"])
    assert of(moved, "discretion") in text_of(client, of(moved))
    assert of(incident, "discretion") not in text_of(client, of(incident))
    assert "ask for a ruling" in text_of(client, of(incident, "discretion"))
    told = sent(client, of(moved, "discretion"), decision="It counts where it lay.", reason="The dealer moved it")
    made = Discretion.objects.get()
    assert "It counts where it lay." in told
    assert "nothing has changed" in sent(
        client, of(moved, "discretion"), decision="It counts where it lay.", reason="Again"
    )
    assert f"{DIVISION_9}#4.9" in text_of(logged_in(house["auditor"]), of(made))
    assert "It counts where it lay." in text_of(client, f"{ADMIN}/discretion/")


def test_4_9_a_bet_is_settled_by_discretion_by_page(house: House) -> None:
    table = ready_table(house, "D9-01", rulebook=DIVISION_9, layout="1", limits=sign())
    one = a_round(table)
    moved = incident_about(house, table, one, situation="chips-moved")
    client = logged_in(house["shift-manager"])
    address = of(moved, "discretion-settle")
    assert address not in text_of(client, of(moved))
    assert "record the decision first" in text_of(client, address)
    sent(client, of(moved, "discretion"), round=one.pk, bet="2", decision="It counts on small.", reason="Seen")
    made = Discretion.objects.get()
    assert address in text_of(client, of(moved))
    assert "Settle by discretion" in text_of(client, address)
    assert "leave bet 1 to the rules" in sent(client, address, discretion=made.pk, net_0="0", reason="As decided")
    told = sent(client, address, discretion=made.pk, net_1="60", reason="As decided")
    assert "waiting for a second person" in told
    assert f"{DIVISION_9}#4.9" in told
    order = Consequence.objects.get()
    assert "was executed" in sent(logged_in(house["casino-manager"]), of(order, "execute"), reason="Agreed")
    assert Correction.objects.get().decided == [False, True]
    assert str(order) in text_of(logged_in(house["auditor"]), of(made))
    assert logged_in(house["pit-manager"]).get(address).status_code == 403


def test_5_6_the_page_shows_the_time_line_and_takes_a_part_with_a_reason(house: House, clock: Any) -> None:
    clock.move_to(NOON - HOUR)
    table = ready_table(house, "TS-01", layout="C", limits=sign())
    clock.move_to(NOON)
    for place in (2, 4):
        played(table, NOON - place * MINUTE, f"R-{place}", BETS)
    incident = incident_about(house, table, situation="dice-damaged", occurred_from=NOON - 3 * MINUTE)
    client = logged_in(house["shift-manager"])
    for page in (text_of(client, of(incident)), text_of(client, of(incident, "void-affected"))):
        for words in ("Affected rounds", "Before the incident", "Since the incident", "Still fitted", "At TS-01"):
            assert words in page
    values = {"rule": "5.6", "from": "2026-11-15 19:57", "reason": "Cracked"}
    assert "Give a reason for voiding only a part" in sent(client, of(incident, "void-affected"), **values)
    told = sent(client, of(incident, "void-affected"), **values, narrowing="The recording shows it crack.")
    assert "The recording shows it crack." in told
    assert len(Consequence.objects.get().round_ids) == 1
    other = incident_about(house, table)
    assert "correct the situation" in text_of(client, of(other, "void-affected"))


def test_settlement_policies_lead_to_their_rulings(house: House, table: Table) -> None:
    ruling = ruling_make(
        actor=house["shift-manager"], incident=incident_about(house, table),
        draft=standing(setting=Setting(rounding=500)),
    )  # fmt: skip
    client = logged_in(house["surveillance"])
    page = text_of(client, "/admin/games/settlementpolicy/")
    assert "ound a cut stake down to 5.00" in page
    assert of(ruling) in page
    policy = SettlementPolicy.objects.get()
    assert of(ruling) in text_of(client, f"/admin/games/settlementpolicy/{policy.pk}/change/")


def test_the_overview_names_what_waits_for_a_ruling(house: House, incident: Incident) -> None:
    incident_step(actor=house["pit-supervisor"], incident=incident, to="awaiting-ruling", reason="Not covered")
    page = text_of(logged_in(house["shift-manager"]), "/admin/")
    assert "Awaiting a ruling" in page
    assert of(incident) in page
    assert "Awaiting a ruling" not in text_of(logged_in(house["pit-supervisor"]), "/admin/")


def test_a_round_shows_every_correction_and_ruling_about_it(house: House, table: Table) -> None:
    one = a_round(table)
    incident = incident_about(house, table, one)
    ruling = ruled(house, incident)
    settled_as(house, ruling, one, nets={1: 0})
    settled_as(house, ruling, one, nets={1: -3_000})
    client = logged_in(house["auditor"])
    for page in ("change", "history"):
        text = text_of(client, f"/admin/games/round/{one.pk}/{page}/")
        assert ruling.number in text
        assert "Correction 2" in text
        assert "−30.00" in text


def test_every_role_sees_of_rulings_what_it_may(house: House, table: Table) -> None:
    one = a_round(table)
    ruling = ruling_make(
        actor=house["shift-manager"], incident=incident_about(house, table, one), draft=draft(decision="Paid.")
    )
    order = settled_as(house, ruling, one, nets={1: 0})
    for role in ("pit-supervisor", "pit-manager", "surveillance", "compliance", "auditor"):
        client = logged_in(house[role])
        assert "Paid." in text_of(client, of(ruling))
        assert of(ruling, "supersede") not in text_of(client, of(ruling))
        assert client.get(of(order)).status_code == 200
        for step in ("supersede", "withdraw", "review"):
            assert client.get(of(ruling, step)).status_code == 403
    for page in (of(ruling), of(order), f"{ADMIN}/ruling/", f"{ADMIN}/consequence/", f"{ADMIN}/discretion/"):
        assert logged_in(house["administrator"]).get(page).status_code == 403
