"""The form for new limits: a grid of bets by tables, presets, and a tick for each limit to be removed."""

import datetime as dt
import re
from collections.abc import Sequence
from typing import Any

from django import forms
from django.contrib import messages
from django.core.exceptions import ValidationError
from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import redirect
from django.template.response import TemplateResponse
from django.utils import timezone
from unfold.widgets import UnfoldAdminSelectWidget, UnfoldAdminTextInputWidget, UnfoldBooleanWidget

from games.access.gate import visible
from games.engine.rules.loader import rulebook
from games.engine.signs.changes import LimitChange
from games.engine.signs.edits import Edits, edited
from games.engine.signs.limits import Limits
from games.floor.admin.forms import MomentField
from games.floor.services.tables import in_force
from games.labels.boxes import key_label
from games.limits.admin.grid import GridColumn, LimitGrid
from games.limits.presets import preset_limits
from games.limits.services.drafts import (
    LimitDraft,
    UnconfirmedRemovalsError,
    base_at,
    drafts_of,
    first_free_minute,
    is_same_sign,
)
from games.limits.services.proposals import limits_edit
from games.limits.signs.changed import change_text
from games.models import Casino, LimitPreset, LimitSet, Staff, Table
from games.pages.gated import actor_of, add_errors

TICK = "Limits would be removed. Tick each one below, or enter a value."


