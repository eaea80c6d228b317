"""The steps that are taken on a table from its page: each one form, one service, one sentence on what was done."""

from collections.abc import Callable
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
from games.pages.steps import PageStep
from games.rounds.admin.hand_entry import HandForm, HandRound
from games.rounds.services.recording import RoundConflictError, round_enter

Values = dict[str, Any]


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
    return f"{fit.dice_set} is under the dome of {table}."


def _remove(actor: Staff, table: Table, values: Values) -> str:
    fit = dice_remove(actor=actor, table=table, **values)
    return f"{fit.dice_set} is taken out of {table}."


def _fit_tumbler(actor: Staff, table: Table, values: Values) -> str:
    fit = tumbler_fit(actor=actor, table=table, **values)
    return f"The tumbler {fit.tumbler} is fitted to {table}."


def _remove_tumbler(actor: Staff, table: Table, values: Values) -> str:
    fit = tumbler_remove(actor=actor, table=table, **values)
    return f"The tumbler {fit.tumbler} is removed from {table}."


def _assign(actor: Staff, table: Table, values: Values) -> str:
    changed = table_assign(actor=actor, table=table, **values)
    if not changed:
        return "That is on record already; nothing has changed."
    if table.state == TableState.CLOSED:
        return f"{table} has another game."
    return (
        f"{table} has another game from {values['starts_at']:%Y-%m-%d %H:%M}, and is {table.state}. It needs opening "
        "again then: close it before, and open it for that game with its sign and its checks."
    )


def _enter(actor: Staff, table: Table, values: Values) -> str:
    reason = values.pop("reason")
    entered = HandRound(table, values)
    try:
        _, is_new = round_enter(actor=actor, table=table, document=entered.document, reason=reason)
    except InputError as error:
        raise ValidationError(entered.told(error.faults)) from None
    except RoundConflictError as error:
        raise ValidationError(str(error)) from None
    return "The round is on record, as entered by hand." if is_new else "This round is on record already."


def _state(*states: TableState) -> Callable[[Any, FloorLine], bool]:
    return lambda actor, line: line.table.state in states


def _checks_needed(actor: Any, line: FloorLine) -> bool:
    asked = line.assignment is not None and rulebook(line.assignment.rulebook).opening_checks
    return bool(asked) and line.table.state == TableState.CLOSED


CLOSED, OPEN, SUSPENDED = TableState.CLOSED, TableState.OPEN, TableState.SUSPENDED
STEPS = (
    PageStep("check", "Opening checks", "checklist", "table.check", ChecksForm, _check, _checks_needed, True),
    PageStep("open", "Open", "play_circle", "table.open", RemedyForm, _open, _state(CLOSED), True),
    PageStep("resume", "Resume", "play_circle", "table.resume", RemedyForm, _resume, _state(SUSPENDED), True),
    PageStep("suspend", "Suspend", "pause_circle", "table.suspend", SuspendForm, _suspend, _state(OPEN)),
    PageStep("close", "Close", "stop_circle", "table.close", CloseForm, _close, _state(OPEN, SUSPENDED)),
    PageStep(
        "fit_dice", "Fit dice", "casino", "table.dice", FitForm, _fit,
        lambda actor, line: line.dice is None and line.table.state != OPEN,
    ),
    PageStep(
        "remove_dice", "Take the dice out", "casino", "table.dice", ActionForm, _remove,
        lambda actor, line: line.dice is not None and line.table.state != OPEN,
    ),
    PageStep(
        "fit_tumbler", "Fit tumbler", "cyclone", "table.tumbler", FitTumblerForm, _fit_tumbler,
        lambda actor, line: line.tumbler is None and line.table.state != OPEN,
    ),
    PageStep(
        "remove_tumbler", "Remove tumbler", "cyclone", "table.tumbler", ActionForm, _remove_tumbler,
        lambda actor, line: line.tumbler is not None and line.table.state != OPEN,
    ),
    PageStep("enter", "Enter a round by hand", "edit_square", "round.enter", HandForm, _enter),
    PageStep("assign", "Change the game", "swap_horiz", "table.assign", GameForm, _assign),
)  # fmt: skip


def buttons(user: Any, line: FloorLine) -> list[Button]:
    """What this person can do with a table as it is now."""
    table = line.table

    def button(name: str, title: str, icon: str, is_main: bool = False) -> Button:
        return Button(reverse(f"admin:games_table_{name}", args=[table.pk]), title, icon, is_main)

    steps = [step for step in STEPS if step.makes_sense(user, line) and can(user, step.action, table)]
    found = [button(step.name, step.title, step.icon, step.is_main) for step in steps if step.name != "assign"]
    if can(user, "limits.propose", table):
        found.append(button("propose", "Propose limits", "edit_note"))
    found.append(button("sign", "Sign", "signpost"))
    if line.assignment:
        found.append(button("practise", "Practise", "sports_esports"))
    return found + [button(step.name, step.title, step.icon) for step in steps if step.name == "assign"]
