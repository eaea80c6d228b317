"""Our readings are cited where they decide: every one of every rulebook, or it says here why it decides no finding."""

import datetime as dt
from collections.abc import Iterator
from typing import Any

import pytest
from django.utils import timezone

from audits.incidents.admin.advice import readings_advised
from audits.models import Consequence, Finding
from audits.reconciliation import terms
from audits.reconciliation.services.arrivals import arrivals_take
from audits.rulings.presenters import order_rests_on, readings_behind, ruling_rests_on
from audits.rulings.services.corrective_actions import Basis, affected_void
from games.access.models.acting_appointment import ALL_PITS
from games.access.services.acting_appointments import duty_grant
from games.engine.rules.loader import rulebook
from games.models import Table
from tests.audits.decided import incident_about, ruled
from tests.audits.files import played
from tests.conftest import House
from tests.games.engine.oracle import DIVISION_9, OPEN_COVER, V6
from tests.games.floor_setup import HOUR, MINUTE, NOON, SECOND, bare_table, put_sign, ready_table, sign
from tests.games.logins import logged_in
from tests.games.rounds.samples import bet

Step = tuple[str, dict[str, Any]]
PLACE: Step = ("place-bets", {})
CLOSE: Step = ("no-more-bets", {})
TUMBLE: Step = ("tumbler", {"tumbles": 3})
RESULT: Step = ("result", {"dice": [1, 3, 6]})
SETTLED: Step = ("settled", {})
RIGHT = [bet("seat-1", "total-10", "100", net="600")]
LAYOUTS = {V6: "E", OPEN_COVER: "E", DIVISION_9: "2"}

#: Readings that decide no finding and no order, with the reason.
DECIDES_NOTHING = {
    "double-in-its-place": "how the dealer calls a result; no bet and no record depends on it",
    "pay-table-governs": "the felt is drawn from the pay table, so no printed odds differ from it",
    "drawing-is-ours": "how the felt is drawn; boxes and odds come from 4.1 and 4.10",
    "misplaced-by-the-house": "decided by discretion (4.9) on the incident; until then the bet is settled as it lies",
    "rounded-down": "Division 9 settles in full; it decides once a standing interpretation has bets cut",
}
#: Of these only some documents leave the matter open.
ONLY = {"rounded-down": DIVISION_9}


@pytest.fixture(autouse=True)
def fresh() -> Iterator[None]:
    terms._KNOWN.clear()
    yield
    terms._KNOWN.clear()


def ordered(book: str, *steps: Step) -> list[Step]:
    """In the order of play of a document: Division 9 tumbles first."""
    return sorted(steps, key=lambda step: step != TUMBLE) if book == DIVISION_9 else list(steps)


def courses(book: str) -> Iterator[tuple[list[Step], list[dict[str, Any]]]]:
    """Rounds, each with events or bets on which a reading decides."""
    whole = ordered(book, PLACE, CLOSE, TUMBLE, RESULT, SETTLED)
    wrong = [bet("seat-1", "total-10", "100", net="1")]
    few: Step = ("tumbler", {"tumbles": 2})
    yield ordered(book, PLACE, CLOSE, few, TUMBLE, RESULT, SETTLED), RIGHT
    yield [few, PLACE, CLOSE, few, TUMBLE, RESULT, SETTLED] if book == DIVISION_9 else [], RIGHT
    yield [PLACE, CLOSE, ("tumbler", {"tumbles": 0, "activated": True}), RESULT, SETTLED], RIGHT
    yield [PLACE, CLOSE, ("tumbler", {"tumbles": 0}), RESULT, SETTLED], RIGHT
    yield [PLACE, TUMBLE, CLOSE, RESULT, SETTLED], wrong
    yield [PLACE, ("dice-exposed", {}), CLOSE, TUMBLE, RESULT, SETTLED], wrong
    yield [PLACE, ("dice-exposed", {}), TUMBLE], RIGHT  # no call
    yield [*whole, ("interruption", {"known_dice": "?,?,?"})], RIGHT
    yield ordered(book, PLACE, CLOSE, TUMBLE, ("interruption", {"known_dice": "1,3,6"}), SETTLED), RIGHT
    yield ordered(book, PLACE, CLOSE, TUMBLE, ("interruption", {"known_dice": "1,?,?"})), RIGHT
    yield [*whole, ("void", {"rule": "7.1(a)" if book == DIVISION_9 else "5.5.2"})], RIGHT
    yield [*whole, ("result-amended", {"dice": [1, 3, 6], "by": "DEALER"})], RIGHT
    yield [*whole, ("void", {"rule": "ruling", "by": "DEALER"})], RIGHT
    if book != DIVISION_9:
        yield [*whole, ("void", {"rule": "5.6"})], RIGHT
    yield whole, [bet("seat-1", "small", "4000", net="1"), bet("seat-2", "small", "50", net="1")]
    yield whole, [bet("seat-1", "small", "900", net="1"), bet("seat-2", "small", "20", net="1")]
    yield whole, [bet(f"seat-{seat}", "small", "50", net="1") for seat in range(21)]  # the minimums are too much
    for dice, box in (([6, 6, 5], "four-6543"), ([1, 3, 3], "domino-13"), ([2, 5, 6], "three-256")):
        yield ordered(book, PLACE, CLOSE, TUMBLE, ("result", {"dice": dice}), SETTLED), [bet("s", box, "100", net="1")]


