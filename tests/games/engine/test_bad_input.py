"""Wrong rounds: each fault is one sentence that says where, nothing is settled, and nothing breaks."""

import copy
import json
import re
from pathlib import Path
from typing import Any

import pytest

from games.engine.json_output import InputError, settle_document, settle_text
from tests.games.engine import command
from tests.games.engine.oracle import DIVISION_9, V6

Document = dict[str, Any]

ROUND: Document = {
    "rulebook": V6,
    "layout": "C",
    "dice": [1, 3, 6],
    "void": None,
    "limits": {"big-small": {"min": "50", "max": "10000"}},
    "differential": {"big-small": "8000"},
    "chip_unit": "0.01",
    "excess": None,
    "bets": [
        {"ref": "b1", "player": "seat-3", "box": "small", "stake": "3000"},
        {"ref": "b2", "player": "seat-4", "box": "big", "stake": "12000"},
    ],
}
DIVISION_9_ROUND = ROUND | {"rulebook": DIVISION_9, "layout": "2"}


def with_bet(**changes: Any) -> Document:
    """The round with its second bet changed."""
    bets = copy.deepcopy(ROUND["bets"])
    bets[1] |= changes
    return ROUND | {"bets": bets}


def without(name: str) -> Document:
    return {key: value for key, value in ROUND.items() if key != name}


def bet_without(name: str) -> Document:
    bets = copy.deepcopy(ROUND["bets"])
    del bets[1][name]
    return ROUND | {"bets": bets}


def limits(**entries: Any) -> Document:
    return ROUND | {"limits": {name.replace("_", "-"): entry for name, entry in entries.items()}}


def faults(given: str | bytes) -> tuple[str, ...]:
    with pytest.raises(InputError) as refusal:
        settle_text(given)
    for fault in refusal.value.faults:
        assert len(fault.splitlines()) == 1, fault
        assert re.search(r"\w.*[.!]$", fault), f"not a sentence: {fault}"
        assert len(fault) < 1000, "nobody reads that"
    return refusal.value.faults


def document_faults(given: Any) -> tuple[str, ...]:
    with pytest.raises(InputError) as refusal:
        settle_document(given)
    return refusal.value.faults


# One fault each: the round, and words that the sentence has to contain.

NO_MONEY = {
    "nothing": "0", "nothing in cents": "0.00", "less than nothing": "-5", "minus nothing": "-0",
    "not a number": "NaN", "infinity": "Infinity", "a power of ten": "1e2", "a power beyond all bounds": "1e400",
    "a blank before it": " 1", "a blank after it": "1 ", "a line end after it": "1\n", "a plus": "+1",
    "a point without decimals": "1.", "decimals alone": ".5", "two points": "1.2.3", "a comma": "1,5",
    "an Arabic digit": "١", "a full-width digit": "１", "a raised digit": "²", "three decimals": "1.005",
    "three decimals of nothing": "1.000", "thousands": "1,000", "an underscore": "1_000", "a currency": "S$5",
    "hexadecimal": "0x10", "no character": "", "a word": "ten", "a NUL": "1\x00",
    "thirty digits": "9" * 30, "five thousand digits": "9" * 5000, "a JSON number": 12, "a JSON fraction": 1.5,
    "true": True, "null": None, "a list": ["5"], "an object": {"amount": "5"},
}  # fmt: skip

BAD_STAKES = {f"a stake that is {what}": (with_bet(stake=stake), ("stake",)) for what, stake in NO_MONEY.items()}

BAD_DICE: dict[str, tuple[Document, tuple[str, ...]]] = {
    f"dice {dice!r}": (ROUND | {"dice": dice}, ("dice",))
    for dice in (
        [0, 3, 6], [1, 3, 7], [1, 3, -6], [1, 3], [1, 3, 6, 6], [], [True, 3, 6], ["1", 3, 6], ["1.0", 3, 6],
        [1.0, 3, 6], [1.5, 3, 6], [None, 3, 6], [[1], 3, 6], "136", "1.0", 136, 1.0, True, {"1": 3}, [1, 3, 10**30],
    )
}  # fmt: skip

