"""Limit presets: named limits, kept by people who approve limits."""

import json
from typing import Any

from django import forms
from django.contrib import admin
from django.db.models import Model
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.html import format_html_join
from simple_history.template_utils import HistoricalRecordContextHelper
from unfold.decorators import action, display
from unfold.widgets import UnfoldAdminTextareaWidget, UnfoldAdminTextInputWidget

from games.access.gate import can
from games.engine.errors import InputError
from games.engine.money import MoneyError
from games.engine.rules.loader import rulebooks
from games.engine.signs.changes import NAMES, changes
from games.engine.signs.limits import Limits, Range
from games.labels.boxes import BET_TYPES, key_label
from games.labels.money import limit_label
from games.limits.admin.grid import amount_of, written
from games.limits.presets import preset_limits, read_preset
from games.limits.serializers import known_keys
from games.limits.services.presets import preset_add, preset_change, preset_remove
from games.models import LimitPreset, Staff
from games.pages.gated import ActionForm, AuditedAdmin, ServiceForm

BOX_FIELDS = 3  # code, minimum, maximum
DIFFERENTIALS = tuple(dict.fromkeys(key for book in rulebooks().values() for key in book.limits.differential))


def money_field(label: str) -> forms.CharField:
    widget = UnfoldAdminTextInputWidget(attrs={"inputmode": "decimal", "autocomplete": "off"})
    return forms.CharField(widget=widget, required=False, max_length=20, label=label)


class PresetFormBase(ServiceForm):
    """A row for each bet type, and below them boxes with their own limits."""

    boxes = forms.CharField(
        label="Boxes with their own limits", required=False,
        widget=UnfoldAdminTextareaWidget(attrs={"rows": 3, "spellcheck": "false"}),
        help_text="One box a line: code, minimum and maximum, as in: total-4 10 500. A dash means no limit.",
    )  # fmt: skip

    class Meta:
        model = LimitPreset
        fields = ["casino", "name"]

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if self.instance.pk:
            self._show(preset_limits(self.instance))

    def _show(self, limits: Limits) -> None:
        for type_ in BET_TYPES:
            line = limits.by_key.get(type_, Range())
            self.initial[f"min_{type_}"], self.initial[f"max_{type_}"] = written(line.minimum), written(line.maximum)
        for type_ in DIFFERENTIALS:
            self.initial[f"differential_{type_}"] = written(limits.differential.get(type_))
        self.initial["boxes"] = "\n".join(
            f"{key} {written(line.minimum) or '-'} {written(line.maximum) or '-'}"
            for key, line in limits.by_key.items()
            if key not in BET_TYPES
        )

    def clean(self) -> dict[str, Any]:
        values = super().clean() or {}
        lines = {}
        for type_ in BET_TYPES:
            line = Range(self._amount(f"min_{type_}"), self._amount(f"max_{type_}"))
            if line.minimum is not None and line.maximum is not None and line.minimum > line.maximum:
                self.add_error(f"max_{type_}", "The maximum is below the minimum.")
            if line != Range():
                lines[type_] = line
        apart = {
            type_: amount for type_ in DIFFERENTIALS if (amount := self._amount(f"differential_{type_}")) is not None
        }
        values["limits"] = Limits(lines | self._boxes(values.get("boxes", "")), apart)
        if not self.errors and values["limits"] == Limits():
            self.add_error(None, "The preset has no limits. Enter at least one value.")
        return values

    def _amount(self, name: str) -> int | None:
        try:
            return amount_of(self.cleaned_data.get(name, ""))
        except MoneyError as error:
            self.add_error(name, f"{error}.")
            return None

    def _boxes(self, text: str) -> dict[str, Range]:
        found: dict[str, Range] = {}
        for line in filter(None, map(str.strip, text.splitlines())):
            parts = line.split()
            if len(parts) != BOX_FIELDS or parts[0] in BET_TYPES or parts[0] not in known_keys()["boxes"]:
                self.add_error("boxes", f"{line!r:.60}: enter a box, its minimum and maximum, as in: total-4 10 500.")
                continue
            try:
                found[parts[0]] = Range(amount_of(parts[1]), amount_of(parts[2]))
            except MoneyError as error:
                self.add_error("boxes", f"{parts[0]}: {error}.")
        return found


