"""Division 9, section 4: every wager by itself, on both layouts where they have it. Each test carries its rule."""

from collections.abc import Collection, Sequence
from typing import Any

import pytest

from games.engine.dice import Throw
from games.engine.errors import InputError
from games.engine.json_output import settle_document
from games.engine.settlement import SettledBet, settle
from games.engine.signs.limits import Bet
from tests.games.engine import oracle
from tests.games.engine.oracle import FACES, THROWS
from tests.games.engine.oracle import Throw as Dice
from tests.games.rules.test_division_9 import BOOK

BOTH_LAYOUTS = pytest.mark.parametrize("layout", ["1", "2"])
ONLY_2 = pytest.mark.parametrize("layout", ["2"])
PAIRS = [(two, one) for two in FACES for one in FACES if two != one]
THREES = [(low, mid, high) for low in FACES for mid in FACES for high in FACES if low < mid < high]


def bet_on(layout: str, box: str, dice: Sequence[int]) -> SettledBet:
    """One bet of 1.00, settled."""
    (settled,) = settle(BOOK, BOOK.layouts[layout], Throw((dice[0], dice[1], dice[2])), [Bet("1", box, 1_00)]).bets
    return settled


def is_triple(dice: Dice) -> bool:
    return len(set(dice)) == 1


def verify_wager(layout: str, box: str, rule: str, pays: int, winners: Collection[Dice]) -> None:
    """The wager wins on these throws at these odds, citing its rule and 4.10, and loses on all others."""
    assert winners
    for dice in THROWS:
        settled = bet_on(layout, box, dice)
        wins = dice in winners
        expected = (pays * 1_00, (rule, "4.10")) if wins else (-1_00, (rule,))
        assert (settled.net, settled.rules) == expected, (box, dice)


def throws(*totals: int, without_triples: bool = False) -> set[Dice]:
    return {dice for dice in THROWS if sum(dice) in totals and not (without_triples and is_triple(dice))}


@BOTH_LAYOUTS
def test_4_1_a_small(layout: str) -> None:
    verify_wager(layout, "small", "4.1(a)", 1, throws(4, 5, 6, 7, 8, 9, 10, without_triples=True))


@BOTH_LAYOUTS
@pytest.mark.parametrize("dice", [(1, 1, 2), (1, 2, 3), (2, 3, 4), (1, 3, 6)])
def test_4_1_a_i_small_wins_on_4_to_10(layout: str, dice: tuple[int, ...]) -> None:
    assert bet_on(layout, "small", dice).net == 1_00


@BOTH_LAYOUTS
@pytest.mark.parametrize("dice", [(1, 1, 1), (2, 2, 2), (3, 3, 3), (1, 4, 6), (6, 6, 6)])
def test_4_1_a_ii_small_loses_on_other_totals_and_on_triple_2_and_3(layout: str, dice: tuple[int, ...]) -> None:
    assert bet_on(layout, "small", dice).net == -1_00


@BOTH_LAYOUTS
def test_4_1_b_big(layout: str) -> None:
    verify_wager(layout, "big", "4.1(b)", 1, throws(11, 12, 13, 14, 15, 16, 17, without_triples=True))


@BOTH_LAYOUTS
@pytest.mark.parametrize("dice", [(1, 4, 6), (3, 4, 5), (4, 5, 6), (5, 6, 6)])
def test_4_1_b_i_big_wins_on_11_to_17(layout: str, dice: tuple[int, ...]) -> None:
    assert bet_on(layout, "big", dice).net == 1_00


@BOTH_LAYOUTS
@pytest.mark.parametrize("dice", [(6, 6, 6), (5, 5, 5), (4, 4, 4), (1, 3, 6), (1, 1, 1)])
def test_4_1_b_ii_big_loses_on_other_totals_and_on_triple_4_and_5(layout: str, dice: tuple[int, ...]) -> None:
    assert bet_on(layout, "big", dice).net == -1_00


@BOTH_LAYOUTS
@pytest.mark.parametrize("face", FACES)
def test_4_1_c_triples(layout: str, face: int) -> None:
    verify_wager(layout, f"triple-{face}", "4.1(c)", 180, {(face, face, face)})


@BOTH_LAYOUTS
@pytest.mark.parametrize("face", FACES)
def test_4_1_c_i_that_triple_wins(layout: str, face: int) -> None:
    assert bet_on(layout, f"triple-{face}", (face, face, face)).net == 180_00


@BOTH_LAYOUTS
@pytest.mark.parametrize("dice", [(3, 3, 3), (4, 4, 3), (1, 2, 3)])
def test_4_1_c_ii_any_other_combination_loses(layout: str, dice: tuple[int, ...]) -> None:
    assert bet_on(layout, "triple-4", dice).net == -1_00


