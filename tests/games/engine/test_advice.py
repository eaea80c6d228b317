"""What each rulebook says about each situation, cell by cell of the contract's table."""

import json
from dataclasses import dataclass
from typing import Any

import pytest

from games.engine.json_output import InputError, advise_document
from tests.games.engine import command
from tests.games.engine.oracle import DIVISION_9, OPEN_COVER, RULEBOOKS, V6

Cell = tuple[str, ...]  # the action, then the rules


@dataclass(frozen=True)
class Row:
    situation: str
    v6: Cell
    open_cover: Cell
    division_9: Cell
    facts: tuple[tuple[str, str], ...] = ()

    def cell(self, rulebook: str) -> Cell:
        return {V6: self.v6, OPEN_COVER: self.open_cover, DIVISION_9: self.division_9}[rulebook]


def alike(situation: str, rws: Cell, division_9: Cell, *facts: tuple[str, str]) -> Row:
    """A row in which the two RWS rulebooks say the same."""
    return Row(situation, rws, rws, division_9, facts)


def dice(known: str) -> tuple[str, str]:
    return "known_dice", known


RULING: Cell = ("ruling",)
RWS_RULING: Cell = ("ruling", "5.14")

TABLE = (
    alike("few-tumbles", ("void", "5.5.1"), ("void", "7.1(b)")),
    alike("die-not-flat", ("void", "5.5.2"), ("void", "7.1(a)")),
    Row("dice-exposed-early", ("void", "5.5.3"), ("stand", "3.7"), ("void", "7.1(c)")),
    Row("tumbler-early", ("stand", "3.7"), ("void", "5.5.3"), ("stand", "6.1")),
    alike("tumbler-not-activated", RWS_RULING, ("void", "7.1(d)")),
    alike("tumbler-fault", RWS_RULING, ("void", "7.1(b)")),
    alike("dice-damaged", ("void-affected", "5.6"), RULING),
    alike("interruption", ("conclude", "5.4.1"), RULING, dice("2,?,?")),
    alike("interruption", ("conclude", "5.4.1"), RULING, dice("?,?,6")),
    alike("interruption", ("conclude", "5.4.1"), RULING, dice("?,5,5")),
    alike("interruption", ("conclude", "5.4.1"), RULING, dice("1,2,3")),
    alike("interruption", ("void", "5.4.2"), RULING, dice("?,?,?")),
    alike("late-bet", ("refuse", "5.7"), ("refuse", "4.7")),
    alike("over-limit-noticed", ("reject-excess", "5.1"), RULING),
    alike("over-limit-unnoticed", ("pro-rate", "5.1.1"), RULING),
    alike("below-minimum-noticed", ("advise-player", "5.2"), RULING),
    alike("below-minimum-unnoticed", ("settle-as-placed", "5.2.1"), RULING),
    alike("player-left", ("settle-as-placed", "5.3"), RULING),
    alike("wrong-result-entered", ("pay-by-dice", "3.8"), ("amend", "7.2"), ("settled", "no")),
    alike("wrong-result-entered", RWS_RULING, RULING, ("settled", "yes")),
    alike("lights-wrong", ("pay-by-dice", "5.10"), ("pay-by-dice-and-suspend", "7.3", "7.4")),
    alike("display-wrong", ("stand", "5.11"), ("stand-and-suspend", "7.5", "7.4")),
    alike("bet-misplaced", ("settle-as-placed", "5.9"), ("settle-as-placed", "4.6")),
    alike("chips-moved", ("settle-as-placed", "5.9"), ("discretion", "4.9")),
    alike("house-placed-wrongly", ("settle-as-placed", "5.13"), ("settle-as-placed", "4.6")),
    alike("error-noticed-later", ("later-rounds-stand", "5.8"), RULING),
    alike("other", RWS_RULING, RULING),
)
SITUATIONS = {row.situation for row in TABLE}
EVERY_RULEBOOK = pytest.mark.parametrize("rulebook", RULEBOOKS)
EVERY_ROW = pytest.mark.parametrize("row", TABLE, ids=lambda row: " ".join((row.situation, *(v for _, v in row.facts))))


def authority(rulebook: str, cell: Cell) -> str:
    named = {"amend": "pit-supervisor", "discretion": "casino-operator"}
    if cell[0] == "ruling":
        return "unspecified" if rulebook == DIVISION_9 else "shift-manager"
    return named.get(cell[0], "rule")


def advised(rulebook: str, row: Row) -> Any:
    return advise_document(rulebook, row.situation, dict(row.facts))


def fault_of(rulebook: str, situation: str, **facts: str) -> str:
    with pytest.raises(InputError) as refusal:
        advise_document(rulebook, situation, facts)
    (fault,) = refusal.value.faults
    assert len(fault.splitlines()) == 1
    return fault


def test_our_table_has_the_22_situations_of_the_contract() -> None:
    assert len(SITUATIONS) == 22


