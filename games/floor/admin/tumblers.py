"""Tumblers: registered, inspected and retired; where they are and what inspections found."""

from typing import Any

from django import forms
from django.contrib import admin
from django.db.models import Model
from django.http import HttpRequest, HttpResponse
from django.utils import timezone
from unfold.decorators import action, display
from unfold.views import ChangeList
from unfold.widgets import (
    UnfoldAdminRadioSelectWidget,
    UnfoldAdminSelectWidget,
    UnfoldAdminTextareaWidget,
    UnfoldAdminTextInputWidget,
)

from games.access.gate import can
from games.floor.selectors import tumblers_now
from games.floor.services.tumblers import tumbler_create, tumbler_inspect, tumbler_retire, tumbler_update
from games.models import Staff, Table, Tumbler, TumblerInspection
from games.pages.gated import ActionForm, AuditedAdmin

STATE_COLOURS = {"Fit for play": "success", "Failed inspection": "danger", "Retired": None}


class FitTumblerForm(ActionForm):
    """The tumbler to fit to a table."""

    tumbler = forms.ModelChoiceField(Tumbler.objects.none(), widget=UnfoldAdminSelectWidget())
    field_order = ["tumbler", "reason"]

    def __init__(self, *args: Any, thing: Table, **kwargs: Any) -> None:
        super().__init__(*args, thing=thing, **kwargs)
        free = Tumbler.objects.filter(pit=thing.pit, state=Tumbler.State.FIT)
        field = self.fields["tumbler"]
        if isinstance(field, forms.ModelChoiceField):
            field.queryset = free.exclude(fits__during__contains=timezone.now())
            field.help_text = "Tumblers of this pit that are fit for play and not at a table."


class InspectTumblerForm(ActionForm):
    """What an inspection found."""

    result = forms.ChoiceField(choices=TumblerInspection.Result.choices, widget=UnfoldAdminRadioSelectWidget())
    lock_found = forms.CharField(
        label="Lock or seal found", widget=UnfoldAdminTextInputWidget(), max_length=40,
        help_text="The number of the lock or seal.",
    )  # fmt: skip
    new_lock = forms.CharField(
        label="New lock or seal", widget=UnfoldAdminTextInputWidget(), max_length=40, required=False,
        help_text="If the compartment was locked or sealed again.",
    )  # fmt: skip
    remarks = forms.CharField(
        widget=UnfoldAdminTextareaWidget(attrs={"rows": 2}), required=False, max_length=1000,
        help_text="What was found. Required if the tumbler fails.",
    )  # fmt: skip

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        del self.fields["reason"]


class TumblerChangeList(ChangeList):
    """Look up the tables of the tumblers once for the whole page."""

    def get_results(self, request: HttpRequest) -> None:
        super().get_results(request)
        fits = tumblers_now(self.result_list)
        for tumbler in self.result_list:
            tumbler.fit = fits.get(tumbler.pk)


@admin.register(Tumbler)
class TumblerAdmin(AuditedAdmin):
    list_display = ["code", "condition", "at_table", "serial", "activation", "lock", "pit"]
    list_filter = ["state", "activation", "pit"]
    list_select_related = ["pit__casino"]
    search_fields = ["code", "serial", "lock"]
    fields = ["pit", "code", "serial", "activation", "lock", "reason"]
    actions_detail = ["inspect", "retire"]
    change_form_outer_after_template = "floor/tumbler.html"

    def get_changelist(self, request: HttpRequest, **kwargs: Any) -> Any:
        return TumblerChangeList

    @display(description="State", label=STATE_COLOURS, ordering="state")
    def condition(self, tumbler: Tumbler) -> str:
        return tumbler.get_state_display()

    @display(description="At table")
    def at_table(self, tumbler: Any) -> str:
        return str(tumbler.fit.table) if tumbler.fit else "–"

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> list[str]:
        return ["serial", "activation", "lock"] if obj else []  # an inspection changes the lock

    def change_view(
        self, request: HttpRequest, object_id: str, form_url: str = "", extra_context: dict[str, Any] | None = None
    ) -> Any:
        context = dict(extra_context or {})
        if tumbler := self.get_object(request, object_id):
            context |= {
                "tumbler": tumbler,
                "fits": tumbler.fits.select_related("table")[:20],
                "inspections": tumbler.inspections.select_related("table")[:20],
            }
        return super().change_view(request, object_id, form_url, context)

    def service_create(self, actor: Staff, values: dict[str, Any], reason: str) -> Model:
        return tumbler_create(actor=actor, casino=values["pit"].casino, reason=reason, **values)

    def service_update(self, actor: Staff, obj: Any, values: dict[str, Any], reason: str) -> None:
        tumbler_update(actor=actor, tumbler=obj, changes=values, reason=reason)

    @action(description="Inspect", icon="search", permissions=["inspect"])
    def inspect(self, request: HttpRequest, object_id: str) -> HttpResponse:
        def take(actor: Staff, tumbler: Tumbler, values: dict[str, Any]) -> str:
            found = tumbler_inspect(actor=actor, tumbler=tumbler, **values)
            return f"{tumbler} inspected: {found.get_result_display().lower()}."

        return self.step(
            request, object_id, action="tumbler.inspect", title="Inspect", form_class=InspectTumblerForm, take=take
        )

    @action(description="Retire", icon="delete_sweep", permissions=["retire"])
    def retire(self, request: HttpRequest, object_id: str) -> HttpResponse:
        def take(actor: Staff, tumbler: Tumbler, values: dict[str, Any]) -> str:
            tumbler_retire(actor=actor, tumbler=tumbler, reason=values["reason"])
            return f"{tumbler} was retired."

        return self.step(request, object_id, action="tumbler.retire", title="Retire", form_class=ActionForm, take=take)

    def has_inspect_permission(self, request: HttpRequest, object_id: str | None = None) -> bool:
        return self._in_use(request, object_id, "tumbler.inspect")

    def has_retire_permission(self, request: HttpRequest, object_id: str | None = None) -> bool:
        return self._in_use(request, object_id, "tumbler.retire")

    def _in_use(self, request: HttpRequest, object_id: str | None, action: str) -> bool:
        tumbler: Tumbler | None = self.get_object(request, str(object_id))
        is_retired = tumbler is None or tumbler.state == Tumbler.State.RETIRED
        return not is_retired and can(request.user, action, tumbler)
