"""Both RWS documents on what a bet wins: pay tables, triples, limits and voids. Each test carries its rule."""

import pytest

from games.engine.dice import Throw
from games.engine.errors import InputError
from games.engine.json_output import settle_document
from games.engine.rules.rulebook import Rulebook
from games.engine.settlement import SettledBet, settle, settle_void
from games.engine.signs.limits import Bet, Limits, Range
from tests.games.engine import oracle
from tests.games.rules.test_rws import BOTH

EVERY_TRIPLE = pytest.mark.parametrize("face", range(1, 7))
#: Odds as the pay tables print them: box or type, to 1. A single pays by the count of its dice.
TABLE_1: dict[str, object] = {
    "small": 1, "big": 1, "single": (1, 2, 12), "domino": 6, "double": 11, "any-triple": 31, "triple": 180,
    "total-4": 62, "total-5": 31, "total-6": 18, "total-7": 12, "total-8": 8, "total-9": 7, "total-10": 6,
    "total-17": 62, "total-16": 31, "total-15": 18, "total-14": 12, "total-13": 8, "total-12": 7, "total-11": 6,
}  # fmt: skip
TABLE_2 = TABLE_1 | {"odd": 1, "even": 1, "four": 7, "three": 30, "pair": 50}
TABLE_3 = {name: odds for name, odds in TABLE_2.items() if name not in ("odd", "even", "double")}


def bet_on(book: Rulebook, layout: str, box: str, dice: tuple[int, int, int]) -> SettledBet:
    """One bet of 1.00, settled."""
    (settled,) = settle(book, book.layouts[layout], Throw(dice), [Bet("1", box, 1_00)]).bets
    return settled


def verify_pay_table(book: Rulebook, code: str, rule: str, odds: dict[str, object]) -> None:
    """A bet of 1.00 in every box on all 216 throws, against the printed odds and against a count of our own."""
    layout = book.layouts[code]
    assert set(layout.boxes) == set(oracle.BOXES[code])
    printed = {box: odds.get(box, odds.get(one.type)) for box, one in layout.boxes.items()}
    assert {box: one.odds if len(one.odds) > 1 else one.odds[0] for box, one in layout.boxes.items()} == printed
    bets = [Bet("1", box, 1_00) for box in layout.boxes]
    for dice in oracle.THROWS:
        for settled in settle(book, layout, Throw((dice[0], dice[1], dice[2])), bets).bets:
            pays = oracle.odds(book.id, settled.bet.box, dice)
            assert settled.net == (pays * 1_00 if pays else -1_00), (dice, settled.bet.box)
            assert settled.rules[0] == rule


# --- 3.9 and 3.10 ---


@BOTH
@pytest.mark.parametrize(("layout", "table"), [("A", "4.1.1"), ("C", "4.1.2"), ("E", "4.1.3")])
def test_3_9_losing_bets_are_collected_and_winning_ones_paid_by_the_pay_table(
    book: Rulebook, layout: str, table: str
) -> None:
    won, lost = bet_on(book, layout, "domino-36", (1, 3, 6)), bet_on(book, layout, "domino-25", (1, 3, 6))
    assert (won.net, won.rules) == (6_00, (table,))
    assert (lost.net, lost.rules) == (-1_00, (table,))


@BOTH
@EVERY_TRIPLE
@pytest.mark.parametrize("layout", ["A", "C", "E"])
def test_3_10_on_a_triple_every_other_bet_loses(book: Rulebook, layout: str, face: int) -> None:
    boxes = book.layouts[layout].boxes
    named = {f"triple-{face}", "any-triple", f"double-{face}", f"single-{face}", f"total-{3 * face}"} & set(boxes)
    bets = [Bet("1", box, 1_00) for box in boxes]
    done = settle(book, book.layouts[layout], Throw((face, face, face)), bets).bets
    assert {one.bet.box for one in done if one.net > 0} == named
    assert {one.net for one in done if one.bet.box not in named} == {-1_00}
    assert all("3.10" in one.rules for one in done)


@BOTH
@EVERY_TRIPLE
def test_3_10_1_the_specific_triple_wins(book: Rulebook, face: int) -> None:
    assert bet_on(book, "A", f"triple-{face}", (face, face, face)).net == 180_00


@BOTH
@EVERY_TRIPLE
def test_3_10_2_any_triple_wins(book: Rulebook, face: int) -> None:
    assert bet_on(book, "E", "any-triple", (face, face, face)).net == 31_00


@BOTH
@EVERY_TRIPLE
@pytest.mark.parametrize("layout", ["A", "C"])
def test_3_10_3_the_double_wins_on_the_layouts_that_have_it(book: Rulebook, layout: str, face: int) -> None:
    assert bet_on(book, layout, f"double-{face}", (face, face, face)).net == 11_00
    bets = [{"player": "1", "box": f"double-{face}", "stake": "10"}]
    with pytest.raises(InputError, match=f"'double-{face}' is not a box of layout E"):
        settle_document({"rulebook": book.id, "layout": "E", "dice": [face] * 3, "bets": bets})


