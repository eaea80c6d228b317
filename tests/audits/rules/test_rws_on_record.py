"""Both RWS documents, where a rule needs a table, people and rounds: what is found, kept and shown by it."""

import datetime as dt
from typing import Any

import pytest
from django.core.exceptions import PermissionDenied, ValidationError

from audits.models import Category, Correction, Finding, Ruling
from audits.rulings.services.corrective_actions import Basis, affected_void, consequence_execute
from audits.rulings.services.rulings import RulingDraft, ruling_make
from games.access.services.acting_appointments import duty_grant
from games.engine.rules.loader import rulebook
from games.engine.signs.limits import Limits
from games.floor.services.casinos import casino_update
from games.floor.services.tables import table_create
from games.limits.signs.sign import sign_of
from games.models import LiveRound, Round, RoundBet, Table
from games.settlement_policies.services import Setting
from tests.audits.decided import incident_about, ruled, standing
from tests.audits.files import opened
from tests.audits.playing import EARLIER, drain, record
from tests.audits.reconciliation.test_golden_rounds import event_of
from tests.conftest import OPERATOR, House
from tests.games.engine.oracle import DIVISION_9, OPEN_COVER, V6
from tests.games.floor_setup import START, bare_table, completed, open_table, put_sign, ready_table, sign
from tests.games.live.playing import Player, box, person, see

BOTH = pytest.mark.parametrize("book", [V6, OPEN_COVER])
WHOLE = ["0 place-bets", "30 no-more-bets", "33 tumbler 3", "41 result 1,3,6", "80 settled"]
HALF_AN_HOUR = dt.timedelta(minutes=30)


def table_of(house: House, book: str, limits: Limits | None = None, layout: str | None = None) -> Table:
    table = bare_table(house, rulebook=book, layout=layout or ("1" if book == DIVISION_9 else "A"))
    put_sign(table, limits or completed(table, sign()))
    return table


def round_of(events: list[str], ref: str = "R-1", **more: Any) -> dict[str, Any]:
    bets = [{"player": "seat-1", "box": "small", "stake": "100.00", "net": "100.00"}]
    return {"source": "floor", "ref": ref, "table": "TS-01", "events": list(map(event_of, events)), "bets": bets} | more


def found(*documents: dict[str, Any], category: Category = Category.PROCEDURAL) -> list[tuple[str, list[str]]]:
    """Kinds with their citations, of all that is found in these rounds."""
    record(*documents)
    drain()
    chosen = Finding.objects.filter(category=category, lapsed_at=None).order_by("kind")
    return [(one.kind, one.rules) for one in chosen]


def shown(house: House, table: Table, situation: str, **facts: str) -> str:
    """The page of an incident that was just reported."""
    incident = opened(house, account="As the dealer said.", table=table, situation=situation, facts=facts)
    answer = person(house).get(f"/admin/audits/incident/{incident.pk}/change/")
    assert answer.status_code == 200
    return answer.content.decode()


def assert_advice_is_shown(house: House, book: str, situation: str, rule: str) -> None:
    page = shown(house, table_of(house, book), situation)
    (entry,) = [one for one in rulebook(book).situations if one.code == situation]
    assert f"{book}#{rule}" in page
    assert entry.explain.split(";")[0].split("'")[0] in page


# --- Both RWS documents: definitions and signs ---


@BOTH
def test_1_2_a_round_names_its_dealer_and_one_who_is_not_a_dealer_is_found(house: House, clock: Any, book: str) -> None:
    table_of(house, book)
    assert found(round_of(WHOLE, dealer="DEALER")) == []
    assert Round.objects.get().dealer_staff == house.people["dealer"]
    late = [f"{int(one.split()[0]) + 300} {one.partition(' ')[2]}" for one in WHOLE]
    cited = [f"{book}#1.2", f"{book}#1.5"]
    assert found(round_of(late, "R-2", dealer="SURVEILLANCE")) == [("wrong-post", cited)]


@BOTH
def test_1_4_the_house_is_the_operator_that_the_casino_names(house: House, book: str) -> None:
    table = table_of(house, book)
    approved, by_agreement = "rules are approved for this casino", "used by agreement. They are not approved"
    for operator, said, unsaid in (
        (rulebook(book).approved_for.operator, approved, by_agreement), ("Another Pte. Ltd.", by_agreement, approved),
    ):  # fmt: skip
        casino_update(actor=OPERATOR, casino=house.casino, changes={"operator": operator}, reason="By its licence")
        house.casino.refresh_from_db()
        assert house.casino.operator == operator
        page = see(person(house), f"table/{table.pk}/change/")
        assert (said in page, unsaid in page) == (True, False)


