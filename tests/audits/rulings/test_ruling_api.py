"""The API of rulings, precedents, consequences and discretion: what it takes, what it answers, and who is refused."""

import json
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from django.db import connections
from django.test import Client
from django.utils import timezone

from audits.models import Consequence, Discretion, Incident, RepaymentMark, Ruling
from games.floor.moments import as_text, gaming_day
from games.models import Denial, Duty, LiveRound, Round, Staff, Table
from tests.audits.decided import incident_about, ruled
from tests.audits.files import played
from tests.conftest import House, build_house
from tests.games.engine.oracle import DIVISION_9, V6
from tests.games.floor_setup import HOUR, MINUTE, NOON, SECOND, bare_table, fitted_table, open_table, ready_table, sign
from tests.games.live.playing import Player
from tests.games.logins import logged_in
from tests.games.rounds.samples import bet

BETS = [bet("seat-1", "small", "100", net="100"), bet("seat-2", "big", "60", net="-60")]
WORDS = {"kind": "not-covered", "question": "Who won?", "decision": "Seat 2.", "reasoning": "The recording shows it."}


@pytest.fixture
def table(house: House) -> Table:
    return fitted_table(house, "TS-01", layout="C", limits=sign())


@pytest.fixture
def one(table: Table) -> Round:
    return played(table, timezone.now() - 5 * MINUTE, "R-1", BETS)


@pytest.fixture
def incident(house: House, table: Table, round_: Round) -> Incident:
    return incident_about(house, table, round_)


def get(house: House, role: str, path: str, **query: str) -> tuple[int, Any]:
    answer = logged_in(house[role]).get(f"/api/v1/{path}", query)
    return answer.status_code, answer.json()


def sent(person: Staff, path: str, body: object) -> tuple[int, Any]:
    answer = logged_in(person).post(f"/api/v1/{path}", json.dumps(body), content_type="application/json")
    return answer.status_code, answer.json()


def post(house: House, role: str, path: str, body: object) -> tuple[int, Any]:
    return sent(house[role], path, body)


def fields(problem: Any) -> list[str]:
    return [error["field"] for error in problem.get("errors", [])]


def on(incident: Incident, **more: Any) -> dict[str, Any]:
    return WORDS | {"incident": incident.number} | more


# --- To rule ---


def test_5_14_a_ruling_is_made_through_one_call(house: House, incident: Incident) -> None:
    code, made = post(house, "shift-manager", "rulings/", on(incident, rules=[f"{V6}#5.14"]))
    assert (code, made["number"], made["state"]) == (201, f"RU-{timezone.now().year}-000001", "in-force")
    assert (made["post"], made["facts"], made["policy"]) == ("shift manager", incident.account, None)
    assert get(house, "auditor", f"rulings/{made['number'].lower()}/") == (200, made)
    _, file = get(house, "auditor", f"incidents/{incident.number}/")
    assert (file["state"], [ruling["number"] for ruling in file["rulings"]]) == ("ruled", [made["number"]])
    assert get(house, "auditor", "rulings/RU-2020-000001/")[0] == get(house, "auditor", "rulings/7/")[0] == 404


def test_a_standing_interpretation_shows_the_policy_it_sets(house: House, incident: Incident) -> None:
    starts = as_text(timezone.now() + HOUR, house.casino)
    body = on(
        incident, kind="interpretation", rules=[f"{V6}#5.1.2"], scope="standing", effective_from=starts,
        excess="filled", rounding="5.00",
    )  # fmt: skip
    code, made = post(house, "shift-manager", "rulings/", body)
    assert (code, made["effective_from"]) == (201, starts)
    policy = {
        "rulebook": V6, "from": starts, "excess": "filled", "rounding": "5.00", "not_applied": None, "replaces": None,
    }  # fmt: skip
    assert made["readings"] == ["excess-in-proportion", "rounded-down"]
    assert made["policy"] == policy
    assert get(house, "pit-supervisor", f"rulings/{made['number']}/")[1]["policy"] is None
    later = as_text(timezone.now() + 2 * HOUR, house.casino)
    withdrawal = {"withdraws": made["number"], "reasoning": "The document is clear.", "effective_from": later}
    code, gone = post(house, "shift-manager", "rulings/", withdrawal)
    assert (code, gone["state"], gone["replaces"], gone["incident"]) == (
        201, "withdrawal", made["number"], incident.number,
    )  # fmt: skip
    assert gone["policy"] == {**policy, "from": later, "excess": None, "rounding": None, "replaces": made["number"]}
    _, before = get(house, "auditor", f"rulings/{made['number']}/")
    assert (before["state"], before["replaced_by"]) == ("in-force", gone["number"])  # until then


