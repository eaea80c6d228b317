"""Rounds in play: those at the tables now and those that were, a round's felt and steps, and finishing it by hand."""

from typing import Any

from django.contrib import admin
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.template.response import TemplateResponse
from django.urls import URLPattern, path, reverse

from games.access.gate import authorize, can, visible
from games.live.admin.finish import VoidLiveForm, finish, void
from games.live.labels import step_lines
from games.live.serializers import answer_document, warnings_of
from games.live.session_state import session_state_of
from games.models import LiveRound
from games.pages.gated import Button, GatedAdmin, actor_of, require_safe, take_step
from games.rounds.current_status import add_current_status_live

ROWS = 50
STATES = {"": "All", "in-play": "In play", "over": "Over"}


@admin.register(LiveRound)
class LiveRoundAdmin(GatedAdmin):
    def has_add_permission(self, request: HttpRequest) -> bool:
        return False  # a terminal opens it

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False  # it goes on by steps

    def get_urls(self) -> list[URLPattern]:
        own = [
            path(f"<path:object_id>/{name}/", self.admin_site.admin_view(view), name=f"games_liveround_{name}")
            for name, view in (("finish", self.finish_view), ("void", self.void_view))
        ]
        return [*own, *super().get_urls()]

    def changelist_view(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> HttpResponse:
        """Those in play first (one a table), then the newest; a page begins where the last one ended."""
        require_safe(request)
        actor = actor_of(request)
        authorize(actor, "liveround.view")
        rounds = visible(actor, LiveRound.objects.select_related("table__casino"))
        state = request.GET.get("state", "")
        before = _key(request.GET.get("before", ""))
        playing = rounds.filter(ended_at=None) if state != "over" and before is None else rounds.none()
        over = rounds.filter(ended_at__isnull=False).order_by("-pk") if state != "in-play" else rounds.none()
        found = list((over.filter(pk__lt=before) if before else over)[: ROWS + 1])
        shown = [*playing, *found[:ROWS]]
        add_current_status_live(shown)
        context = {
            **self.admin_site.each_context(request),
            "title": "Rounds in play", "rounds": shown,
            "older": found[ROWS - 1].pk if len(found) > ROWS else None, "before": before,
            "states": STATES.items(), "state": state if state in STATES else "",
        }  # fmt: skip
        return TemplateResponse(request, "live/live_rounds.html", context)

    def change_view(
        self, request: HttpRequest, object_id: str, form_url: str = "", extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        require_safe(request)
        live: LiveRound = self.get_or_deny(request, object_id)
        add_current_status_live([live])
        stand = session_state_of(live)
        lines, play = step_lines(stand)
        answer = answer_document(stand, play, len(lines), warnings=warnings_of(live, live.steps_taken))
        context = {
            **self.admin_site.each_context(request),
            "title": f"Round in play: {live}", "live": live, "book": stand.book,
            "sees_findings": can(request.user, "finding.view", live),
            "lines": lines[::-1], "answer": answer, "buttons": self.buttons(request, live),
            "boxes": [one for one in answer["boxes"] or () if one["total"] != "0.00"],
        }  # fmt: skip
        return TemplateResponse(request, "live/live_round.html", context)

    def history_view(
        self, request: HttpRequest, object_id: str, extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        """Its steps are its history."""
        require_safe(request)
        return redirect("admin:games_liveround_change", self.get_or_deny(request, object_id).pk)

    def buttons(self, request: HttpRequest, live: LiveRound) -> list[Button]:
        if live.ended_at or not can(request.user, "liveround.finish", live):
            return []
        return [
            Button(reverse(f"admin:games_liveround_{name}", args=[live.pk]), title, icon, name == "finish")
            for name, title, icon in (("finish", "Finish", "flag"), ("void", "Void", "block"))
        ]

    # --- Finished by a person ---

    def finish_view(self, request: HttpRequest, object_id: str) -> HttpResponse:
        live: LiveRound = self.get_or_deny(request, object_id, "liveround.finish")
        return finish(self.admin_site, request, live, reverse("admin:games_liveround_change", args=[live.pk]))

    def void_view(self, request: HttpRequest, object_id: str) -> HttpResponse:
        live: LiveRound = self.get_or_deny(request, object_id, "liveround.finish")
        return take_step(
            self.admin_site, request, live, action="liveround.finish", title="Void", form_class=VoidLiveForm, take=void,
            back=reverse("admin:games_liveround_change", args=[live.pk]), above="live/live_warning.html",
            context={"live": live},
        )  # fmt: skip


def _key(text: str) -> int | None:
    """Where the last page ended; an address that was tampered with begins anew."""
    return int(text) if text.isascii() and text.isdecimal() and len(text) < len(str(2**63)) else None