@BOTH
@EVERY_TRIPLE
def test_3_10_4_the_single_wins_for_three_dice(book: Rulebook, face: int) -> None:
    assert bet_on(book, "C", f"single-{face}", (face, face, face)).net == 12_00


@BOTH
@pytest.mark.parametrize(("face", "total", "pays"), [(2, 6, 18), (3, 9, 7), (4, 12, 7), (5, 15, 18)])
def test_3_10_5_the_totals_6_9_12_and_15_win(book: Rulebook, face: int, total: int, pays: int) -> None:
    assert bet_on(book, "E", f"total-{total}", (face, face, face)).net == pays * 1_00


# --- 4.1 ---


@BOTH
@pytest.mark.parametrize(("layout", "table"), [("A", "4.1.1"), ("C", "4.1.2"), ("E", "4.1.3")])
def test_4_1_each_layout_has_its_own_pay_table(book: Rulebook, layout: str, table: str) -> None:
    assert book.layouts[layout].rule == table
    assert {rule for box in book.layouts[layout].boxes.values() for rule in box.rules} == {table}
    assert bet_on(book, layout, "big", (5, 5, 4)).rules == (table,)


@BOTH
def test_4_1_1_pay_table_1_on_all_throws(book: Rulebook) -> None:
    verify_pay_table(book, "A", "4.1.1", TABLE_1)


@BOTH
def test_4_1_2_pay_table_2_on_all_throws(book: Rulebook) -> None:
    verify_pay_table(book, "C", "4.1.2", TABLE_2)


@BOTH
def test_4_1_3_pay_table_3_on_all_throws(book: Rulebook) -> None:
    verify_pay_table(book, "E", "4.1.3", TABLE_3)


# --- 5.1 and 5.2: limits that nobody noticed ---


@BOTH
def test_5_1_1_an_over_full_box_is_settled_pro_rata_and_nobody_below_the_minimum(book: Rulebook) -> None:
    limits = Limits({"big-small": Range(100_00, 3000_00)})
    bets = [Bet("1", "big", 4000_00), Bet("2", "big", 1880_00), Bet("3", "big", 120_00)]  # 6,000 where 3,000 is allowed
    one, two, three = settle(book, book.layouts["A"], Throw((5, 5, 4)), bets, limits=limits).bets
    assert (one.effective, two.effective) == (2000_00, 940_00)  # half
    assert three.effective == 100_00  # half would be 60, below the minimum
    assert [bet.net for bet in (one, two, three)] == [2000_00, 940_00, 100_00]
    assert one.rules == ("4.1.1", "5.1.1")


@BOTH
def test_5_1_1_an_excess_over_the_differential_is_settled_pro_rata(book: Rulebook) -> None:
    bets = [Bet("1", "odd", 3000_00), Bet("2", "odd", 1000_00), Bet("3", "even", 1000_00)]
    limits = Limits({}, {"odd-even": 1000_00})  # odd may hold 2,000 of 4,000
    one, two, three = settle(book, book.layouts["C"], Throw((1, 2, 3)), bets, limits=limits).bets
    assert [bet.net for bet in (one, two, three)] == [-1500_00, -500_00, 1000_00]
    assert one.rules == ("4.1.2", "5.1.1")


@BOTH
def test_5_1_2_a_bet_under_the_minimum_in_an_over_full_box_is_not_cut(book: Rulebook) -> None:
    limits = Limits({"big-small": Range(100_00, 3000_00)})
    bets = [Bet("1", "big", 5940_00), Bet("2", "big", 60_00)]
    cut, left = settle(book, book.layouts["A"], Throw((5, 5, 4)), bets, limits=limits).bets
    assert (cut.effective, left.effective) == (2970_00, 60_00)
    assert (left.net, left.rules) == (60_00, ("4.1.1", "5.1.2"))


@BOTH
def test_5_2_1_a_bet_under_the_minimum_that_nobody_noticed_wins_or_loses(book: Rulebook) -> None:
    limits = Limits({"big-small": Range(50_00, None)})
    bets = [Bet("1", "big", 10_00), Bet("2", "small", 10_00)]
    won, lost = settle(book, book.layouts["A"], Throw((5, 5, 4)), bets, limits=limits).bets
    assert (won.net, won.rules) == (10_00, ("4.1.1", "5.2.1"))
    assert (lost.net, lost.rules) == (-10_00, ("4.1.1", "5.2.1"))


@BOTH
def test_5_12_every_stake_of_a_void_round_goes_back(book: Rulebook) -> None:
    bets = [Bet("1", "odd", 100_00), Bet("2", "triple-3", 20_00)]
    for settled in settle_void(book, book.layouts["C"], "5.5.2", bets).bets:
        assert (settled.net, settled.effective, settled.rules) == (0, 0, ("5.5.2", "5.12"))