def play(table: Table, book: str) -> None:
    at = NOON - HOUR
    for number, (steps, bets) in enumerate(course for course in courses(book) if course[0]):
        played(table, at + number * MINUTE, f"R-{number}", bets, kinds=steps)
    whole = ordered(book, PLACE, CLOSE, TUMBLE, RESULT, SETTLED)
    start = NOON - 20 * MINUTE
    call = start + whole.index(CLOSE) * SECOND
    timed = [
        bet("at", "small", "100", net="1", at=call.isoformat()),
        bet("late", "small", "100", net="1", at=(call + SECOND).isoformat()),
        bet("back", "small", "100", net="1", withdrawn=call.isoformat()),
    ]
    played(table, start, "TIMED", timed, kinds=whole)
    played(table, start + 2 * SECOND, "OVERLAP", RIGHT, kinds=whole)
    played(table, NOON - 10 * MINUTE, "SIGN", [bet("s", "small", "10", net="1")], kinds=whole)
    put_sign(table, sign({"big-small": (5, 20_000)}), NOON - 10 * MINUTE + 2 * SECOND)  # while that round was on


def cited(house: House, table: Table, book: str) -> Iterator[str]:
    arrivals_take()
    for finding in Finding.objects.filter(lapsed_at=None):
        yield from (reading.name for reading in readings_behind(finding))
    for situation in rulebook(book).situations:
        asked = {"situation": situation.code, "facts": dict(situation.when)}
        advice = {"rulebook": book, "action": situation.action, **asked}
        yield from (reading.name for reading in readings_advised(advice))
    now = timezone.now()
    duty_grant(
        actor=house["casino-manager"], staff=house["pit-manager"], post="shift-manager", casino=house.casino,
        pit=ALL_PITS, starts_at=now, ends_at=now + HOUR, reason="Ill",
    )  # fmt: skip
    ruling = ruled(house, incident_about(house, table), role="pit-manager")
    yield from (reading.name for reading in ruling_rests_on(ruling))


@pytest.mark.parametrize("book", [V6, OPEN_COVER, DIVISION_9])
def test_every_reading_is_cited_or_says_why_it_decides_nothing(house: House, book: str) -> None:
    limits = sign({"big-small": (50, 1000)}, {"big-small": 800})
    table = ready_table(house, "TS-01", rulebook=book, layout=LAYOUTS[book], limits=limits)
    play(table, book)
    unsigned = bare_table(house, "TS-02", rulebook=book, layout=LAYOUTS[book])
    put_sign(unsigned, limits)  # names Big and Small only
    played(unsigned, NOON - HOUR, "U-1", RIGHT, kinds=ordered(book, PLACE, CLOSE, TUMBLE, RESULT, SETTLED))
    names, readings = set(cited(house, table, book)), set(rulebook(book).readings)
    silent = {name for name in readings & DECIDES_NOTHING.keys() if ONLY.get(name, book) == book}
    assert readings - names == silent


