"""The API of the floor: tables, signs, time lines, dice; limits proposed and decided; refusals as problem+json."""

import json
from typing import Any

import pytest
from django.test import Client

from games.limits.services.proposals import limits_propose
from games.models import Denial, LimitDecision, LimitProposal, Table
from tests.conftest import House
from tests.games.floor_setup import MINUTE, NOON, USUAL, bare_table, open_table, put_sign, sign
from tests.games.logins import logged_in

PROPOSAL: dict[str, Any] = {
    "tables": ["TS-01"], "reason": "Quiet night",
    "boxes": {"big-small": {"min": "25", "max": "3000"}, "single": {"min": "25", "max": "1000"}},
}  # fmt: skip


@pytest.fixture
def table(house: House, clock: Any) -> Table:
    """Open, and since a minute ago with limits for two bet types only."""
    table = open_table(house)
    put_sign(table, starts_at=NOON - MINUTE)
    return table


def get(house: House, role: str, path: str, **query: str) -> tuple[int, Any]:
    answer = logged_in(house[role]).get(f"/api/v1/{path}", query)
    return answer.status_code, answer.json()


def post(house: House, role: str, path: str, body: object) -> tuple[int, Any]:
    text = body if isinstance(body, str) else json.dumps(body)
    answer = logged_in(house[role]).post(f"/api/v1/{path}", text, content_type="application/json")
    return answer.status_code, answer.json()


def test_tables_with_their_state_game_sign_and_dice(house: House, table: Table) -> None:
    code, body = get(house, "pit-manager", "tables/")
    assert code == 200
    assert body["results"] == [
        {
            "code": "TS-01",
            "casino": "RWS",
            "pit": "P1",
            "state": "open",
            "opening_on_record": True,
            "since": "2026-11-15T20:00:00+08:00",
            "game": {
                "rulebook": "rws-tai-sai-v6", "version": "6", "layout": "A", "chip_unit": "1.00",
                "from": "2026-01-01T08:00:00+08:00", "approval": "operator-not-named",
            },
            "limits_from": "2026-11-15T19:59:00+08:00",
            "next_limits_from": None,
            "dice_set": "D-TS-01",
            "tumbler": "T-TS-01",
            "pending_proposals": 0,
        }
    ]  # fmt: skip
    assert get(house, "pit-manager", "tables/ts-01/") == (200, body["results"][0])


def test_a_pit_sees_its_own_tables_and_the_casino_all(house: House, table: Table) -> None:
    bare_table(house, "TS-02", pit="P2")
    codes = {role: [one["code"] for one in get(house, role, "tables/")[1]["results"]] for role in house.people
             if get(house, role, "tables/")[0] == 200}  # fmt: skip
    assert codes["pit-manager"] == ["TS-01"]
    assert codes["surveillance"] == ["TS-01", "TS-02"]
    code, body = get(house, "pit-manager", "tables/TS-02/")
    assert (code, body["title"]) == (403, "Not open to you")
    assert Denial.objects.filter(action="table.view").exists()


def test_lists_are_filtered_and_an_unknown_parameter_is_told(house: House, table: Table) -> None:
    assert get(house, "auditor", "tables/", state="closed")[1]["results"] == []
    code, body = get(house, "auditor", "tables/", colour="green")
    assert code == 400
    assert body["errors"] == [
        {"field": "colour", "message": "is not a known parameter; the parameters are state, casino, cursor, page_size."}
    ]


def test_what_the_sign_said_at_a_moment(house: House, table: Table) -> None:
    code, body = get(house, "compliance", "tables/TS-01/limits/", at="2026-11-15T19:59:00+08:00")
    assert (code, body["boxes"]["big-small"], body["origin"]) == (200, {"min": "50.00", "max": "3000.00"}, "file")
    code, body = get(house, "compliance", "tables/TS-01/limits/", at="2025-01-01T00:00:00Z")
    assert (code, body["title"]) == (404, "Not there")
    assert "no limits were in force" in body["detail"]
    code, body = get(house, "compliance", "tables/TS-01/limits/", at="2026-11-15T19:59:00")
    assert (code, body["errors"][0]["field"]) == (400, "at")
    raw = logged_in(house["compliance"]).get("/api/v1/tables/TS-01/limits/?at=2026-11-15T19:59:00+08:00")
    assert raw.status_code == 200  # the + of an offset that nobody escaped


