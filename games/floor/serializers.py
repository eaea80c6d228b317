"""Records of the floor as JSON, with the names of the contract, for API and commands."""

from typing import Any

from games.engine.money import format_money
from games.engine.rules.loader import rulebook
from games.floor.approval import approval_of
from games.floor.moments import as_text
from games.floor.selectors import FloorLine
from games.floor.timeline import TimelineEvent
from games.models import (
    DiceFit,
    DiceInspection,
    DiceSet,
    Table,
    TableAssignment,
    Terminal,
    Tumbler,
    TumblerFit,
    TumblerInspection,
)


def table_document(line: FloorLine) -> dict[str, Any]:
    table, casino = line.table, line.table.casino
    return {
        "code": table.code,
        "casino": casino.code,
        "pit": line.assignment.pit.code if line.assignment else None,
        "state": table.state,
        "opening_on_record": table.state_since is not None,
        "since": as_text(table.state_since, casino) if table.state_since else None,
        "game": game_document(line.assignment) if line.assignment else None,
        "limits_from": as_text(line.sign.starts_at, casino) if line.sign else None,
        "next_limits_from": as_text(line.next_sign.starts_at, casino) if line.next_sign else None,
        "dice_set": line.dice.dice_set.code if line.dice else None,
        "tumbler": line.tumbler.tumbler.code if line.tumbler else None,
        "pending_proposals": line.pending,
    }


def game_document(assignment: TableAssignment) -> dict[str, Any]:
    return {
        "rulebook": assignment.rulebook,
        "version": rulebook(assignment.rulebook).version,
        "layout": assignment.layout,
        "chip_unit": format_money(assignment.chip_unit),
        "from": as_text(assignment.starts_at, assignment.casino),
        "approval": approval_of(rulebook(assignment.rulebook), assignment.casino).value,
    }


def event_document(table: Table, event: TimelineEvent) -> dict[str, Any]:
    at = as_text(event.at, table.casino)
    return {"at": at, "kind": event.kind, "what": event.what, "who": event.who, "why": event.why,
            "proposal": event.proposal}  # fmt: skip


def dice_set_document(dice_set: DiceSet, fit: DiceFit | None) -> dict[str, Any]:
    return {
        "id": dice_set.pk,
        "code": dice_set.code,
        "casino": dice_set.casino.code,
        "pit": dice_set.pit.code,
        "serials": dice_set.serials,
        "seal": dice_set.seal,
        "state": dice_set.state,
        "table": fit.table.code if fit else None,
    }


def inspection_document(inspection: DiceInspection) -> dict[str, Any]:
    casino = inspection.dice_set.casino
    return {
        "at": as_text(inspection.at, casino),
        "result": inspection.result,
        "inspector": inspection.by.number,
        "seal_found": inspection.seal_found,
        "new_seal": inspection.new_seal or None,
        "remarks": inspection.remarks or None,
    }


def fit_document(fit: DiceFit) -> dict[str, Any]:
    casino = fit.table.casino
    return {
        "table": fit.table.code,
        "dice_set": fit.dice_set.code,
        "serials": fit.dice_set.serials,
        "from": as_text(fit.during.lower, casino),
        "to": as_text(fit.during.upper, casino) if fit.during.upper else None,
    }


def tumbler_document(tumbler: Tumbler, fit: TumblerFit | None) -> dict[str, Any]:
    return {
        "id": tumbler.pk,
        "code": tumbler.code,
        "casino": tumbler.casino.code,
        "pit": tumbler.pit.code,
        "serial": tumbler.serial,
        "activation": tumbler.activation,
        "lock": tumbler.lock,
        "state": tumbler.state,
        "table": fit.table.code if fit else None,
    }


def tumbler_inspection_document(inspection: TumblerInspection) -> dict[str, Any]:
    return {
        "at": as_text(inspection.at, inspection.tumbler.casino),
        "result": inspection.result,
        "inspector": inspection.by.number,
        "lock_found": inspection.lock_found,
        "new_lock": inspection.new_lock or None,
        "remarks": inspection.remarks or None,
    }


def tumbler_fit_document(fit: TumblerFit) -> dict[str, Any]:
    casino = fit.table.casino
    return {
        "table": fit.table.code,
        "tumbler": fit.tumbler.code,
        "serial": fit.tumbler.serial,
        "from": as_text(fit.during.lower, casino),
        "to": as_text(fit.during.upper, casino) if fit.during.upper else None,
    }


def terminal_document(terminal: Terminal) -> dict[str, Any]:
    """Describe a terminal, without its key: only its hash is stored."""
    casino = terminal.casino
    return {
        "name": terminal.name,
        "casino": casino.code,
        "tables": terminal.table_codes.split(", "),
        "source": terminal.source or None,
        "key_hint": terminal.key_hint,
        "revoked_at": as_text(terminal.revoked_at, casino) if terminal.revoked_at else None,
        "last_used_at": as_text(terminal.last_used_at, casino) if terminal.last_used_at else None,
    }