PresetForm: Any = type(
    "PresetForm",
    (PresetFormBase,),
    {
        **{f"min_{type_}": money_field(f"{name}: minimum") for type_, name in BET_TYPES.items()},
        **{f"max_{type_}": money_field(f"{name}: maximum") for type_, name in BET_TYPES.items()},
        **{f"differential_{type_}": money_field(f"{BET_TYPES[type_]}: differential") for type_ in DIFFERENTIALS},
    },
)


def limits_text(document: Any) -> str:
    """Write the limits of a preset for people; as stored, if no rulebook knows them any more."""
    try:
        found = changes(Limits(), read_preset(document))
    except InputError:
        return json.dumps(document)
    return "; ".join(f"{key_label(change.key)} {NAMES[change.figure]} {limit_label(change.new)}" for change in found)


class PresetChanges(HistoricalRecordContextHelper):
    """Write the old and new limits of a preset, limit by limit."""

    def prepare_delta_change_value(self, change: Any, value: Any) -> Any:
        is_limits = change.field == "limits" and isinstance(value, dict)
        return limits_text(value) if is_limits else super().prepare_delta_change_value(change, value)


@admin.register(LimitPreset)
class LimitPresetAdmin(AuditedAdmin):
    form = PresetForm
    list_display = ["name", "casino", "what"]
    list_filter = ["casino"]
    list_select_related = ["casino"]
    search_fields = ["name"]
    actions_detail = ["remove"]

    def get_fieldsets(self, request: HttpRequest, obj: Any = None) -> Any:
        may_write = self.has_change_permission(request, obj) if obj else self.has_add_permission(request)
        if not may_write:
            return [(None, {"fields": ["casino", "name", "what"]})]
        pairs = [(f"min_{type_}", f"max_{type_}") for type_ in BET_TYPES]
        return [
            (None, {"fields": ["casino", "name"]}),
            ("Limits", {"fields": [*pairs, tuple(f"differential_{type_}" for type_ in DIFFERENTIALS), "boxes"]}),
            (None, {"fields": ["reason"]}),
        ]

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> list[str]:
        return ["casino", "what"] if obj else ["what"]

    def has_add_permission(self, request: HttpRequest) -> bool:
        return can(request.user, "limitpreset.change")

    def get_historical_record_context_helper(self, request: HttpRequest, historical_record: Any) -> "PresetChanges":
        return PresetChanges(self.model, historical_record)

    def readable_value(self, field: Any, value: Any) -> str:
        return limits_text(value) if field.name == "limits" else super().readable_value(field, value)

    @display(description="Limits")
    def what(self, preset: LimitPreset) -> Any:
        found = changes(Limits(), preset_limits(preset))
        return format_html_join(
            "; ",
            "{} {} {}",
            ((key_label(change.key), NAMES[change.figure], limit_label(change.new)) for change in found),
        )

    def service_create(self, actor: Staff, values: dict[str, Any], reason: str) -> Model:
        return preset_add(
            actor=actor, casino=values["casino"], name=values["name"], limits=values["limits"], reason=reason
        )

    def service_update(self, actor: Staff, obj: Any, values: dict[str, Any], reason: str) -> None:
        preset_change(actor=actor, preset=obj, name=values["name"], limits=values["limits"], reason=reason)

    def save_model(self, request: HttpRequest, obj: Any, form: Any, change: bool) -> None:
        """Save the limits, gathered from many fields, with one service call."""
        values, reason = form.cleaned_data, form.cleaned_data["reason"]
        if change:
            self.service_update(form.actor, obj, values, reason)
        else:
            obj.pk = self.service_create(form.actor, values, reason).pk

    @action(description="Remove", icon="remove_circle", permissions=["remove"])
    def remove(self, request: HttpRequest, object_id: str) -> HttpResponse:
        def take(actor: Staff, preset: LimitPreset, values: dict[str, Any]) -> str:
            preset_remove(actor=actor, preset=preset, reason=values["reason"])
            return f"Preset {preset} was removed. No sign was changed."

        answer = self.step(
            request, object_id, action="limitpreset.change", title="Remove", form_class=ActionForm, take=take
        )  # its page no longer exists
        is_gone = request.method == "POST" and self.get_object(request, object_id) is None
        return redirect("admin:games_limitpreset_changelist") if is_gone else answer

    def has_remove_permission(self, request: HttpRequest, object_id: str | None = None) -> bool:
        return can(request.user, "limitpreset.change", self.get_object(request, str(object_id)))
