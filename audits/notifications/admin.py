"""Read-only pages of notifications: who was notified of what, and which e-mails were sent."""

from typing import Any

from django.contrib import admin
from django.db.models import Count, QuerySet
from django.http import Http404, HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from unfold.decorators import display

from audits.findings.selectors import HEAVY
from audits.models import Finding, Notice, ProposerNotice
from games.access.gate import authorize, can, visible
from games.access.roles import access_policy
from games.pages.gated import GatedAdmin, actor_of, require_safe

NAMED = 100


@admin.register(Notice)
class NoticeAdmin(GatedAdmin):
    list_display = ["at", "role_name", "place", "people_names", "finding_count"]
    list_display_links = ["at"]
    list_filter = ["casino", "role"]
    list_select_related = ["casino", "pit"]
    show_full_result_count = False
    date_hierarchy = "at"

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        notices: QuerySet[Any] = super().get_queryset(request).annotate(findings=Count("escalations"))
        return notices

    @display(description="Notified", ordering="role")
    def role_name(self, notice: Notice) -> str:
        return access_policy().roles[notice.role].name

    @display(description="Place")
    def place(self, notice: Notice) -> str:
        return str(notice.pit or notice.casino.code)

    @display(description="People in the post")
    def people_names(self, notice: Notice) -> str:
        return ", ".join(notice.people) or "none"

    @display(description="Findings")
    def finding_count(self, notice: Any) -> int:
        return int(notice.findings)

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False  # written once

    def change_view(
        self, request: HttpRequest, object_id: str, form_url: str = "", extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        require_safe(request)
        notice: Notice | None = self.get_object(request, object_id)
        if notice is None:
            raise Http404(f"There is no notification {object_id}.")
        if actor_of(request).pk not in notice.recipients:  # recipients may always read their own notifications
            authorize(actor_of(request), "notice.view", notice)
        findings = visible(request.user, Finding.objects.filter(escalations__notice=notice))
        context = {
            **self.admin_site.each_context(request),
            "title": f"Notification {notice}", "original": notice, "notice": notice, "opts": self.opts,
            "role": access_policy().roles[notice.role].name, "mails": notice.mails.select_related("staff"),
            "findings": findings.select_related("table", "round", "live_round")
            .defer(*HEAVY)
            .order_by("-severity", "-amount")[:NAMED],
            "finding_count": notice.escalations.count(),
            "limit_decision": ProposerNotice.objects.filter(notice=notice).select_related("decision").first(),
            "may_list": can(request.user, "notice.view"),
        }  # fmt: skip
        return TemplateResponse(request, "notifications/notice.html", context)