def test_an_answer_that_is_an_error_is_problem_json(house: House, table: Table) -> None:
    answer = logged_in(house["auditor"]).get("/api/v1/tables/TS-99/")
    assert answer.headers["Content-Type"] == "application/problem+json"
    assert answer.json() == {
        "type": "about:blank", "title": "Not there", "status": 404,
        "detail": "There is no table TS-99; check the code.",
    }  # fmt: skip


def test_who_is_not_logged_in_is_asked_to(house: House, table: Table) -> None:
    answer = Client().get("/api/v1/tables/")
    assert (answer.status_code, answer.headers["WWW-Authenticate"]) == (401, "Session")


def test_a_post_without_the_csrf_token_is_refused(house: House, table: Table) -> None:
    client = logged_in(house["pit-manager"], enforce_csrf_checks=True)
    answer = client.post("/api/v1/limit-proposals/", json.dumps(PROPOSAL), content_type="application/json")
    assert answer.status_code == 403
    assert not LimitProposal.objects.exists()


def test_the_time_line_and_the_dice(house: House, table: Table) -> None:
    what = [event["what"] for event in get(house, "auditor", "tables/TS-01/timeline/")[1]["results"]]
    assert "Opened" in what
    assert "Dice set D-TS-01 fitted" in what
    code, body = get(house, "auditor", "tables/TS-01/dice/")
    assert (code, body["dice_set"], body["to"]) == (200, "D-TS-01", None)
    assert get(house, "auditor", "tables/TS-01/dice/", at="2026-01-01T00:00:00Z")[0] == 404
    dice = get(house, "auditor", "dice-sets/")[1]["results"][0]
    assert (dice["code"], dice["table"], len(dice["serials"])) == ("D-TS-01", "TS-01", 3)
    assert get(house, "auditor", f"dice-sets/{dice['id']}/")[1]["inspections"] == []


def test_limits_are_proposed_and_approved_by_two_people(house: House, table: Table) -> None:
    code, body = post(house, "pit-manager", "limit-proposals/", PROPOSAL)
    assert (code, body["state"], body["proposed_by"]) == (201, "pending", "PIT-MANAGER")
    assert body["changes"]["TS-01"] == [
        {"key": "big-small", "figure": "min", "old": "50.00", "new": "25.00", "stricter": False, "removes": False}
    ]
    path = f"limit-proposals/{body['id']}/"
    code, approved = post(house, "shift-manager", f"{path}approve/", {"reason": "Agreed"})
    assert (code, approved["state"], approved["decision"]["by"]) == (200, "approved", "SHIFT-MANAGER")
    code, again = post(house, "casino-manager", f"{path}reject/", {"reason": "No"})
    assert (code, again["title"]) == (409, "Overtaken")
    assert "was approved by SHIFT-MANAGER" in again["detail"]
    assert get(house, "auditor", "limit-proposals/", state="approved")[1]["results"][0]["id"] == body["id"]


def test_single_figures_are_changed_and_the_rest_of_the_sign_stays(house: House, table: Table) -> None:
    other = bare_table(house, "TS-02", layout="C")
    put_sign(other, sign({**USUAL, "odd-even": (50, 3000), "total-4": (5, 50)}, {"odd-even": 1000}))
    change = {"boxes": {"big-small": {"min": "25"}}}
    body = {"changes": {"TS-01": change, "TS-02": change}, "reason": "Quiet night"}
    code, made = post(house, "pit-manager", "limit-proposals/", body)
    assert (code, made["tables"], made["boxes"], made["differential"]) == (201, ["TS-01", "TS-02"], None, None)
    assert made["signs"]["TS-02"] == {
        "boxes": {
            "big-small": {"min": "25.00", "max": "3000.00"}, "single": {"min": "25.00", "max": "1000.00"},
            "odd-even": {"min": "50.00", "max": "3000.00"}, "total-4": {"min": "5.00", "max": "50.00"},
        },
        "differential": {"odd-even": "1000.00"},
    }  # fmt: skip
    assert (made["overtaken"], made["until"]) == ([], {"TS-01": None, "TS-02": None})
    code, approved = post(house, "shift-manager", f"limit-proposals/{made['id']}/approve/", {"reason": "Agreed"})
    assert (code, [len(lines) for lines in approved["changes"].values()]) == (200, [1, 1])


