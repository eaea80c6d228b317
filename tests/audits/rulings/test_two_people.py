"""No one alone: attacks on the money of settled rounds by one person, by service, page, API and SQL."""

import json
from typing import Any

import pytest
from django.core import mail
from django.core.exceptions import ValidationError
from django.db import connection, transaction
from django.db.utils import DatabaseError
from django.utils import timezone

from audits.findings.services.escalation import notices_mail
from audits.incidents.services.incidents import incident_change
from audits.models import (
    Consequence,
    ConsequenceDecision,
    ConsequenceNotice,
    Correction,
    DaySummary,
    Finding,
    Incident,
    Notice,
    Repayment,
    RepaymentMark,
    Ruling,
)
from audits.reconciliation.services.arrivals import arrivals_take
from audits.rulings.corrections.previews import preview_of
from audits.rulings.services.corrective_actions import (
    can_execute,
    consequence_decline,
    consequence_execute,
    repayment_mark,
)
from games.access.gate import Denied
from games.access.services.acting_appointments import duty_grant
from games.access.services.people import staff_update
from games.engine.box_numbers import NUMBERS
from games.engine.rules.loader import rulebooks
from games.history.audited_save import OvertakenError
from games.models import Denial, Round, Staff, Table
from tests.audits.decided import amounts, executed, incident_about, ruled, settled_as, voided
from tests.audits.files import played
from tests.audits.playing import day_run
from tests.conftest import OPERATOR, House
from tests.games.engine.oracle import V6
from tests.games.floor_setup import HOUR, MINUTE, ready_table, sign
from tests.games.floors import called
from tests.games.logins import logged_in
from tests.games.rounds.samples import bet

#: On 1, 3, 6: seat 1 wins, seat 2 loses.
BETS = [bet("seat-1", "small", "100", net="100"), bet("seat-2", "big", "60", net="-60")]
PENDING = [bet("seat-1", "small", "100"), bet("seat-2", "big", "60")]
UNSETTLED: list[tuple[str, dict[str, Any]]] = [
    ("place-bets", {}), ("no-more-bets", {}), ("result", {"dice": [1, 3, 6]}),
]  # fmt: skip