def test_settled_in_full_is_not_cited_where_it_decides_nothing(house: House, clock: Any) -> None:
    clock.move_to(NOON - 2 * HOUR)
    table = ready_table(house, "D9-01", rulebook=DIVISION_9, layout="1", limits=sign({"big-small": (50, 1000)}))
    clock.move_to(NOON)
    steps = [TUMBLE, PLACE, CLOSE, ("result", {"dice": [1, 3, 5]}), ("result-amended", {"dice": [1, 3, 6], "by": "X"})]
    bets = [bet("seat-1", "small", "4000", net="1"), bet("seat-2", "total-10", "100", net="1")]
    played(table, NOON - HOUR, "R-1", bets, kinds=[*steps, SETTLED])
    arrivals_take()
    found = {
        (finding.category, finding.kind, finding.player): [reading.name for reading in readings_behind(finding)]
        for finding in Finding.objects.filter(lapsed_at=None)
    }
    assert found == {
        ("discrepancy", "underpaid", "seat-1"): ["settled-in-full"],
        ("discrepancy", "underpaid", "seat-2"): [],
        ("breach", "box-maximum", None): ["limits-are-reported"],
        ("irregularity", "amend", None): [],
        ("procedural", "amendment-without-authority", None): ["supervisor-is-pit-supervisor"],
    }


def page(house: House, role: str, address: str) -> str:
    client = logged_in(house[role])
    return client.get(address).content.decode()


def test_the_page_of_a_finding_names_the_reading(house: House, clock: Any) -> None:
    clock.move_to(NOON - 2 * HOUR)
    table = ready_table(house, "TS-01", layout="C", limits=sign())
    clock.move_to(NOON)
    steps = [PLACE, CLOSE, ("tumbler", {"tumbles": 2}), TUMBLE, RESULT, SETTLED]
    one = played(table, NOON - HOUR, "R-1", RIGHT, kinds=steps)
    arrivals_take()
    pages = {
        found.category: page(house, "compliance", f"/admin/audits/finding/{found.pk}/change/")
        for found in Finding.objects.filter(round=one, lapsed_at=None)
    }
    assert {"discrepancy", "irregularity"} <= pages.keys()
    assert "void-is-not-healed" in pages["discrepancy"]
    assert "void-is-not-healed" in pages["irregularity"]


def test_5_6_the_order_names_its_reading_on_page_and_api(house: House, clock: Any) -> None:
    clock.move_to(NOON - 2 * HOUR)
    table = ready_table(house, "TS-01", layout="C", limits=sign())
    clock.move_to(NOON)
    played(table, NOON - HOUR, "R-1", RIGHT)
    incident = incident_about(house, table, situation="dice-damaged", occurred_from=NOON - 30 * MINUTE)
    order = affected_void(actor=house["shift-manager"], basis=Basis(incident, rule="5.6"), reason="Cracked")
    assert [consequence.name for consequence in order_rests_on(Consequence.objects.get(pk=order.pk))] == [
        "affected-by-damaged-dice"
    ]
    for address in (
        f"/admin/audits/consequence/{order.pk}/change/", f"/admin/audits/incident/{incident.pk}/change/",
        f"/api/v1/consequences/{order.pk}/",
    ):  # fmt: skip
        assert "affected-by-damaged-dice" in page(house, "shift-manager", address), address


def test_5_14_a_ruling_of_an_acting_shift_manager_names_the_reading_on_page_and_api(house: House) -> None:
    table = ready_table(house, "TS-01", layout="C", limits=sign())
    now = timezone.now()
    duty_grant(
        actor=house["casino-manager"], staff=house["pit-manager"], post="shift-manager", casino=house.casino,
        pit=ALL_PITS, starts_at=now, ends_at=now + dt.timedelta(hours=1), reason="Ill",
    )  # fmt: skip
    acting = ruled(house, incident_about(house, table), role="pit-manager")
    own = ruled(house, incident_about(house, table, account="Another one"))
    for ruling, is_cited in ((acting, True), (own, False)):
        for address in (f"/admin/audits/ruling/{ruling.pk}/change/", f"/api/v1/rulings/{ruling.number}/"):
            assert ("acting-shift-manager" in page(house, "shift-manager", address)) is is_cited, address