@BOTH_LAYOUTS
@pytest.mark.parametrize("face", FACES)
def test_4_1_d_doubles(layout: str, face: int) -> None:
    verify_wager(layout, f"double-{face}", "4.1(d)", 11, {dice for dice in THROWS if dice.count(face) >= 2})


@BOTH_LAYOUTS
@pytest.mark.parametrize("dice", [(4, 4, 1), (4, 6, 4), (2, 4, 4)])
def test_4_1_d_i_that_double_wins(layout: str, dice: tuple[int, ...]) -> None:
    assert bet_on(layout, "double-4", dice).net == 11_00


@BOTH_LAYOUTS
@pytest.mark.parametrize("face", FACES)
def test_4_1_d_ii_a_triple_wins_a_double_once_only(layout: str, face: int) -> None:
    settled = bet_on(layout, f"double-{face}", (face, face, face))
    assert (settled.net, settled.rules) == (11_00, ("4.1(d)", "4.10"))


@BOTH_LAYOUTS
@pytest.mark.parametrize("dice", [(4, 1, 2), (3, 3, 4), (5, 5, 5)])
def test_4_1_d_iii_any_other_combination_loses(layout: str, dice: tuple[int, ...]) -> None:
    assert bet_on(layout, "double-4", dice).net == -1_00


@BOTH_LAYOUTS
def test_4_1_e_any_triple(layout: str) -> None:
    verify_wager(layout, "any-triple", "4.1(e)", 31, {dice for dice in THROWS if is_triple(dice)})


@BOTH_LAYOUTS
@pytest.mark.parametrize("face", FACES)
def test_4_1_e_i_every_triple_wins(layout: str, face: int) -> None:
    assert bet_on(layout, "any-triple", (face, face, face)).net == 31_00


@BOTH_LAYOUTS
@pytest.mark.parametrize("dice", [(1, 1, 2), (6, 6, 5), (1, 2, 3)])
def test_4_1_e_ii_any_other_combination_loses(layout: str, dice: tuple[int, ...]) -> None:
    assert bet_on(layout, "any-triple", dice).net == -1_00


TOTALS = {4: 62, 5: 31, 6: 18, 7: 12, 8: 8, 9: 7, 10: 6, 11: 6, 12: 7, 13: 8, 14: 12, 15: 18, 16: 31, 17: 62}


@BOTH_LAYOUTS
@pytest.mark.parametrize(("total", "pays"), TOTALS.items())
def test_4_1_f_totals_of_three_dice(layout: str, total: int, pays: int) -> None:
    verify_wager(layout, f"total-{total}", "4.1(f)", pays, throws(total))


@BOTH_LAYOUTS
@pytest.mark.parametrize("dice", [(1, 3, 5), (1, 2, 6), (2, 2, 5), (3, 3, 3)])
def test_4_1_f_i_a_total_wins_in_any_combination_a_triple_too(layout: str, dice: tuple[int, ...]) -> None:
    assert bet_on(layout, "total-9", dice).net == 7_00


@BOTH_LAYOUTS
@pytest.mark.parametrize("dice", [(1, 3, 4), (1, 3, 6), (6, 6, 6)])
def test_4_1_f_ii_any_other_total_loses(layout: str, dice: tuple[int, ...]) -> None:
    assert bet_on(layout, "total-9", dice).net == -1_00


@BOTH_LAYOUTS
@pytest.mark.parametrize(("low", "high"), [(low, high) for low in FACES for high in FACES if low < high])
def test_4_1_g_combinations_of_two_dice(layout: str, low: int, high: int) -> None:
    verify_wager(layout, f"domino-{low}{high}", "4.1(g)", 6, {dice for dice in THROWS if {low, high} <= set(dice)})


@BOTH_LAYOUTS
@pytest.mark.parametrize("dice", [(2, 5, 1), (5, 2, 2), (5, 6, 2)])
def test_4_1_g_i_the_combination_wins_once_it_appears(layout: str, dice: tuple[int, ...]) -> None:
    assert bet_on(layout, "domino-25", dice).net == 6_00


@BOTH_LAYOUTS
@pytest.mark.parametrize("dice", [(2, 2, 2), (5, 5, 1), (1, 3, 4)])
def test_4_1_g_ii_any_other_combination_loses(layout: str, dice: tuple[int, ...]) -> None:
    assert bet_on(layout, "domino-25", dice).net == -1_00