def test_what_the_rules_decide_is_refused_and_said_beforehand(house: House, table: Table) -> None:
    cocked = incident_about(house, table, situation="die-not-flat")
    _, beside = get(house, "shift-manager", f"incidents/{cocked.number}/precedents/")
    assert beside["decided_by"].startswith(f"{V6}#5.5.2 decides this: Void the round.")
    first = beside["readings"][0]
    assert (first["name"], first["rules"]) == ("void-is-not-healed", [f"{V6}#1.9", f"{V6}#5.5"])
    code, problem = post(house, "shift-manager", "rulings/", on(cocked, decision="The round is valid."))
    assert (code, fields(problem)) == (400, ["kind"])
    standing = {"kind": "interpretation", "rules": [f"{V6}#5.1.1"], "scope": "standing"}
    full = incident_about(house, table, situation="over-limit-unnoticed")
    code, problem = post(house, "shift-manager", "rulings/", on(full, **standing, excess="in-full"))
    assert (code, fields(problem)) == (400, ["excess"])
    assert f"{V6}#5.1.1 excludes in-full" in str(problem)
    code, problem = post(house, "shift-manager", "rulings/", on(full, **standing, readings=["luck"]))
    assert (code, fields(problem)) == (400, ["readings"])
    assert not Ruling.objects.exists()
    code, made = post(house, "shift-manager", "rulings/", on(full, **standing, readings=["rounded-down"]))
    assert (code, made["readings"]) == (201, ["rounded-down"])


def test_a_ruling_is_superseded_and_withdrawn_by_another_and_once(house: House, incident: Incident) -> None:
    first = post(house, "shift-manager", "rulings/", on(incident))[1]["number"]
    code, second = post(house, "casino-manager", "rulings/", WORDS | {"supersedes": first, "decision": "The house."})
    assert (code, second["replaces"], second["incident"]) == (201, first, incident.number)
    code, problem = post(house, "casino-manager", "rulings/", WORDS | {"supersedes": first})
    assert (code, problem["title"]) == (409, "Overtaken")
    withdrawal = {"withdraws": second["number"], "reasoning": "Wrong as well."}
    assert post(house, "casino-manager", "rulings/", withdrawal)[0] == 201
    states = {one["number"][-1]: one["state"] for one in get(house, "auditor", "rulings/")[1]["results"]}
    assert states == {"1": "superseded", "2": "withdrawn", "3": "withdrawal"}


def test_every_fault_of_a_ruling_is_told_at_once(house: House, incident: Incident) -> None:
    body = {
        "incident": "IN-2020-000001", "kind": "whim", "question": "", "decision": 7, "rules": ["5.1.2"],
        "scope": "for-ever", "effective_from": "soon", "excess": "generous", "rounding": 5, "follows": "RU-2020-000001",
        "departure": "x", "supersedes": "7", "colour": "red",
    }  # fmt: skip
    code, problem = post(house, "shift-manager", "rulings/", body)
    assert (code, set(fields(problem))) == (400, (body.keys() - {"rules"}) | {"reasoning", "rules[0]"})
    code, problem = post(house, "shift-manager", "rulings/", {})
    assert (code, fields(problem)) == (400, ["kind", "question", "decision", "reasoning", "incident"])
    code, problem = post(house, "shift-manager", "rulings/", {"withdraws": "RU-2020-000001", "kind": "confirmation"})
    assert (code, set(fields(problem))) == (400, {"kind", "reasoning", "withdraws"})
    assert fields(post(house, "shift-manager", "rulings/", on(incident, kind="interpretation"))[1]) == ["rules"]
    assert fields(post(house, "shift-manager", "rulings/", on(incident, excess="filled"))[1]) == ["scope"]
    assert post(house, "shift-manager", "rulings/?colour=red", on(incident))[0] == 400
    assert not Ruling.objects.exists()


