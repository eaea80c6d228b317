"""Read and write limit proposals as documents, for API and command alike."""

import datetime as dt
from collections.abc import Collection
from dataclasses import dataclass
from functools import cache
from typing import Any

from django.db.models import QuerySet
from django.utils import timezone

from games.access.gate import Actor, authorize, visible
from games.engine.errors import InputError
from games.engine.json_input import InputFaults, read_differential, read_ranges, shown_key
from games.engine.money import format_money
from games.engine.rules.loader import rulebooks
from games.engine.signs.changes import LimitChange
from games.engine.signs.edits import Edits
from games.engine.signs.limits import Limits
from games.floor.moments import MomentError, as_text, parse_moment
from games.limits.services.drafts import LimitDraft, drafts_now, drafts_then
from games.limits.services.proposals import limits_edit, limits_propose, overtaken_texts
from games.limits.signs.sign import boxes_document, differential_document
from games.models import Casino, LimitDecision, LimitProposal, Staff, Table

WHOLE = ("tables", "boxes", "differential", "remove")
FIELDS = (*WHOLE, "changes", "from", "correction", "reason")
EDIT_FIELDS = ("boxes", "differential", "remove")
STATES = ("pending", *LimitDecision.Outcome.values)
KNOWN = LimitProposal.objects.select_related("casino", "pit", "proposed_by", "decision__decided_by").prefetch_related(
    "signs__table", "signs__sheet__lines", "signs__sheet__differentials"
)


def proposals_seen(actor: Actor, state: str | None) -> QuerySet[LimitProposal]:
    """Select the proposals that a person may see, in one state or in any."""
    authorize(actor, "limitproposal.view")
    proposals = visible(actor, KNOWN.all())
    if state == "pending":
        return proposals.filter(decision=None)
    return proposals.filter(decision__outcome=state) if state else proposals


# --- Read ---


@dataclass(frozen=True)
class ProposalRequest:
    """What a program proposes: one whole sign for all tables, or edits table by table."""

    tables: list[Table]
    limits: Limits | None
    edits: dict[Table, Edits]
    remove: dict[str, list[str]]
    starts_at: dt.datetime | None
    is_correction: bool
    reason: str


def propose(actor: Staff, data: object) -> LimitProposal:
    """Propose what a document asks for; report every fault at once, with its field."""
    request = read_proposal(data)
    common: dict[str, Any] = {
        "actor": actor, "starts_at": request.starts_at, "is_correction": request.is_correction,
        "reason": request.reason, "remove": request.remove,
    }  # fmt: skip
    if request.limits is None:
        return limits_edit(edits=request.edits, **common)
    return limits_propose(tables=request.tables, limits=request.limits, **common)


def read_proposal(data: object) -> ProposalRequest:
    """Read a proposal; report every fault at once, with its field."""
    faults = InputFaults()
    if not isinstance(data, dict):
        raise InputError("The input is not a JSON object; write it as {…}.")
    is_edit = data.get("changes") is not None
    entry = faults.table(data, "", FIELDS)
    faults.required(entry, "", *(("changes", "reason") if is_edit else ("tables", "boxes", "reason")))
    if is_edit:
        for name in WHOLE:
            if name in entry:
                faults.add(name, "is given together with changes; name tables and limits in changes only.")
    tables, limits, edits, remove = (_changes if is_edit else _whole)(faults, entry)
    starts_at = _moment(faults, entry.get("from"))
    if not isinstance(entry.get("correction", False), bool):
        faults.add("correction", "is neither true nor false; write one of them.")
    if not isinstance(entry.get("reason", ""), str):
        faults.add("reason", "is not a text; write it in quotes.")
    faults.done()
    reason = entry["reason"].replace("\x00", "")
    return ProposalRequest(tables, limits, edits, remove, starts_at, entry.get("correction", False), reason)


def _whole(faults: InputFaults, entry: dict[str, Any]) -> tuple[list[Table], Limits, dict[Table, Edits], Any]:
    codes = entry.get("tables", [])
    if not isinstance(codes, list) or not all(isinstance(code, str) for code in codes):
        faults.add("tables", 'is not a list of table codes; write it as ["TS-01"].')
        codes = []
    tables = _tables(faults, codes, "tables")
    _verify_keys(faults, entry, "")
    limits = Limits(
        read_ranges(faults, entry.get("boxes", {}), "boxes"), read_differential(faults, entry.get("differential", {}))
    )
    return list(tables.values()), limits, {}, read_removals(faults, entry.get("remove", []), list(tables))


def _changes(faults: InputFaults, entry: dict[str, Any]) -> tuple[list[Table], None, dict[Table, Edits], Any]:
    changes_ = faults.table(entry["changes"], "changes")
    tables = _tables(faults, list(changes_), "changes")
    edits: dict[Table, Edits] = {}
    remove: dict[str, list[str]] = {}
    for code, value in changes_.items():
        where = f"changes.{shown_key(code)}"
        edit = faults.table(value, where, EDIT_FIELDS)
        _verify_keys(faults, edit, f"{where}.")
        ranges = read_ranges(faults, edit.get("boxes", {}), f"{where}.boxes")
        apart = read_differential(faults, edit.get("differential", {}), f"{where}.differential")
        figures = {
            (key, figure): amount
            for key, line in ranges.items()
            for figure, amount in (("min", line.minimum), ("max", line.maximum))
            if amount is not None
        } | {(key, "differential"): amount for key, amount in apart.items()}
        names = read_names(faults, edit.get("remove", []), f"{where}.remove")
        if code in tables:
            edits[tables[code]] = Edits(figures)
            remove |= {code: names} if names else {}
    return list(tables.values()), None, edits, remove


