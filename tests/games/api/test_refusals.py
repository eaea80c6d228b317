"""What the API refuses comes back as problem+json, whatever was wrong, and is never a fault of ours."""

import json
from base64 import b64encode
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.test import Client

from games.access.services.people import local_password_set
from games.models import LimitProposal, Table
from tests.conftest import OPERATOR, House
from tests.games.floor.test_api import PROPOSAL
from tests.games.floor_setup import MINUTE, NOON, open_table, put_sign
from tests.games.logins import logged_in

PROBLEM = "application/problem+json"


@pytest.fixture
def table(house: House, clock: Any) -> Table:
    table = open_table(house)
    put_sign(table, starts_at=NOON - MINUTE)
    return table


def refusal(answer: Any) -> tuple[int, list[str]]:
    """The status and the fields at fault, of a proper problem."""
    assert answer.headers["Content-Type"] == PROBLEM
    body = json.loads(answer.content)
    assert "{" not in body["title"]
    assert body["status"] == answer.status_code
    return answer.status_code, [error["field"] for error in body.get("errors", [])]


@pytest.mark.parametrize("path", ["tables/?page_size=0", "tables/?page_size=501", "limit-proposals/?page_size=many"])
def test_a_page_size_that_cannot_be_is_told(house: House, table: Table, path: str) -> None:
    assert refusal(logged_in(house["auditor"]).get(f"/api/v1/{path}")) == (400, ["page_size"])


@pytest.mark.parametrize("position", ["p=%00", "p=abc", "p=1&o=x", "p=99999999999999999999999"])
@pytest.mark.parametrize("path", ["tables/", "limit-proposals/", "dice-sets/"])
def test_a_made_up_cursor_is_never_a_fault_of_ours(house: House, table: Table, path: str, position: str) -> None:
    cursor = b64encode(position.encode()).decode()
    answer = logged_in(house["auditor"]).get(f"/api/v1/{path}", {"cursor": cursor})
    assert answer.status_code in (200, 404)


def test_an_unknown_state_of_tables_is_told(house: House, table: Table) -> None:
    assert refusal(logged_in(house["auditor"]).get("/api/v1/tables/?state=odd")) == (400, ["state"])


@pytest.mark.parametrize("path", ["tables/TS-01/", "dice-sets/{dice}/", "tables/TS-01/dice/"])
def test_an_unknown_parameter_is_told_everywhere(house: House, table: Table, path: str) -> None:
    address = f"/api/v1/{path}".format(dice=table.dice_fits.get().dice_set_id)
    assert refusal(logged_in(house["auditor"]).get(f"{address}?colour=green")) == (400, ["colour"])


def test_a_parameter_that_stands_twice_is_told(house: House, table: Table) -> None:
    assert refusal(logged_in(house["auditor"]).get("/api/v1/tables/?state=open&state=closed")) == (400, ["state"])


@pytest.mark.parametrize("code", ["%00", "TS%00-01", "%ED%A0%80", "%FF"])
def test_a_table_code_that_no_table_can_have_is_not_there(house: House, table: Table, code: str) -> None:
    assert refusal(logged_in(house["auditor"]).get(f"/api/v1/tables/{code}/"))[0] == 404


@pytest.mark.parametrize(
    "path", ["nowhere/", "limit-proposals/first/", f"dice-sets/{'9' * 5000}/", "tables//limits/", "dice-sets/-1/"]
)
def test_an_address_that_leads_nowhere_is_told_to_programs_too(house: House, path: str) -> None:
    assert refusal(Client().get(f"/api/v1/{path}"))[0] == 404


def test_too_many_parameters_are_told_to_programs_too(house: House) -> None:
    query = "&".join(f"p{number}=1" for number in range(1001))
    assert refusal(logged_in(house["auditor"]).get(f"/api/v1/tables/?{query}"))[0] == 400


@pytest.mark.parametrize(
    "change",
    [{"reason": "\ud800"}, {"tables": ["\udfff"]}, {"boxes": {"\ud800": {}}}, {"\ud800": 1}, {"from": "\ud800"}],
)
def test_half_a_character_is_told(house: House, table: Table, change: Any) -> None:
    text = json.dumps(PROPOSAL | change)
    answer = logged_in(house["pit-manager"]).post("/api/v1/limit-proposals/", text, content_type="application/json")
    assert refusal(answer)[0] == 400
    assert not LimitProposal.objects.exists()


def test_a_character_in_two_halves_is_whole(house: House, table: Table) -> None:
    text = json.dumps(PROPOSAL | {"reason": "Quiet \U0001f3b2"})
    assert "\\ud83c" in text
    answer = logged_in(house["pit-manager"]).post("/api/v1/limit-proposals/", text, content_type="application/json")
    assert (answer.status_code, answer.json()["reason"]) == (201, "Quiet \U0001f3b2")


@pytest.mark.parametrize("body", [b"", b"[]", b'"x"', b"null", b"{", b'{"reason": 1}', b"\xff", b'{"x": "\x00"}'])
def test_a_decision_that_cannot_be_read_is_told(house: House, table: Table, body: bytes) -> None:
    client = logged_in(house["pit-manager"])
    made = client.post("/api/v1/limit-proposals/", json.dumps(PROPOSAL), content_type="application/json").json()
    path = f"/api/v1/limit-proposals/{made['id']}/withdraw/"
    assert refusal(client.post(path, body, content_type="application/json"))[0] == 400


def test_other_formats_are_refused(house: House, table: Table) -> None:
    client = logged_in(house["pit-manager"])
    assert refusal(client.post("/api/v1/limit-proposals/", {"reason": "x"}))[0] == 415
    assert refusal(client.get("/api/v1/tables/", headers={"Accept": "text/html"}))[0] == 406
    assert refusal(client.get("/api/v1/schema/", headers={"Accept": "image/png"}))[0] == 406
    assert refusal(Client().get("/api/v1/schema/"))[0] == 401


def test_the_command_tells_half_a_character_too(house: House, table: Table, tmp_path: Path) -> None:
    (tmp_path / "new.json").write_text(json.dumps(PROPOSAL | {"reason": "\ud800"}))
    with pytest.raises(CommandError, match="half a character"):
        call_command("limits", "propose", str(tmp_path / "new.json"), "--as", "PIT-MANAGER")


def test_who_has_to_choose_a_password_first_is_told_so(house: House, table: Table) -> None:
    auditor = house["auditor"]
    local_password_set(actor=OPERATOR, staff=auditor, password="a first password", reason="Forgotten", must_change=True)
    client = logged_in(house["auditor"])
    assert refusal(client.get("/api/v1/tables/"))[0] == 403
    assert client.get("/api/v1/docs/").headers["Location"] == "/admin/password_change/"