def test_a_ruling_on_another_file_is_not_superseded_by_mistake(house: House, table: Table, incident: Incident) -> None:
    first = ruled(house, incident)
    other = incident_about(house, table, account="Another.")
    body = on(other, supersedes=first.number)
    assert fields(post(house, "shift-manager", "rulings/", body)[1]) == ["incident"]


# --- Who may not ---


@pytest.mark.parametrize(
    "role", ["pit-supervisor", "pit-manager", "surveillance", "compliance", "auditor", "administrator"]
)
def test_nobody_below_a_shift_manager_rules_and_each_attempt_is_on_record(
    house: House, incident: Incident, role: str
) -> None:
    assert post(house, role, "rulings/", on(incident))[0] == 403
    assert post(house, role, "rulings/", {"colour": "red"})[0] == 403
    assert Denial.objects.filter(staff_id=house[role].pk, action="ruling.make").count() == 2
    assert not Ruling.objects.exists()


def test_a_dealer_does_not_even_come_in(house: House, incident: Incident) -> None:
    assert post(house, "dealer", "rulings/", on(incident))[0] == 403
    assert Denial.objects.filter(staff_id=house["dealer"].pk).exists()


def test_a_shift_manager_who_dealt_the_round_does_not_rule(house: House, table: Table) -> None:
    dealt = played(table, timezone.now() - MINUTE, "R-2", BETS, dealer="SHIFT-MANAGER")
    incident = incident_about(house, table, dealt)
    code, problem = post(house, "shift-manager", "rulings/", on(incident, override="Nobody else is here"))
    assert (code, "dealt or supervised" in problem["detail"]) == (403, True)
    assert Denial.objects.filter(staff_id=house["shift-manager"].pk, action="ruling.make").count() == 1
    assert post(house, "casino-manager", "rulings/", on(incident))[0] == 201


def test_who_reported_it_says_why_he_rules_himself(house: House, table: Table) -> None:
    own = incident_about(house, table, role="shift-manager")
    code, problem = post(house, "shift-manager", "rulings/", on(own))
    assert (code, "reported" in problem["detail"]) == (403, True)
    assert post(house, "shift-manager", "rulings/", on(own, override="Nobody else is here"))[0] == 201


@pytest.mark.parametrize(("ended", "code"), [(True, 403), (False, 201)])
def test_an_acting_post_counts_until_its_last_moment(house: House, incident: Incident, ended: bool, code: int) -> None:
    acting, now = house.hire("ACTING", "pit-supervisor", pit=house.pits["P1"]), timezone.now()
    duty = Duty(
        scope="all-pits", department="pit", own_post="pit-supervisor",
        staff=acting, post="shift-manager", casino=house.casino, starts_at=now - 4 * MINUTE,
        ends_at=now - MINUTE if ended else now + HOUR, granted_by=house["casino-manager"],
        granted_as="casino-manager", reason="x",
    )  # fmt: skip
    Duty.objects.bulk_create([duty])
    assert sent(acting, "rulings/", on(incident))[0] == code
    assert Denial.objects.filter(staff_id=acting.pk, action="ruling.make").exists() is ended
    assert list(Ruling.objects.values_list("post", flat=True)) == ([] if ended else ["acting shift manager"])


def test_of_two_at_once_one_stands_and_the_other_is_told(clone: str) -> None:
    house = build_house()
    incident = incident_about(house, ready_table(house, "TS-01", layout="C", limits=sign()))
    clients = [logged_in(house[role]) for role in ("shift-manager", "casino-manager")]
    connections.close_all()

    def rule(client: Client) -> tuple[int, Any]:
        try:
            answer = client.post("/api/v1/rulings/", json.dumps(on(incident)), content_type="application/json")
            return answer.status_code, answer.json()
        finally:
            connections.close_all()

    with ThreadPoolExecutor(2) as pool:
        (_, made), (code, told) = sorted(pool.map(rule, clients), key=lambda answer: answer[0])
    assert (code, made["number"] in told["detail"]) == (409, True)
    assert Ruling.objects.get().number == made["number"]


# --- The register ---