@BOTH
def test_1_5_somebody_may_act_as_supervisor_and_without_it_is_found(house: House, clock: Any, book: str) -> None:
    table_of(house, book)
    assert found(round_of(WHOLE, supervisor="DEALER")) == [("wrong-post", [f"{book}#1.2", f"{book}#1.5"])]
    clock.move_to(EARLIER + 10 * HALF_AN_HOUR)
    later = clock_events(WHOLE, 11 * HALF_AN_HOUR)
    duty_grant(
        actor=house["shift-manager"], staff=house["dealer"], post="pit-supervisor", casino=house.casino,
        pit=house.pits["P1"], starts_at=EARLIER + 10 * HALF_AN_HOUR, ends_at=EARLIER + 14 * HALF_AN_HOUR,
        reason="Stands in",
    )  # fmt: skip
    clock.move_to(EARLIER + 12 * HALF_AN_HOUR)
    found(round_of(later, "R-2", supervisor="DEALER"))
    assert not Finding.objects.filter(round__ref="R-2").exists()


def clock_events(events: list[str], later: dt.timedelta) -> list[str]:
    seconds = int(later.total_seconds())
    return [f"{int(event.split()[0]) + seconds} {event.partition(' ')[2]}" for event in events]


@BOTH
def test_1_6_each_bet_keeps_its_player(house: House, clock: Any, book: str) -> None:
    table_of(house, book)
    bets = [{"player": player, "box": "small", "stake": "100.00", "net": "100.00"} for player in ("seat-1", "M-100200")]
    record(round_of(WHOLE, bets=bets))
    assert sorted(RoundBet.objects.values_list("player", flat=True)) == ["M-100200", "seat-1"]
    assert RoundBet.objects.filter(player="M-100200").count() == 1


@BOTH
def test_1_7_a_round_that_begins_before_the_last_is_settled_is_found(house: House, clock: Any, book: str) -> None:
    table_of(house, book)
    second = clock_events(WHOLE, dt.timedelta(seconds=60))
    assert found(round_of(WHOLE), round_of(second, "R-2")) == [("overlap", [f"{book}#1.7"])]


@BOTH
def test_1_8_a_total_without_a_valid_tumble_is_found(house: House, clock: Any, book: str) -> None:
    table_of(house, book)
    untumbled = [one for one in WHOLE if "tumbler" not in one]
    assert found(round_of(untumbled)) == [("no-valid-tumble", [f"{book}#1.8", f"{book}#3.7"])]


@BOTH
@pytest.mark.parametrize("layout", ["B", "1", "Z"])
def test_2_1_1_no_table_is_set_up_with_a_layout_that_the_document_has_not(house: House, book: str, layout: str) -> None:
    with pytest.raises(ValidationError, match="is not a layout"):
        table_create(
            actor=OPERATOR, casino=house.casino, pit=house.pits["P1"], code="TS-09", rulebook=book, layout=layout,
            chip_unit="1.00", starts_at=START, reason="New table",
        )  # fmt: skip


@BOTH
def test_3_3_the_sign_shows_minimum_maximum_and_differential(house: House, book: str) -> None:
    limits = sign({"big-small": (50, 10000)}, {"big-small": 8000})
    table = table_of(house, book, limits)
    one = sign_of(table, table.limit_sets.get(), table.assignments.get())
    assert [(row.minimum, row.maximum) for row in one.rows if row.name == "Big/Small"] == [("50", "10,000")]
    assert (one.differentials, one.rules) == ([("Big/Small", "8,000")], (f"{book}#3.3",))
    page = see(person(house), f"table/{table.pk}/sign/")
    for text in ("10,000", "8,000", f"{book}#3.3"):
        assert text in page


@BOTH
def test_3_3_a_bet_in_a_box_without_a_limit_on_the_sign_is_found(house: House, clock: Any, book: str) -> None:
    table_of(house, book, sign({"single": (10, 1000)}))
    assert found(round_of(WHOLE)) == [("sign-incomplete", [f"{book}#3.3"])]


@BOTH
def test_3_8_a_settlement_before_the_result_is_found(house: House, clock: Any, book: str) -> None:
    table_of(house, book)
    events = ["0 place-bets", "30 no-more-bets", "33 tumbler 3", "40 settled", "41 result 1,3,6"]
    assert ("settled-before-result", [f"{book}#3.8", f"{book}#3.9"]) in found(round_of(events))


@BOTH
def test_5_7_a_bet_placed_after_the_call_is_refused_and_one_at_its_very_moment_counts(
    house: House, clock: Any, book: str
) -> None:
    table_of(house, book)
    in_time, late = ((EARLIER + dt.timedelta(seconds=second)).isoformat() for second in (30, 31))
    bets = [
        {"player": "seat-1", "box": "small", "stake": "100.00", "net": "100.00", "at": in_time},
        {"player": "seat-2", "box": "small", "stake": "100.00", "net": "100.00", "at": late},
    ]
    assert found(round_of(WHOLE, bets=bets), category=Category.IRREGULARITY) == [("refuse", [f"{book}#5.7"])]
    (paid,) = Finding.objects.filter(category=Category.DISCREPANCY)
    assert (paid.player, paid.expected, paid.recorded) == ("seat-2", 0, 100_00)