BAD_NAMES: dict[str, tuple[Document, tuple[str, ...]]] = {
    "an unknown rulebook": (ROUND | {"rulebook": "rws-tai-sai-v7"}, ("rulebook", "rws-tai-sai-v7")),
    "a rulebook that is a path": (ROUND | {"rulebook": "../rulebooks/rws-tai-sai-v6"}, ("rulebook",)),
    "a rulebook that is a number": (ROUND | {"rulebook": 6}, ("rulebook",)),
    "a rulebook that is a list": (ROUND | {"rulebook": [V6]}, ("rulebook",)),
    "an unknown layout": (ROUND | {"layout": "B"}, ("layout", "B")),
    "a layout in small letters": (ROUND | {"layout": "c"}, ("layout",)),
    "a layout of another rulebook": (ROUND | {"layout": "2"}, ("layout", "2")),
    "a layout that is an object": (ROUND | {"layout": {}}, ("layout",)),
    "an unknown box": (with_bet(box="huge"), ("box", "huge")),
    "a box in capitals": (with_bet(box="Big"), ("Big",)),
    "a box of another layout": (with_bet(box="four-6542"), ("four-6542",)),
    "a pair that RWS does not have": (with_bet(box="pair-112"), ("pair-112",)),
    "a domino the wrong way round": (with_bet(box="domino-41"), ("domino-41",)),
    "a four-number box the wrong way round": (with_bet(box="four-2356"), ("four-2356",)),
    "a total of 3": (with_bet(box="total-3"), ("total-3",)),
    "a total of 18": (with_bet(box="total-18"), ("total-18",)),
    "a bet type for a box": (with_bet(box="big-small"), ("big-small",)),
    "a box that is a number": (with_bet(box=4), ("box",)),
    "a box that is a list": (with_bet(box=["big"]), ("box",)),
    "a box with a line end in it": (with_bet(box="big\nsmall"), ("box",)),
    "a box with a line separator in it": (with_bet(box="big\u2028small\x85\r"), ("box",)),
    "a box that is half a character": (with_bet(box="\ud800"), ("box",)),
    "a box with a very long name": (with_bet(box="x" * 100_000), ("box",)),
    "a player that is a number": (with_bet(player=4), ("player",)),
    "an unknown excess policy": (ROUND | {"excess": "generous"}, ("excess", "generous")),
    "an excess policy that is a number": (ROUND | {"excess": 1}, ("excess",)),
}

BAD_LIMITS: dict[str, tuple[Document, tuple[str, ...]]] = {
    "a minimum above the maximum": (limits(big_small={"min": "100.01", "max": "100"}), ("big-small", "min", "max")),
    "a box's minimum above its maximum": (limits(big={"min": "200", "max": "100"}), ("big", "min", "max")),
    "limits for a type that the layout lacks": (
        ROUND | {"layout": "A", "limits": {"odd-even": {"max": "5"}}, "differential": None},
        ("odd-even",),
    ),
    "limits for doubles on layout E": (ROUND | {"layout": "E", "limits": {"double": {"max": "5"}}}, ("double",)),
    "limits for a box that the layout lacks": (limits(**{"pair-112": {"max": "5"}}), ("pair-112",)),
    "limits keyed by nonsense": (limits(nonsense={"max": "5"}), ("limits", "nonsense")),
    "limits keyed by nothing": (limits(**{"": {"max": "5"}}), ("limits",)),
    "a negative minimum": (limits(big_small={"min": "-1"}), ("big-small", "min")),
    "a negative maximum": (limits(big_small={"max": "-1"}), ("big-small", "max")),
    "a maximum that is a JSON number": (limits(big_small={"max": 100}), ("big-small", "max")),
    "a maximum of three decimals": (limits(big_small={"max": "100.001"}), ("big-small", "max")),
    "a maximum of five thousand digits": (limits(big_small={"max": "9" * 5000}), ("big-small", "max")),
    "a minimum that is not a number": (limits(big_small={"min": "NaN"}), ("big-small", "min")),
    "a limit that is a string": (limits(big_small="100"), ("big-small",)),
    "a limit that is a list": (limits(big_small=["50", "100"]), ("big-small",)),
    "limits that are a list": (ROUND | {"limits": []}, ("limits",)),
    "limits that are a string": (ROUND | {"limits": "none"}, ("limits",)),
    "a differential on a type that has none": (ROUND | {"differential": {"total": "8000"}}, ("differential", "total")),
    "a differential on a box": (ROUND | {"differential": {"big": "8000"}}, ("differential", "big")),
    "a differential keyed by nonsense": (ROUND | {"differential": {"up-down": "1"}}, ("differential", "up-down")),
    "a differential on odd-even on layout A": (
        ROUND | {"layout": "A", "differential": {"odd-even": "8000"}},
        ("differential", "odd-even"),
    ),
    "a differential on odd-even on layout E": (
        ROUND | {"layout": "E", "differential": {"odd-even": "8000"}},
        ("differential", "odd-even"),
    ),
    "a negative differential": (ROUND | {"differential": {"big-small": "-1"}}, ("differential", "big-small")),
    "a differential that is a JSON number": (ROUND | {"differential": {"big-small": 8000}}, ("differential",)),
    "a differential for everything": (ROUND | {"differential": "8000"}, ("differential",)),
}

