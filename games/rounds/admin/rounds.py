"""Rounds: a list that stays quick on millions, and a round with its events, its bets and its record."""

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
from games.live.labels import step_words
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

    def wanted(self) -> RoundFilter:
        return RoundFilter(**{name: value or None for name, value in self.cleaned_data.items()})


@admin.register(Round)
class RoundAdmin(GatedAdmin):
    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False  # written once

    def changelist_view(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> HttpResponse:
        """The newest first; a page is found by where the last one ended, and nothing is counted."""
        require_safe(request)
        actor = actor_of(request)
        authorize(actor, "round.view")
        form = RoundSearch(request.GET or None)
        part = None
        if not form.is_bound or form.is_valid():
            wanted = form.wanted() if form.is_bound else RoundFilter()
            record_player_search(actor, wanted)
            rounds = rounds_found(actor, wanted).defer("events", "nets", "stakes", "boxes")
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
        one: Round = self.get_or_deny(request, object_id)
        book = rulebook(one.rulebook)
        context = self.page_context(request, one) | {
            "book": book,
            "approval": approval_notice(book, one.table.casino),
            "events": [
                event | {"moment": dt.datetime.fromisoformat(event["at"]), "words": step_words(event)}
                for event in one.events
            ],
            "bets": [
                bet_document(one, index) | {"remarks": bet_remarks(one, index)} for index in range(len(one.players))
            ],
            "sees_findings": can(request.user, "finding.view", one),
            "sees_rulings": can(request.user, "ruling.view", one),
        }
        return TemplateResponse(request, "rounds/round.html", context)

    def history_view(
        self, request: HttpRequest, object_id: str, extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        """A record that cannot be rewritten: how it came, its leaf in the ledger, and who sent it differently."""
        require_safe(request)
        one: Round = self.get_or_deny(request, object_id)
        context = self.page_context(request, one) | {
            "leaf": LedgerLeaf.objects.filter(kind="round", subject=one.pk).select_related("chain").first(),
            "conflicts": one.conflicts.all()[:20],
            "fingerprint": bytes(one.fingerprint).hex(),
            "sees_rulings": can(request.user, "ruling.view", one),
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