SINGLE = ["boxes.single.min", "boxes.single.max"]


def test_a_name_confirms_a_removal_at_one_table_only(house: House, table: Table) -> None:
    put_sign(bare_table(house, "TS-02"))
    fewer = PROPOSAL | {"boxes": {"big-small": {"min": "25", "max": "3000"}}, "tables": ["TS-01", "TS-02"]}
    code, body = post(house, "pit-manager", "limit-proposals/", fewer | {"remove": SINGLE})
    assert (code, body["errors"][0]["field"]) == (400, "remove")
    assert "write them by table" in body["errors"][0]["message"]
    both = {"TS-01": SINGLE, "TS-02": SINGLE}
    code, body = post(house, "pit-manager", "limit-proposals/", fewer | {"remove": both})
    assert code == 201
    path = f"limit-proposals/{body['id']}/approve/"
    for remove in (SINGLE, {"TS-01": SINGLE}):
        code, refusal = post(house, "shift-manager", path, {"reason": "Agreed", "remove": remove})
        assert (code, refusal["errors"][0]["field"]) == (400, "remove")
    assert not LimitDecision.objects.exists()
    assert post(house, "shift-manager", path, {"reason": "Agreed", "remove": both})[0] == 200


def test_a_limit_is_removed_only_where_both_name_it(house: House, table: Table) -> None:
    fewer = PROPOSAL | {"boxes": {"big-small": {"min": "25", "max": "3000"}}}
    code, body = post(house, "pit-manager", "limit-proposals/", fewer)
    assert (code, [error["field"] for error in body["errors"]]) == (400, ["remove", "remove"])
    assert "TS-01: boxes.single.min is 25.00 on the sign and would be removed" in body["errors"][0]["message"]
    assert not LimitProposal.objects.exists()
    code, body = post(house, "pit-manager", "limit-proposals/", fewer | {"remove": SINGLE})
    assert (code, [change["removes"] for change in body["changes"]["TS-01"]]) == (201, [False, True, True])
    path = f"limit-proposals/{body['id']}/approve/"
    code, refusal = post(house, "shift-manager", path, {"reason": "Agreed"})
    assert (code, refusal["errors"][0]["field"]) == (400, "remove")
    assert not LimitDecision.objects.exists()
    for bare in (["single"], ["boxes.single"], {"TS-01": ["single"]}, {"TS-02": SINGLE}, {"TS-01": "single"}):
        code, refusal = post(house, "shift-manager", path, {"reason": "Agreed", "remove": bare})
        assert (code, refusal["errors"][0]["field"].partition(".")[0]) == (400, "remove"), bare
    assert not LimitDecision.objects.exists()
    code, body = post(house, "shift-manager", path, {"reason": "Agreed", "remove": {"TS-01": SINGLE}})
    assert (code, body["state"]) == (200, "approved")
    assert get(house, "auditor", "tables/TS-01/limits/", at="2026-11-16T20:00:00+08:00")[1]["boxes"].keys() == {
        "big-small"
    }


def test_an_approval_that_would_undo_another_change_is_a_conflict(house: House, table: Table) -> None:
    later = {"reason": "Later", "from": "2026-11-16T20:00:00+08:00"}
    _, first = post(house, "pit-manager", "limit-proposals/", PROPOSAL)
    change = {"changes": {"TS-01": {"boxes": {"single": {"max": "2000"}}}}} | later
    _, second = post(house, "pit-manager", "limit-proposals/", change)
    post(house, "shift-manager", f"limit-proposals/{first['id']}/approve/", {"reason": "Agreed"})
    code, body = get(house, "auditor", f"limit-proposals/{second['id']}/")
    assert "Big and Small minimum 50 → 25" in body["overtaken"][0]
    code, body = post(house, "shift-manager", f"limit-proposals/{second['id']}/approve/", {"reason": "Agreed"})
    assert (code, body["title"]) == (409, "Overtaken")
    assert "Reject it and propose the change again" in body["detail"]


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"changes": {}}, "tables"),
        ({"changes": []}, "changes"),
        ({"changes": {"TS-99": {}}}, "changes"),
        ({"changes": {"TS-01": 7}}, "changes.TS-01"),
        ({"changes": {"TS-01": {"colour": "green"}}}, "changes.TS-01.colour"),
        ({"changes": {"TS-01": {"boxes": {"bigger": {"min": "5"}}}}}, "changes.TS-01.boxes.bigger"),
        ({"changes": {"TS-01": {"boxes": {"big-small": {"min": 5}}}}}, "changes.TS-01.boxes.big-small.min"),
        ({"changes": {"TS-01": {"differential": {"big-small": "x"}}}}, "changes.TS-01.differential.big-small"),
        ({"changes": {"TS-01": {"remove": "single"}}}, "changes.TS-01.remove"),
        ({"changes": {"TS-01": {"remove": ["double"]}}}, ""),
        ({"changes": {"TS-01": {}}, "tables": ["TS-01"]}, "tables"),
        ({"changes": {"TS-01": {}}, "remove": ["single"]}, "remove"),
        ({"changes": {"TS-01": {"boxes": {"odd-even": {"min": "5"}}}}}, ""),
    ],
)
def test_wrong_edits_are_told_with_their_field(house: House, table: Table, body: Any, field: str) -> None:
    code, answer = post(house, "pit-manager", "limit-proposals/", body | {"reason": "Try"})
    assert (code, [error["field"] for error in answer["errors"]]) == (400, [field])
    assert not LimitProposal.objects.exists()


