"""replay: a recorded round settled otherwise, for disputes; nothing of it stays."""

import json
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from games.models import Denial, Staff, Table
from tests.audits.playing import TOO_HIGH, TWO_HUNDRED, Happened, correct, drain, everything, played, record, table_for
from tests.conftest import House
from tests.games.engine.oracle import DIVISION_9, OPEN_COVER, V6
from tests.games.floor_setup import MINUTE, bare_table, put_sign, sign
from tests.games.floors import called
from tests.games.rounds.samples import bet

EARLY_TUMBLER: list[Happened] = [
    ("place-bets", 0, {}), ("tumbler", 10, {"tumbles": 3}), ("no-more-bets", 20, {}),
    ("result", 30, {"dice": [1, 3, 6]}), ("settled", 40, {}),
]  # fmt: skip


def replayed(*options: str) -> dict[str, Any]:
    before = everything("audits_", "games_")
    found: dict[str, Any] = json.loads(called("replay", *options))
    assert everything("audits_", "games_") == before
    return found


def faults(*options: str) -> list[str]:
    before = everything("audits_", "games_outbox", "games_round")
    with pytest.raises(CommandError) as refusal:
        call_command("replay", *options)
    assert everything("audits_", "games_outbox", "games_round") == before
    return str(refusal.value).splitlines()


@pytest.fixture
def over_full(table: Table) -> Table:
    """4,000 and 2,000 on Small, which holds 3,000; chips of 1.00. 1, 3, 6: Small wins."""
    record(
        played(
            "R-1", bet("seat-1", stake="4000.00", net="2000.00"), bet("seat-2", stake="2000.00", net="900.00"),
            bet("seat-1", "single-1", "40.00", net="40.00"),
        )
    )  # fmt: skip
    return table


def nets(found: dict[str, Any], name: str = "otherwise") -> list[str | None]:
    return [one[name] for one in found["bets"]]


def test_without_options_it_is_settled_as_it_is_now(over_full: Table) -> None:
    found = replayed("R-1")
    assert found["round"] == {
        "ref": "R-1", "source": "floor", "table": "TS-01", "gaming_day": "2026-11-15",
        "started_at": "2026-11-15T18:02:00+08:00", "status": "settled",
    }  # fmt: skip
    assert found["recorded"] == {"rulebook": V6, "layout": "C", "limits_from": "2026-01-01T08:00:00+08:00"}
    assert found["otherwise"].items() >= found["now"].items()
    assert found["now"] == {
        "rulebook": V6, "layout": "C", "excess": "proportional", "chip_unit": "1.00", "status": "settled",
        "dice": [1, 3, 6], "limits_from": "2026-01-01T08:00:00+08:00",
    }  # fmt: skip
    assert found["bets"][1] == {
        "player": "seat-2", "box": "small", "stake": "2000.00", "counts": True, "recorded": "900.00",
        "now": "1000.00", "otherwise": "1000.00", "rules": [f"{V6}#4.1.2", f"{V6}#5.1.1"],
    }  # fmt: skip
    assert found["players"] == [
        {"player": "seat-1", "recorded": "2040.00", "now": "2040.00", "otherwise": "2040.00", "difference": "0.00"},
        {"player": "seat-2", "recorded": "900.00", "now": "1000.00", "otherwise": "1000.00", "difference": "100.00"},
    ]
    assert found["house"] == {
        "recorded": "-2940.00", "now": "-3040.00", "otherwise": "-3040.00", "difference": "-100.00",
    }  # fmt: skip
    assert [one["kind"] for one in found["otherwise"]["breaches"]] == ["box-maximum"]


def test_another_policy(over_full: Table) -> None:
    found = replayed("R-1", "--excess", "in-full")
    assert nets(found) == ["4000.00", "2000.00", "40.00"]
    assert nets(found, "now") == ["2000.00", "1000.00", "40.00"]
    assert [one["difference"] for one in found["players"]] == ["2000.00", "1100.00"]
    assert (found["now"]["excess"], found["otherwise"]["excess"]) == ("proportional", "in-full")


def test_another_rulebook_has_its_own_policy_and_rules(over_full: Table) -> None:
    found = replayed("R-1", "--rulebook", DIVISION_9, "--layout", "2")
    assert nets(found) == ["4000.00", "2000.00", "40.00"]  # Division 9 settles in full
    assert found["otherwise"]["excess"] == "in-full"
    assert all(rule.startswith(DIVISION_9) for one in found["bets"] for rule in one["rules"])
    assert found["otherwise"]["breaches"][0]["rules"] == []


