"""Form fields of our pages: money as people write it, and gaming days."""

import re
from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from unfold.widgets import UnfoldAdminTextInputWidget

from games.engine.money import MoneyError, format_money, parse_money


class MoneyField(forms.CharField):
    """A decimal text outside, minor units inside. 10,000 and 10 000 are the same; empty is none."""

    def __init__(self, **kwargs: Any) -> None:
        widget = UnfoldAdminTextInputWidget(attrs={"inputmode": "decimal", "autocomplete": "off"})
        super().__init__(**{"widget": widget, "max_length": 20, **kwargs})

    def prepare_value(self, value: Any) -> Any:
        return format_money(value) if isinstance(value, int) else value

    def clean(self, value: Any) -> Any:
        text = super().clean(value)
        if not text:
            return None
        try:
            return parse_money(re.sub(r"(?<=\d)[, ](?=\d{3})", "", text))
        except MoneyError as error:
            raise ValidationError(f"{error}.") from None


def day_field(label: str, **kwargs: Any) -> forms.DateField:
    widget = UnfoldAdminTextInputWidget(attrs={"placeholder": "2026-11-15", "autocomplete": "off"})
    wrong = {"invalid": "Enter a valid date, written as 2026-11-15."}
    return forms.DateField(label=label, widget=widget, input_formats=["%Y-%m-%d"], error_messages=wrong, **kwargs)
