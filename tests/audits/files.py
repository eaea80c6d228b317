"""Log entries, incident files, evidence and rounds for tests."""

import datetime as dt
import json
from typing import Any

from django.utils import timezone

from audits.incidents.services.incidents import IncidentReport, incident_open
from audits.incidents.services.log import log_write
from audits.models import Incident, LogEntry
from games.models import LedgerLeaf, Round, Table
from games.rounds.services.recording import round_record
from tests.conftest import OPERATOR, House
from tests.games.floor_setup import SECOND
from tests.games.rounds.samples import bet, line

PNG = b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR" + bytes(40)


def told(house: House, account: str = "A quarrel at seat 3.", **more: Any) -> IncidentReport:
    values: dict[str, Any] = {"casino": house.casino, "occurred_from": timezone.now(), "situation": "other"} | more
    return IncidentReport(account=account, **values)


def opened(house: House, role: str = "pit-supervisor", account: str = "A quarrel at seat 3.", **more: Any) -> Incident:
    """In the first pit, where nothing else is said."""
    place = {} if "table" in more or "pit" in more else {"pit": house.pits["P1"]}
    return incident_open(actor=house[role], report=told(house, account, **place, **more))


def seen(house: House, role: str = "surveillance", summary: str = "Seat 3 counts aloud.", **more: Any) -> LogEntry:
    values: dict[str, Any] = {"casino": house.casino, "at": timezone.now()} | more
    return log_write(actor=house[role], summary=summary, **values)


def played(table: Table, at: dt.datetime, ref: str, bets: list[dict[str, Any]] | None = None, **more: Any) -> Round:
    """A round on record that began at this moment: settled on 1, 3, 6, where nothing else is said."""
    kinds: list[tuple[str, dict[str, Any]]] = more.pop("kinds", None) or [
        ("place-bets", {}), ("no-more-bets", {}), ("tumbler", {"tumbles": 3}), ("result", {"dice": [1, 3, 6]}),
        ("settled", {}),
    ]  # fmt: skip
    events = [
        {"kind": kind, "at": (at + place * SECOND).isoformat(), **fields} for place, (kind, fields) in enumerate(kinds)
    ]
    placed = [bet("seat-1", "small", "100", net="100")] if bets is None else bets
    document = {"source": "floor", "ref": ref, "table": table.code, "events": events, "bets": placed} | more
    key, _ = round_record(actor=OPERATOR, line=line(document), channel="api")
    return Round.objects.select_related("table").get(pk=key)


def leaves(kind: str, subject: int) -> list[list[Any]]:
    """What the ledger holds of a record, after its format, kind and id."""
    found = LedgerLeaf.objects.filter(kind=kind, subject=subject).order_by("position")
    return [json.loads(bytes(one.content))[3:] for one in found]
