"""The list of rounds, quick on millions; and a round with its events, bets and record."""

import datetime as dt
from typing import Any
from urllib.parse import urlencode

from django import forms
from django.contrib import admin
from django.db.models import Q
from django.http import Http404, HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from unfold.widgets import UnfoldAdminSelectWidget, UnfoldAdminTextInputWidget

from games.access.gate import authorize, can
from games.access.services.access_records import record_player_search
from games.engine.rules.loader import rulebook
from games.floor.approval import approval_notice
from games.live.labels import step_text
from games.models import LedgerLeaf, Round
from games.pages.gated import GatedAdmin, actor_of, require_safe
from games.rounds.current_status import add_current_status
from games.rounds.selectors import RoundFilter, rounds_found
from games.rounds.serializers import bet_document, bet_remarks

ROWS = 50


class RoundSearch(forms.Form):
    table = forms.CharField(required=False, max_length=20, widget=UnfoldAdminTextInputWidget())
    day = forms.DateField(
        required=False,
        label="Gaming day",
        widget=UnfoldAdminTextInputWidget(attrs={"placeholder": "2026-11-15"}),
        error_messages={"invalid": "Enter a valid date, written as 2026-11-15."},
    )
    dealer = forms.CharField(required=False, max_length=200, widget=UnfoldAdminTextInputWidget())
    player = forms.CharField(required=False, max_length=200, widget=UnfoldAdminTextInputWidget())
    status = forms.ChoiceField(
        label="Recorded as",
        required=False,
        choices=[("", "Any"), *Round.Status.choices],
        widget=UnfoldAdminSelectWidget(),
    )

    def filter(self) -> RoundFilter:
        return RoundFilter(**{name: value or None for name, value in self.cleaned_data.items()})


@admin.register(Round)
class RoundAdmin(GatedAdmin):
    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False  # a round is never changed

    def changelist_view(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> HttpResponse:
        """Show the newest rounds first. A page starts where the last one ended, so that nothing has to be counted."""
        require_safe(request)
        actor = actor_of(request)
        authorize(actor, "round.view")
        form = RoundSearch(request.GET or None)
        rounds_shown: list[Round] = []
        older = None
        if not form.is_bound or form.is_valid():
            round_filter = form.filter() if form.is_bound else RoundFilter()
            record_player_search(actor, round_filter)
            rounds = rounds_found(actor, round_filter)
            if after := _cursor(request):
                rounds = rounds.filter(Q(started_at__lt=after[0]) | Q(started_at=after[0], pk__lt=after[1]))
            rounds_shown = list(rounds.defer("events", "nets", "stakes", "boxes")[: ROWS + 1])
            if len(rounds_shown) > ROWS:
                rounds_shown = rounds_shown[:ROWS]
                last = rounds_shown[-1]
                query = {name: value for name, value in request.GET.items() if name != "after" and value}
                older = urlencode(query | {"after": f"{last.started_at.isoformat()},{last.pk}"})
        add_current_status(rounds_shown)
        context = {
            **self.admin_site.each_context(request),
            "title": "Rounds", "form": form, "rounds": rounds_shown, "older": older, "opts": self.opts,
            "is_first": "after" not in request.GET,
        }  # fmt: skip
        return TemplateResponse(request, "rounds/rounds.html", context)

    def change_view(
        self, request: HttpRequest, object_id: str, form_url: str = "", extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        require_safe(request)
        round_ = self.get_or_deny(request, object_id)
        book = rulebook(round_.rulebook)
        context = self.page_context(request, round_) | {
            "book": book,
            "approval": approval_notice(book, round_.table.casino),
            "events": [
                event | {"moment": dt.datetime.fromisoformat(event["at"]), "text": step_text(event)}
                for event in round_.events
            ],
            "bets": [
                bet_document(round_, index) | {"remarks": bet_remarks(round_, index)}
                for index in range(len(round_.players))
            ],
            "sees_findings": can(request.user, "finding.view", round_),
            "sees_rulings": can(request.user, "ruling.view", round_),
        }
        return TemplateResponse(request, "rounds/round.html", context)

    def history_view(
        self, request: HttpRequest, object_id: str, extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        """Show how the record came, its leaf in the ledger, and who sent it with different content."""
        require_safe(request)
        round_ = self.get_or_deny(request, object_id)
        context = self.page_context(request, round_) | {
            "leaf": LedgerLeaf.objects.filter(kind="round", subject=round_.pk).select_related("chain").first(),
            "conflicts": round_.conflicts.all()[:20],
            "fingerprint": bytes(round_.fingerprint).hex(),
            "sees_rulings": can(request.user, "ruling.view", round_),
        }
        return TemplateResponse(request, "rounds/round_history.html", context)

    def get_or_deny(self, request: HttpRequest, object_id: str) -> Round:
        round_: Round | None = self.get_object(request, object_id)
        if round_ is None:
            raise Http404(f"There is no round {object_id}.")
        authorize(actor_of(request), "round.view", round_)
        add_current_status([round_])
        return round_

    def page_context(self, request: HttpRequest, round_: Round) -> dict[str, Any]:
        return {
            **self.admin_site.each_context(request), "title": str(round_), "original": round_, "round": round_,
            "opts": self.opts,
        }  # fmt: skip


def _cursor(request: HttpRequest) -> tuple[dt.datetime, int] | None:
    """Read where the last page ended. A malformed address starts with the newest rounds."""
    moment, _, key = request.GET.get("after", "").replace(" ", "+").partition(",")
    try:
        at = dt.datetime.fromisoformat(moment)
    except ValueError:
        return None
    return (at, int(key)) if at.tzinfo and key.isascii() and key.isdecimal() and len(key) < len(str(2**63)) else None
