"""A bet that is called out, and chips that touch a line: the incident, what it advises, and what is kept of it."""

from typing import Any

import pytest

from audits.incidents.checklist import checklist_of
from audits.incidents.serializers import incident_document
from audits.incidents.services.checklist import step_tick
from games.models import Table
from tests.audits.decided import incident_about
from tests.audits.files import leaves
from tests.conftest import House
from tests.games.engine.oracle import DIVISION_9, V6
from tests.games.floor_setup import ready_table, sign
from tests.games.logins import logged_in

CASES = [
    (DIVISION_9, "2", "oral-wager", {"with_chips": "yes", "in_time": "yes"}),
    (DIVISION_9, "2", "oral-wager", {"with_chips": "no", "in_time": "yes"}),
    (DIVISION_9, "2", "oral-wager", {"with_chips": "yes", "in_time": "no"}),
    (V6, "C", "oral-wager", {"with_chips": "no", "in_time": "yes"}),
    (DIVISION_9, "2", "line-touching", {}),
    (V6, "C", "line-touching", {}),
]


def table_of(house: House, book: str, layout: str) -> Table:
    return ready_table(house, "TS-01", rulebook=book, layout=layout, limits=sign())


@pytest.mark.parametrize(("book", "layout", "situation", "facts"), CASES)
def test_such_an_incident_is_advised_on_checked_off_and_kept(
    house: House, book: str, layout: str, situation: str, facts: dict[str, Any]
) -> None:
    table = table_of(house, book, layout)
    account = "Seat 3 called a bet; two chips lay on the line."
    incident = incident_about(house, table, situation=situation, facts=facts, account=account)
    advice = incident.advice or {}
    assert advice["situation"] == situation
    assert advice["action"]
    steps = checklist_of(incident)
    assert steps
    step_tick(actor=house["pit-supervisor"], incident=incident, step=steps[0].place, is_done=True)
    document = incident_document(house["compliance"], incident)
    kept = {name: document[name] for name in ("situation", "facts", "account", "rulebook")}
    assert kept == {"situation": situation, "facts": facts, "account": account, "rulebook": book}
    assert document["checklist"][0]["ticks"][0]["who"].startswith("PIT-SUPERVISOR")
    (leaf,) = leaves("incident-step", incident.steps.get().pk)
    assert situation in str(leaf)
    client = logged_in(house["pit-supervisor"])
    page = client.get(f"/admin/audits/incident/{incident.pk}/change/").content.decode()
    for words in (account, advice["explain"].partition("'")[0][:40], *advice["rules"]):
        assert words in page, words
