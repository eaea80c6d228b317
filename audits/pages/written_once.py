"""Read-only pages of records that never change."""

from typing import Any

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse

from games.access.gate import authorize
from games.pages.gated import GatedAdmin, actor_of, require_safe


class WrittenOnceAdmin(GatedAdmin):
    """Pages of a record that is written once."""

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def get_or_deny(self, request: HttpRequest, object_id: str) -> Any:
        """Return the record; refuse one out of reach, with a record of the denial."""
        thing = self.get_object(request, object_id)
        if thing is None:
            raise Http404(f"There is no {self.opts.verbose_name} {object_id}.")
        authorize(actor_of(request), f"{self.opts.model_name}.view", thing)
        return thing

    def address(self, thing: Any, page: str = "change") -> str:
        return reverse(f"admin:{self.opts.app_label}_{self.opts.model_name}_{page}", args=[thing.pk])

    def history_view(
        self, request: HttpRequest, object_id: str, extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        """Show the record's own page: it never changes, so it has no other history."""
        require_safe(request)
        return redirect(self.address(self.get_or_deny(request, object_id)))

    def page_context(self, request: HttpRequest, title: str, **more: Any) -> dict[str, Any]:
        return {**self.admin_site.each_context(request), "title": title, "opts": self.opts, **more}
