"""The page of a breach names the bets and players that made it, and what each was cut to."""

from typing import Any

from audits.findings.breach_bets import breach_bets
from audits.models import Finding
from audits.reconciliation.services.arrivals import arrivals_take
from games.models import Round
from games.rounds.services.recording import round_record
from tests.conftest import OPERATOR, House
from tests.games.engine.oracle import DIVISION_9
from tests.games.floor_setup import ready_table, sign
from tests.games.logins import logged_in
from tests.games.rounds.samples import bet, current, line


def breach(house: House, kind: str, bets: list[dict[str, Any]], **game: Any) -> Finding:
    bets = [bet if bet.get("refused") else {"net": bet["stake"]} | bet for bet in bets]
    limits = game.pop("limits", sign())
    ready_table(house, "TS-01", "P1", **{"layout": "C", "limits": limits} | game)
    round_record(actor=OPERATOR, line=line(current(ref="R-1", table="TS-01", bets=bets)), channel="api")
    arrivals_take()
    return Finding.objects.get(round=Round.objects.get(ref="R-1"), category="breach", kind=kind)


def rows(finding: Finding) -> list[tuple[str, str, int, int, tuple[str, ...]]]:
    found = breach_bets(finding)
    assert found is not None
    return [(bet.player, bet.box, bet.stake, bet.effective, bet.rules) for bet in found.bets]


def page(house: House, finding: Finding) -> str:
    client = logged_in(house["pit-manager"])
    answer = client.get(f"/admin/audits/finding/{finding.pk}/change/")
    assert answer.status_code == 200
    return answer.content.decode()


def test_5_1_1_every_bet_of_an_over_full_box_with_its_player_and_what_it_was_cut_to(house: House) -> None:
    """Small holds 3,000 at most; 2,000 and 4,000 and the minimum of 50 were placed: 6,050 in all."""
    finding = breach(
        house, "box-maximum",
        [bet("seat-1", "small", "2000.00"), bet("seat-2", "small", "4000.00"), bet("seat-3", "small", "50.00"),
         bet("seat-4", "big", "100.00", net="-100.00")],
    )  # fmt: skip
    assert rows(finding) == [
        ("seat-1", "small", 200_000, 99_100, ("5.1.1",)),  # 2,000 × 3,000 ÷ 6,050 = 991.7…
        ("seat-2", "small", 400_000, 198_300, ("5.1.1",)),  # 4,000 × 3,000 ÷ 6,050 = 1,983.4…
        ("seat-3", "small", 5_000, 5_000, ("5.1.2",)),
    ]
    shown = page(house, finding)
    for text in (
        "seat-1",
        "seat-2",
        "seat-3",
        "991.00",
        "1,983.00",
        "1,009.00",
        "not cut",
        "5.1.2",
        "Small",
        "6,050.00",
    ):
        assert text in shown, text
    bets = shown[shown.index("Bets behind this breach") :].partition("</section>")[0]
    assert "seat-4" not in bets


def test_5_1_1_a_differential_names_the_bets_of_both_boxes(house: House) -> None:
    finding = breach(
        house, "differential",
        [bet("seat-1", "big", "2000.00", net="-2000.00"), bet("seat-2", "small", "500.00", net="500.00")],
        limits=sign(differential={"big-small": 1000}),
    )  # fmt: skip
    assert rows(finding) == [
        ("seat-1", "big", 200_000, 150_000, ("5.1.1",)),
        ("seat-2", "small", 50_000, 50_000, ()),
    ]
    found = breach_bets(finding)
    assert found is not None
    assert [(held.bets[0].box, held.total, held.settled) for held in found.by_box] == [
        ("big", 200_000, 150_000), ("small", 50_000, 50_000),
    ]  # fmt: skip
    shown = page(house, finding)
    assert "2,500.00" not in shown.partition("Bets behind this breach")[2].partition("</section>")[0]
    assert "Every bet above the minimum is cut in proportion" in shown


def test_5_2_1_a_bet_under_the_minimum_is_the_player_s_own(house: House) -> None:
    finding = breach(house, "below-minimum", [bet("seat-1", "small", "10.00"), bet("seat-2", "small", "60.00")])
    assert rows(finding) == [("seat-1", "small", 1_000, 1_000, ("5.2.1",))]
    assert "settled as placed" in page(house, finding)


def test_the_time_of_a_bet_is_shown_where_it_is_on_record(house: House) -> None:
    document = current(ref="R-1", table="TS-01")
    begun = next(event["at"] for event in document["events"] if event["kind"] == "place-bets")
    timed = bet("seat-1", "small", "2500.00") | {"at": begun}
    finding = breach(house, "box-maximum", [timed, bet("seat-2", "small", "1000.00")])
    shown = page(house, finding)
    assert "not recorded" in shown
    found = breach_bets(finding)
    assert found is not None
    assert [bet.at is None for bet in found.bets] == [False, True]


def test_refused_bets_made_no_breach(house: House) -> None:
    refused = {"player": "seat-9", "box": "small", "stake": "5000.00", "refused": True}
    finding = breach(house, "box-maximum", [bet("seat-1", "small", "4000.00"), refused])
    assert [row[0] for row in rows(finding)] == ["seat-1"]


def test_division_9_cuts_nothing_and_says_so(house: House) -> None:
    finding = breach(
        house, "box-maximum", [bet("seat-1", "small", "4000.00", net="4000.00")], rulebook=DIVISION_9, layout="1"
    )
    assert rows(finding) == [("seat-1", "small", 400_000, 400_000, ())]
    assert "the rulebook has no rule that cuts bets" in page(house, finding)


def test_another_finding_has_no_such_list(house: House) -> None:
    breach(house, "below-minimum", [bet("seat-1", "small", "10.00", net="90.00")])
    assert breach_bets(Finding.objects.get(category="discrepancy")) is None
