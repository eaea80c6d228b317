"""The list of rounds, quick on millions; and a round with its events, bets and record."""

import datetime as dt
from typing import Any

from django import forms
from django.contrib import admin
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from unfold.widgets import UnfoldAdminSelectWidget, UnfoldAdminTextInputWidget

from games.access.gate import authorize, can
from games.access.services.access_records import record_player_search
from games.engine.rules.loader import rulebook
from games.floor.approval import approval_notice
from games.live.labels import step_text
from games.models import LedgerLeaf, Round
from games.pages.gated import GatedAdmin, actor_of, require_safe
from games.pages.paging import keyset_page
from games.rounds.current_status import add_current_status
from games.rounds.selectors import RoundFilter, rounds_found
from games.rounds.serializers import bet_document, bet_remarks


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
        part = None
        if not form.is_bound or form.is_valid():
            round_filter = form.filter() if form.is_bound else RoundFilter()
            record_player_search(actor, round_filter)
            rounds = rounds_found(actor, round_filter).defer("events", "nets", "stakes", "boxes")
            part = keyset_page(request, rounds, "started_at")
            add_current_status(part.rows)
        context = {
            **self.admin_site.each_context(request),
            "title": "Rounds", "form": form, "rounds": part.rows if part else [], "older": part and part.older,
            "opts": self.opts, "is_first": part is None or part.is_first,
        }  # fmt: skip
        return TemplateResponse(request, "rounds/rounds.html", context)

    def change_view(
        self, request: HttpRequest, object_id: str, form_url: str = "", extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        require_safe(request)
        round_: Round = self.get_or_deny(request, object_id)
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
        round_: Round = self.get_or_deny(request, object_id)
        context = self.page_context(request, round_) | {
            "leaf": LedgerLeaf.objects.filter(kind="round", subject=round_.pk).select_related("chain").first(),
            "conflicts": round_.conflicts.all()[:20],
            "fingerprint": bytes(round_.fingerprint).hex(),
            "sees_rulings": can(request.user, "ruling.view", round_),
        }
        return TemplateResponse(request, "rounds/round_history.html", context)

    def get_or_deny(self, request: HttpRequest, object_id: str, action: str = "") -> Any:
        round_ = super().get_or_deny(request, object_id, action)
        add_current_status([round_])
        return round_

    def page_context(self, request: HttpRequest, round_: Round) -> dict[str, Any]:
        return {
            **self.admin_site.each_context(request), "title": str(round_), "original": round_, "round": round_,
            "opts": self.opts,
        }  # fmt: skip