def test_the_register_is_filtered(house: House, table: Table, incident: Incident) -> None:
    other = bare_table(house, "TS-02", pit="P2")
    late = incident_about(house, other, account="Late.", situation="late-bet")
    rules = [f"{V6}#5.7"]
    stands = ruled(house, late, kind="interpretation", rules=rules, scope="standing", question="Is a zebra late?")
    case = ruled(house, incident)

    def numbers(role: str = "auditor", **query: str) -> list[str]:
        code, page = get(house, role, "rulings/", **query)
        assert code == 200
        return [one["number"] for one in page["results"]]

    assert numbers() == [case.number, stands.number]
    assert numbers("pit-supervisor") == [case.number]
    for query in (
        {"kind": "interpretation"}, {"scope": "standing"}, {"situation": "late-bet"}, {"table": "ts-02"},
        {"text": "zebra"}, {"text": stands.number}, {"state": "in-force", "scope": "standing"},
    ):  # fmt: skip
        assert numbers(**query) == [stands.number], query
    day = gaming_day(house.casino, timezone.now()).isoformat()
    assert numbers(day=day, rulebook=V6) == numbers(page_size="2") == [case.number, stands.number]
    assert numbers(state="superseded") == numbers(to="2020-01-01") == numbers(table="TS-99") == []


@pytest.mark.parametrize(
    "query",
    [
        {"kind": "whim"}, {"scope": "x"}, {"state": "withdrawal"}, {"rulebook": "poker"}, {"situation": "fire"},
        {"text": "x" * 501}, {"day": "soon"}, {"colour": "red"},
    ],
)  # fmt: skip
def test_a_filter_that_makes_no_sense_is_told(house: House, query: dict[str, str]) -> None:
    code, problem = get(house, "auditor", "rulings/", **query)
    assert (code, fields(problem)) == (400, list(query))


def test_a_ruling_of_another_pit_is_neither_open_nor_named(house: House, incident: Incident) -> None:
    far = incident_about(house, bare_table(house, "TS-02", pit="P2"), account="Far.")
    first = ruled(house, far)
    assert get(house, "pit-manager", f"rulings/{first.number}/")[0] == 403
    second = ruled(house, incident, follows=first)
    assert get(house, "auditor", f"rulings/{second.number}/")[1]["follows"] == first.number
    assert get(house, "pit-manager", f"rulings/{second.number}/")[1]["follows"] is None


# --- Precedents ---


def test_precedents_say_what_was_decided_and_what_binds(house: House, table: Table) -> None:
    rules = [f"{V6}#5.7"]
    first = incident_about(house, table, account="A chip after the bell.", situation="late-bet")
    stands = ruled(house, first, kind="interpretation", rules=rules, scope="standing", decision="It goes back.")
    second = incident_about(house, table, account="A chip again.", situation="late-bet")
    path = f"incidents/{second.number}/precedents/"
    code, found = get(house, "shift-manager", path)
    assert (code, found["binding"]) == (200, stands.number)
    (one,) = found["results"]
    assert (one["ruling"]["decision"], one["in_force"], one["same_situation"]) == ("It goes back.", True, True)
    assert get(house, "auditor", path, rules=rules[0])[1]["results"][0]["shared_rules"] == rules
    assert get(house, "auditor", path, words="unicorns everywhere")[1]["binding"] == stands.number
    assert fields(get(house, "auditor", path, rules="5.7")[1]) == ["rules"]
    assert fields(get(house, "auditor", path, words="x" * 2001)[1]) == ["words"]
    read: dict[str, Any] = {"kind": "interpretation", "rules": rules}
    assert fields(post(house, "shift-manager", "rulings/", on(second, **read))[1]) == ["departure"]
    departing = on(second, **read, departs_from=stands.number, departure="The bell was broken.")
    code, made = post(house, "shift-manager", "rulings/", departing)
    assert (code, made["departs_from"], made["departure"]) == (201, stands.number, "The bell was broken.")
    assert get(house, "administrator", path)[0] == 403


# --- Consequences ---


