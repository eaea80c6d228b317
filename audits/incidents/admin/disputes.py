"""Disputes of patrons: those whose time runs, the most urgent first, and the steps that the law asks for."""

from functools import partial
from typing import Any

from django.contrib import admin
from django.http import Http404, HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.urls import URLPattern, path, reverse
from django.utils import timezone

from audits.incidents.deadlines import clock
from audits.incidents.selectors import disputes_found
from audits.incidents.services.disputes import dispute_mark, dispute_resolve
from audits.models import Dispute
from games.access.gate import authorize, can
from games.floor.admin.forms import MomentField
from games.models import Staff
from games.pages.gated import ActionForm, AuditedAdmin, Button, actor_of, require_safe
from games.pages.paging import ROWS, keyset_page

MARKS = {
    "notify": ("notified_at", "Inspector notified", "mark_email_read"),
    "tell": ("patron_told_at", "Patron told", "record_voice_over"),
}


class MarkForm(ActionForm):
    at = MomentField(label="At", past=True, required=False, help_text="Empty: now.")
    field_order = ["at", "reason"]


class ResolveDisputeForm(ActionForm):
    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["reason"].label = "How it was resolved"


@admin.register(Dispute)
class DisputeAdmin(AuditedAdmin):
    fields = ["patron", "raised_at", "notified_at", "patron_told_at", "resolved_at", "resolution"]

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False  # it is raised on its incident

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False  # by steps

    def get_urls(self) -> list[URLPattern]:
        views = {name: partial(self.mark_view, name=name) for name in MARKS} | {"resolve": self.resolve_view}
        own = [
            path(f"<path:object_id>/{name}/", self.admin_site.admin_view(view), name=f"audits_dispute_{name}")
            for name, view in views.items()
        ]
        return [*own, *super().get_urls()]

    def changelist_view(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> HttpResponse:
        """Whose clock runs, those that have run out first; or all, the newest first."""
        require_safe(request)
        actor = actor_of(request)
        authorize(actor, "dispute.view")
        shows_all = "all" in request.GET
        found = disputes_found(actor, only_running=not shows_all)
        part = keyset_page(request, found, "raised_at") if shows_all else None
        rows = part.rows if part else list(found[:ROWS])
        context = {
            **self.admin_site.each_context(request), "title": "Disputes", "opts": self.opts, "part": part,
            "shows_all": shows_all, "disputes": [(row, clock(row)) for row in rows],
        }  # fmt: skip
        return TemplateResponse(request, "incidents/disputes.html", context)

    def change_view(
        self, request: HttpRequest, object_id: str, form_url: str = "", extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        require_safe(request)
        dispute: Dispute | None = self.get_object(request, object_id)
        if dispute is None:
            raise Http404(f"There is no dispute {object_id}.")
        authorize(actor_of(request), "dispute.view", dispute)
        context = {
            **self.admin_site.each_context(request), "title": f"Dispute: {dispute.incident}", "opts": self.opts,
            "original": dispute, "dispute": dispute, "clock": clock(dispute),
            "buttons": dispute_buttons(request.user, dispute),
        }  # fmt: skip
        return TemplateResponse(request, "incidents/dispute_page.html", context)

    def mark_view(self, request: HttpRequest, object_id: str, name: str) -> HttpResponse:
        mark, title, _ = MARKS[name]

        def take(actor: Staff, dispute: Dispute, values: dict[str, Any]) -> str:
            at = values["at"] or timezone.now()
            dispute_mark(actor=actor, dispute=dispute, mark=mark, at=at, reason=values["reason"])
            return f"{title}: on record."

        return self.step(request, object_id, action="dispute.change", title=title, form_class=MarkForm, take=take)

    def resolve_view(self, request: HttpRequest, object_id: str) -> HttpResponse:
        def take(actor: Staff, dispute: Dispute, values: dict[str, Any]) -> str:
            dispute_resolve(actor=actor, dispute=dispute, reason=values["reason"])
            return f"The dispute of {dispute.patron} is resolved."

        return self.step(
            request, object_id, action="dispute.change", title="Resolve", form_class=ResolveDisputeForm, take=take
        )


def dispute_buttons(user: Any, dispute: Dispute) -> list[Button]:
    """What is still to be done, for whoever may do it."""
    if dispute.resolved_at is not None or not can(user, "dispute.change", dispute):
        return []
    steps = [(name, title, icon) for name, (mark, title, icon) in MARKS.items() if getattr(dispute, mark) is None]
    return [
        Button(reverse(f"admin:audits_dispute_{name}", args=[dispute.pk]), title, icon, name != "resolve")
        for name, title, icon in [*steps, ("resolve", "Resolve", "task_alt")]
    ]
