"""People read names, never ids and codes."""

import pytest

from games.engine.rules.loader import rulebooks
from games.labels.boxes import bet_type_label, box_label, boxes_label, key_label, pair_label
from games.labels.events import event_label, event_text
from games.labels.money import limit_label, money_label
from games.labels.rules import game_label, rule_about, rule_label, rulebook_label, rulebook_title, rules_label


@pytest.mark.parametrize(
    ("code", "name"),
    [
        ("big", "Big"), ("single-2", "Single 2"), ("total-16", "Total 16"), ("domino-24", "Domino 2-4"),
        ("double-3", "Double 3"), ("triple-4", "Triple 4"), ("any-triple", "Any triple"), ("three-134", "Three 1-3-4"),
        ("four-6532", "Four 6-5-3-2"), ("pair-112", "Pair 1-1-2"),
    ],
)  # fmt: skip
def test_a_box_has_a_name(code: str, name: str) -> None:
    assert box_label(code) == key_label(code) == name


def test_every_box_and_bet_type_of_every_layout_has_a_name_without_its_code() -> None:
    for book in rulebooks().values():
        for layout in book.layouts.values():
            for box in layout.boxes.values():
                assert box_label(box.code) != box.code
                assert "-" not in bet_type_label(box.type)


def test_opposite_boxes_have_one_name_in_either_order() -> None:
    assert pair_label(["small", "big"]) == pair_label(["big", "small"]) == bet_type_label("big-small") == "Big/Small"
    assert boxes_label(["odd", "even"]) == "Odd and Even"


def test_a_rulebook_a_game_and_a_rule_have_names() -> None:
    assert {rulebook_label(code) for code in rulebooks()} == {
        "Tai Sai v6",
        "Tai Sai Open Cover v5",
        "Division 9 (2008)",
    }
    assert rulebook_title("rws-tai-sai-v6") == "Tai Sai (RWS), Game Rules, version 6"
    assert game_label("rws-tai-sai-v6", "C") == "Tai Sai v6 · Layout C"
    assert rule_label("rws-tai-sai-v6#5.1.1") == "Tai Sai v6 · Rule 5.1.1"
    assert rules_label(["rws-tai-sai-v6#4.1.2", "rws-tai-sai-v6#5.1.1"]) == "Tai Sai v6 · Rules 4.1.2, 5.1.1"
    mixed = ["rws-tai-sai-v6#5.14", "division-9-2008#4.9", "RU-2026-000001"]
    assert rules_label(mixed) == "Tai Sai v6 · Rule 5.14; Division 9 (2008) · Rule 4.9; RU-2026-000001"
    assert rule_label("") == rules_label([]) == ""
    assert rule_about("rws-tai-sai-v6#5.1.1")


def test_what_is_not_known_is_shown_as_it_is() -> None:
    assert rulebook_label("unknown") == rulebook_title("unknown") == "unknown"
    assert rule_label("RU-2026-000001") == "RU-2026-000001"
    assert rule_about("unknown#1") == ""


def test_events_have_names() -> None:
    assert event_label("place-bets") == "Place your bets"
    assert event_text({"kind": "tumbler", "tumbles": 3}) == "Tumbler (3 tumbles)"
    assert event_text({"kind": "tumbler", "tumbles": 0}) == "Tumbler (not activated)"
    assert event_text({"kind": "tumbler", "tumbles": 0, "activated": True}) == "Tumbler (activated, did not tumble)"


def test_money_has_thousands_separated_and_a_true_minus() -> None:
    assert money_label(-123456789) == "−1,234,567.89"
    assert money_label(None) == limit_label(None) == "–"
    assert (limit_label(1000000), limit_label(50)) == ("10,000", "0.50")
