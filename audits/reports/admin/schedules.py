"""Pages of report schedules: which report, how often, to whom."""

from typing import Any

from django import forms
from django.contrib import admin
from django.db.models import Model
from django.http import HttpRequest
from unfold.widgets import UnfoldAdminSelectWidget, UnfoldAdminTextareaWidget

from audits.models import ReportSchedule
from audits.reports.reach import EXPORT, kinds_read
from audits.reports.registry import REPORTS
from audits.reports.services.schedules import schedule_create, schedule_update
from games.access.gate import visible
from games.models import Staff
from games.pages.gated import AuditedAdmin, ServiceForm


class AddressesField(forms.CharField):
    """A field for e-mail addresses, one per line."""

    widget = UnfoldAdminTextareaWidget(attrs={"rows": 3})

    def prepare_value(self, value: Any) -> Any:
        return "\n".join(value) if isinstance(value, list) else value

    def clean(self, value: Any) -> Any:
        return [line.strip() for line in (super().clean(value) or "").splitlines() if line.strip()]


class ScheduleForm(ServiceForm):
    kind = forms.ChoiceField(label="Report", widget=UnfoldAdminSelectWidget())
    recipients = AddressesField(
        required=False,
        help_text="E-mail addresses, one per line. They receive a link, and the file only if the casino allows it.",
    )

    class Meta:
        model = ReportSchedule
        fields = ("casino", "kind", "format", "table", "every", "recipients", "is_active")

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if "kind" in self.fields:
            choices = [(report.kind, report.title) for report in kinds_read(self.actor, EXPORT)]
            self.fields["kind"].choices = choices  # type: ignore[attr-defined]


@admin.register(ReportSchedule)
class ReportScheduleAdmin(AuditedAdmin):
    form = ScheduleForm
    fields = ["casino", "kind", "format", "table", "every", "recipients", "is_active", "reason"]
    list_display = ["report", "every", "format", "table", "casino", "owner", "is_active"]
    list_display_links = ["report"]
    list_filter = ["is_active", "every"]
    list_select_related = ["casino", "table", "owner"]

    @admin.display(description="Report")
    def report(self, schedule: ReportSchedule) -> str:
        return REPORTS[schedule.kind].title if schedule.kind in REPORTS else schedule.kind

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> list[str]:
        return ["casino"] if obj else []

    def get_changeform_initial_data(self, request: HttpRequest) -> dict[str, Any]:
        return {"casino": getattr(request.user, "casino_id", None), **super().get_changeform_initial_data(request)}

    def formfield_for_foreignkey(self, db_field: Any, request: HttpRequest, **kwargs: Any) -> Any:
        kwargs.setdefault("queryset", visible(request.user, db_field.related_model._default_manager.all()))
        return super().formfield_for_foreignkey(db_field, request, **kwargs)

    def service_create(self, actor: Staff, values: dict[str, Any], reason: str) -> Model:
        return schedule_create(actor=actor, values=values, reason=reason)

    def service_update(self, actor: Staff, obj: Any, values: dict[str, Any], reason: str) -> None:
        schedule_update(actor=actor, schedule=obj, changes=values, reason=reason)
