"""The daily log: entries by gaming day and shift, a quick form, and an entry with what was added to it."""

from itertools import groupby
from typing import Any

from django import forms
from django.contrib import admin, messages
from django.core.exceptions import ValidationError
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.template.response import TemplateResponse
from django.urls import URLPattern, path, reverse
from django.utils import timezone

from audits.incidents.admin import fields
from audits.incidents.admin.evidence import upload_page
from audits.incidents.search import EntryFilter, SearchPeriod, entries_found, evidence_of
from audits.incidents.services.log import log_addendum, log_write
from audits.incidents.shifts import shifts_of
from audits.models import Incident, LogEntry
from games.access.gate import authorize, can, visible
from games.access.roles import may_be_confidential
from games.access.services.access_records import confidential_read, words_searched
from games.floor.admin.forms import MomentField
from games.models import Staff
from games.pages.gated import ActionForm, Button, actor_of, add_errors, require_safe, take_step
from games.pages.paging import keyset_page
from games.pages.written_once import WrittenOnceAdmin


class LogForm(forms.Form):
    """What was seen. The time is now, where none is given."""

    at = MomentField(label="Seen at", past=True, required=False, help_text="Empty: now.")
    location = fields.text_field("Place", placeholder="Cage, entrance, bar …")
    summary = fields.text_field("What was seen", required=True, most=10_000, rows=3)
    camera = fields.text_field("Camera", most=60, placeholder="PTZ-114")
    time_code = fields.text_field("Time code", most=40, placeholder="21:07:33:12")
    recording = fields.text_field("Where the recording is", most=500)
    keep_until = fields.day_field("Keep the recording until")
    was_monitored = fields.tick_field("Monitored live")

    def __init__(self, *args: Any, actor: Staff, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.actor = actor
        self.fields["at"].widget.attrs["placeholder"] = f"now, {timezone.localtime():%H:%M}"
        self.fields["table"] = fields.table_choice(actor, "logentry.add")
        if may_be_confidential("logentry", actor.department):
            self.fields["is_confidential"] = fields.confidential_field()
        fields.offer_casino(self, actor)

    def write(self) -> LogEntry:
        values = dict(self.cleaned_data)
        casino = fields.casino_of(self.actor, values)
        if casino is None:
            raise ValidationError({"table": "Say at which table, or in which casino."})
        values["at"] = values["at"] or timezone.now()
        values.pop("casino", None)
        pit = None if values["table"] else self.actor.pit
        return log_write(actor=self.actor, casino=casino, pit=pit, **values)

    @property
    def seconds(self) -> list[Any]:
        """What is filled in where there is time for it."""
        return [self[name] for name in ("location", "camera", "time_code", "recording", "keep_until")]


class LogSearch(forms.Form):
    day = fields.day_field("Gaming day")
    table = fields.text_field("Table", most=20)
    text = fields.text_field("Words")

    def __init__(self, *args: Any, actor: Staff, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        names = [name for name, _ in shifts_of(actor.casino)] if actor.casino else []
        offered = [("", "Any"), *((name, name) for name in names)]
        self.fields["shift"] = fields.choice_field("Shift", offered, required=False)
        self.order_fields(["day", "shift", "table", "text"])

    def wanted(self) -> EntryFilter:
        given = dict(self.cleaned_data)
        day = given.pop("day")
        return EntryFilter(period=SearchPeriod(day, day), **given)


class AddForm(ActionForm):
    summary = fields.text_field("What is to be added", required=True, most=10_000, rows=4)

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        del self.fields["reason"]


@admin.register(LogEntry)
class LogEntryAdmin(WrittenOnceAdmin):
    def get_urls(self) -> list[URLPattern]:
        own = [
            path("<path:object_id>/append/", self.admin_site.admin_view(self.append_view),
                 name="audits_logentry_append"),
            path("<path:object_id>/evidence/", upload_page(self.admin_site, self.get_or_deny, self.address),
                 name="audits_logentry_evidence"),
        ]  # fmt: skip
        return [*own, *super().get_urls()]

    def changelist_view(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> HttpResponse:
        require_safe(request)
        actor = actor_of(request)
        authorize(actor, "logentry.view")
        form = LogSearch(request.GET or None, actor=actor)
        wanted = EntryFilter() if not form.is_bound else form.wanted() if form.is_valid() else None
        words_searched(actor, wanted.text if wanted else "")
        found = LogEntry.objects.none() if wanted is None else entries_found(actor, wanted)
        part = keyset_page(request, found, "at")
        confidential_read(actor, part.rows)
        by_shift = groupby(part.rows, key=lambda one: (one.gaming_day, one.shift))
        context = self.page_context(
            request, "Daily log", form=form, part=part, groups=[(*key, list(rows)) for key, rows in by_shift],
            new=LogForm(actor=actor, auto_id="new_%s") if self.has_add_permission(request) else None,
        )  # fmt: skip
        return TemplateResponse(request, "incidents/log.html", context)

    def add_view(
        self, request: HttpRequest, form_url: str = "", extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        actor = actor_of(request)
        authorize(actor, "logentry.add")
        form = LogForm(request.POST if request.method == "POST" else None, actor=actor)
        if form.is_bound and form.is_valid():
            try:
                entry = form.write()
            except ValidationError as error:
                add_errors(form, error)
            else:
                messages.success(request, f"Entry {entry} is in the log.")
                return redirect("admin:audits_logentry_changelist")
        return TemplateResponse(request, "incidents/log_add.html", self.page_context(request, "New entry", new=form))

    def change_view(
        self, request: HttpRequest, object_id: str, form_url: str = "", extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        require_safe(request)
        actor = actor_of(request)
        entry: LogEntry = self.get_or_deny(request, object_id)
        addenda = list(visible(actor, entry.addenda.order_by("recorded_at", "pk")))
        evidence = list(evidence_of(actor, entry)) if can(actor, "evidence.view", entry) else None
        confidential_read(actor, [entry, *addenda, *(evidence or ())])
        context = self.page_context(
            request, f"Entry {entry}", original=entry, entry=entry, buttons=self.buttons(actor, entry),
            addenda=addenda, evidence=evidence,
            incidents=visible(actor, Incident.objects.filter(entry=entry)),
        )  # fmt: skip
        return TemplateResponse(request, "incidents/log_entry.html", context)

    def buttons(self, actor: Staff, entry: LogEntry) -> list[Button]:
        opening = f"{reverse('admin:audits_incident_add')}?entry={entry.pk}"
        offered = [
            ("logentry.add", Button(self.address(entry, "append"), "Add to it", "add_comment", is_main=True)),
            ("evidence.add", Button(self.address(entry, "evidence"), "Add evidence", "attach_file")),
            ("incident.open", Button(opening, "Open an incident", "report")),
        ]
        if entry.addendum_to_id is not None:
            offered = offered[1:]
        return [button for action, button in offered if can(actor, action, entry)]

    def append_view(self, request: HttpRequest, object_id: str) -> HttpResponse:
        """A slip is mended beside the entry, which stays as it is."""
        entry = self.get_or_deny(request, object_id)
        confidential_read(actor_of(request), [entry])

        def take(actor: Staff, entry: LogEntry, values: dict[str, Any]) -> str:
            return f"Added to {entry} as {log_addendum(actor=actor, entry=entry, summary=values['summary'])}."

        return take_step(
            self.admin_site, request, entry, action="logentry.add", title="Add to it", form_class=AddForm, take=take,
            back=self.address(entry), above="incidents/log_entry_above.html", context={"entry": entry},
        )  # fmt: skip
