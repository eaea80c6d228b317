"""Records that nobody changes: a page to look at, which is its own history."""

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse

from games.pages.gated import GatedAdmin, require_safe


class WrittenOnceAdmin(GatedAdmin):
    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def address(self, thing: Any, page: str = "change") -> str:
        return reverse(f"admin:{self.opts.app_label}_{self.opts.model_name}_{page}", args=[thing.pk])

    def history_view(
        self, request: HttpRequest, object_id: str, extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        """It never changes; its page says all there is."""
        require_safe(request)
        return redirect(self.address(self.get_or_deny(request, object_id)))

    def page_context(self, request: HttpRequest, title: str, **more: Any) -> dict[str, Any]:
        return {**self.admin_site.each_context(request), "title": title, "opts": self.opts, **more}
