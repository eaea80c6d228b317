"""Proposals of limits as documents: how they are read and how they are shown, for API and command alike."""

import datetime as dt
from functools import cache
from typing import Any

from django.db.models import QuerySet
from django.utils import timezone

from games.engine.errors import InputError
from games.engine.limits import Limits
from games.engine.loader import rulebooks
from games.engine.money import format_money
from games.engine.requests import Faults, read_differential, read_ranges, shown_key
from games.engine.sign_changes import Change, changes
from games.models import LimitDecision, LimitProposal, Table
from games.moments import MomentError, as_text, parse_moment
from games.services.gate import Actor, authorize, visible
from games.services.limits import limits_before
from games.signs import boxes_document, differential_document

FIELDS = ("tables", "from", "correction", "boxes", "differential", "reason")
STATES = ("pending", *LimitDecision.Outcome.values)
KNOWN = LimitProposal.objects.select_related(
    "casino", "pit", "sheet", "proposed_by", "decision__decided_by"
).prefetch_related("tables", "sheet__lines", "sheet__differentials")


def proposals_seen(actor: Actor, state: str | None) -> QuerySet[LimitProposal]:
    """Those that somebody may see, in one of the states or in any."""
    authorize(actor, "limitproposal.view")
    proposals = visible(actor, KNOWN.all())
    if state == "pending":
        return proposals.filter(decision=None)
    return proposals.filter(decision__outcome=state) if state else proposals


# --- Read ---


def read_proposal(data: object) -> tuple[list[Table], Limits, dt.datetime | None, bool, str]:
    """Every fault at once, with its field."""
    faults = Faults()
    if not isinstance(data, dict):
        raise InputError("The input is not a JSON object; write it as {…}.")
    entry = faults.table(data, "", FIELDS)
    faults.required(entry, "", "tables", "boxes", "reason")
    codes = entry.get("tables", [])
    if not isinstance(codes, list) or not all(isinstance(code, str) for code in codes):
        faults.add("tables", 'is not a list of table codes; write it as ["TS-01"].')
        codes = []
    tables = {table.code: table for table in Table.objects.select_related("casino").filter(code__in=_plain(codes))}
    for code in codes:
        if code not in tables:
            faults.add("tables", f"there is no table {code!r:.40}; check the code.")
    _verify_keys(faults, entry)
    limits = Limits(
        read_ranges(faults, entry.get("boxes", {}), "boxes"), read_differential(faults, entry.get("differential", {}))
    )
    starts_at = _moment(faults, entry.get("from"))
    if not isinstance(entry.get("correction", False), bool):
        faults.add("correction", "is neither true nor false; write one of them.")
    if not isinstance(entry.get("reason", ""), str):
        faults.add("reason", "is not a text; write it in quotes.")
    faults.done()
    reason = entry["reason"].replace("\x00", "")
    return list(tables.values()), limits, starts_at, entry.get("correction", False), reason


def _verify_keys(faults: Faults, entry: dict[str, Any]) -> None:
    """What no layout has is a slip, also where its limit is null; whether it is on this layout, the service asks."""
    for where, known in known_keys().items():
        given = entry.get(where)
        for key in given if isinstance(given, dict) else ():
            if key not in known:
                faults.add(f"{where}.{shown_key(key)}", "is known in no rulebook; check its spelling.")


@cache
def known_keys() -> dict[str, frozenset[str]]:
    """The bet types and boxes of all layouts, and the bet types that may have a differential."""
    books = rulebooks().values()
    layouts = [layout for book in books for layout in book.layouts.values()]
    return {
        "boxes": frozenset(key for layout in layouts for key in (*layout.types, *layout.boxes)),
        "differential": frozenset(key for book in books for key in book.limits.differential),
    }


def _plain(codes: list[str]) -> list[str]:
    return [code for code in codes if "\x00" not in code]  # PostgreSQL holds no NUL


def _moment(faults: Faults, value: object) -> dt.datetime | None:
    if value is None:
        return None
    try:
        return parse_moment(value)
    except MomentError as error:
        faults.add("from", f"{error}.")
        return None


# --- Shown ---


def proposal_document(proposal: LimitProposal) -> dict[str, Any]:
    casino, limits = proposal.casino, proposal.sheet.limits()
    decision = getattr(proposal, "decision", None)
    return {
        "id": proposal.pk,
        "state": proposal.state,
        "casino": casino.code,
        "pit": proposal.pit.code,
        "tables": [table.code for table in proposal.tables.all()],
        "from": as_text(proposal.starts_at, casino) if proposal.starts_at else None,
        "correction": proposal.is_correction,
        "boxes": boxes_document(limits),
        "differential": differential_document(limits),
        "reason": proposal.reason,
        "proposed_by": proposal.proposed_by.number,
        "proposed_at": as_text(proposal.proposed_at, casino),
        "decision": {
            "outcome": decision.outcome,
            "by": decision.decided_by.number,
            "at": as_text(decision.at, casino),
            "reason": decision.reason,
            "in_force_from": [
                {"table": one.table.code, "from": as_text(one.starts_at, casino)}
                for one in decision.limit_sets.select_related("table")
            ],
        }
        if decision
        else None,
    }  # fmt: skip


def difference_document(proposal: LimitProposal) -> dict[str, list[dict[str, Any]]]:
    """What a proposal would change, for each of its tables."""
    moment = proposal.starts_at or timezone.now()
    limits = proposal.sheet.limits()
    return {
        table.code: [change_document(change) for change in changes(limits_before(table, moment), limits)]
        for table in proposal.tables.all()
    }


def change_document(change: Change) -> dict[str, Any]:
    old, new = (None if amount is None else format_money(amount) for amount in (change.old, change.new))
    return {"key": change.key, "figure": change.figure, "old": old, "new": new, "stricter": change.is_stricter}