def test_other_limits_of_a_file(over_full: Table, tmp_path: Path) -> None:
    path = tmp_path / "limits.json"
    path.write_text(json.dumps({"limits": {"small": {"max": "1000"}}, "differential": {"big-small": "300"}}))
    found = replayed("R-1", "--limits", str(path))
    # Small holds 300, the Differential above nothing on Big: 4000 × 300 ÷ 6000 and 2000 × 300 ÷ 6000.
    assert nets(found) == ["200.00", "100.00", "40.00"]
    assert [one["kind"] for one in found["otherwise"]["breaches"]] == ["box-maximum", "differential"]
    assert (found["otherwise"]["limits_from"], found["otherwise"]["chip_unit"]) == (str(path), "1.00")
    path.write_text(json.dumps({"limits": {"small": {"max": "1000"}}, "chip_unit": "500"}))
    # 666.67 and 333.33, rounded down to chips of 500
    assert nets(replayed("R-1", "--limits", str(path))) == ["500.00", "0.00", "40.00"]


def test_minimums_that_do_not_fit_into_a_box_need_a_ruling(over_full: Table, tmp_path: Path) -> None:
    path = tmp_path / "limits.json"
    path.write_text(json.dumps({"limits": {"small": {"min": "600", "max": "1000"}}}))
    found = replayed("R-1", "--limits", str(path))
    assert [one["boxes"] for one in found["otherwise"]["needs_ruling"]] == [["small"]]
    assert [(one["rule"], one["action"]) for one in found["otherwise"]["irregularities"]] == [(f"{V6}#5.14", "ruling")]


def test_limits_that_were_corrected_since(house: House, over_full: Table, clock: Any) -> None:
    drain()
    clock.shift(MINUTE)
    correct(house, over_full, TWO_HUNDRED)
    found = replayed("R-1")
    assert nets(found, "now") == ["133.00", "66.00", "40.00"]  # 4000 × 200 ÷ 6000, in chips of 1.00


def test_what_the_events_say_under_another_rulebook(table: Table) -> None:
    record(played("R-1", bet(net="100.00"), events=EARLY_TUMBLER))
    found = replayed("R-1", "--rulebook", OPEN_COVER)
    assert (found["now"]["status"], found["otherwise"]["status"]) == ("settled", "void")
    assert (nets(found, "now"), nets(found)) == (["100.00"], ["0.00"])
    assert found["players"][0]["difference"] == "-100.00"
    assert found["otherwise"]["irregularities"] == [
        {"rule": f"{OPEN_COVER}#5.5.3", "action": "void", "detail": "The tumbler ran before betting was closed."}
    ]
    assert found["bets"][0]["rules"] == [f"{OPEN_COVER}#5.5.3", f"{OPEN_COVER}#5.12"]


def test_a_void_round_that_another_rulebook_lets_stand(house: House, clock: Any) -> None:
    table_for(house, "TS-01", rulebook=OPEN_COVER)
    record(played("R-1", bet(), events=EARLY_TUMBLER))  # no net: nothing moved
    found = replayed("R-1", "--rulebook", V6)
    assert (found["now"]["status"], found["otherwise"]["status"]) == ("void", "settled")
    assert found["players"] == [
        {"player": "seat-1", "recorded": None, "now": "0.00", "otherwise": "100.00", "difference": "100.00"}
    ]


def test_an_unfinished_round_has_no_result_by_any_rulebook(table: Table) -> None:
    record(played("R-1", bet(net="5.00"), events=EARLY_TUMBLER[:1]))
    found = replayed("R-1", "--rulebook", OPEN_COVER)
    assert (found["otherwise"]["status"], found["otherwise"]["dice"]) == ("unfinished", None)
    assert found["house"] == {"recorded": "-5.00", "now": None, "otherwise": None, "difference": None}


def test_bets_that_count_for_nothing_get_nothing_and_need_no_box(table: Table) -> None:
    record(played("R-1", bet(net="100.00"), bet("seat-2", "odd", refused=True)))
    found = replayed("R-1", "--layout", "A")
    assert [(one["counts"], one["otherwise"]) for one in found["bets"]] == [(True, "100.00"), (False, "0.00")]