def _tables(faults: InputFaults, codes: list[str], where: str) -> dict[str, Table]:
    tables = {table.code: table for table in Table.objects.select_related("casino").filter(code__in=_plain(codes))}
    for code in codes:
        if code not in tables:
            faults.add(where, f"there is no table {code!r:.40}; check the code.")
    return tables


def read_names(faults: InputFaults, value: object, where: str) -> list[str]:
    """Read the full names of limits to remove: boxes.KEY.min, boxes.KEY.max, differential.KEY."""
    if not isinstance(value, list) or not all(isinstance(name, str) for name in value):
        faults.add(where, 'is not a list of limits; write it as ["boxes.odd-even.min", "differential.odd-even"].')
        return []
    return list(dict.fromkeys(value))


def read_removals(
    faults: InputFaults, value: object, codes: Collection[str], where: str = "remove"
) -> dict[str, list[str]]:
    """Read the limits to remove by table. A bare list is accepted for one table only."""
    if isinstance(value, dict):
        for code in value.keys() - set(codes):
            faults.add(f"{where}.{shown_key(code)}", "is not a table of this proposal; leave it out.")
        return {
            code: names for code in codes
            if code in value and (names := read_names(faults, value[code], f"{where}.{shown_key(code)}"))
        }  # fmt: skip
    names = read_names(faults, value, where)
    if names and len(codes) > 1:
        faults.add(
            where, f'names limits of several tables; write them by table, as {{"{min(codes)}": ["{names[0]:.40}"]}}.'
        )
    return {code: names for code in codes if names}


def _verify_keys(faults: InputFaults, entry: dict[str, Any], prefix: str) -> None:
    """Refuse keys that no layout has, even with a null limit. The service checks the table's own layout."""
    for where, known in known_keys().items():
        given = entry.get(where)
        for key in given if isinstance(given, dict) else ():
            if key not in known:
                faults.add(f"{prefix}{where}.{shown_key(key)}", "is known in no rulebook; check its spelling.")


@cache
def known_keys() -> dict[str, frozenset[str]]:
    """Return the bet types and boxes of all layouts, and the bet types that may have a differential."""
    books = rulebooks().values()
    layouts = [layout for book in books for layout in book.layouts.values()]
    return {
        "boxes": frozenset(key for layout in layouts for key in (*layout.types, *layout.boxes)),
        "differential": frozenset(key for book in books for key in book.limits.differential),
    }


def _plain(codes: list[str]) -> list[str]:
    return [code for code in codes if "\x00" not in code]  # PostgreSQL stores no NUL


def _moment(faults: InputFaults, value: object) -> dt.datetime | None:
    if value is None:
        return None
    try:
        return parse_moment(value)
    except MomentError as error:
        faults.add("from", f"{error}.")
        return None


# --- Write ---


def proposal_document(proposal: LimitProposal) -> dict[str, Any]:
    """Describe a proposal with the whole sign of each table; `boxes` and `differential` if all signs are alike."""
    casino = proposal.casino
    signs = {sign.table.code: sign.limits() for sign in proposal.signs.all()}
    alike = next(iter(signs.values())) if len({repr(sign) for sign in signs.values()}) == 1 else None
    decision = getattr(proposal, "decision", None)
    return {
        "id": proposal.pk,
        "state": proposal.state,
        "casino": casino.code,
        "pit": proposal.pit.code,
        "tables": list(signs),
        "from": as_text(proposal.starts_at, casino) if proposal.starts_at else None,
        "correction": proposal.is_correction,
        "boxes": boxes_document(alike) if alike else None,
        "differential": differential_document(alike) if alike else None,
        "signs": {
            code: {"boxes": boxes_document(limits), "differential": differential_document(limits)}
            for code, limits in signs.items()
        },
        "reason": proposal.reason,
        "proposed_by": proposal.proposed_by.number,
        "proposed_at": as_text(proposal.proposed_at, casino),
        "decision": decision_document(decision, casino) if decision else None,
    }


def decision_document(decision: LimitDecision, casino: Casino) -> dict[str, Any]:
    return {
        "outcome": decision.outcome,
        "by": decision.decided_by.number,
        "at": as_text(decision.at, casino),
        "reason": decision.reason,
        "in_force_from": [
            {"table": limit_set.table.code, "from": as_text(limit_set.starts_at, casino)}
            for limit_set in decision.limit_sets.select_related("table")
        ],
    }


def changes_document(proposal: LimitProposal) -> dict[str, Any]:
    """Describe what a proposal changes at each of its tables.

    If pending: against the signs in force at its start as known now, with what else changed since and which sign
    takes over later. If decided: against the signs that it was worked out from.
    """
    if proposal.state != "pending":
        return {"changes": _by_table(drafts_then(proposal))}
    drafts = drafts_now(proposal, list(proposal.tables.select_related("casino")), now=timezone.now())
    later = {draft.table.code: draft.next_sign for draft in drafts}
    return {
        "changes": _by_table(drafts),
        "overtaken": overtaken_texts(proposal, drafts),
        "until": {
            code: as_text(limit_set.starts_at, proposal.casino) if limit_set else None
            for code, limit_set in later.items()
        },
    }


def _by_table(drafts: list[LimitDraft]) -> dict[str, list[dict[str, Any]]]:
    return {draft.table.code: [change_document(change) for change in draft.changes] for draft in drafts}


def change_document(change: LimitChange) -> dict[str, Any]:
    old, new = (None if amount is None else format_money(amount) for amount in (change.old, change.new))
    return {
        "key": change.key, "figure": change.figure, "old": old, "new": new, "stricter": change.is_stricter,
        "removes": change.is_removal,
    }  # fmt: skip
