"""The actions on a table's page: each has one form, one service and one success message."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from django.core.exceptions import ValidationError
from django.urls import reverse

from games.access.gate import can
from games.engine.errors import InputError
from games.engine.rules.loader import rulebook
from games.floor.admin.forms import ChecksForm, CloseForm, FitForm, GameForm, RemedyForm, SuspendForm
from games.floor.admin.tumblers import FitTumblerForm
from games.floor.selectors import FloorLine
from games.floor.services.dice import dice_fit, dice_remove
from games.floor.services.tables import (
    opening_checks_sign,
    table_assign,
    table_close,
    table_open,
    table_resume,
    table_suspend,
)
from games.floor.services.tumblers import tumbler_fit, tumbler_remove
from games.models import Staff, Table, TableState
from games.pages.gated import ActionForm, Button
from games.rounds.admin.hand_entry import HandForm, HandRound
from games.rounds.services.recording import RoundConflictError, round_enter

Values = dict[str, Any]


@dataclass(frozen=True)
class TableAction:
    """An action: its address below the table's page, the action for the gate, and when it is offered."""

    name: str
    action: str
    title: str
    icon: str
    form: type[ActionForm]
    take: Callable[[Staff, Table, Values], str]
    makes_sense: Callable[[FloorLine], bool]


def _check(actor: Staff, table: Table, values: Values) -> str:
    passed = {name: answer == "yes" for name, answer in values.items() if name != "remarks"}
    signed = opening_checks_sign(actor=actor, table=table, passed=passed, remarks=values["remarks"])
    return f"Signed by {signed.who}: {'all checks passed' if signed.passed else 'not all checks passed'}."


def _open(actor: Staff, table: Table, values: Values) -> str:
    table_open(actor=actor, table=table, **values)
    return f"{table} is open."


def _resume(actor: Staff, table: Table, values: Values) -> str:
    table_resume(actor=actor, table=table, **values)
    return f"{table} is open again."


def _suspend(actor: Staff, table: Table, values: Values) -> str:
    table_suspend(actor=actor, table=table, **values)
    return f"{table} is suspended."


def _close(actor: Staff, table: Table, values: Values) -> str:
    table_close(actor=actor, table=table, **values)
    return f"{table} is closed."


def _fit(actor: Staff, table: Table, values: Values) -> str:
    fit = dice_fit(actor=actor, table=table, **values)
    return f"{fit.dice_set} was fitted to {table}."


def _remove(actor: Staff, table: Table, values: Values) -> str:
    fit = dice_remove(actor=actor, table=table, **values)
    return f"{fit.dice_set} was removed from {table}."


def _fit_tumbler(actor: Staff, table: Table, values: Values) -> str:
    fit = tumbler_fit(actor=actor, table=table, **values)
    return f"Tumbler {fit.tumbler} was fitted to {table}."


def _remove_tumbler(actor: Staff, table: Table, values: Values) -> str:
    fit = tumbler_remove(actor=actor, table=table, **values)
    return f"Tumbler {fit.tumbler} was removed from {table}."


def _assign(actor: Staff, table: Table, values: Values) -> str:
    changed = table_assign(actor=actor, table=table, **values)
    if not changed:
        return "This is already on record. Nothing was changed."
    if table.state == TableState.CLOSED:
        return f"The game of {table} was changed."
    return (
        f"The game of {table} changes at {values['starts_at']:%Y-%m-%d %H:%M}, and the table is {table.state}. Close "
        "it before then, and open it again for the new game with its sign and its checks."
    )


def _enter(actor: Staff, table: Table, values: Values) -> str:
    reason = values.pop("reason")
    entered = HandRound(table, values)
    try:
        _, is_new = round_enter(actor=actor, table=table, document=entered.document, reason=reason)
    except InputError as error:
        raise ValidationError(entered.faults_by_field(error.faults)) from None
    except RoundConflictError as error:
        raise ValidationError(str(error)) from None
    return "The round was recorded as entered by hand." if is_new else "This round is already on record."


def _state(*states: TableState) -> Callable[[FloorLine], bool]:
    return lambda line: line.table.state in states


def _checks_needed(line: FloorLine) -> bool:
    asked = line.assignment is not None and rulebook(line.assignment.rulebook).opening_checks
    return bool(asked) and line.table.state == TableState.CLOSED


MAIN = ("check", "open", "resume")
CLOSED, OPEN, SUSPENDED = TableState.CLOSED, TableState.OPEN, TableState.SUSPENDED
STEPS = (
    TableAction("check", "table.check", "Opening checks", "checklist", ChecksForm, _check, _checks_needed),
    TableAction("open", "table.open", "Open", "play_circle", RemedyForm, _open, _state(CLOSED)),
    TableAction("resume", "table.resume", "Resume", "play_circle", RemedyForm, _resume, _state(SUSPENDED)),
    TableAction("suspend", "table.suspend", "Suspend", "pause_circle", SuspendForm, _suspend, _state(OPEN)),
    TableAction("close", "table.close", "Close", "stop_circle", CloseForm, _close, _state(OPEN, SUSPENDED)),
    TableAction(
        "fit_dice", "table.dice", "Fit dice", "casino", FitForm, _fit,
        lambda line: line.dice is None and line.table.state != OPEN,
    ),
    TableAction(
        "remove_dice", "table.dice", "Remove dice", "casino", ActionForm, _remove,
        lambda line: line.dice is not None and line.table.state != OPEN,
    ),
    TableAction(
        "fit_tumbler", "table.tumbler", "Fit tumbler", "cyclone", FitTumblerForm, _fit_tumbler,
        lambda line: line.tumbler is None and line.table.state != OPEN,
    ),
    TableAction(
        "remove_tumbler", "table.tumbler", "Remove tumbler", "cyclone", ActionForm, _remove_tumbler,
        lambda line: line.tumbler is not None and line.table.state != OPEN,
    ),
    TableAction("enter", "round.enter", "Enter a round by hand", "edit_square", HandForm, _enter, lambda line: True),
    TableAction("assign", "table.assign", "Change game", "swap_horiz", GameForm, _assign, lambda line: True),
)  # fmt: skip


def buttons(user: Any, line: FloorLine) -> list[Button]:
    """List the actions that this person can take on a table now."""
    table = line.table

    def button(name: str, title: str, icon: str) -> Button:
        return Button(reverse(f"admin:games_table_{name}", args=[table.pk]), title, icon, name in MAIN)

    steps = [step for step in STEPS if step.makes_sense(line) and can(user, step.action, table)]
    found = [button(step.name, step.title, step.icon) for step in steps if step.name != "assign"]
    if can(user, "limits.propose", table):
        found.append(button("propose", "Propose limits", "edit_note"))
    found.append(button("sign", "Sign", "signpost"))
    if line.assignment:
        found.append(button("practise", "Practise", "sports_esports"))
    return found + [button(step.name, step.title, step.icon) for step in steps if step.name == "assign"]