def test_a_round_is_settled_by_a_ruling_and_the_player_is_paid(house: House, incident: Incident, round_: Round) -> None:
    ruling = ruled(house, incident)
    path = f"incidents/{incident.number}/consequences/"
    body = {"kind": "settlement", "ruling": ruling.number, "rounds": ["R-1"], "nets": [{"bet": 2, "net": "0"}],
            "reason": "As ruled"}  # fmt: skip
    code, order = post(house, "shift-manager", path, body)
    assert (code, order["state"], order["nets"]) == (201, "waiting", [{"bet": 2, "net": "0.00"}])
    assert (order["amount"], order["corrections"]) == ("60.00", [])
    (preview,) = order["preview"]
    assert preview["bets"] == [
        {"bet": 2, "player": "seat-2", "box": "big", "stake": "60.00", "before": "-60.00", "after": "0.00"}
    ]
    assert post(house, "shift-manager", f"consequences/{order['id']}/execute/", {"reason": "Me, too"})[0] == 403
    code, order = post(house, "casino-manager", f"consequences/{order['id']}/execute/", {"reason": "Agreed"})
    assert (code, order["state"], order["preview"]) == (200, "executed", [])
    (correction,) = order["corrections"]
    assert (correction["deltas"], correction["nets"]) == (["0.00", "60.00"], ["100.00", "0.00"])
    assert (correction["round"]["ref"], correction["rules"]) == ("R-1", [f"{V6}#5.14"])
    (owed,) = order["repayments"]
    assert (owed["player"], owed["amount"], owed["told"], owed["paid"]) == ("seat-2", "60.00", False, False)
    assert post(house, "shift-manager", path, body)[0] == 409
    assert get(house, "auditor", f"consequences/{order['id']}/") == (200, order)
    assert get(house, "auditor", f"rulings/{ruling.number}/")[1]["consequences"] == [order]
    _, file = get(house, "auditor", f"incidents/{incident.number}/")
    assert [line["id"] for line in file["consequences"]] == [order["id"]]
    marks = f"repayments/{owed['id']}/marks/"
    for role in ("shift-manager", "casino-manager"):  # who ordered, and who executed
        assert post(house, role, marks, {"what": "paid"})[0] == 403
    code, marked = post(house, "pit-manager", marks, {"what": "paid", "note": "At the cage"})
    assert (code, marked["paid"], marked["marks"][0]["note"]) == (201, True, "At the cage")
    assert post(house, "pit-manager", marks, {"what": "paid"})[0] == 409
    assert fields(post(house, "pit-manager", marks, {"what": "not-paid"})[1]) == ["note"]
    assert fields(post(house, "pit-manager", marks, {"what": "lost"})[1]) == ["what"]
    assert post(house, "auditor", marks, {"what": "told"})[0] == 403
    assert post(house, "pit-manager", "repayments/0/marks/", {"what": "told"})[0] == 404
    assert RepaymentMark.objects.count() == 1


def test_5_6_a_void_after_settlement_waits_for_a_second_person(house: House, incident: Incident) -> None:
    path = f"incidents/{incident.number}/consequences/"
    Incident.objects.filter(pk=incident.pk).update(situation="dice-damaged")
    body = {"kind": "void", "rule": "5.6", "rounds": ["R-1"], "reason": "Cracked dice"}
    assert post(house, "pit-manager", path, body)[0] == post(house, "auditor", path, body)[0] == 403
    code, order = post(house, "shift-manager", path, body)
    assert (code, order["state"], order["needs_second"], order["corrections"]) == (201, "waiting", True, [])
    execute = f"consequences/{order['id']}/execute/"
    assert post(house, "shift-manager", execute, {"reason": "Me, too"})[0] == 403
    assert post(house, "pit-manager", execute, {"reason": "x"})[0] == 403
    assert fields(post(house, "casino-manager", execute, {"why": "x"})[1]) == ["why", "reason"]
    code, done = post(house, "casino-manager", execute, {"reason": "I saw them"})
    assert (code, done["state"], done["decision_reason"]) == (200, "executed", "I saw them")
    assert {one["player"]: one["amount"] for one in done["repayments"]} == {"seat-1": "-100.00", "seat-2": "60.00"}
    assert post(house, "casino-manager", execute, {"reason": "Again"})[0] == 409
    assert Denial.objects.filter(action="consequence.order", staff_id=house["shift-manager"].pk).exists()


def test_what_was_ordered_can_be_declined(house: House, incident: Incident) -> None:
    Incident.objects.filter(pk=incident.pk).update(situation="dice-damaged")
    body = {"kind": "void", "rule": "5.6", "rounds": ["R-1"], "reason": "Cracked dice"}
    key = post(house, "shift-manager", f"incidents/{incident.number}/consequences/", body)[1]["id"]
    assert post(house, "compliance", f"consequences/{key}/decline/", {"reason": "x"})[0] == 403
    code, order = post(house, "casino-manager", f"consequences/{key}/decline/", {"reason": "They are sound"})
    assert (code, order["state"], order["corrections"]) == (200, "declined", [])
    assert post(house, "casino-manager", f"consequences/{key}/execute/", {"reason": "x"})[0] == 409


