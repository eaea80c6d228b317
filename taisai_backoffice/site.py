"""The admin site: one login, one look, one sidebar for all pages."""

from typing import Any

from django.contrib.auth.views import PasswordChangeView
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.urls import reverse
from unfold.forms import AdminOwnPasswordChangeForm
from unfold.sites import UnfoldAdminSite

from taisai_backoffice.navigation import sidebar_groups


class OwnPasswordForm(AdminOwnPasswordChangeForm):
    """Django's form would save the person itself; ours goes through the service, so that the change has its history."""

    def save(self, commit: bool = True) -> Any:
        from games.services.people import own_password_set

        own_password_set(staff=self.user, password=self.cleaned_data["new_password1"])
        return self.user


class BackOfficeSite(UnfoldAdminSite):
    index_title = "Overview"
    enable_nav_sidebar = True

    def index(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> Any:
        from audits.incident_overview import incident_overview
        from audits.overview import findings_overview
        from audits.ruling_overview import ruling_overview
        from games.admin.gated import actor_of
        from games.overview import overview

        actor = actor_of(request)
        ours = (overview(actor), findings_overview(actor), incident_overview(actor), ruling_overview(actor))
        parts = (*ours, extra_context or {})
        return super().index(request, {name: value for part in parts for name, value in part.items()})

    def get_app_list(self, request: HttpRequest, app_label: str | None = None) -> list[Any]:
        """Django asks for it on every page; only an app's own page shows it, as the sidebar is ours."""
        return super().get_app_list(request, app_label) if app_label else []

    def get_sidebar_list(self, request: HttpRequest) -> list[dict[str, Any]]:
        """Only groups in which this person has something to open."""
        return sidebar_groups(super().get_sidebar_list(request), request)

    def password_change(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> HttpResponseBase:
        request.current_app = self.name
        return PasswordChangeView.as_view(
            form_class=OwnPasswordForm,
            template_name="registration/password_change_form.html",
            success_url=reverse("admin:password_change_done", current_app=self.name),
            extra_context={**self.each_context(request), **(extra_context or {})},
        )(request)
