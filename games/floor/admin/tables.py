"""Tables: the list of the floor, a table's page, and every step that is taken on it."""

import re
from functools import partial
from typing import Any

from django import forms
from django.contrib import admin
from django.core.exceptions import ValidationError
from django.db.models import Model
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.template.response import TemplateResponse
from django.urls import URLPattern, path, reverse
from django.utils import timezone
from unfold.decorators import display
from unfold.views import ChangeList
from unfold.widgets import UnfoldAdminSelectWidget, UnfoldAdminTextInputWidget

from games.access.gate import authorize, can, visible
from games.engine.rules.loader import rulebook
from games.floor.admin.forms import MomentField, offer_games
from games.floor.admin.table_steps import STEPS, buttons
from games.floor.approval import approval_text
from games.floor.selectors import FloorLine, floor_lines
from games.floor.services.readiness import play_faults
from games.floor.services.tables import checks_that_count, table_create
from games.floor.timeline import timeline
from games.limits.admin.proposal_form import propose
from games.limits.periods import limit_periods
from games.limits.selectors import NoLimitsError, limits_at
from games.limits.services.sign_prints import sign_print
from games.limits.signs.labels import from_text, printed_text, rulebook_text
from games.limits.signs.names import amount_text
from games.limits.signs.pdf import sign_pdf
from games.limits.signs.sign import Sign, sign_of
from games.live.admin.practice import practise
from games.models import LimitSet, LiveRound, Pit, Staff, Table, TableAssignment, TableState, TableStep
from games.pages.gated import AuditedAdmin, ServiceForm, actor_of, require_safe
from games.pages.steps import PageStep

STATE_COLOURS = {"open": "success", "closed": None, "no opening on record": None, "suspended": "danger"}
EVENTS = 40


class FloorChangeList(ChangeList):
    """Reads what the columns show once for the whole page."""

    def get_results(self, request: HttpRequest) -> None:
        super().get_results(request)
        lines = floor_lines(self.result_list)
        for table in self.result_list:
            table.line = lines[table.pk]


class TableForm(ServiceForm):
    """A new table with its first game."""

    pit = forms.ModelChoiceField(Pit.objects.none(), widget=UnfoldAdminSelectWidget())
    rulebook = forms.ChoiceField(widget=UnfoldAdminSelectWidget())
    layout = forms.CharField(widget=UnfoldAdminTextInputWidget(), max_length=8)
    chip_unit = forms.CharField(widget=UnfoldAdminTextInputWidget(), max_length=20, initial="0.01")
    starts_at = MomentField(label="From")

    class Meta:
        model = Table
        fields = ["code"]

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        offer_games(self, visible(self.actor, Pit.objects.select_related("casino")))