BAD_CHIP_UNITS: dict[str, tuple[Document, tuple[str, ...]]] = {
    f"a chip unit {unit!r}": (ROUND | {"chip_unit": unit}, ("chip_unit",))
    for unit in ("0", "0.00", "-1", "0.001", "1e2", "NaN", "", 1, 0.01, True, ["1"])
}

BAD_VOIDS: dict[str, tuple[Document, tuple[str, ...]]] = {
    **{
        f"a void by {rule!r}, which does not void": (ROUND | {"void": rule}, ("void",))
        for rule in ("5.1.1", "5.4", "5.4.1", "5.7", "5.12", "5.14", "3.10", "5", "9.9", "", "Ruling", "5.5.4", " 5.5")
    },
    **{
        f"a void by {rule!r}, a rule of another rulebook": (ROUND | {"void": rule}, ("void",))
        for rule in ("7.1", "7.1(a)", f"{DIVISION_9}#7.1(a)", "rws-tai-sai-open-cover-v5#5.5.1")
    },
    **{
        f"a void of Division 9 by {rule!r}": (DIVISION_9_ROUND | {"void": rule}, ("void",))
        for rule in ("5.5.1", "5.6", "7.1(e)", "7.2", "7.1a", f"{V6}#5.5.1")
    },
    "a void that is a number": (ROUND | {"void": 5.5}, ("void",)),
    "a void that is true": (ROUND | {"void": True}, ("void",)),
    "a void that is a list": (ROUND | {"void": ["5.5.1"]}, ("void",)),
    "no dice and no void": (ROUND | {"dice": None}, ("dice",)),
    "wrong dice in a void round": (ROUND | {"void": "5.5.1", "dice": [1, 2, 7]}, ("dice",)),
}

BAD_SHAPES: dict[str, tuple[Document, tuple[str, ...]]] = {
    **{f"no {name}": (without(name), (name,)) for name in ("rulebook", "layout", "dice", "bets")},
    **{f"null for {name}": (ROUND | {name: None}, (name,)) for name in ("rulebook", "layout", "bets")},
    **{f"a bet without {name}": (bet_without(name), (name,)) for name in ("player", "box", "stake")},
    **{f"a bet with null for {name}": (with_bet(**{name: None}), (name,)) for name in ("player", "box", "stake")},
    "an unknown field": (ROUND | {"colour": "red"}, ("colour",)),
    "a misspelt field": (ROUND | {"Void": "5.5.1"}, ("Void",)),
    "an unknown field with a line end in its name": (ROUND | {"col\nour": "red"}, ("col",)),
    "an unknown field in a bet": (with_bet(net="100.00"), ("net",)),
    "an unknown field in a limit": (limits(big_small={"maximum": "100"}), ("maximum",)),
    "bets that are an object": (ROUND | {"bets": {}}, ("bets",)),
    "bets that are a string": (ROUND | {"bets": "none"}, ("bets",)),
    "a bet that is a string": (ROUND | {"bets": ["small 3000"]}, ("bet",)),
    "a bet that is a list": (ROUND | {"bets": [["small", "3000"]]}, ("bet",)),
    "a bet that is null": (ROUND | {"bets": [None]}, ("bet",)),
    "the same player twice in one box": (with_bet(player="seat-3", box="small"), ("seat-3", "small")),
}

