"""Sessions: your own, those of others for administrators, and failed logins."""

import datetime as dt
from typing import Any
from uuid import UUID

from django.contrib import admin, messages
from django.db.models import QuerySet
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.template.response import TemplateResponse
from django.urls import reverse
from django.utils import timezone
from unfold.decorators import action, display

from games.access.gate import can
from games.accounts.clients import browser_name
from games.accounts.services.fresh_factor import verify_confirmed
from games.accounts.services.sessions import ABSOLUTE, current, idle_time, own_session_end, session_end
from games.models import FailedLogin, LoginSession, Staff
from games.pages.gated import ActionForm, GatedAdmin, actor_of, require_safe, take_step

RECENT = dt.timedelta(days=30)


def open_sessions(staff: Staff) -> QuerySet[LoginSession]:
    """Select the sessions of a person that are still valid."""
    now = timezone.now()
    return LoginSession.objects.filter(
        staff=staff, ended_at=None, started_at__gt=now - ABSOLUTE, seen_at__gt=now - idle_time(staff)
    )


def own_sessions(request: HttpRequest) -> HttpResponse:
    """Show where you are logged in, and recent failed logins."""
    require_safe(request)
    actor = actor_of(request)
    mine = current.get()
    sessions = [
        {"login": login, "browser": browser_name(login.browser), "is_this": mine is not None and login.pk == mine.pk}
        for login in open_sessions(actor)
    ]
    failed = FailedLogin.objects.filter(staff=actor, at__gt=timezone.now() - RECENT)[:20]
    context = {
        **admin.site.each_context(request), "title": "Your sessions", "sessions": sessions,
        "failed": [{"login": attempt, "browser": browser_name(attempt.browser)} for attempt in failed],
        "idle": int(idle_time(actor).total_seconds() // 60), "hours": int(ABSOLUTE.total_seconds() // 3600),
    }  # fmt: skip
    return TemplateResponse(request, "accounts/own_sessions.html", context)


def own_session_stop(request: HttpRequest, key: UUID) -> HttpResponse:
    """End a session, from the button in your own list."""
    actor = actor_of(request)
    login = get_object_or_404(LoginSession, pk=key, staff=actor)
    if request.method == "POST":
        verify_confirmed(request)
        own_session_end(staff=actor, login=login)
        messages.success(request, "The session was ended.")
    return redirect("admin:own_sessions")


@admin.register(LoginSession)
class LoginSessionAdmin(GatedAdmin):
    list_display = ["staff", "state", "browser_in_words", "address", "started_at", "seen_at", "ended_at", "end"]
    list_filter = ["end", "staff__department"]
    list_select_related = ["staff"]
    search_fields = ["staff__number", "staff__name", "address"]
    date_hierarchy = "started_at"
    fields = readonly_fields = [
        "staff", "address", "browser", "started_at", "passed_at", "seen_at", "ended_at", "end", "ended_by", "reason",
    ]  # fmt: skip
    actions_detail = ["end_session"]

    @display(description="State", label={"open": "success", "over": None})
    def state(self, login: LoginSession) -> str:
        now = timezone.now()
        is_open = login.ended_at is None and now - login.started_at < ABSOLUTE
        return "open" if is_open and now - login.seen_at < idle_time(login.staff) else "over"

    @display(description="Browser")
    def browser_in_words(self, login: LoginSession) -> str:
        return browser_name(login.browser)

    @action(description="End session", icon="logout", permissions=["end_session"])
    def end_session(self, request: HttpRequest, object_id: str) -> HttpResponse:
        login = self.get_object(request, object_id)
        if login is None:
            raise Http404(f"There is no session {object_id}.")

        def take(actor: Staff, login: LoginSession, values: dict[str, Any]) -> str:
            is_ended = session_end(actor=actor, login=login, reason=values["reason"])
            return "The session was ended." if is_ended else "The session had already ended."

        return take_step(
            self.admin_site, request, login, action="loginsession.end", title="End session", form_class=ActionForm,
            take=take, back=reverse("admin:games_loginsession_change", args=[login.pk]),
        )  # fmt: skip

    def has_end_session_permission(self, request: HttpRequest, object_id: str | None = None) -> bool:
        login = self.get_object(request, str(object_id))
        return login is not None and login.ended_at is None and can(request.user, "loginsession.end", login)


@admin.register(FailedLogin)
class FailedLoginAdmin(GatedAdmin):
    list_display = ["at", "number", "staff", "kind", "address", "browser_in_words"]
    list_filter = ["kind", "casino"]
    list_select_related = ["staff"]
    search_fields = ["number", "address"]
    date_hierarchy = "at"
    fields = readonly_fields = ["at", "number", "staff", "casino", "kind", "address", "browser"]

    @display(description="Browser")
    def browser_in_words(self, failed: FailedLogin) -> str:
        return browser_name(failed.browser)
