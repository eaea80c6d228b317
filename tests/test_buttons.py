"""What a page offers it lets the person do: each role opens every button and sends its form, and none is refused."""

from collections.abc import Iterator
from html.parser import HTMLParser
from typing import Any

import pytest
import time_machine
from django import forms
from django.test import Client
from django.utils import timezone

from audits.incidents.services.disputes import dispute_raise
from audits.incidents.services.incidents import incident_step
from audits.models import Consequence, Dispute, Finding, Incident, Ruling
from audits.rulings.services.discretions import discretion_record
from games.floor.services.tables import table_suspend
from games.live.services import live_open, live_step
from games.models import LimitProposal, LiveRound, Round, Table
from tests.audits.decided import REASON, incident_about, ruled, settled_as, voided
from tests.audits.files import played
from tests.conftest import OPERATOR, House
from tests.games.engine.oracle import DIVISION_9
from tests.games.floor_setup import HOUR, MINUTE, open_table, ready_table, sign
from tests.games.logins import logged_in
from tests.games.rounds.samples import bet
from tests.test_empty_forms import FormFields, undone
from tests.test_routes import ROLES, samples  # noqa: F401  a record of every kind

FORBIDDEN, BROKEN = 403, 500
UNSETTLED: list[tuple[str, dict[str, Any]]] = [
    ("place-bets", {}), ("no-more-bets", {}), ("tumbler", {"tumbles": 3}), ("result", {"dice": [1, 3, 6]}),
]  # fmt: skip
#: The pages with buttons that lead to a decision.
PAGES = {
    "audits/incident": Incident, "audits/ruling": Ruling, "audits/consequence": Consequence, "audits/dispute": Dispute,
    "audits/finding": Finding, "games/table": Table, "games/round": Round, "games/liveround": LiveRound,
    "games/limitproposal": LimitProposal,
}  # fmt: skip