BAD = {
    **BAD_STAKES, **BAD_DICE, **BAD_NAMES, **BAD_LIMITS, **BAD_CHIP_UNITS, **BAD_VOIDS, **BAD_SHAPES,
}  # fmt: skip


def test_the_round_that_all_others_spoil_is_good() -> None:
    done: Any = settle_text(json.dumps(ROUND))
    assert [bet["net"] for bet in done["bets"]] == ["3000.00", "-10000.00"]
    assert done == settle_document(ROUND)


@pytest.mark.parametrize(("given", "words"), BAD.values(), ids=BAD.keys())
def test_one_fault_is_one_sentence_that_names_it(given: Document, words: tuple[str, ...]) -> None:
    (fault,) = faults(json.dumps(given))
    assert all(word in fault for word in words), fault


@pytest.mark.parametrize("given", [given for given, _ in BAD.values()], ids=BAD.keys())
def test_values_from_another_program_are_refused_just_the_same(given: Document) -> None:
    assert len(document_faults(copy.deepcopy(given))) == 1


@pytest.mark.parametrize("given", [with_bet(stake="0"), with_bet(box="huge"), with_bet(net="1"), bet_without("stake")])
def test_a_fault_of_a_bet_says_which_bet(given: Document) -> None:
    (fault,) = faults(json.dumps(given))
    assert re.search(r"b2|\bbets?\W{0,3}[12]\b|seat-4", fault), fault


# Texts that are no JSON, or hardly.

GOOD = json.dumps(ROUND)
NO_DOCUMENT: dict[str, str | bytes] = {
    "an empty file": "",
    "an empty file in bytes": b"",
    "blanks": " \n\t ",
    "an open brace": "{",
    "a round cut short": GOOD[:-1],
    "a round with something after it": GOOD + "}",
    "two rounds": GOOD + "\n" + GOOD,
    "a comma at the end": GOOD[:-1] + ",}",
    "single quotes": GOOD.replace('"', "'"),
    "a comment": "// the round\n" + GOOD,
    "not JSON at all": "rulebook = 'rws-tai-sai-v6'",
    "NaN for a stake": GOOD.replace('"12000"', "NaN"),
    "NaN for a die": GOOD.replace("[1, 3, 6]", "[1, 3, NaN]"),
    "infinity for a stake": GOOD.replace('"12000"', "-Infinity"),
    "a power beyond all bounds for a stake": GOOD.replace('"12000"', "1e400"),
    "a power beyond all bounds for a die": GOOD.replace("[1, 3, 6]", "[1, 3, 1e400]"),
    "a die of five thousand digits": GOOD.replace("[1, 3, 6]", f"[1, 3, {'6' * 5000}]"),
    "a field twice": GOOD[:-1] + ', "layout": "A"}',
    "a field twice with the same value": GOOD[:-1] + ', "layout": "C"}',
    "a field of a bet twice": GOOD.replace('"stake": "12000"', '"stake": "12000", "stake": "1"'),
    "a box twice in the limits": GOOD.replace('"limits": {', '"limits": {"big-small": {"max": "1"}, '),
    "a NUL in the text": GOOD.replace("seat-4", "seat\x004"),
    "a NUL after the text": GOOD + "\x00",
    "a line end in a string": GOOD.replace("seat-4", "seat\n4"),
    "invalid UTF-8": GOOD.replace("seat-4", "seat-\udcff").encode(errors="surrogateescape"),
    "a stray byte": b"\xff",
    "half a character": GOOD.encode() + b"\xe4\xb8",
    "a hundred thousand brackets": "[" * 100_000,
    "a hundred thousand brackets, closed": "[" * 100_000 + "]" * 100_000,
    "a hundred thousand braces": '{"bets":' * 100_000,
    "brackets in a field": GOOD.replace("[1, 3, 6]", "[" * 100_000 + "]" * 100_000),
}
NO_OBJECT = {
    "a list": "[]",
    "a list of a round": f"[{GOOD}]",
    "a string": '"round"',
    "a number": "1",
    "null": "null",
    "true": "true",
}


