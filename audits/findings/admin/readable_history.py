"""Old and new values in the history of a finding or a policy, written for people: money, times, empty values."""

import datetime as dt
from typing import Any

from django.http import HttpRequest
from django.utils import timezone
from django.utils.formats import date_format
from simple_history.template_utils import HistoricalRecordContextHelper

from games.labels.money import money_label
from games.pages.gated import AuditedAdmin

MONEY = {
    "settled_amount", "medium_from", "high_from", "confirm_from", "stake", "expected", "recorded", "placed",
    "permitted", "amount",
}  # fmt: skip


class ReadableChanges(HistoricalRecordContextHelper):
    def prepare_delta_change_value(self, change: Any, value: Any) -> Any:
        """Write a value for people. An empty foreign key, which the library calls deleted, is a dash."""
        if value in (None, "") or getattr(value, "pk", value) is None:
            return "–"
        if isinstance(value, dt.datetime):
            return date_format(timezone.localtime(value), "DATETIME_FORMAT")
        if isinstance(value, bool):
            return "yes" if value else "no"
        return money_label(value) if change.field in MONEY else value


class ReadableHistoryAdmin(AuditedAdmin):
    def get_historical_record_context_helper(self, request: HttpRequest, historical_record: Any) -> ReadableChanges:
        return ReadableChanges(self.model, historical_record)

    def readable_value(self, field: Any, value: Any) -> str:
        is_amount = field.name in MONEY and value is not None
        return money_label(value) if is_amount else super().readable_value(field, value)