@BOTH
def test_5_7_a_bet_withdrawn_after_the_call_stays_and_is_found(house: House, clock: Any, book: str) -> None:
    table_of(house, book)
    late = (EARLIER + dt.timedelta(seconds=31)).isoformat()
    bets = [{"player": "seat-1", "box": "small", "stake": "100.00", "net": "100.00", "withdrawn": late}]
    assert found(round_of(WHOLE, bets=bets), category=Category.IRREGULARITY) == [("refuse", [f"{book}#5.7"])]


@BOTH
def test_5_13_a_bet_that_staff_placed_is_kept_as_such_and_settled_as_placed(
    house: House, clock: Any, book: str
) -> None:
    table_of(house, book)
    bets = [{"player": "seat-1", "box": "small", "stake": "100.00", "net": "100.00", "house_placed": True}]
    assert found(round_of(WHOLE, bets=bets), category=Category.DISCREPANCY) == []
    assert Round.objects.get().house_placed == [True]
    assert f"{book}#5.13" in shown(house, Table.objects.get(), "house-placed-wrongly")


@BOTH
def test_5_6_every_round_with_the_damaged_dice_is_affected_and_voided(house: House, clock: Any, book: str) -> None:
    clock.move_to(EARLIER - 4 * HALF_AN_HOUR)
    table = ready_table(house, rulebook=book, layout="A", limits=sign())
    clock.move_to(EARLIER + HALF_AN_HOUR)
    later = round_of(clock_events(WHOLE, dt.timedelta(minutes=5)), "R-2")
    lost = {"player": "seat-2", "box": "big", "stake": "60.00", "net": "-60.00"}
    keys = record(round_of(WHOLE), later | {"bets": [*later["bets"], lost]})
    incident = incident_about(house, table, situation="dice-damaged", account="A die is cracked.")
    advice = incident.advice or {}
    assert (advice["action"], advice["rules"], advice["figures"]["count"]) == ("void-affected", [f"{book}#5.6"], 2)
    order = affected_void(actor=house["shift-manager"], basis=Basis(incident, rule="5.6"), reason="A crack in a die")
    assert (sorted(order.round_ids), order.rules) == (sorted(keys), [f"{book}#5.6"])
    assert not Correction.objects.exists()  # it takes a second person
    consequence_execute(actor=house["casino-manager"], consequence=order, reason="Seen on the recording")
    assert set(Correction.objects.values_list("round_id", "is_void")) == {(key, True) for key in keys}
    assert dict(order.repayments.values_list("player", "amount")) == {"seat-1": -200_00, "seat-2": 60_00}
    for key in keys:
        page = see(person(house, "pit-manager"), f"round/{key}/change/")
        assert "recorded as settled and voided afterwards (rule 5.6)" in page


@BOTH
def test_5_14_only_a_shift_manager_or_above_rules(house: House, clock: Any, book: str) -> None:
    incident = incident_about(house, table_of(house, book))
    for role in ("pit-supervisor", "pit-manager"):
        with pytest.raises(PermissionDenied):
            ruled(house, incident, role=role)
    ruling = ruled(house, incident)
    assert (ruling.post, ruling.rulebook) == ("shift manager", book)


@BOTH
def test_5_14_b_an_interpretation_is_kept_and_later_rounds_are_settled_by_it(
    house: House, clock: Any, book: str
) -> None:
    """Small may hold 3,000; by the interpretation a stake that was cut is rounded down to 2,000."""
    clock.move_to(EARLIER + 2 * HALF_AN_HOUR)
    table = table_of(house, book)
    over = [{"player": "seat-1", "box": "small", "stake": "4000.00", "net": "3000.00"}]
    record(round_of(WHOLE, "BEFORE", bets=over))
    incident = incident_about(house, table, situation="over-limit-unnoticed")
    setting = Setting(rounding=2000_00)
    with pytest.raises(ValidationError, match="excludes in-full"):  # 5.1.1 itself leaves no room for it
        ruling_make(actor=house["shift-manager"], incident=incident, draft=of_5_1_1(book, Setting(excess="in-full")))
    with pytest.raises(PermissionDenied):
        ruling_make(actor=house["pit-manager"], incident=incident, draft=of_5_1_1(book, setting))
    made = ruling_make(actor=house["shift-manager"], incident=incident, draft=of_5_1_1(book, setting))
    kept = Ruling.objects.get()
    assert (kept.kind, kept.rulebook, list(kept.rules)) == ("interpretation", book, [f"{book}#5.1.1"])
    assert (kept.post, list(kept.readings)) == ("shift manager", ["rounded-down"])
    clock.move_to(EARLIER + 4 * HALF_AN_HOUR)
    record(round_of(clock_events(WHOLE, 3 * HALF_AN_HOUR), "AFTER", bets=over))
    drain()
    (differs,) = Finding.objects.filter(category=Category.DISCREPANCY, lapsed_at=None)
    assert (differs.round_ref, differs.expected, differs.recorded) == ("AFTER", 2000_00, 3000_00)
    assert differs.rules[-1] == made.number