@pytest.fixture
def table(house: House, clock: Any) -> Table:
    """With dice for an hour. It is now, as the database has it: who acts in a post asks its clock."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT clock_timestamp()")
        (now,) = cursor.fetchone()
    clock.move_to(now - HOUR)
    found = ready_table(house, "TS-01", layout="C", limits=sign())
    clock.move_to(now)
    return found


@pytest.fixture
def one(table: Table) -> Round:
    return a_round(table)


@pytest.fixture
def ruling(house: House, table: Table, round_: Round) -> Ruling:
    return ruled(house, incident_about(house, table, round_))


def a_round(table: Table, ref: str = "R-1", bets: Any = BETS, minutes: int = 5, **more: Any) -> Round:
    return played(table, timezone.now() - minutes * MINUTE, ref, bets, **more)


def page(person: Staff, thing: Any, step: str = "change", **values: Any) -> Any:
    client = logged_in(person)
    address = f"/admin/audits/{thing._meta.model_name}/{thing.pk}/{step}/"
    return client.post(address, values) if values else client.get(address)


def api(person: Staff, path: str, **body: Any) -> Any:
    client = logged_in(person)
    return client.post(f"/api/v1/{path}", json.dumps(body), content_type="application/json")


def by_sql(person: Staff, incident: Incident, round_: Round, nets: list[int], **more: Any) -> Correction:
    """The three rows that a change is made of, as the role of the application, past every service."""
    before = list(round_.corrections.order_by("ordinal"))
    now = before[-1].nets if before else round_.nets
    deltas = [after - net for net, after in zip(now, nets, strict=True)]
    values: dict[str, Any] = {
        "kind": "settlement", "needs_second": False, "amount": sum(map(abs, deltas)), "round_ids": [round_.pk],
        "ruling": incident.rulings.first(), "second": person, "ordinal": len(before) + 1,
    } | more  # fmt: skip
    second, ordinal = values.pop("second"), values.pop("ordinal")
    order = Consequence.objects.create(
        casino=incident.casino, incident=incident, reason="x", by=person, who="x", **values
    )
    ConsequenceDecision.objects.create(
        consequence=order, ordered_by=person, needs_second=order.needs_second, outcome="executed", by=second, who="x",
        reason="x",
    )  # fmt: skip
    return Correction.objects.create(
        consequence=order,
        round=round_,
        ordinal=ordinal,
        table=round_.table,
        gaming_day=round_.gaming_day,
        deltas=deltas,
        nets=nets,
        is_settled=True,
        is_decided=True,
        who="x",
    )


def refused_by_sql(match: str, *values: Any, **more: Any) -> None:
    before = Correction.objects.count()
    with pytest.raises(DatabaseError, match=match), transaction.atomic():
        by_sql(*values, **more)
    assert Correction.objects.count() == before


# --- Undoing what two people did -------------------------------------------------------------------------


def test_one_manager_does_not_undo_a_two_person_void_less_one_cent(house: House, round_: Round, ruling: Ruling) -> None:
    executed(house, voided(house, ruling.incident, round_, ruling=ruling))
    manager, nets = house["shift-manager"], [9_999, -6_000]
    order = settled_as(house, ruling, round_, second=None, nets=dict(enumerate(nets)))
    assert (order.is_waiting, order.needs_second, order.amount) == (True, True, 15_999)
    with pytest.raises(Denied, match="which this person ordered"):
        consequence_execute(actor=manager, consequence=order, reason="Me, too")
    assert page(manager, order, "execute", reason="Me, too").status_code == 403
    assert api(manager, f"consequences/{order.pk}/execute/", reason="Me, too").status_code == 403
    refused_by_sql("takes two people", manager, ruling.incident, round_, nets)
    refused_by_sql("may not be the second person", manager, ruling.incident, round_, nets, needs_second=True)
    assert [row.nets for row in Correction.objects.all()] == [[0, 0]]
    assert not RepaymentMark.objects.exists()


@pytest.mark.parametrize("nets", [[10_000, -5_999], [10_000, 6_000], [-10_000, 6_000], [0, -6_000], [1, 1]])
def test_no_change_of_a_settled_round_is_so_small_that_one_person_makes_it(
    house: House, round_: Round, ruling: Ruling, nets: list[int]
) -> None:
    assert settled_as(house, ruling, round_, second=None, nets=dict(enumerate(nets))).is_waiting
    refused_by_sql("takes two people", house["shift-manager"], ruling.incident, round_, nets)


def test_other_dice_that_move_no_money_take_two_people_too(house: House, round_: Round, ruling: Ruling) -> None:
    order = settled_as(house, ruling, round_, second=None, dice=[1, 3, 5])
    assert (order.needs_second, order.amount) == (True, 0)
    refused_by_sql("takes two people", house["shift-manager"], ruling.incident, round_, [10_000, -6_000])
    assert executed(house, order).is_executed


def test_a_round_that_was_never_settled_is_settled_by_one(house: House, table: Table) -> None:
    one = a_round(table, bets=PENDING, kinds=UNSETTLED)
    ruling = ruled(house, incident_about(house, table, one))
    assert settled_as(house, ruling, one, second=None).is_executed
    assert settled_as(house, ruling, one, second=None, dice=[6, 6, 5]).is_waiting  # and changed by two


def test_a_round_recorded_as_settled_and_then_void_takes_two_people(house: House, table: Table) -> None:
    kinds: list[tuple[str, dict[str, Any]]] = [
        ("place-bets", {}), ("no-more-bets", {}), ("tumbler", {"tumbles": 3}), ("result", {"dice": [1, 3, 6]}),
        ("settled", {}), ("void", {"rule": "5.6"}),
    ]  # fmt: skip
    one = a_round(table, bets=PENDING, kinds=kinds)
    assert one.status == "void"
    incident = incident_about(house, table, one)
    assert settled_as(house, ruled(house, incident), one, second=None).is_waiting
    refused_by_sql("takes two people", house["shift-manager"], incident, one, [10_000, -6_000])


def test_a_round_that_was_void_and_never_settled_takes_two_people(house: House, table: Table) -> None:
    """Recorded as void, or voided by one person before its settlement: every stake went back."""
    recorded = a_round(table, bets=PENDING, kinds=[*UNSETTLED[:2], ("void", {"rule": "5.5.2"})])
    corrected = a_round(table, "R-2", bets=PENDING, kinds=UNSETTLED, minutes=3)
    voided(house, incident_about(house, table, corrected, situation="die-not-flat"), corrected, rule="5.5.2")
    assert Correction.objects.get().is_void
    for one in (recorded, corrected):
        facts = {"situation": "wrong-result-entered", "facts": {"settled": "yes"}, "account": f"{one.ref} was played."}
        incident = incident_about(house, table, one, **facts)
        ruling = ruled(house, incident)
        order = settled_as(house, ruling, one, second=None, dice=[1, 3, 6])
        assert (order.needs_second, order.is_waiting) == (True, True)
        with pytest.raises(Denied, match="which this person ordered"):
            consequence_execute(actor=house["shift-manager"], consequence=order, reason="Me, too")
        refused_by_sql("takes two people", house["shift-manager"], incident, one, [10_000, -6_000])
        assert executed(house, order).is_executed


# --- Paying any amount -----------------------------------------------------------------------------------


@pytest.mark.parametrize(("place", "net"), [(0, 10_001), (0, -10_001), (1, 6_001), (1, 10**12), (1, -(10**12))])
def test_a_net_is_bounded_by_the_stake_and_the_best_odds(
    house: House, round_: Round, ruling: Ruling, place: int, net: int
) -> None:
    bounds = ("−100.00 to 100.00", "−60.00 to 60.00")[place]
    with pytest.raises(ValidationError, match=rf"Bet {place + 1}, seat-{place + 1} on .*give a net from {bounds}"):
        settled_as(house, ruling, round_, nets={place: net})
    body = {"kind": "settlement", "ruling": ruling.number, "rounds": ["R-1"], "reason": "As ruled",
            "nets": [{"bet": place + 1, "net": f"{net / 100:.2f}"}]}  # fmt: skip
    answer = api(house["shift-manager"], f"incidents/{ruling.incident.number}/consequences/", **body)
    assert answer.status_code == 400
    assert bounds in answer.content.decode()
    assert not Consequence.objects.exists()
    nets = [10_000, -6_000]
    nets[place] = net
    two = {"needs_second": True, "second": house["casino-manager"]}
    refused_by_sql("out of bounds", house["shift-manager"], ruling.incident, round_, nets, **two)


def test_a_single_wins_at_best_what_three_dice_pay(house: House, table: Table) -> None:
    one = a_round(table, bets=[bet("seat-1", "single-1", "100", net="100")])
    ruling = ruled(house, incident_about(house, table, one))
    with pytest.raises(ValidationError, match="at best 12 to 1"):
        settled_as(house, ruling, one, nets={0: 120_001})
    settled_as(house, ruling, one, nets={0: 120_000})
    assert Correction.objects.get().nets == [120_000]


@pytest.mark.django_db
def test_the_database_knows_the_best_odds_of_every_box() -> None:
    with connection.cursor() as cursor:
        for book in rulebooks().values():
            for layout in book.layouts.values():
                cursor.execute(
                    "SELECT array_agg(best_odds(%s, %s, box) ORDER BY place) FROM unnest(%s::smallint[]) "
                    "WITH ORDINALITY AS one (box, place)",
                    [book.id, layout.code, [NUMBERS[code] for code in layout.boxes]],
                )
                assert cursor.fetchone()[0] == [max(box.odds) for box in layout.boxes.values()]


# --- Marking as paid -------------------------------------------------------------------------------------


def test_who_ordered_or_executed_does_not_mark_as_paid(house: House, round_: Round, ruling: Ruling) -> None:
    order = settled_as(house, ruling, round_, dice=[6, 6, 5])
    repayment = order.repayments.get(player="seat-2")
    for role in ("shift-manager", "casino-manager"):
        person = house[role]
        for what in ("paid", "not-paid"):
            with pytest.raises(Denied, match="ordered or executed"):
                repayment_mark(actor=person, repayment=repayment, what=what, note="x")
            with pytest.raises(DatabaseError, match="another person marks it"), transaction.atomic():
                RepaymentMark.objects.create(repayment=repayment, what=what, by=person, who="x")
        assert page(person, order, "mark", repayment=repayment.pk, what="paid").status_code == 403
        assert api(person, f"repayments/{repayment.pk}/marks/", what="paid").status_code == 403
        assert "another person marks it as paid" in page(person, order).content.decode()
    repayment_mark(actor=house["shift-manager"], repayment=repayment, what="told")  # that is no money
    repayment_mark(actor=house["pit-manager"], repayment=repayment, what="paid")
    assert {mark.who.split()[0] for mark in repayment.marks.filter(what="paid")} == {"PIT-MANAGER"}


def test_what_one_person_settled_alone_another_marks_as_paid(house: House, table: Table) -> None:
    one = a_round(table, bets=PENDING, kinds=UNSETTLED)
    order = settled_as(house, ruled(house, incident_about(house, table, one)), one)
    assert order.decision.by_id == order.by_id
    with pytest.raises(Denied, match="ordered or executed"):
        repayment_mark(actor=house["shift-manager"], repayment=order.repayments.all()[0], what="paid")


def test_the_database_owes_players_what_the_corrections_say(house: House, round_: Round, ruling: Ruling) -> None:
    order = settled_as(house, ruling, round_, nets={0: 9_000})
    for player, amount in (("seat-9", 100_000), ("seat-2", 1)):
        with pytest.raises(DatabaseError, match="do not owe"), transaction.atomic():
            Repayment.objects.create(consequence=order, player=player, amount=amount, rounds=1)
    assert dict(order.repayments.values_list("player", "amount")) == {"seat-1": -1_000}


# --- Who the second person is ----------------------------------------------------------------------------


def test_who_ruled_does_not_execute(house: House, table: Table, round_: Round) -> None:
    ruling = ruled(house, incident_about(house, table, round_), "casino-manager")
    order = settled_as(house, ruling, round_, second=None, dice=[6, 6, 5])
    person = house["casino-manager"]
    with pytest.raises(Denied, match="decided on"):
        executed(house, order)
    assert page(person, order, "execute", reason="Agreed").status_code == 403
    assert api(person, f"consequences/{order.pk}/execute/", reason="Agreed").status_code == 403
    assert not can_execute(person, order)
    refused_by_sql(
        "may not be the second person", house["shift-manager"], ruling.incident, round_, [-10_000, 6_000],
        needs_second=True, second=person,
    )  # fmt: skip
    third = house.hire("M-3", "shift-manager")
    assert can_execute(third, order)
    assert consequence_execute(actor=third, consequence=order, reason="Seen").is_executed
    assert Denial.objects.filter(staff_id=person.pk, action="consequence.order").count() >= 3


def acting(house: House, pit: str) -> Staff:
    """A pit manager who acts as shift manager in one pit."""
    person = house.hire(f"A-{pit}", "pit-manager", pit=house.pits[pit])
    now = timezone.now()
    duty_grant(
        actor=house["casino-manager"], staff=person, post="shift-manager", casino=house.casino, pit=house.pits[pit],
        starts_at=now, ends_at=now + HOUR, reason="Stands in",
    )  # fmt: skip
    return Staff.objects.get(pk=person.pk)


def test_the_reach_of_the_second_person_covers_every_round(house: House, table: Table, round_: Round) -> None:
    far = a_round(ready_table(house, "TS-02", pit="P2", layout="C", limits=sign()), "R-2")
    incident = incident_about(house, table, round_, far)
    ruling = ruled(house, incident)
    order = voided(house, incident, round_, far, ruling=ruling)
    person = acting(house, "P1")
    with pytest.raises(Denied):
        consequence_execute(actor=person, consequence=order, reason="Agreed")
    assert page(person, order, "execute", reason="Agreed").status_code == 403
    assert api(person, f"consequences/{order.pk}/execute/", reason="Agreed").status_code == 403
    assert not can_execute(person, order)
    assert [change.books.round for change, _ in preview_of(person, order).changes] == [round_]  # and sees only these
    with pytest.raises(DatabaseError, match="may not be the second person"), transaction.atomic():
        ConsequenceDecision.objects.create(
            consequence=order, ordered_by=order.by, needs_second=True, outcome="executed", by=person, who="x",
            reason="x",
        )  # fmt: skip
    with pytest.raises(DatabaseError, match="may not order"), transaction.atomic():
        by_sql(person, incident, far, [0, 0], needs_second=True, second=house["casino-manager"])
    assert not Correction.objects.exists()
    near = voided(house, incident, round_, ruling=ruling)
    assert consequence_execute(actor=person, consequence=near, reason="Agreed").is_executed


def test_a_second_person_who_has_left_the_post_does_not_execute(house: House, round_: Round, ruling: Ruling) -> None:
    order = settled_as(house, ruling, round_, second=None, dice=[6, 6, 5])
    second = house["casino-manager"]
    staff_update(actor=OPERATOR, staff=second, changes={"is_active": False}, reason="Left")
    with pytest.raises(Denied):
        consequence_execute(actor=Staff.objects.get(pk=second.pk), consequence=order, reason="Agreed")


def test_who_ordered_may_decline(house: House, round_: Round, ruling: Ruling) -> None:
    order = settled_as(house, ruling, round_, second=None, dice=[6, 6, 5])
    consequence_decline(actor=house["shift-manager"], consequence=order, reason="A slip")
    with pytest.raises(OvertakenError, match="declined"):
        executed(house, order)


# --- What is executed is what was ordered ------------------------------------------------------------------


def test_an_order_is_overtaken_once_the_books_have_changed(house: House, round_: Round, ruling: Ruling) -> None:
    first = settled_as(house, ruling, round_, second=None, dice=[6, 6, 5])
    void = voided(house, ruling.incident, round_, ruling=ruling)
    executed(house, void)
    with pytest.raises(OvertakenError, match="have changed since it was ordered"):
        executed(house, first)
    assert "have changed since it was ordered" in preview_of(house["casino-manager"], first).fault
    assert "have changed since it was ordered" in page(house["casino-manager"], first).content.decode()
    answer = api(house["casino-manager"], f"consequences/{first.pk}/execute/", reason="Agreed")
    assert answer.status_code == 409
    assert Correction.objects.count() == 1


def test_an_order_is_refused_once_its_incident_was_corrected(house: House, table: Table, round_: Round) -> None:
    incident = incident_about(house, table, round_)
    order = settled_as(house, ruled(house, incident), round_, second=None, dice=[6, 6, 5])
    incident_change(
        actor=house["surveillance"], incident=incident, changes={"situation": "die-not-flat"}, reason="Seen"
    )
    with pytest.raises(ValidationError, match=r"5\.5\.2 decides this"):
        executed(house, order)


def test_sql_corrects_only_what_was_ordered_and_once(house: House, table: Table, round_: Round, ruling: Ruling) -> None:
    two = {"needs_second": True, "second": house["casino-manager"]}
    manager = house["shift-manager"]
    refused_by_sql("amount that was ordered", manager, ruling.incident, round_, [9_000, -6_000], amount=999, **two)
    refused_by_sql("is not about round", manager, ruling.incident, round_, [9_000, -6_000], round_ids=[], **two)
    order = settled_as(house, ruling, round_, nets={0: 9_000})
    with pytest.raises(DatabaseError, match="correction_once_an_order"), transaction.atomic():
        Correction.objects.create(
            consequence=order, round=round_, ordinal=2, table=table, gaming_day=round_.gaming_day, deltas=[1_000, 0],
            nets=[10_000, -6_000], is_settled=True, is_decided=True, who="x",
        )  # fmt: skip


# --- The casino's amount ---------------------------------------------------------------------------------


def test_below_the_amount_one_person_is_enough_and_at_it_two(house: House, round_: Round, ruling: Ruling) -> None:
    amounts(house, second_person_from=5_000)
    assert settled_as(house, ruling, round_, second=None, nets={0: 5_001}).is_executed  # 49.99 moved
    order = settled_as(house, ruling, round_, second=None, nets={0: 5_000})  # and one cent more on the same round
    assert (order.is_waiting, order.amount) == (True, 1)
    refused_by_sql("takes two people", house["shift-manager"], ruling.incident, round_, [5_000, -6_000])
    assert executed(house, order).is_executed


def test_one_change_in_several_orders_takes_two_people_like_the_whole(house: House, table: Table) -> None:
    amounts(house, second_person_from=5_000)
    for place in range(5):  # a file, a ruling and a round each, 10.00 at a time
        one = a_round(table, f"R-{place}", minutes=9 - place)
        ruling = ruled(house, incident_about(house, table, one, account=f"No. {place}"))
        order = settled_as(house, ruling, one, second=None, nets={0: 9_000})
        assert order.needs_second is (place == 4)
        if place == 4:
            refused_by_sql("takes two people", house["shift-manager"], ruling.incident, one, [9_000, -6_000])
            consequence_decline(actor=house["shift-manager"], consequence=order, reason="By another one")
            assert settled_as(house, ruling, one, "casino-manager", second=None, nets={0: 9_000}).is_executed


def test_below_the_amount_the_database_still_asks_for_the_post(house: House, round_: Round, ruling: Ruling) -> None:
    amounts(house, second_person_from=10**9)
    refused_by_sql("may not change", house["pit-manager"], ruling.incident, round_, [0, 0], kind="void", ruling=None)


# --- Compliance is notified ------------------------------------------------------------------------------


def test_compliance_is_notified_of_each_change_once(house: House, round_: Round, ruling: Ruling) -> None:
    staff_update(actor=OPERATOR, staff=house["compliance"], changes={"email": "c@example.org"}, reason="Reachable")
    order = settled_as(house, ruling, round_, dice=[6, 6, 5])
    notice = Notice.objects.get()
    assert (notice.role, notice.recipients) == ("compliance", [house["compliance"].pk])
    for words in (str(order), ruling.number, "320.00", "SHIFT-MANAGER", "CASINO-MANAGER"):
        assert words in notice.text
    with pytest.raises(DatabaseError), transaction.atomic():
        ConsequenceNotice.objects.create(consequence=order, notice=Notice.objects.create(casino=house.casino, text="x"))
    with pytest.raises(OvertakenError):
        executed(house, order)
    assert Notice.objects.count() == 1
    assert notices_mail() == 1
    assert notices_mail() == 0
    assert mail.outbox[0].subject == f"{order} on {ruling.incident}: executed"


def test_compliance_is_notified_from_the_casinos_amount_on(house: House, round_: Round, ruling: Ruling) -> None:
    amounts(house, notify_from=2_000)
    settled_as(house, ruling, round_, nets={0: 8_001})
    assert not Notice.objects.exists()
    settled_as(house, ruling, round_, nets={0: 6_001})
    assert Notice.objects.count() == 1


def test_a_void_before_settlement_moves_nothing_and_notifies_no_one(house: House, table: Table) -> None:
    one = a_round(table, bets=PENDING, kinds=UNSETTLED)
    voided(house, incident_about(house, table, one, situation="die-not-flat"), one, rule="5.5.2")
    assert not Notice.objects.exists()


# --- By ruling -------------------------------------------------------------------------------------------


def by_ruling(round_: Round) -> list[tuple[str | None, str, int | None, int | None, int]]:
    found = Finding.objects.filter(round=round_, category="by-ruling", lapsed_at=None).order_by("ordinal")
    return list(found.values_list("player", "kind", "expected", "recorded", "amount"))


def test_what_a_ruling_pays_beyond_the_rules_is_found_with_both_amounts(
    house: House, table: Table, round_: Round, ruling: Ruling
) -> None:
    arrivals_take()
    assert by_ruling(round_) == []
    settled_as(house, ruling, round_, nets={1: 3_000})
    arrivals_take()
    assert by_ruling(round_) == [("seat-2", "above-rules", -6_000, 3_000, 9_000)]
    found = Finding.objects.get(category="by-ruling")
    assert found.rules == [f"{V6}#5.14", ruling.number]
    summary = DaySummary.objects.get(table=table)
    assert (summary.by_ruling, summary.by_ruling_amount, summary.discrepancies) == (1, 9_000, 0)
    assert summary.house_recorded == summary.house_expected == -13_000
    day_run(table, round_.gaming_day)
    summary.refresh_from_db()
    assert (by_ruling(round_)[0][4], summary.by_ruling_amount) == (9_000, 9_000)  # a run of the day finds the same
    auditor, day = house["auditor"], round_.gaming_day.isoformat()
    for thing in (found, summary):
        assert "90.00" in page(auditor, thing).content.decode()
    assert ruling.number in page(auditor, found).content.decode()
    client = logged_in(auditor)
    listed = client.get("/admin/audits/finding/", {"category": "by-ruling"}).content.decode()
    assert f"seat-2 on Big: 30.00 by {ruling.number}, −60.00 by the rules" in listed
    assert "By ruling" in client.get("/admin/audits/daysummary/").content.decode()
    (row,) = json.loads(called("report", "by-ruling", "--day", day, "--format", "json"))
    assert (row["rules_net"], row["decided_net"], row["decision"]) == ("-60.00", "30.00", ruling.number)
    assert json.loads(called("report", "discrepancies", "--day", day, "--format", "json")) == []
    counts = json.loads(called("reconcile", "--day", day, "--json"))
    assert set(counts) == {"day", "rounds", "bets", "discrepancies", "breaches", "irregularities", "seconds"}
    assert (counts["discrepancies"], counts["irregularities"]) == (0, 0)


def test_a_void_by_a_ruling_shows_what_the_rules_would_give(house: House, round_: Round, ruling: Ruling) -> None:
    executed(house, voided(house, ruling.incident, round_, ruling=ruling))
    arrivals_take()
    assert by_ruling(round_) == [
        ("seat-1", "below-rules", 10_000, 0, 10_000), ("seat-2", "above-rules", -6_000, 0, 6_000),
    ]  # fmt: skip


def test_what_a_rule_itself_decides_is_not_by_ruling(house: House, table: Table, round_: Round) -> None:
    incident = incident_about(house, table, round_, situation="dice-damaged")
    executed(house, voided(house, incident, round_, rule="5.6"))
    unsettled = a_round(table, "R-2", bets=PENDING, kinds=UNSETTLED, minutes=3)
    settled_as(house, ruled(house, incident_about(house, table, unsettled)), unsettled)  # by its dice
    arrivals_take()
    assert not Finding.objects.filter(category="by-ruling").exists()
    assert {row.by_ruling_amount for row in DaySummary.objects.all()} == {0}


def test_a_ruling_after_a_void_by_a_rule_is_held_against_the_void(house: House, table: Table, round_: Round) -> None:
    executed(house, voided(house, incident_about(house, table, round_, situation="dice-damaged"), round_, rule="5.6"))
    other = incident_about(house, table, round_, account="The set was sound after all.")
    settled_as(house, ruled(house, other), round_, nets={0: 4_000, 1: 0})
    arrivals_take()
    assert by_ruling(round_) == [("seat-1", "above-rules", 0, 4_000, 4_000)]


def test_a_ruling_by_which_the_rules_are_followed_again_leaves_nothing(
    house: House, round_: Round, ruling: Ruling
) -> None:
    settled_as(house, ruling, round_, nets={1: 3_000})
    arrivals_take()
    settled_as(house, ruling, round_)  # by its own dice
    arrivals_take()
    assert by_ruling(round_) == []
    assert Finding.objects.filter(category="by-ruling").get().lapsed_at is not None