class LimitProposalForm(forms.Form):
    """The fields around the grid: start, reason, and helps to fill in the grid."""

    starts_at = MomentField(
        label="From",
        required=False,
        help_text="Leave empty to start as soon as the proposal is approved and notice is given.",
    )
    is_correction = forms.BooleanField(
        label="Correction", required=False, widget=UnfoldBooleanWidget(),
        help_text="Records what the sign said from a time that has passed, or that already has limits.",
    )  # fmt: skip
    reason = forms.CharField(
        label="Reason", widget=UnfoldAdminTextInputWidget(), max_length=500, help_text="Kept on record."
    )
    preset = forms.ModelChoiceField(
        LimitPreset.objects.none(), required=False, widget=UnfoldAdminSelectWidget(), label="Preset"
    )
    new_box = forms.ChoiceField(required=False, widget=UnfoldAdminSelectWidget(), label="Box with its own limits")

    def __init__(self, *args: Any, actor: Staff, casino: Casino, boxes: Sequence[str], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        preset, box = self.fields["preset"], self.fields["new_box"]
        if isinstance(preset, forms.ModelChoiceField) and isinstance(box, forms.ChoiceField):
            preset.queryset = visible(actor, LimitPreset.objects.filter(casino=casino))
            box.choices = [("", "---------"), *((code, key_label(code)) for code in boxes)]


#: Buttons that fill the grid. A form sent with any other button is a proposal.
FILLING = frozenset({"row", "fill", "add"})


def propose(site: Any, request: HttpRequest, tables: list[Table], *, title: str, back: str) -> HttpResponse:
    """Show the form for new limits, filled from the signs, and take the proposal."""
    actor = actor_of(request)
    sent = request.POST if request.method == "POST" else None
    try:
        columns = columns_of(tables, sent)
    except ValidationError as error:
        messages.error(request, " ".join(error.messages))
        return redirect(back)
    grid = LimitGrid(columns, sent)
    free = [box for box in grid.known_boxes() if box not in grid.boxes()]
    form = LimitProposalForm(sent, actor=actor, casino=tables[0].casino, boxes=free)
    if sent is not None:
        if FILLING.isdisjoint(sent):
            proposal = _propose(actor, form, grid, sent)
            if proposal is not None:
                messages.success(request, f"Proposal {proposal} waits for approval by another person.")
                return redirect("admin:games_limitproposal_change", proposal.pk)
        else:
            grid = _fill(form, grid, sent)
    ticked = set(sent.getlist("remove")) if sent is not None else set()
    context = {
        **site.each_context(request), "title": title, "form": form, "grid": grid, "back": back, "tables": tables,
        "removals": [
            {"value": _value(table, change), "text": f"{table}: {change_text(change)}",
             "is_ticked": _value(table, change) in ticked}
            for table, change in grid.removals()
        ],
    }  # fmt: skip
    return TemplateResponse(request, "limits/limits_form.html", context)


def columns_of(tables: Sequence[Table], sent: QueryDict | None) -> list[GridColumn]:
    """Make a column for each table, with the sign in force or the one that the form was filled from."""
    moment = first_free_minute(tables, timezone.now())
    columns = []
    for table in tables:
        game = in_force(table)
        book = rulebook(game.rulebook)
        base = _seen(table, sent) if sent is not None else base_at(table, moment)
        columns.append(GridColumn(table, book, book.layouts[game.layout], base))
    return columns


def _seen(table: Table, sent: QueryDict) -> LimitSet | None:
    text = sent.get(f"seen.{table.pk}", "")
    key = int(text) if re.fullmatch(r"\d{1,18}", text, re.ASCII) else 0
    return LimitSet.objects.filter(table=table, pk=key).select_related("sheet").first()


def _fill(form: LimitProposalForm, grid: LimitGrid, sent: QueryDict) -> LimitGrid:
    """Fill a row or preset into the grid, or add a row for a box. Nothing is proposed."""
    form.is_valid()
    chosen: LimitPreset | None = form.cleaned_data.get("preset")
    form.errors.clear()
    if "row" in sent:
        grid.fill_row(sent.get("row", ""))
        return grid
    limits = preset_limits(chosen) if chosen and "fill" in sent else Limits()
    boxes = [*limits.by_key, *([sent.get("new_box", "")] if "add" in sent else [])]
    more = sent.copy()
    more.setlist("box", [*sent.getlist("box"), *boxes])
    grid = LimitGrid(grid.columns, more)
    grid.fill(limits)
    return grid


def _propose(actor: Staff, form: LimitProposalForm, grid: LimitGrid, sent: QueryDict) -> Any:
    """Propose the edits; return None if something must be corrected first, and show it in the form."""
    if not form.is_valid() or not grid.read():
        if not form.errors:
            form.add_error(None, "Correct the values marked in the grid.")
        return None
    edits = grid.edits()
    if not edits:
        form.add_error(None, "These limits are already in force. Change at least one value.")
        return None
    if changed := _changed_since(grid, edits, form.cleaned_data["starts_at"]):
        _refill(grid, changed)
        names = ", ".join(draft.table.code for draft in changed)
        form.add_error(
            None,
            f"{names}: another sign is in force at that time. The grid now shows its values; your edits are kept. "
            "Check them and propose again.",
        )
        return None
    remove: dict[str, list[str]] = {}
    ticked = set(sent.getlist("remove"))
    for table, change in grid.removals():
        if _value(table, change) in ticked:
            remove.setdefault(table.code, []).append(change.name)
    values = form.cleaned_data
    try:
        return limits_edit(
            actor=actor, edits=edits, starts_at=values["starts_at"], is_correction=values["is_correction"],
            reason=values["reason"], remove=remove,
        )  # fmt: skip
    except UnconfirmedRemovalsError:
        form.add_error(None, TICK)
    except ValidationError as error:
        add_errors(form, error)
    return None


def _changed_since(grid: LimitGrid, edits: dict[Table, Edits], starts_at: dt.datetime | None) -> list[LimitDraft]:
    """List the tables whose sign at the start of the change is not the one that the form shows."""
    shown = {column.table.pk: column.limits for column in grid.columns}
    tables = list(edits)
    notice = dt.timedelta(minutes=tables[0].casino.notice_minutes)
    drafts = drafts_of(
        tables, lambda table, old: edited(old, edits[table]), starts_at=starts_at, notice=notice, now=timezone.now()
    )
    return [draft for draft in drafts if not is_same_sign(draft.old, shown[draft.table.pk])]


def _refill(grid: LimitGrid, drafts: Sequence[LimitDraft]) -> None:
    """Fill the grid from other signs; edited cells keep the typed values."""
    bases = {draft.table.pk: draft.base for draft in drafts}
    kept = {cell.name: cell.text for row in grid.rows for cells in filter(None, row.cells) for cell in cells
            if cell.is_edited}  # fmt: skip
    sent = QueryDict(mutable=True)
    sent.setlist("box", grid.boxes())
    sent["untouched"] = "yes"
    sent.update(kept)
    grid.columns = [
        GridColumn(column.table, column.book, column.layout, bases.get(column.table.pk, column.base), column.is_filled)
        for column in grid.columns
    ]
    grid.sent = sent
    grid.fill_in()


def _value(table: Table, change: LimitChange) -> str:
    return f"{table.code} {change.name}"
