"""The admin site: one login, one look, one sidebar for all pages."""

from functools import partial
from typing import Any

from csp.constants import UNSAFE_EVAL
from csp.decorators import csp_update
from django.conf import settings
from django.contrib.auth.views import PasswordChangeView
from django.core.exceptions import ValidationError
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.urls import path, reverse
from django.utils.decorators import method_decorator
from unfold.forms import AdminOwnPasswordChangeForm, AuthenticationForm
from unfold.sites import UnfoldAdminSite

from audits.findings.dashboard import decisions_overview, findings_overview
from audits.incidents.dashboard import incident_overview
from audits.rulings.dashboard import ruling_overview
from games.access.dashboard import login_overview, overview
from games.access.services.people import own_password_set
from games.accounts.clients import client_of
from games.accounts.services.login_throttle import ThrottledError
from games.accounts.services.logins import password_confirm, password_login
from games.pages.gated import actor_of
from taisai_backoffice.site.navigation import sidebar_groups
from taisai_backoffice.web.hashing import TooManyHashesError


class LoginForm(AuthenticationForm):
    """Staff number and password, checked by the service: throttled, bounded, and on record where it fails."""

    def clean(self) -> dict[str, Any]:
        number, password = self.cleaned_data.get("username"), self.cleaned_data.get("password")
        if number is not None and password:
            self.user_cache = password_login(client=client_of(self.request), number=number, password=password)
            if self.user_cache is None:
                raise self.get_invalid_login_error()
        return dict(self.cleaned_data)


class OwnPasswordForm(AdminOwnPasswordChangeForm):
    """Django's form would save the person itself; ours goes through the service, so that the change has its history."""

    def __init__(self, *args: Any, client: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.client = client

    def clean_old_password(self) -> str:
        old = str(self.cleaned_data["old_password"])
        try:
            if password_confirm(client=self.client, staff=self.user, password=old):
                return old
        except ThrottledError as error:
            raise ValidationError(str(error)) from None
        raise ValidationError(self.error_messages["password_incorrect"], code="password_incorrect")

    def save(self, commit: bool = True) -> Any:
        old, new = self.cleaned_data["old_password"], self.cleaned_data["new_password1"]
        own_password_set(staff=self.user, old_password=old, password=new)
        return self.user


#: Unfold's Alpine evaluates the attributes of its pages; no other page may.
alpine_allowed = csp_update({"script-src": [UNSAFE_EVAL]})


class BackOfficeSite(UnfoldAdminSite):
    index_title = "Overview"
    enable_nav_sidebar = True
    login_form = LoginForm

    def get_urls(self) -> list[Any]:
        # Here, because these modules register their pages with this very site.
        from games.accounts.admin.confirmation import confirm
        from games.accounts.admin.passkeys import (
            own_passkey_remove,
            passkey_add,
            passkey_confirm_options,
            passkey_enrol_options,
            passkey_login_options,
        )
        from games.accounts.admin.second_factor import (
            recovery_codes,
            second_factor,
            second_factor_check,
            second_factor_enrol,
        )
        from games.accounts.admin.sessions import own_session_stop, own_sessions

        ours = [
            path("confirm/", self.admin_view(confirm), name="confirm"),
            path("second-factor/", self.admin_view(second_factor), name="second_factor"),
            path("second-factor/check/", self.admin_view(second_factor_check), name="second_factor_check"),
            path("second-factor/enrol/", self.admin_view(second_factor_enrol), name="second_factor_enrol"),
            path("second-factor/recovery-codes/", self.admin_view(recovery_codes), name="recovery_codes"),
            path("second-factor/passkeys/add/", self.admin_view(passkey_add), name="passkey_add"),
            path(
                "second-factor/passkeys/<int:key>/remove/", self.admin_view(own_passkey_remove), name="passkey_remove"
            ),
            path("sessions/", self.admin_view(own_sessions), name="own_sessions"),
            path("sessions/<uuid:key>/end/", self.admin_view(own_session_stop), name="own_session_end"),
        ]
        ceremonies = {
            "enrol": passkey_enrol_options, "login": passkey_login_options, "confirm": passkey_confirm_options,
        }  # fmt: skip
        options = [
            path(f"second-factor/passkeys/options/{name}/", self.plain_view(view), name=f"passkey_{name}_options")
            for name, view in ceremonies.items()
        ]
        return [*ours, *options, *super().get_urls()]

    @method_decorator(alpine_allowed)
    def login(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> Any:
        """429 where an attempt came too soon, 503 where other passwords are being checked; both say when to retry.

        A bare page for these: whoever guesses as fast as possible should cost the site as little as possible.
        """
        try:
            return super().login(
                request, {"says_no_factor": not settings.REQUIRE_SECOND_FACTOR, **(extra_context or {})}
            )
        except (ThrottledError, TooManyHashesError) as error:
            status = 429 if isinstance(error, ThrottledError) else 503
            context = {"message": str(error), "address": request.get_full_path()}
            answer = render(request, "login_refused.html", context, status=status)
            answer["Retry-After"] = str(error.wait)
            return answer

    def admin_view(self, view: Any, cacheable: bool = False) -> Any:
        return alpine_allowed(self.plain_view(view, cacheable))

    def plain_view(self, view: Any, cacheable: bool = False) -> Any:
        """A page behind the same login that is not one of Unfold's."""
        return super().admin_view(view, cacheable)

    def index(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> Any:
        actor = actor_of(request)
        ours = (
            overview(actor),
            login_overview(actor),
            findings_overview(actor),
            decisions_overview(actor),
            incident_overview(actor),
            ruling_overview(actor),
        )
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
            form_class=partial(OwnPasswordForm, client=client_of(request)),
            template_name="registration/password_change_form.html",
            success_url=reverse("admin:password_change_done", current_app=self.name),
            extra_context={**self.each_context(request), **(extra_context or {})},
        )(request)