def test_lines_of_the_sign_that_the_other_layout_lacks_are_left_out_and_told(house: House, clock: Any) -> None:
    put_sign(bare_table(house, layout="C"), sign({"odd-even": (50, 100), "small": (50, 60)}, {"odd-even": 10}))
    record(played("R-1", bet(net="100.00")))
    found = replayed("R-1", "--layout", "A")
    assert found["otherwise"]["left_out"] == ["odd-even", "differential odd-even"]
    assert nets(found) == ["60.00"]
    assert replayed("R-1")["otherwise"]["left_out"] == []


# --- Which round ---


def test_a_ref_of_several_sources_is_named_with_one_of_them(house: House, table: Table) -> None:
    record(played("R-1", bet(net="100.00")), played("R-1", bet(net="90.00"), source="pit/2"))
    (line,) = faults("R-1")
    assert line == "round: 'R-1' is the ref of several rounds; write one of floor/R-1, pit/2/R-1."
    assert nets(replayed("floor/R-1"), "recorded") == ["100.00"]
    assert nets(replayed("pit/2/R-1"), "recorded") == ["90.00"]


def test_a_ref_may_hold_a_stroke_itself(table: Table) -> None:
    record(played("shift/R-1", bet(net="100.00")))
    assert replayed("shift/R-1") == replayed("floor/shift/R-1")


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["R-9"], ["round: there is no round 'R-9' on record; check its ref, or write source/ref."]),
        (["elsewhere/R-1"], ["round: there is no round 'elsewhere/R-1' on record"]),
        (["R-1", "--rulebook", "house-rules"], ["'house-rules' is not a rulebook"]),
        (["R-1", "--layout", "D"], ["'D' is not a layout"]),
        (["R-1", "--rulebook", DIVISION_9], ["'C' is not a layout"]),
        (["R-1", "--layout", "A"], ["layout A of rws-tai-sai-v6 has no box odd, on which seat-2 has a bet",
                                    "layout A of rws-tai-sai-v6 has no box four-6543, on which seat-3 has a bet"]),
        (["R-1", "--limits", "/nowhere.json"], ["/nowhere.json: cannot be read (No such file or directory)"]),
        (["R-1", "--as", "NOBODY"], ["--as: there is no person with the staff number"]),
    ],
)  # fmt: skip
def test_each_fault_is_a_sentence(table: Table, options: list[str], said: list[str]) -> None:
    record(played("R-1", bet(net="100.00"), bet("seat-2", "odd", net="-100.00"),
                  bet("seat-3", "four-6543", net="-100.00")))  # fmt: skip
    lines = faults(*options)
    assert [expected in line for line, expected in zip(lines, said, strict=True)] == [True] * len(said), lines


def test_faults_of_a_limits_file_name_file_and_field(table: Table, tmp_path: Path) -> None:
    record(played("R-1"))
    path = tmp_path / "limits.json"
    path.write_text(json.dumps({"limits": {"odd-evn": {"max": "5"}, "small": {"max": 5, "least": "1"}}, "colour": "x",
                                "differential": {"total": "5"}, "chip_unit": "0"}))  # fmt: skip
    lines = faults("R-1", "--limits", str(path))
    assert all(line.startswith(f"{path}: ") and line.endswith(".") for line in lines)
    fields = sorted(line.removeprefix(f"{path}: ").partition(":")[0] for line in lines)
    assert fields == [
        "chip_unit", "colour", "differential.total", "limits.odd-evn", "limits.small.least", "limits.small.max",
    ]  # fmt: skip
    for text in ("[]", "{", ""):
        path.write_text(text)
        (line,) = faults("R-1", "--limits", str(path))
        assert line.startswith(f"{path}: ")


# --- Who may ---


def test_who_may_see_the_round_may_replay_it(house: House, table: Table) -> None:
    record(played("R-1", TOO_HIGH))
    for role in ("pit-supervisor", "surveillance", "auditor"):
        assert replayed("R-1", "--as", role.upper())["round"]["ref"] == "R-1"


@pytest.mark.parametrize("number", ["ADMINISTRATOR", "PS-2", "AU-2"])
def test_who_may_not_is_turned_away_on_record(house: House, table: Table, number: str) -> None:
    house.hire("PS-2", "pit-supervisor", pit=house.pits["P2"])
    house.hire("AU-2", "auditor", casino=house.other)
    record(played("R-1"), played("R-1", source="other"))
    for name in ("floor/R-1", "R-1"):  # of several, none is named to who sees none
        (line,) = faults(name, "--as", number)
        assert "may not do this (round.view, round R-1). The attempt is on record." in line
    person = Staff.objects.get(number=number)
    assert [denial.door for denial in Denial.objects.filter(staff_id=person.pk)] == ["command replay"] * 2