@pytest.mark.parametrize("given", NO_DOCUMENT.values(), ids=NO_DOCUMENT.keys())
def test_a_text_that_is_no_round_is_refused_in_one_sentence(given: str | bytes) -> None:
    assert len(faults(given)) == 1


@pytest.mark.parametrize("given", NO_OBJECT.values(), ids=NO_OBJECT.keys())
def test_what_is_no_object_is_refused_in_one_sentence(given: str) -> None:
    assert len(faults(given)) == 1
    assert len(document_faults(json.loads(given))) == 1


def test_malformed_json_is_refused_with_its_line() -> None:
    (fault,) = faults(json.dumps(ROUND, indent=1).replace('"layout"', "layout"))
    assert re.search(r"\bline 3\b", fault), fault


@pytest.mark.parametrize(
    ("name", "given"),
    [
        ("layout", GOOD[:-1] + ', "layout": "A"}'),
        ("stake", GOOD.replace('"stake": "12000"', '"stake": "1", "stake": "1"')),
    ],
    ids=["of the round", "of a bet"],
)
def test_a_field_that_stands_twice_is_named(name: str, given: str) -> None:
    (fault,) = faults(given)
    assert name in fault


def test_an_empty_object_lacks_four_fields_and_says_so_of_each() -> None:
    said = faults("{}")
    assert len(said) == 4
    for name in ("rulebook", "layout", "dice", "bets"):
        assert any(name in fault for fault in said)


@pytest.mark.parametrize("given", ["\ufeff" + GOOD, b"\xef\xbb\xbf" + GOOD.encode()], ids=["in text", "in bytes"])
def test_a_byte_order_mark_is_read_over_or_refused_in_one_sentence(given: str | bytes) -> None:
    """Which of the two, the contract leaves open."""
    try:
        done = settle_text(given)
    except InputError:
        assert len(faults(given)) == 1
    else:
        assert done == settle_document(ROUND)


# What is not wrong.


@pytest.mark.parametrize("name", ["void", "limits", "differential", "chip_unit", "excess"])
def test_null_means_left_out(name: str) -> None:
    left_out, null = settle_document(without(name)), settle_document(ROUND | {name: None})
    assert left_out == null


def test_null_means_left_out_inside_the_limits_too() -> None:
    assert settle_document(limits(big_small={"min": None, "max": "10000"})) == settle_document(
        limits(big_small={"max": "10000"})
    )
    assert settle_document(limits(big_small={"max": "10000"}, big=None)) == settle_document(
        limits(big_small={"max": "10000"})
    )
    assert settle_document(ROUND | {"differential": {"big-small": None}}) == settle_document(without("differential"))


def test_a_minimum_equal_to_the_maximum_is_a_limit() -> None:
    done: Any = settle_document(limits(big_small={"min": "100", "max": "100"}))
    assert len(done["breaches"]) == 3  # both boxes over their maximum, and the difference of 9,000 beyond 8,000


def test_a_player_may_bet_in_several_boxes_and_a_box_may_have_several_players() -> None:
    bets = [
        {"ref": f"{player}/{box}", "player": player, "box": box, "stake": "1"}
        for player in "ab"
        for box in ("big", "odd")
    ]
    done: Any = settle_document(ROUND | {"bets": bets})
    assert [bet["ref"] for bet in done["bets"]] == ["a/big", "a/odd", "b/big", "b/odd"]