def test_5_6_all_affected_rounds_are_found_by_their_dice(house: House, clock: Any) -> None:
    clock.move_to(NOON - HOUR)
    table = ready_table(house, "TS-01", layout="C", limits=sign())
    clock.move_to(NOON)
    for number in (1, 2):
        played(table, NOON - number * MINUTE, f"R-{number}", BETS)
    incident = incident_about(house, table, situation="dice-damaged")
    body = {"kind": "void-affected", "rule": "5.6", "reason": "Cracked"}
    code, order = post(house, "shift-manager", f"incidents/{incident.number}/consequences/", body)
    assert (code, [one["ref"] for one in order["rounds"]], order["round_count"]) == (201, ["R-2", "R-1"], 2)


def test_a_result_is_amended_and_a_table_suspended_by_the_pit(house: House, clock: Any) -> None:
    player = Player(open_table(house, "TS-07", layout="C", limits=sign()))
    player.open()
    player.do("place-bets")
    player.bet("seat-1", "small", "100")
    player.do("no-more-bets")
    player.do("tumbler", tumbles=3)
    player.do("result", dice=[1, 3, 6])
    incident = incident_about(house, player.table, situation="wrong-result-entered", facts={"settled": "no"})
    path = f"incidents/{incident.number}/consequences/"
    body = {"kind": "result", "live_round": player.key, "dice": [1, 3, 5], "reason": "A slip"}
    code, order = post(house, "pit-supervisor", path, body)
    assert (code, order["dice"], order["table"]) == (201, [1, 3, 5], "TS-07")
    assert LiveRound.objects.get(pk=player.key).steps.last().kind == "result-amended"  # type: ignore[union-attr]
    code, order = post(house, "pit-manager", path, {"kind": "suspension", "reason": "The dome is cracked"})
    assert (code, order["kind"], order["table"], order["state"]) == (201, "suspension", "TS-07", "executed")
    assert post(house, "pit-manager", path, {"kind": "suspension", "reason": "Again"})[0] == 409


@pytest.mark.parametrize(
    ("body", "wanted"),
    [
        ({}, ["kind", "reason"]),
        ({"kind": "whim", "reason": " "}, ["kind", "reason"]),
        ({"kind": "void", "reason": "x"}, ["rounds", "rule"]),
        ({"kind": "void", "reason": "x", "rule": "5.6", "ruling": "RU-2020-000001", "rounds": ["R-9"]},
         ["rule", "rounds[0]", "ruling"]),
        ({"kind": "void", "reason": "x", "rule": "9.9", "rounds": ["R-1"]}, ["rule"]),
        ({"kind": "void-affected", "reason": "x", "rule": "5.6", "rounds": ["R-1"]}, ["rounds"]),
        ({"kind": "settlement", "reason": "x", "dice": [1, 2, 7], "nets": [{"bet": 0, "net": 5}, {"bet": 1}, 7]},
         ["ruling", "rounds", "dice[2]", "nets[0].net", "nets[0].bet", "nets[1].net", "nets[2]"]),
        ({"kind": "result", "reason": "x", "rounds": ["R-1"], "live_round": 7}, ["dice", "rounds", "live_round"]),
        ({"kind": "suspension", "reason": "x", "dice": [1, 2, 3]}, ["dice"]),
    ],
)  # fmt: skip
def test_an_order_that_makes_no_sense_says_which_parts(
    house: House, incident: Incident, body: dict[str, Any], wanted: list[str]
) -> None:
    code, problem = post(house, "shift-manager", f"incidents/{incident.number}/consequences/", body)
    assert (code, fields(problem)) == (400, wanted)
    assert not Consequence.objects.exists()


# --- Discretion ---


