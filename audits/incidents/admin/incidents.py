"""Incident files: the list, the form with its advice, a file with all that belongs to it, and the search."""

from functools import partial
from typing import Any

from django import forms
from django.contrib import admin, messages
from django.core.exceptions import ValidationError
from django.db.models import prefetch_related_objects
from django.http import HttpRequest, HttpResponse, HttpResponseNotAllowed, QueryDict
from django.shortcuts import redirect
from django.template.response import TemplateResponse
from django.urls import URLPattern, path, reverse

from audits.incidents.admin import fields
from audits.incidents.admin.advice import advice_shown, affected_now
from audits.incidents.admin.disputes import dispute_buttons
from audits.incidents.admin.evidence import upload_page
from audits.incidents.admin.form import IncidentForm, initial_from, origins_of
from audits.incidents.admin.rulings import RulingViews, discretion_buttons, order_buttons, rule_buttons
from audits.incidents.admin.steps import STATES, STEPS, taken_to, verify_leads_to
from audits.incidents.checklist import checklist_of
from audits.incidents.deadlines import clock
from audits.incidents.labels import facts_asked, situation_words
from audits.incidents.search import (
    UNFINISHED_FILES,
    IncidentFilter,
    SearchPeriod,
    evidence_of,
    incidents_found,
    notes_of,
    related_seen,
    rounds_of,
    search,
)
from audits.incidents.services.checklist import step_tick
from audits.incidents.services.incidents import incident_open
from audits.incidents.states import find_transition, transitions_from
from audits.models import Incident, IncidentNote, IncidentRound, IncidentState
from audits.rulings.conflict_of_interest import who_decides
from audits.rulings.presenters import rulings_of
from games.access.gate import authorize, can
from games.access.services.access_records import confidential_read, words_searched
from games.pages.gated import ActionForm, AuditedAdmin, Button, actor_of, add_errors, require_safe
from games.pages.paging import keyset_page
from games.pages.steps import PageStep
from games.rounds.current_status import add_current_status

#: How a state looks in a list.
COLOURS = {
    "open": "pending", "under-investigation": "pending", "awaiting-ruling": "suspended", "reopened": "suspended",
    "ruled": "open", "closed": "",
}  # fmt: skip


#: States in which nobody waits for a ruling.
DECIDED = (IncidentState.RULED, IncidentState.CLOSED)


class IncidentSearch(forms.Form):
    state = fields.choice_field(
        "State", [("unfinished", "Unfinished"), ("", "Any"), *IncidentState.choices], required=False
    )
    table = fields.text_field("Table", most=20)
    first = fields.day_field("From")
    last = fields.day_field("To")
    text = fields.text_field("Words")

    def wanted(self) -> IncidentFilter:
        given = dict(self.cleaned_data)
        return IncidentFilter(period=SearchPeriod(given.pop("first"), given.pop("last")), **given)