def test_settling_does_not_change_what_it_was_given() -> None:
    given = copy.deepcopy(ROUND)
    settle_document(given)
    assert given == ROUND


# Several faults.


def test_each_fault_has_its_own_sentence() -> None:
    given = with_bet(stake="0", box="huge") | {"dice": [1, 2, 7], "chip_unit": "0", "colour": "red"}
    said = faults(json.dumps(given))
    assert len(said) == 5
    for word in ("stake", "huge", "dice", "chip_unit", "colour"):
        assert any(word in fault for fault in said), word


def test_two_bets_with_a_fault_each_have_two_sentences() -> None:
    bets = [
        {"ref": "b1", "player": "1", "box": "big", "stake": "NaN"},
        {"ref": "b2", "player": "2", "box": "no", "stake": "1"},
    ]
    assert len(faults(json.dumps(ROUND | {"bets": bets}))) == 2


# Through the command.


def refused(*arguments: str, given: bytes = b"") -> list[str]:
    """The lines of an error of the command."""
    done = command("settle", *arguments, given=given)
    assert done.returncode != 0
    assert done.stdout == ""
    assert "Traceback" not in done.stderr
    return done.stderr.splitlines()


def written(folder: Path, given: Any) -> str:
    path = folder / "round.json"
    path.write_bytes(given if isinstance(given, bytes) else json.dumps(given).encode())
    return str(path)


@pytest.mark.parametrize("from_file", [True, False], ids=["from a file", "from standard input"])
def test_the_command_settles(from_file: bool, tmp_path: Path) -> None:
    done = command("settle", written(tmp_path, ROUND)) if from_file else command("settle", "-", given=GOOD.encode())
    assert (done.returncode, done.stderr) == (0, "")
    assert json.loads(done.stdout) == settle_document(ROUND)


BY_COMMAND: dict[str, tuple[Any, tuple[str, ...]]] = {
    "a stake that is a number": (with_bet(stake=12000), ("stake",)),
    "a box that is not there": (with_bet(box="pair-112"), ("pair-112",)),
    "a box that is half a character": (with_bet(box="\ud800"), ("box",)),
    "malformed JSON": (b'{"rulebook": }', ("1",)),
    "invalid UTF-8": (b"\xff\xfe\x00", ()),
    "an empty file": (b"", ()),
    "brackets": (b"[" * 100_000, ()),
}


@pytest.mark.parametrize(("given", "words"), BY_COMMAND.values(), ids=BY_COMMAND.keys())
def test_the_command_refuses_in_one_line(given: Any, words: tuple[str, ...], tmp_path: Path) -> None:
    (line,) = refused(written(tmp_path, given))
    assert all(word in line for word in words), line


def test_the_command_says_one_line_a_fault() -> None:
    given = json.dumps(with_bet(stake="0") | {"dice": [1, 2, 7], "colour": "red"}).encode()
    assert len(refused("-", given=given)) == 3


def test_the_command_names_a_file_that_is_not_there(tmp_path: Path) -> None:
    (line,) = refused(str(tmp_path / "nowhere.json"))
    assert "nowhere.json" in line


def test_the_command_names_a_folder_in_place_of_a_file(tmp_path: Path) -> None:
    (line,) = refused(str(tmp_path))
    assert str(tmp_path) in line


@pytest.mark.parametrize("from_file", [True, False], ids=["from a file", "from standard input"])
def test_a_file_of_100_megabytes_is_refused_in_one_line(from_file: bool, tmp_path: Path) -> None:
    given = GOOD.encode() + b" " * 100_000_000
    (line,) = refused(written(tmp_path, given)) if from_file else refused("-", given=given)
    assert len(line) < 1000


def test_a_player_that_is_half_a_character_breaks_nothing() -> None:
    """Whether such a name is accepted is open; in no case does a traceback come of it."""
    done = command("settle", "-", given=json.dumps(with_bet(player="\ud800")).encode())
    assert "Traceback" not in done.stderr
    assert (done.returncode == 0) == bool(done.stdout)