def of_5_1_1(book: str, setting: Setting) -> RulingDraft:
    return standing(rules=[f"{book}#5.1.1"], setting=setting)


@BOTH
def test_5_14_a_what_no_rule_covers_is_ruled_on_and_kept(house: House, clock: Any, book: str) -> None:
    table = table_of(house, book)
    covered = incident_about(house, table, situation="die-not-flat")
    with pytest.raises(ValidationError, match="decides this"):
        ruled(house, covered, decision="The die is good enough.")
    made = ruled(house, incident_about(house, table, account="A bird in the tumbler."), decision="The round is void.")
    kept = Ruling.objects.get()
    assert (kept.number, kept.kind, kept.decision) == (made.number, "not-covered", "The round is void.")


# --- Both RWS documents: what a terminal is answered and the page of a round in play says ---


def live_round(house: House, clock: Any, book: str) -> Player:
    """A round in which bets are open, at a table whose limits matter."""
    clock.move_to(EARLIER)
    limits = sign({"big-small": (50, 3000), "single": (25, 1000)}, {"big-small": 2000})
    player = Player(open_table(house, rulebook=book, layout="A", limits=limits))
    clock.move_to(EARLIER + HALF_AN_HOUR)
    assert player.open()[0] == 201
    player.do("place-bets")
    return player


def live_page(house: House) -> str:
    return see(person(house), f"liveround/{LiveRound.objects.get().pk}/change/")


@BOTH
def test_3_5_the_balance_of_a_box_is_shown_as_open_to_others(house: House, clock: Any, book: str) -> None:
    player = live_round(house, clock, book)
    body = player.bet("seat-1", "big", "1500")
    assert (box(body, "big")["room"], box(body, "small")["room"]) == ("500.00", "3000.00")
    assert 'data-label="Room">500.00<' in live_page(house)
    body = player.bet("seat-2", "big", "500")  # another player takes it up
    assert (body["refused"], box(body, "big")["room"], box(body, "big")["excess"]) == (None, "0.00", [])
    assert 'data-label="Room">0.00<' in live_page(house)


@BOTH
def test_5_2_a_bet_under_the_minimum_is_shown_and_is_raised_or_taken_back(house: House, clock: Any, book: str) -> None:
    player = live_round(house, clock, book)
    player.bet("seat-1", "single-3", "10")
    body = player.bet("seat-2", "single-3", "10")
    assert [short["player"] for short in box(body, "single-3")["below_minimum"]] == ["seat-1", "seat-2"]
    page = live_page(house)
    assert "seat-1: 10.00 is below the minimum of 25.00" in page
    assert "seat-2: 10.00 is below the minimum of 25.00" in page
    player.do("increase", player="seat-1", box="single-3", stake="15")
    body = player.do("withdraw", player="seat-2", box="single-3")
    assert (body["refused"], body["bets"]) == (None, [{"player": "seat-1", "box": "single-3", "stake": "25.00"}])
    assert "is below the minimum" not in live_page(house)


# --- Both RWS documents: what the incident page says ---


@BOTH
def test_5_3_the_page_says_what_becomes_of_the_bet_of_a_player_who_left(house: House, clock: Any, book: str) -> None:
    assert_advice_is_shown(house, book, "player-left", "5.3")


@BOTH
def test_5_8_the_page_says_that_later_rounds_stand(house: House, clock: Any, book: str) -> None:
    assert_advice_is_shown(house, book, "error-noticed-later", "5.8")


@BOTH
@pytest.mark.parametrize("situation", ["bet-misplaced", "chips-moved"])
def test_5_9_the_page_says_that_chips_count_where_they_lie(house: House, clock: Any, book: str, situation: str) -> None:
    assert_advice_is_shown(house, book, situation, "5.9")


@BOTH
def test_5_10_the_page_says_that_the_dice_count_and_not_the_lights(house: House, clock: Any, book: str) -> None:
    assert_advice_is_shown(house, book, "lights-wrong", "5.10")


@BOTH
def test_5_11_the_page_says_that_a_display_is_for_information(house: House, clock: Any, book: str) -> None:
    assert_advice_is_shown(house, book, "display-wrong", "5.11")