class Buttons(HTMLParser):
    """The addresses of all buttons on a page."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.addresses: dict[str, None] = {}
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        named = dict(attrs)
        if tag == "a" and "ts-step" in (named.get("class") or "").split():
            self.addresses[named.get("href") or ""] = None


def opened_before(house: House) -> Table:
    """A table that was opened, with its dice, an hour ago."""
    with time_machine.travel(timezone.now() - HOUR):
        return open_table(house, "TS-11", layout="C", limits=sign())


class PostedHere(FormFields):
    """The names of all fields that a page would send to its own address."""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        super().handle_starttag(tag, attrs)
        if tag == "form" and dict(attrs).get("action"):
            self.is_inside = False


@pytest.fixture
def scenes(house: House, samples: dict[str, str]) -> None:  # noqa: F811
    """Files in every state, about settled and unsettled rounds, also of rounds that managers dealt or supervised."""
    now, shift = timezone.now(), house["shift-manager"]
    table = opened_before(house)
    pending = [bet("seat-1", "small", "100")]
    settled = played(table, now - 10 * MINUTE, "B-1")
    unsettled = played(table, now - 8 * MINUTE, "B-2", bets=pending, kinds=UNSETTLED)
    own = played(table, now - 6 * MINUTE, "B-3", dealer="SHIFT-MANAGER", supervisor="CASINO-MANAGER")
    other = played(table, now - 4 * MINUTE, "B-4")
    incident_about(house, table)
    incident_about(house, table, settled)
    incident_about(house, table, settled, unsettled)
    incident_about(house, table, own)
    incident_about(house, table, own, settled)
    incident_about(house, table, settled, role="shift-manager")
    incident_about(house, table, situation="dice-damaged")
    voided(house, incident_about(house, table, other, situation="dice-damaged"), other, rule="5.6")  # waits
    ruling = ruled(house, incident_about(house, table, settled, account="Ruled, and waiting"))
    settled_as(house, ruling, settled, second=None, dice=[6, 6, 5])
    ruled(house, incident_about(house, table, settled, unsettled, account="Ruled, and nothing ordered"))
    waiting = incident_about(house, table, settled)
    incident_step(actor=house["surveillance"], incident=waiting, to="awaiting-ruling", reason=REASON)
    over = incident_about(house, table, settled)
    incident_step(actor=house["compliance"], incident=over, to="closed", reason=REASON)
    disputed = incident_about(house, table, settled)
    dispute_raise(actor=house["compliance"], incident=disputed, patron="seat-1", raised_at=now, reason=REASON)
    moved = ready_table(house, "D9-11", rulebook=DIVISION_9, layout="1")
    spun = played(moved, now - 5 * MINUTE, "B-5")
    chips = incident_about(house, moved, spun, situation="chips-moved")
    discretion_record(actor=house["pit-manager"], incident=chips, decision="As it lay", reason=REASON, round=spun)
    table_suspend(actor=shift, table=open_table(house, "TS-12"), reason=REASON)
    in_play, _ = live_open(actor=OPERATOR, document={"source": "floor", "ref": "L-11", "table": "TS-11"})
    for kind, more in UNSETTLED:
        live_step(actor=OPERATOR, key=in_play["id"], document={"call": kind, "kind": kind, **more})


def offered(client: Client) -> Iterator[tuple[str, str]]:
    """Every button of every page that this person can open, with the page."""
    for path, model in PAGES.items():
        for key in model._default_manager.values_list("pk", flat=True):
            page = f"/admin/{path}/{key}/change/"
            answer = client.get(page)
            if answer.status_code == 200:
                for address in Buttons(answer.content.decode()).addresses:
                    yield page, address


def filled(form: forms.BaseForm) -> dict[str, Any]:
    """What the form suggests, and something in every other field that is required."""
    values = {name: form[name].value() for name in form.fields}
    for name, field in form.fields.items():
        if values[name] in (None, "", []) and field.required:
            chosen = [key for key, _ in getattr(field, "choices", ()) if key]
            values[name] = chosen[0] if chosen else "Sample"
    return {name: value for name, value in values.items() if value is not None}


@pytest.mark.parametrize("role", ROLES[2:])
def test_nobody_is_offered_what_the_gate_refuses(role: str, house: House, scenes: None) -> None:
    client = logged_in(house[role])
    refused, tried, posted = [], 0, 0
    for page, address in offered(client):
        answer: Any = client.get(address)
        sent = None
        form = (answer.context or {}).get("form") if answer.status_code == 200 else None
        if isinstance(form, forms.BaseForm) and set(form.fields) <= PostedHere(answer.content.decode()).names:
            with undone():
                sent = client.post(address, filled(form)).status_code
            posted += 1
        tried += 1
        if FORBIDDEN in (answer.status_code, sent) or max(answer.status_code, sent or 0) >= BROKEN:
            refused.append((page, address, answer.status_code, sent))
    assert refused == []
    assert tried or role == "administrator"
    assert posted or role in ("auditor", "administrator")


def shown(house: House, role: str, incident: Incident) -> set[str]:
    """The names of the orders that are offered on a file."""
    client = logged_in(house[role])
    page = client.get(f"/admin/audits/incident/{incident.pk}/change/").content.decode()
    return {address.strip("/").rpartition("/")[2] for address in Buttons(page).addresses} & {
        "void", "void-affected", "amend", "settle", "suspend",
    }  # fmt: skip


def test_whoever_may_not_order_is_offered_to_void_unsettled_rounds_only(house: House) -> None:
    now, table = timezone.now(), opened_before(house)
    settled = played(table, now - 10 * MINUTE, "B-1")
    unsettled = played(table, now - 8 * MINUTE, "B-2", bets=[bet("seat-1", "small", "100")], kinds=UNSETTLED)
    over, both = incident_about(house, table, settled), incident_about(house, table, settled, unsettled)
    assert shown(house, "pit-supervisor", over) == set()
    assert shown(house, "pit-supervisor", both) == {"void", "amend"}
    assert shown(house, "pit-manager", over) == {"suspend"}
    assert shown(house, "shift-manager", over) == {"void", "suspend"}
    client = logged_in(house["pit-supervisor"])
    form = client.get(f"/admin/audits/incident/{both.pk}/void/").context["form"]
    assert form["rounds"].value() == "B-2"  # the settled one is not suggested


def test_nobody_is_offered_to_void_or_settle_only_rounds_that_they_dealt_or_supervised(house: House) -> None:
    now, table = timezone.now(), opened_before(house)
    own = played(table, now - 10 * MINUTE, "B-1", supervisor="SHIFT-MANAGER")
    other = played(table, now - 8 * MINUTE, "B-2")
    alone, both = incident_about(house, table, own), incident_about(house, table, own, other)
    for incident in (alone, both):
        ruled(house, incident, role="casino-manager")
    assert shown(house, "shift-manager", alone) == {"suspend"}
    assert shown(house, "shift-manager", both) == {"void", "settle", "suspend"}
    damaged = incident_about(house, table, situation="dice-damaged", occurred_from=now)
    assert "void-affected" not in shown(house, "shift-manager", damaged)
    assert "void-affected" in shown(house, "casino-manager", damaged)