@EVERY_RULEBOOK
@EVERY_ROW
def test_action_rules_and_authority_are_those_of_the_table(rulebook: str, row: Row) -> None:
    action, *numbers = row.cell(rulebook)
    said = advised(rulebook, row)
    assert said.keys() == {"situation", "action", "rules", "authority", "explain"}
    assert (said["situation"], said["action"]) == (row.situation, action)
    assert said["rules"] == [f"{rulebook}#{number}" for number in numbers]
    assert said["authority"] == authority(rulebook, row.cell(rulebook))


@EVERY_RULEBOOK
@EVERY_ROW
def test_it_is_explained_in_a_sentence(rulebook: str, row: Row) -> None:
    explained = advised(rulebook, row)["explain"]
    assert explained == explained.strip()
    assert len(explained.split()) > 3
    assert explained.endswith(".")


@EVERY_ROW
def test_where_division_9_is_silent_the_advice_says_that_a_shift_manager_is_asked(row: Row) -> None:
    if row.division_9 == RULING:
        assert "shift manager" in advised(DIVISION_9, row)["explain"].lower()


@pytest.mark.parametrize("rulebook", [V6, OPEN_COVER])
def test_5_8_protects_later_rounds_and_the_error_itself_goes_to_its_rule_or_to_5_14(rulebook: str) -> None:
    assert "5.14" in advise_document(rulebook, "error-noticed-later", {})["explain"]


@EVERY_RULEBOOK
@pytest.mark.parametrize(
    "known",
    [
        "7,?,?",
        "0,?,?",
        "-1,?,?",
        "1,2",
        "1,2,3,4",
        "",
        ",,",
        "2",
        "x,?,?",
        "1.0,?,?",
        "2;?;?",
        "??,?,?",
        "²,?,?",
        "١,?,?",
    ],
)
def test_5_4_known_dice_that_are_none_are_an_error_in_every_rulebook(rulebook: str, known: str) -> None:
    assert "known_dice" in fault_of(rulebook, "interruption", known_dice=known)


@EVERY_RULEBOOK
@pytest.mark.parametrize("answer", ["maybe", "", "YES", "true", "1"])
def test_a_wrong_result_is_settled_or_not_and_nothing_else(rulebook: str, answer: str) -> None:
    assert "settled" in fault_of(rulebook, "wrong-result-entered", settled=answer)


@EVERY_RULEBOOK
@pytest.mark.parametrize(("situation", "fact"), [("interruption", "known_dice"), ("wrong-result-entered", "settled")])
def test_a_missing_fact_is_an_error_in_every_rulebook(rulebook: str, situation: str, fact: str) -> None:
    assert fact in fault_of(rulebook, situation)


@EVERY_RULEBOOK
@pytest.mark.parametrize("situation", sorted(SITUATIONS - {"interruption", "wrong-result-entered"}))
def test_a_fact_that_the_situation_does_not_know_is_an_error(rulebook: str, situation: str) -> None:
    assert "settled" in fault_of(rulebook, situation, settled="no")


@EVERY_RULEBOOK
def test_a_fact_too_many_is_an_error_also_beside_the_right_one(rulebook: str) -> None:
    assert "weather" in fault_of(rulebook, "interruption", known_dice="2,?,?", weather="fine")
    assert "known_dice" in fault_of(rulebook, "wrong-result-entered", settled="no", known_dice="2,?,?")


@EVERY_RULEBOOK
@pytest.mark.parametrize("situation", ["earthquake", "", "Other", "few_tumbles", "other "])
def test_an_unknown_situation_is_an_error(rulebook: str, situation: str) -> None:
    assert situation in fault_of(rulebook, situation)


@pytest.mark.parametrize("rulebook", ["rws-tai-sai-v7", "", "../division-9-2008", "Division-9-2008"])
def test_an_unknown_rulebook_is_an_error(rulebook: str) -> None:
    assert rulebook in fault_of(rulebook, "other")


def test_5_4_the_command_takes_facts() -> None:
    done = command("advise", OPEN_COVER, "interruption", "--fact", "known_dice=2,?,?")
    assert (done.returncode, done.stderr) == (0, "")
    assert json.loads(done.stdout) == advise_document(OPEN_COVER, "interruption", {"known_dice": "2,?,?"})


def test_7_5_the_command_prints_the_advice_of_division_9() -> None:
    done = command("advise", DIVISION_9, "display-wrong")
    assert (done.returncode, done.stderr) == (0, "")
    assert json.loads(done.stdout)["rules"] == [f"{DIVISION_9}#7.5", f"{DIVISION_9}#7.4"]


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        ((V6, "interruption"), "known_dice"),
        ((V6, "earthquake"), "earthquake"),
        (("rws-tai-sai-v7", "other"), "rws-tai-sai-v7"),
        ((V6, "other", "--fact", "weather=fine"), "weather"),
        ((V6, "wrong-result-entered", "--fact", "settled"), "settled"),
    ],
)
def test_the_command_refuses_in_one_line_that_says_what(arguments: tuple[str, ...], named: str) -> None:
    done = command("advise", *arguments)
    assert done.returncode != 0
    assert done.stdout == ""
    assert "Traceback" not in done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert named in done.stderr