def test_the_proposer_cannot_approve_by_api(house: House, table: Table) -> None:
    code, body = post(house, "shift-manager", "limit-proposals/", PROPOSAL)
    assert code == 201
    code, _ = post(house, "shift-manager", f"limit-proposals/{body['id']}/approve/", {"reason": "Me too"})
    assert code == 403
    assert Denial.objects.filter(action="limits.approve").exists()
    assert not LimitDecision.objects.exists()
    assert post(house, "shift-manager", f"limit-proposals/{body['id']}/withdraw/", {"reason": "A slip"})[0] == 200


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"tables": []}, "tables"),
        ({"tables": ["TS-99"]}, "tables"),
        ({"tables": "TS-01"}, "tables"),
        ({"boxes": {"big-small": {"min": 25}}}, "boxes.big-small.min"),
        ({"boxes": {"big-small": {"min": "9", "max": "8"}}}, "boxes.big-small"),
        ({"boxes": {"odd-even": {"min": "9"}}}, ""),
        ({"boxes": {"big": {}, "bigger": None}}, "boxes.bigger"),
        ({"differential": {"single": None}}, "differential.single"),
        ({"differential": {"big-small": "1.234"}}, "differential.big-small"),
        ({"from": "21:07"}, "from"),
        ({"from": "2020-01-01T00:00:00Z"}, "from"),
        ({"correction": "yes"}, "correction"),
        ({"reason": 7}, "reason"),
        ({"reason": " "}, "reason"),
        ({"colour": "green"}, "colour"),
    ],
)
def test_a_wrong_proposal_is_told_with_its_field(house: House, table: Table, change: Any, field: str) -> None:
    code, body = post(house, "pit-manager", "limit-proposals/", PROPOSAL | change)
    assert code == 400
    assert [error["field"] for error in body["errors"]] == [field]
    assert not LimitProposal.objects.exists()


@pytest.mark.parametrize("body", ["", "[]", "{", '{"tables": ["TS-01"], "tables": []}', '"x"', "null"])
def test_a_body_that_is_no_proposal_is_told(house: House, table: Table, body: str) -> None:
    assert post(house, "pit-manager", "limit-proposals/", body)[0] == 400


def test_a_hundred_tables_cost_as_many_queries_as_ten(
    house: House, clock: Any, django_assert_max_num_queries: Any
) -> None:
    for number in range(15):
        put_sign(bare_table(house, f"TS-{number:02d}"), sign())
    client = logged_in(house["auditor"])
    with django_assert_max_num_queries(14):
        assert len(client.get("/api/v1/tables/").json()["results"]) == 15


def test_proposals_are_listed_by_state_and_table(house: House, table: Table) -> None:
    other = bare_table(house, "TS-02")
    put_sign(other)
    limits_propose(
        actor=house["pit-manager"], tables=[other], limits=sign({**USUAL, "single": (5, 50)}), reason="Quiet"
    )
    assert get(house, "auditor", "limit-proposals/", table="TS-01")[1]["results"] == []
    assert len(get(house, "auditor", "limit-proposals/", state="pending")[1]["results"]) == 1
    assert get(house, "auditor", "limit-proposals/", state="odd")[0] == 400