def test_4_9_discretion_is_kept_and_listed(house: House, round_: Round) -> None:
    table = ready_table(house, "D9-01", rulebook=DIVISION_9, layout="1", limits=sign())
    incident = incident_about(house, table, situation="chips-moved")
    path = f"incidents/{incident.number}/discretions/"
    body = {"decision": "The bet counts where it was placed.", "reason": "Seen"}
    assert post(house, "pit-supervisor", path, body)[0] == 403
    assert fields(post(house, "pit-manager", path, {"decision": "", "round": "R-1"})[1]) == [
        "reason", "decision", "round",
    ]  # fmt: skip
    code, record = post(house, "pit-manager", path, body)
    assert (code, record["rule"], record["post"]) == (201, f"{DIVISION_9}#4.9", "pit manager")
    assert post(house, "pit-manager", path, body)[0] == 409
    assert get(house, "auditor", "discretions/", table="d9-01")[1]["results"] == [record]
    assert get(house, "auditor", "discretions/", to="2020-01-01")[1]["results"] == []
    assert get(house, "auditor", f"incidents/{incident.number}/")[1]["discretions"] == [record]
    assert get(house, "administrator", "discretions/")[0] == 403
    assert Discretion.objects.count() == 1


def test_4_9_a_bet_is_settled_by_discretion_through_the_api(house: House) -> None:
    table = ready_table(house, "D9-01", rulebook=DIVISION_9, layout="1", limits=sign())
    played(table, timezone.now() - 5 * MINUTE, "D-1", BETS)
    incident = incident_about(house, table, situation="chips-moved")
    path = f"incidents/{incident.number}/"
    body = {"decision": "It counts on small.", "reason": "Seen", "round": "D-1", "bet": 2}
    assert fields(post(house, "pit-manager", f"{path}discretions/", body | {"bet": "two"})[1]) == ["bet"]
    code, record = post(house, "pit-manager", f"{path}discretions/", body)
    assert (code, record["bet"], record["round"]["ref"]) == (201, 2, "D-1")
    asked = {
        "kind": "discretion",
        "discretion": record["id"],
        "nets": [{"bet": 2, "net": "60.00"}],
        "reason": "Decided",
    }
    assert fields(post(house, "shift-manager", f"{path}consequences/", {"kind": "discretion", "reason": "x"})[1]) == [
        "discretion", "nets",
    ]  # fmt: skip
    assert fields(post(house, "shift-manager", f"{path}consequences/", asked | {"discretion": 999_999})[1]) == [
        "discretion"
    ]
    assert post(house, "pit-manager", f"{path}consequences/", asked)[0] == 403
    code, order = post(house, "shift-manager", f"{path}consequences/", asked)
    assert (code, order["state"], order["discretion"]) == (201, "waiting", record["id"])
    code, order = post(house, "casino-manager", f"consequences/{order['id']}/execute/", {"reason": "Agreed"})
    assert (code, order["state"]) == (200, "executed")
    (correction,) = order["corrections"]
    assert (correction["rules"], correction["decided"]) == ([f"{DIVISION_9}#4.9"], [False, True])
    assert [one["amount"] for one in order["repayments"]] == ["120.00"]


def test_5_6_an_order_is_narrowed_through_the_api_and_the_file_shows_the_time_line(house: House, clock: Any) -> None:
    clock.move_to(NOON - HOUR)
    table = ready_table(house, "TS-01", layout="C", limits=sign())
    clock.move_to(NOON)
    for number in (1, 2):
        played(table, NOON - number * MINUTE, f"R-{number}", BETS)
    incident = incident_about(house, table, situation="dice-damaged", occurred_from=NOON - 90 * SECOND)
    affected = get(house, "compliance", f"incidents/{incident.number}/")[1]["affected"]
    assert (affected["before"]["rounds"], affected["after"]["rounds"], affected["in_place"]) == (1, 1, True)
    path = f"incidents/{incident.number}/consequences/"
    body = {"kind": "void-affected", "rule": "5.6", "reason": "Cracked", "from": "2026-11-15T19:58:30+08:00"}
    assert fields(post(house, "shift-manager", path, body)[1]) == ["narrowing"]
    code, order = post(house, "shift-manager", path, body | {"narrowing": "The recording shows it crack."})
    assert (code, [one["ref"] for one in order["rounds"]]) == (201, ["R-1"])
    assert order["affected"] == {
        "dice_set": "D-TS-01", "radius_from": "2026-11-15T19:00:00+08:00", "radius_to": "2026-11-15T20:00:00+08:00",
        "from": "2026-11-15T19:58:30+08:00", "to": "2026-11-15T20:00:00+08:00",
        "narrowing": "The recording shows it crack.", "left_out": 0,
    }  # fmt: skip