@admin.register(Table)
class TableAdmin(AuditedAdmin):
    form = TableForm
    list_display = ["code", "where", "condition", "game", "big_and_small", "coming", "dice", "waiting"]
    list_filter = ["state", "casino"]
    list_select_related = ["casino"]
    search_fields = ["code"]
    fields = ["code", "pit", "rulebook", "layout", "chip_unit", "starts_at", "reason"]

    def get_changelist(self, request: HttpRequest, **kwargs: Any) -> Any:
        return FloorChangeList

    # --- The list ---

    @display(description="Pit")
    def where(self, table: Any) -> str:
        return table.line.assignment.pit.code if table.line.assignment else "–"

    @display(description="State", label=STATE_COLOURS, ordering="state")
    def condition(self, table: Table) -> str:
        return table.condition

    @display(description="Game")
    def game(self, table: Any) -> str:
        one = table.line.assignment
        return f"{one.rulebook}, {one.layout}" if one else "–"

    @display(description="Big and Small")
    def big_and_small(self, table: Any) -> str:
        return _range(table.line.sign, "big-small")

    @display(description="Next sign")
    def coming(self, table: Any) -> Any:
        return table.line.next_sign.starts_at if table.line.next_sign else "–"

    @display(description="Dice")
    def dice(self, table: Any) -> str:
        return str(table.line.dice.dice_set) if table.line.dice else "–"

    @display(description="To decide")
    def waiting(self, table: Any) -> str:
        return str(table.line.pending or "–")

    # --- Pages ---

    def has_change_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False  # a table changes by steps, not by a form

    def get_urls(self) -> list[URLPattern]:
        views: dict[str, Any] = {one.name: partial(self.step_view, taken=one) for one in STEPS}
        views |= {
            "propose": self.propose_view, "sign": self.sign_view, "print": self.print_view,
            "practise": self.practise_view,
        }  # fmt: skip
        own = [
            path(f"<path:object_id>/{name}/", self.admin_site.admin_view(view), name=f"games_table_{name}")
            for name, view in views.items()
        ]
        return [*own, *super().get_urls()]

    def step_view(self, request: HttpRequest, object_id: str, taken: PageStep) -> HttpResponse:
        return self.step(
            request, object_id, action=taken.action, title=taken.title, form_class=taken.form, take=taken.take
        )

    def change_view(
        self, request: HttpRequest, object_id: str, form_url: str = "", extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        require_safe(request)
        table: Table = self.get_or_deny(request, object_id)
        before = _moment(request, "before")
        events = timeline(table, before=before, count=EVENTS)
        line = floor_lines([table])[table.pk]
        context = self.page_context(request, table) | {
            "line": line,
            "approval": approval_text(rulebook(line.assignment.rulebook), table.casino) if line.assignment else "",
            "sign": sign_words(current_sign(line)),
            "scheduled": [period.limit_set for period in limit_periods(table) if period.starts_at > timezone.now()],
            "buttons": buttons(request.user, line),
            "last_check": checks_that_count(table) if table.state == TableState.CLOSED and line.assignment else None,
            "proposals": list(table.limit_proposals.filter(decision=None).select_related("pit__casino")),
            "lacking": play_faults(table, line.assignment) if line.assignment else [],
            "rectified": last_remedy(table),
            "events": events,
            "live": in_play(request.user, table),
            "older": events[-1].at.isoformat() if len(events) == EVENTS else None,
            "before": before,
        }
        return TemplateResponse(request, "floor/table.html", context)

    def page_context(self, request: HttpRequest, table: Table) -> dict[str, Any]:
        return {
            **self.admin_site.each_context(request),
            "title": str(table),
            "original": table,
            "table": table,
            "opts": self.opts,
        }

    def propose_view(self, request: HttpRequest, object_id: str) -> HttpResponse:
        table: Table = self.get_or_deny(request, object_id)
        authorize(actor_of(request), "limits.propose", table)
        back = reverse("admin:games_table_change", args=[table.pk])
        return propose(self.admin_site, request, [table], title=f"Propose limits: {table}", back=back)

    def practise_view(self, request: HttpRequest, object_id: str) -> HttpResponse:
        table: Table = self.get_or_deny(request, object_id)
        return practise(request, table, self.page_context(request, table))

    def service_create(self, actor: Staff, values: dict[str, Any], reason: str) -> Model:
        pit: Pit = values.pop("pit")
        return table_create(actor=actor, casino=pit.casino, pit=pit, reason=reason, **values)

    # --- The sign ---

    def sign_view(self, request: HttpRequest, object_id: str) -> HttpResponse:
        """What the sign says now, or said at a moment, as known now or at another moment."""
        require_safe(request)
        table: Table = self.get_or_deny(request, object_id)
        form = SignQuestion(request.GET if "at" in request.GET else None)
        fault, words, at_now = "", None, None
        if not form.is_bound or form.is_valid():
            asked = form.cleaned_data if form.is_bound else {}
            at = asked.get("at") or timezone.now()
            try:
                at_now = limits_at(table=table, at=at, known_at=asked.get("known_at"))
            except NoLimitsError as error:
                fault = str(error)
        if at_now and at_now.assignment:
            words = sign_words(sign_of(table, at_now.limit_set, at_now.assignment))
        elif at_now:
            fault = f"{table} had limits at that moment, and no layout to show them on."
        context = self.page_context(request, table) | {
            "title": f"Sign of {table}",
            "form": form,
            "fault": fault,
            "sign": words,
            "at_now": at_now,
            "prints": table.sign_prints.filter(limit_set=at_now.limit_set).select_related("by") if at_now else [],
            "may_print": can(request.user, "table.print", table),
        }
        return TemplateResponse(request, "limits/sign_page.html", context)

    def print_view(self, request: HttpRequest, object_id: str) -> HttpResponse:
        """A print is on record before it is on paper."""
        table: Table = self.get_or_deny(request, object_id)
        authorize(actor_of(request), "table.print", table)
        if request.method != "POST":
            return redirect("admin:games_table_sign", object_id=table.pk)
        limit_set = LimitSet.objects.filter(table=table, pk=_number(request, "limit_set")).first()
        assignment = TableAssignment.objects.filter(table=table, pk=_number(request, "assignment")).first()
        if limit_set is None or assignment is None:
            raise Http404("There is no such sign of this table.")
        form = "pdf" if request.POST.get("form") == "pdf" else "html"
        printed = sign_print(
            actor=actor_of(request), table=table, limit_set=limit_set, assignment=assignment, form=form
        )
        sign = sign_of(table, limit_set, assignment)
        if form == "pdf":
            name = f"sign-{table.code}-{sign.starts_at:%Y%m%dT%H%MZ}{'-reprint' if printed.is_reprint else ''}.pdf"
            headers = {"Content-Disposition": f'attachment; filename="{name}"'}
            return HttpResponse(sign_pdf(sign, printed), content_type="application/pdf", headers=headers)
        context = {
            "sign": sign,
            "words": sign_words(sign),
            "printed": printed,
            "printed_text": printed_text(sign, printed),
        }
        return render(request, "limits/sign_print.html", context)


def last_remedy(table: Table) -> TableStep | None:
    """The last step, where it brought a remedy of a malfunction: the table is open with it."""
    last = table.steps.select_related("checked_by").first()
    return last if last is not None and last.checked_by_id is not None else None


class SignQuestion(forms.Form):
    """What did the sign say at 21:07?"""

    at = MomentField(label="At", past=True, required=False)
    known_at = MomentField(label="As known at", past=True, required=False, help_text="Empty: as known now.")


def in_play(user: Any, table: Table) -> LiveRound | None:
    """The round in play at a table, for whoever may see it."""
    if not can(user, "liveround.view", table):
        return None
    return table.live_rounds.filter(ended_at=None).select_related("table__casino").first()


def current_sign(line: FloorLine) -> Sign | None:
    if line.sign is None or line.assignment is None:
        return None
    return sign_of(line.table, line.sign, line.assignment)


def sign_words(sign: Sign | None) -> dict[str, Any]:
    """A sign as the templates take it."""
    if sign is None:
        return {}
    return {"sign": sign, "from_text": from_text(sign), "rulebook_text": rulebook_text(sign)}


def _range(sign: LimitSet | None, key: str) -> str:
    line = sign.sheet.limits().by_key.get(key) if sign else None
    return f"{amount_text(line.minimum)} – {amount_text(line.maximum)}" if line else "–"


def _number(request: HttpRequest, name: str) -> int:
    """An id that was sent; one that cannot be any leads nowhere."""
    text = request.POST.get(name, "")
    return int(text) if re.fullmatch(r"\d{1,18}", text, re.ASCII) else 0


def _moment(request: HttpRequest, name: str) -> Any:
    try:
        return MomentField(required=False, past=True).clean(request.GET.get(name, "").replace(" ", "+"))
    except ValidationError:
        return None