@BOTH_LAYOUTS
@pytest.mark.parametrize("face", FACES)
def test_4_1_h_single_faces(layout: str, face: int) -> None:
    for dice in THROWS:
        settled = bet_on(layout, f"single-{face}", dice)
        assert settled.net == {0: -1_00, 1: 1_00, 2: 2_00, 3: 12_00}[dice.count(face)], dice
        assert settled.rules == (("4.1(h)", "4.10") if face in dice else ("4.1(h)",))


@BOTH_LAYOUTS
@pytest.mark.parametrize(("dice", "net"), [((4, 1, 2), 1_00), ((4, 4, 1), 2_00), ((4, 4, 4), 12_00)])
def test_4_1_h_i_a_face_wins_on_one_die_or_more(layout: str, dice: tuple[int, ...], net: int) -> None:
    assert bet_on(layout, "single-4", dice).net == net


@BOTH_LAYOUTS
@pytest.mark.parametrize("dice", [(1, 2, 3), (5, 5, 5), (6, 5, 3)])
def test_4_1_h_ii_a_face_that_does_not_appear_loses(layout: str, dice: tuple[int, ...]) -> None:
    assert bet_on(layout, "single-4", dice).net == -1_00


# --- On the alternative layout alone ---


@ONLY_2
@pytest.mark.parametrize(("two", "one"), PAIRS)
def test_4_1_i_combinations_of_three_dice_with_a_pair(layout: str, two: int, one: int) -> None:
    winners = {dice for dice in THROWS if sorted(dice) == sorted((two, two, one))}
    verify_wager(layout, f"pair-{two}{two}{one}", "4.1(i)", 60, winners)
    assert f"pair-{two}{two}{one}" not in BOOK.layouts["1"].boxes


@ONLY_2
@pytest.mark.parametrize("faces", THREES, ids=lambda faces: "".join(map(str, faces)))
def test_4_1_i_combinations_of_three_different_dice(layout: str, faces: tuple[int, int, int]) -> None:
    winners = {dice for dice in THROWS if set(dice) == set(faces)}
    verify_wager(layout, "three-{}{}{}".format(*faces), "4.1(i)", 30, winners)


@ONLY_2
@pytest.mark.parametrize(
    ("box", "dice", "net"),
    [("pair-112", (1, 2, 1), 60_00), ("pair-665", (5, 6, 6), 60_00), ("three-256", (6, 2, 5), 30_00)],
)
def test_4_1_i_i_that_combination_wins(layout: str, box: str, dice: tuple[int, ...], net: int) -> None:
    assert bet_on(layout, box, dice).net == net


@ONLY_2
@pytest.mark.parametrize(
    ("box", "dice"),
    [("pair-112", (1, 2, 2)), ("pair-112", (1, 1, 1)), ("three-256", (2, 5, 5)), ("three-256", (2, 2, 2))],
)
def test_4_1_i_ii_any_other_combination_loses(layout: str, box: str, dice: tuple[int, ...]) -> None:
    assert bet_on(layout, box, dice).net == -1_00


@ONLY_2
@pytest.mark.parametrize("faces", [(6, 5, 4, 3), (6, 5, 3, 2), (5, 4, 3, 2), (4, 3, 2, 1)], ids=str)
def test_4_1_j_combinations_of_four_numbers(layout: str, faces: tuple[int, ...]) -> None:
    winners = {dice for dice in THROWS if len(set(dice)) == 3 and set(dice) <= set(faces)}
    verify_wager(layout, "four-{}{}{}{}".format(*faces), "4.1(j)", 7, winners)
    assert {box.code for box in BOOK.layouts["2"].boxes_of("four")} == {
        "four-6543",
        "four-6532",
        "four-5432",
        "four-4321",
    }


@ONLY_2
@pytest.mark.parametrize("dice", [(6, 5, 3), (2, 3, 5), (6, 2, 5)])
def test_4_1_j_i_three_of_the_four_numbers_win(layout: str, dice: tuple[int, ...]) -> None:
    assert bet_on(layout, "four-6532", dice).net == 7_00


@ONLY_2
@pytest.mark.parametrize("dice", [(6, 5, 4), (6, 6, 5), (3, 3, 3), (1, 2, 3)])
def test_4_1_j_ii_anything_else_loses(layout: str, dice: tuple[int, ...]) -> None:
    assert bet_on(layout, "four-6532", dice).net == -1_00


@ONLY_2
def test_4_1_k_odd(layout: str) -> None:
    verify_wager(layout, "odd", "4.1(k)", 1, throws(5, 7, 9, 11, 13, 15, 17, without_triples=True))
    assert "odd" not in BOOK.layouts["1"].boxes


@ONLY_2
@pytest.mark.parametrize("dice", [(1, 2, 2), (1, 3, 5), (6, 6, 5)])
def test_4_1_k_i_odd_wins_on_odd_totals(layout: str, dice: tuple[int, ...]) -> None:
    assert bet_on(layout, "odd", dice).net == 1_00


