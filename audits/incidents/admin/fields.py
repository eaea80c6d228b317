"""Form fields shared by the pages of incidents."""

from typing import Any

from django import forms
from django.utils import timezone
from unfold.widgets import (
    UnfoldAdminSelectWidget,
    UnfoldAdminTextareaWidget,
    UnfoldAdminTextInputWidget,
    UnfoldBooleanWidget,
)

from games.access.gate import visible, within_reach
from games.models import Casino, Staff, Table


class DayWidget(UnfoldAdminTextInputWidget):
    """A date field with the browser's own calendar."""

    input_type = "date"


def text_field(label: str, *, required: bool = False, most: int = 200, rows: int = 0, **more: Any) -> forms.CharField:
    """Make a text field: one line, or several with `rows`."""
    attrs = {name: more.pop(name) for name in ("placeholder", "autocomplete") if name in more}
    widget = UnfoldAdminTextareaWidget(attrs | {"rows": rows}) if rows else UnfoldAdminTextInputWidget(attrs)
    return forms.CharField(label=label, required=required, max_length=most, widget=widget, **more)


def day_field(label: str, **more: Any) -> forms.DateField:
    return forms.DateField(label=label, required=False, widget=DayWidget(), **more)


def tick_field(label: str, **more: Any) -> forms.BooleanField:
    return forms.BooleanField(label=label, required=False, widget=UnfoldBooleanWidget(), **more)


def confidential_field() -> forms.BooleanField:
    return tick_field(
        "Confidential", help_text="Only surveillance, compliance and auditors can see it. This cannot be changed later."
    )


def choice_field(label: str, choices: Any, **more: Any) -> forms.ChoiceField:
    return forms.ChoiceField(label=label, choices=choices, widget=UnfoldAdminSelectWidget(), **more)


def table_choice(actor: Staff, action: str, **more: Any) -> "forms.ModelChoiceField[Table]":
    """Offer the tables at which this person may do this."""
    tables = within_reach(actor, action, Table.objects.select_related("casino")).order_by("code")
    return forms.ModelChoiceField(tables, widget=UnfoldAdminSelectWidget(), required=False, empty_label="–", **more)


def offer_casino(form: forms.Form, actor: Staff) -> None:
    """Add the choice of a casino for group staff, who belong to no single casino."""
    if actor.casino_id is None:
        casinos = visible(actor, Casino.objects.all())
        form.fields["casino"] = forms.ModelChoiceField(casinos, widget=UnfoldAdminSelectWidget())


def casino_of(actor: Staff, values: dict[str, Any]) -> Casino | None:
    """Return the chosen casino, that of the table, or the person's own."""
    table: Table | None = values.get("table")
    found: Casino | None = values.get("casino") or (table.casino if table else actor.casino)
    return found


def now_shown() -> str:
    """Return the present moment by the casino's clock, as a moment field reads it."""
    return f"{timezone.localtime():%Y-%m-%d %H:%M}"