@admin.register(Incident)
class IncidentAdmin(RulingViews, AuditedAdmin):
    fields = ["number", "state", "table", "occurred_from", "occurred_to", "situation", "facts", "account", "reason"]
    readonly_fields = ["number"]

    def has_add_permission(self, request: HttpRequest) -> bool:
        return can(request.user, "incident.open")

    def get_urls(self) -> list[URLPattern]:
        views: dict[str, Any] = {one.name: partial(self.step_view, taken=one) for one in STEPS}
        views |= {str(state): partial(self.state_view, to=state) for state in STATES}
        views |= self.ruling_views()
        view = self.admin_site.admin_view
        own = [
            path("advice/", view(self.advice_view), name="audits_incident_advice"),
            path("search/", view(self.search_view), name="audits_incident_search"),
            path("<path:object_id>/evidence/", upload_page(self.admin_site, self.get_or_deny, self.address),
                 name="audits_incident_evidence"),
            path("<path:object_id>/checklist/", view(self.checklist_view), name="audits_incident_checklist"),
            path("<path:object_id>/rule/precedents/", view(self.precedents_view), name="audits_incident_precedents"),
        ]  # fmt: skip
        own += [
            path(f"<path:object_id>/{name}/", view(step), name=f"audits_incident_{name}")
            for name, step in views.items()
        ]
        return [*own, *super().get_urls()]

    def address(self, incident: Incident, page: str = "change") -> str:
        return reverse(f"admin:audits_incident_{page}", args=[incident.pk])

    def page_context(self, request: HttpRequest, title: str, **more: Any) -> dict[str, Any]:
        return {**self.admin_site.each_context(request), "title": title, "opts": self.opts, **more}

    def readable_value(self, field: Any, value: Any) -> str:
        return situation_words(value) if field.name == "situation" else super().readable_value(field, value)

    # --- The list, and the search over years ---

    def changelist_view(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> HttpResponse:
        require_safe(request)
        actor = actor_of(request)
        authorize(actor, "incident.view")
        form = IncidentSearch(request.GET or None, initial={"state": "unfinished"})
        wanted = (
            IncidentFilter(state=UNFINISHED_FILES) if not form.is_bound else form.wanted() if form.is_valid() else None
        )
        words_searched(actor, wanted.text if wanted else "")
        found = Incident.objects.none() if wanted is None else incidents_found(actor, wanted)
        part = keyset_page(request, found, "occurred_from")
        context = self.page_context(
            request, "Incidents", form=form, part=part, may_open=self.has_add_permission(request),
            files=[(row, situation_words(row.situation), COLOURS[row.state]) for row in part.rows],
        )  # fmt: skip
        return TemplateResponse(request, "incidents/incidents.html", context)

    def search_view(self, request: HttpRequest) -> HttpResponse:
        """Over all years; of what is confidential nothing is found by those who may not see it."""
        require_safe(request)
        actor = actor_of(request)
        authorize(actor, "incident.view")
        text = request.GET.get("q", "")[:200].replace("\x00", "")
        found = search(actor, text)
        prefetch_related_objects([one.thing for one in found if isinstance(one.thing, IncidentNote)], "incident")
        words_searched(actor, text)
        confidential_read(actor, [one.thing for one in found])
        hits = [self._hit(one) for one in found]
        context = self.page_context(request, "Search", text=text, hits=hits)
        return TemplateResponse(request, "incidents/incident_search.html", context)

    def _hit(self, hit: Any) -> dict[str, Any]:
        thing = hit.thing
        if isinstance(thing, Incident):
            return {"hit": hit, "what": thing.number, "at": thing.occurred_from, "address": self.address(thing)}
        if isinstance(thing, IncidentNote):
            what = f"{thing.incident}, note"
            return {"hit": hit, "what": what, "at": thing.at, "address": self.address(thing.incident)}
        address = reverse("admin:audits_logentry_change", args=[thing.pk])
        return {"hit": hit, "what": f"Log entry {thing}", "at": thing.at, "address": address}

    # --- A new file, and the advice on it ---

    def add_view(
        self, request: HttpRequest, form_url: str = "", extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        actor = actor_of(request)
        authorize(actor, "incident.open")
        if request.method == "POST" and "advise" not in request.POST:
            form = IncidentForm(request.POST, actor=actor)
            if (incident := self._opened(request, form)) is not None:
                messages.success(request, f"{incident} is opened.")
                return redirect(self.address(incident))
            initial = request.POST.dict()
        else:  # asked for advice without a script, the form comes back as it is
            initial = request.POST.dict() if request.method == "POST" else initial_from(actor, request.GET)
            form = IncidentForm(initial=initial, actor=actor)
        shown = advice_shown(IncidentForm(initial, actor=actor).advice())
        context = self.page_context(
            request, "New incident", form=form, origins=origins_of(actor, request.POST or request.GET),
            asked=facts_asked(), **shown,
        )  # fmt: skip
        return TemplateResponse(request, "incidents/incident_add.html", context)

    def _opened(self, request: HttpRequest, form: IncidentForm) -> Incident | None:
        """The file, or None where the form or the service has something against it."""
        if not form.is_valid():
            return None
        try:
            return incident_open(actor=actor_of(request), report=form.report())
        except ValidationError as error:
            add_errors(form, error)
            return None

    def advice_view(self, request: HttpRequest) -> HttpResponse:
        """The piece of the page that the script keeps up while the form is filled in."""
        require_safe(request)
        actor = actor_of(request)
        authorize(actor, "incident.open")
        shown = advice_shown(IncidentForm(request.GET, actor=actor).advice())
        return TemplateResponse(request, "incidents/incident_advice.html", shown)

    # --- A file ---

    def change_view(
        self, request: HttpRequest, object_id: str, form_url: str = "", extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        require_safe(request)
        actor = actor_of(request)
        incident: Incident = self.get_or_deny(request, object_id)
        dispute = getattr(incident, "dispute", None)
        notes = list(notes_of(actor, incident).order_by("at", "pk"))
        evidence = list(evidence_of(actor, incident)) if can(actor, "evidence.view", incident) else None
        confidential_read(actor, [*notes, *(evidence or ())])
        context = self.page_context(
            request, incident.number, original=incident, incident=incident, buttons=self.buttons(actor, incident),
            situation=situation_words(incident.situation), colour=COLOURS[incident.state],
            steps_taken=incident.steps.all(), people=incident.people.select_related("staff", "confirmation"),
            who_decides="" if incident.state in DECIDED else who_decides(incident),
            consents=incident.ruling_consents.select_related("ruler"),
            rounds=rounds_shown(actor, incident), checklist=checklist_of(incident),
            may_tick=can(actor, "incident.change", incident) and incident.state != IncidentState.CLOSED,
            related=related_seen(actor, incident), notes=notes, evidence=evidence,
            dispute=dispute, clock=clock(dispute) if dispute else "",
            dispute_buttons=dispute_buttons(actor, dispute) if dispute else [],
            entry=incident.entry if incident.entry and can(actor, "logentry.view", incident.entry) else None,
            finding=incident.finding if incident.finding and can(actor, "finding.view", incident.finding) else None,
            order_buttons=order_buttons(actor, incident), **rulings_of(actor, incident),
            affected=affected_now(incident),
            **advice_shown({"advice": incident.advice} if incident.advice else {}),
        )  # fmt: skip
        return TemplateResponse(request, "incidents/incident.html", context)

    def checklist_view(self, request: HttpRequest, object_id: str) -> HttpResponse:
        """Tick or untick one step; back on the page it says who and when."""
        actor = actor_of(request)
        incident: Incident = self.get_or_deny(request, object_id)
        authorize(actor, "incident.change", incident)
        if request.method != "POST":
            return HttpResponseNotAllowed(["POST"])
        try:
            step, is_done = sent_tick(request.POST)
            step_tick(actor=actor, incident=incident, step=step, is_done=is_done)
            messages.success(request, f"Step {step} is {'ticked' if is_done else 'unticked'}.")
        except ValidationError as error:
            messages.error(request, " ".join(error.messages))
        return redirect(f"{self.address(incident)}#advised")

    def buttons(self, actor: Any, incident: Incident) -> list[Button]:
        """By the table of transitions first, then what can be added; each for whoever may."""
        onward = [
            Button(self.address(incident, str(one.after)), one.title, STATES[one.after], is_main=True)
            for one in transitions_from(incident.state)
            if can(actor, one.action, incident)
        ]
        steps = [
            Button(self.address(incident, step.name), step.title, step.icon)
            for step in STEPS
            if can(actor, step.action, incident) and step.makes_sense(actor, incident)
        ]
        if can(actor, "evidence.add", incident):
            steps.insert(1, Button(self.address(incident, "evidence"), "Add evidence", "attach_file"))
        return [*rule_buttons(actor, incident), *onward, *steps, *discretion_buttons(actor, incident)]

    def step_view(self, request: HttpRequest, object_id: str, taken: PageStep) -> HttpResponse:
        form = type(taken.form.__name__, (taken.form,), {"actor": actor_of(request)})
        return self.step(request, object_id, action=taken.action, title=taken.title, form_class=form, take=taken.take)

    def state_view(self, request: HttpRequest, object_id: str, to: IncidentState) -> HttpResponse:
        """What the table of transitions does not have is told, and asks for no right."""
        incident: Incident = self.get_or_deny(request, object_id)
        transition = find_transition(incident.state, to)
        if transition is None:
            try:
                verify_leads_to(incident, to)
            except ValidationError as error:
                messages.error(request, " ".join(error.messages))
            return redirect(self.address(incident))
        return self.step(
            request, object_id, action=transition.action, title=transition.title, form_class=ActionForm,
            take=taken_to(to),
        )  # fmt: skip


def rounds_shown(actor: Any, incident: Incident) -> list[IncidentRound]:
    """Return the rounds of a file within the reader's sight, with their current status."""
    links = list(rounds_of(actor, incident).select_related("round__table__casino"))
    add_current_status(link.round for link in links)
    return links


def sent_tick(sent: QueryDict) -> tuple[int, bool]:
    """Return which step a button names, and whether it ticks it."""
    is_done = "tick" in sent
    place = sent.get("tick", sent.get("untick", ""))
    if not (place.isascii() and place.isdecimal() and len(place) < 4):  # noqa: PLR2004  no list is that long
        raise ValidationError("Choose a step of the checklist to tick or untick.")
    return int(place), is_done