@ONLY_2
@pytest.mark.parametrize("dice", [(3, 3, 3), (5, 5, 5), (1, 1, 1), (1, 3, 6)])
def test_4_1_k_ii_odd_loses_on_even_totals_and_on_triple_3_and_5(layout: str, dice: tuple[int, ...]) -> None:
    assert bet_on(layout, "odd", dice).net == -1_00


@ONLY_2
def test_4_1_l_even(layout: str) -> None:
    verify_wager(layout, "even", "4.1(l)", 1, throws(4, 6, 8, 10, 12, 14, 16, without_triples=True))
    assert "even" not in BOOK.layouts["1"].boxes


@ONLY_2
@pytest.mark.parametrize("dice", [(1, 1, 2), (1, 3, 6), (6, 6, 4)])
def test_4_1_l_i_even_wins_on_even_totals(layout: str, dice: tuple[int, ...]) -> None:
    assert bet_on(layout, "even", dice).net == 1_00


@ONLY_2
@pytest.mark.parametrize("dice", [(2, 2, 2), (4, 4, 4), (6, 6, 6), (1, 3, 5)])
def test_4_1_l_ii_even_loses_on_odd_totals_and_on_triple_2_and_4(layout: str, dice: tuple[int, ...]) -> None:
    assert bet_on(layout, "even", dice).net == -1_00


@BOTH_LAYOUTS
def test_4_1_every_wager_of_the_list_is_taken_and_no_other(layout: str) -> None:
    def settled(*boxes: str) -> list[dict[str, Any]]:
        bets = [{"player": "1", "box": box, "stake": "10"} for box in boxes]
        done = settle_document({"rulebook": BOOK.id, "layout": layout, "dice": [1, 3, 6], "bets": bets})
        found: list[dict[str, Any]] = done["bets"]
        return found

    bets = settled(*oracle.BOXES[layout])
    assert {bet["box"]: bet["rules"] for bet in bets} == {
        box: oracle.rules(BOOK.id, layout, box, (1, 3, 6)) for box in oracle.BOXES[layout]
    }
    letters = "abcdefgh" if layout == "1" else "abcdefghijkl"
    assert {bet["rules"][0] for bet in bets} == {f"{BOOK.id}#4.1({letter})" for letter in letters}
    every = {box for boxes in oracle.BOXES.values() for box in boxes} | {"total-3", "total-18", "domino-11", "pair-111"}
    for box in sorted(every - set(oracle.BOXES[layout])):
        with pytest.raises(InputError, match=f"'{box}' is not a box of layout {layout}"):
            settled(box)


@BOTH_LAYOUTS
def test_4_2_the_uppermost_faces_decide_in_any_order(layout: str) -> None:
    for box in ("small", "total-10", "domino-36", "single-6"):
        assert {bet_on(layout, box, dice).net for dice in THROWS if sorted(dice) == [1, 3, 6]} == {
            bet_on(layout, box, (1, 3, 6)).net
        }


@BOTH_LAYOUTS
def test_4_10_every_wager_is_paid_at_its_odds_on_all_throws(layout: str) -> None:
    bets = [Bet("1", box, 1_00) for box in oracle.BOXES[layout]]
    for dice in THROWS:
        done = settle(BOOK, BOOK.layouts[layout], Throw((dice[0], dice[1], dice[2])), bets).bets
        paid = {one.bet.box: one.net // 1_00 for one in done if one.net > 0}
        assert paid == oracle.winning(BOOK.id, layout, dice), dice
        assert {one.net for one in done if one.net <= 0} == {-1_00}


@pytest.mark.parametrize(
    ("box", "dice", "odds"),
    [
        ("small", (1, 2, 3), 1), ("big", (4, 5, 6), 1), ("triple-2", (2, 2, 2), 180), ("double-2", (2, 2, 1), 11),
        ("any-triple", (2, 2, 2), 31), ("total-17", (6, 6, 5), 62), ("domino-12", (1, 2, 6), 6),
        ("single-3", (3, 3, 1), 2), ("pair-112", (1, 1, 2), 60), ("three-456", (4, 5, 6), 30),
        ("four-4321", (1, 2, 3), 7), ("odd", (1, 2, 2), 1), ("even", (1, 1, 2), 1),
    ],
)  # fmt: skip
def test_4_10_each_wager_is_paid_at_its_odds(box: str, dice: tuple[int, ...], odds: int) -> None:
    settled = bet_on("2", box, dice)
    assert (settled.net, settled.rules[-1]) == (odds * 1_00, "4.10")
