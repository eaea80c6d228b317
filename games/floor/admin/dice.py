"""Dice sets: registered, inspected and retired; where they are and what inspections found."""

from typing import Any

from django.contrib import admin
from django.core.exceptions import ValidationError
from django.db.models import Model
from django.forms import CharField
from django.http import HttpRequest, HttpResponse
from unfold.decorators import action, display
from unfold.views import ChangeList
from unfold.widgets import UnfoldAdminTextInputWidget

from games.access.gate import can
from games.engine.dice import COUNT
from games.floor.admin.forms import InspectForm
from games.floor.selectors import fits_now
from games.floor.services.dice import dice_inspect, dice_retire, dice_set_create, dice_set_update, fit_of
from games.models import DiceSet, Staff
from games.pages.gated import ActionForm, AuditedAdmin, ServiceForm

MOST_OF_A_SERIAL = 40
STATE_COLOURS = {"Fit for play": "success", "Failed inspection": "danger", "Retired": None}


class DiceChangeList(ChangeList):
    """Look up the tables of the dice sets once for the whole page."""

    def get_results(self, request: HttpRequest) -> None:
        super().get_results(request)
        fits = fits_now(self.result_list)
        for dice_set in self.result_list:
            dice_set.fit = fits.get(dice_set.pk)


class DiceSetForm(ServiceForm):
    serials = CharField(
        max_length=200, widget=UnfoldAdminTextInputWidget(),
        help_text="The serial numbers of its three dice, separated by commas.",
    )  # fmt: skip

    def clean_serials(self) -> list[str]:
        """Read three serial numbers, none blank. The service checks whether they are free."""
        serials = [serial.strip() for serial in self.cleaned_data["serials"].split(",")]
        if len(serials) != COUNT or not all(0 < len(serial) <= MOST_OF_A_SERIAL for serial in serials):
            raise ValidationError(
                f"Enter the serial numbers of the three dice, separated by commas, as in: A-1, A-2, A-3. Each has 1 to "
                f"{MOST_OF_A_SERIAL} characters."
            )
        return serials


@admin.register(DiceSet)
class DiceSetAdmin(AuditedAdmin):
    form = DiceSetForm
    list_display = ["code", "condition", "at_table", "dice", "seal", "pit"]
    list_filter = ["state", "pit"]
    list_select_related = ["pit__casino"]
    search_fields = ["code", "seal", "serials"]
    fields = ["pit", "code", "serials", "seal", "reason"]
    actions_detail = ["inspect", "retire"]
    change_form_outer_after_template = "floor/dice_set.html"

    def get_changelist(self, request: HttpRequest, **kwargs: Any) -> Any:
        return DiceChangeList

    @display(description="State", label=STATE_COLOURS, ordering="state")
    def condition(self, dice_set: DiceSet) -> str:
        return dice_set.get_state_display()

    @display(description="At table")
    def at_table(self, dice_set: Any) -> str:
        return str(dice_set.fit.table) if dice_set.fit else "–"

    @display(description="Dice")
    def dice(self, dice_set: DiceSet) -> str:
        return ", ".join(dice_set.serials)

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> list[str]:
        return ["serials", "seal"] if obj else []  # the dice are fixed; an inspection changes the seal

    def change_view(
        self, request: HttpRequest, object_id: str, form_url: str = "", extra_context: dict[str, Any] | None = None
    ) -> Any:
        context = dict(extra_context or {})
        if dice_set := self.get_object(request, object_id):
            context |= {
                "dice_set": dice_set,
                "fit": fit_of(dice_set),
                "fits": dice_set.fits.select_related("table")[:20],
                "inspections": dice_set.inspections.select_related("table")[:20],
            }
        return super().change_view(request, object_id, form_url, context)

    def service_create(self, actor: Staff, values: dict[str, Any], reason: str) -> Model:
        return dice_set_create(actor=actor, casino=values["pit"].casino, reason=reason, **values)

    def service_update(self, actor: Staff, obj: Any, values: dict[str, Any], reason: str) -> None:
        dice_set_update(actor=actor, dice_set=obj, changes=values, reason=reason)

    @action(description="Inspect", icon="search", permissions=["inspect"])
    def inspect(self, request: HttpRequest, object_id: str) -> HttpResponse:
        def take(actor: Staff, dice_set: DiceSet, values: dict[str, Any]) -> str:
            found = dice_inspect(actor=actor, dice_set=dice_set, **values)
            return f"{dice_set} inspected: {found.get_result_display().lower()}."

        return self.step(
            request, object_id, action="diceset.inspect", title="Inspect", form_class=InspectForm, take=take
        )

    @action(description="Retire", icon="delete_sweep", permissions=["retire"])
    def retire(self, request: HttpRequest, object_id: str) -> HttpResponse:
        def take(actor: Staff, dice_set: DiceSet, values: dict[str, Any]) -> str:
            dice_retire(actor=actor, dice_set=dice_set, reason=values["reason"])
            return f"{dice_set} was retired."

        return self.step(request, object_id, action="diceset.retire", title="Retire", form_class=ActionForm, take=take)

    def has_inspect_permission(self, request: HttpRequest, object_id: str | None = None) -> bool:
        return self._in_use(request, object_id, "diceset.inspect")

    def has_retire_permission(self, request: HttpRequest, object_id: str | None = None) -> bool:
        return self._in_use(request, object_id, "diceset.retire")

    def _in_use(self, request: HttpRequest, object_id: str | None, action: str) -> bool:
        dice_set: DiceSet | None = self.get_object(request, str(object_id))
        retired = dice_set is None or dice_set.state == DiceSet.State.RETIRED
        return not retired and can(request.user, action, dice_set)
