"""The status of a round that was corrected since: in lists, on its page and in the API."""

from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from audits.rulings.services.corrective_actions import consequence_execute
from games.models import Round, Table
from tests.audits.decided import incident_about, ruled, settled_as, voided
from tests.audits.files import played
from tests.conftest import House
from tests.games.floor_setup import MINUTE, ready_table, sign
from tests.games.logins import logged_in
from tests.games.rounds.samples import bet

BETS = [bet("seat-1", "small", "100", net="100"), bet("seat-2", "big", "60", net="-60")]
GREEN = 'ts-state-settled">Settled'


@pytest.fixture
def table(house: House, clock: Any) -> Table:
    return ready_table(house, "TS-01", layout="C", limits=sign())


def a_round(table: Table, ref: str, minutes: int = 5) -> Round:
    return played(table, timezone.now() - minutes * MINUTE, ref, BETS)


def void(house: House, table: Table, *rounds: Round) -> None:
    incident = incident_about(house, table, *rounds)
    order = voided(house, incident, *rounds, ruling=ruled(house, incident))
    consequence_execute(actor=house["casino-manager"], consequence=order, reason="Agreed")


def get(house: House, address: str, role: str = "pit-manager") -> Any:
    client = logged_in(house[role])
    answer = client.get(address)
    assert answer.status_code == 200
    return answer


def text(house: House, address: str) -> str:
    return str(get(house, address).content.decode())


def test_a_voided_round_is_void_in_the_list_and_another_one_stays_settled(house: House, table: Table) -> None:
    one, _ = a_round(table, "R-1"), a_round(table, "R-2", minutes=3)
    assert text(house, "/admin/games/round/").count(GREEN) == 2
    void(house, table, one)
    shown = text(house, "/admin/games/round/")
    assert shown.count(GREEN) == 1
    assert 'ts-state-void">Void' in shown
    assert "recorded as settled" in shown


def test_the_page_of_a_voided_round_says_so_and_by_which_rule(house: House, table: Table) -> None:
    one = a_round(table, "R-1")
    address = f"/admin/games/round/{one.pk}/change/"
    assert GREEN in text(house, address)
    void(house, table, one)
    shown = text(house, address)
    assert GREEN not in shown
    assert 'ts-state-void">Void' in shown
    assert "The round was recorded as settled and voided afterwards (rule 5.14)" in shown
    assert "Net as recorded" in shown


def test_the_file_of_an_incident_shows_its_rounds_as_they_are_now(house: House, table: Table) -> None:
    one = a_round(table, "R-1")
    void(house, table, one)
    incident = one.incidents.get().incident
    assert "void (recorded as settled)" in text(house, f"/admin/audits/incident/{incident.pk}/change/")


def test_a_round_that_is_settled_otherwise_stays_settled_and_is_marked(house: House, table: Table) -> None:
    one = a_round(table, "R-1")
    incident = incident_about(house, table, one)
    settled_as(house, ruled(house, incident), one, dice=[6, 6, 5])
    shown = text(house, f"/admin/games/round/{one.pk}/change/")
    assert GREEN in shown
    assert "Corrected after it was recorded as settled" in shown


def test_the_api_keeps_the_recorded_status_and_adds_the_current_one(house: House, table: Table) -> None:
    one, other = a_round(table, "R-1"), a_round(table, "R-2", minutes=3)
    void(house, table, one)
    found = {row["ref"]: row for row in get(house, "/api/v1/rounds/").json()["results"]}
    keys = ("status", "current_status", "corrections")
    assert [found[one.ref][key] for key in keys] == ["settled", "void", 1]
    assert [found[other.ref][key] for key in keys] == ["settled", "settled", 0]
    alone = get(house, f"/api/v1/rounds/{one.pk}/").json()
    assert [alone[key] for key in keys] == ["settled", "void", 1]


def test_a_page_of_rounds_asks_for_corrections_once(house: House, table: Table) -> None:
    rounds = [a_round(table, f"R-{at}", minutes=3 * at) for at in range(1, 6)]
    void(house, table, rounds[0])
    for address in ("/admin/games/round/", "/api/v1/rounds/"):
        with CaptureQueriesContext(connection) as queries:
            get(house, address)
        asked = [
            captured_query["sql"]
            for captured_query in queries.captured_queries
            if "audits_correction" in captured_query["sql"]
        ]
        assert len(asked) == 1, address
