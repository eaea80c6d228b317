"""Every address of the site. Each has its line in tests/routes.toml, which says who may open it."""

from django.contrib import admin
from django.urls import include, path
from django.views.generic import RedirectView

from audits.api.urls import urlpatterns as audit_calls
from games.accounts.password_page import account_password
from games.api.urls import urlpatterns as game_calls
from taisai_backoffice import health

urlpatterns = [
    path("", RedirectView.as_view(pattern_name="admin:index"), name="home"),
    path("healthz", health.alive, name="healthz"),
    path("readyz", health.ready, name="readyz"),
    path("account/password/", account_password, name="account_password"),
    path("api/v1/", include(([*game_calls, *audit_calls], "api"))),
    path("admin/", admin.site.urls),
]

handler400 = "taisai_backoffice.web.refusals.unreadable"
handler403 = "taisai_backoffice.web.refusals.forbidden"
handler404 = "taisai_backoffice.web.refusals.missing"
handler500 = "taisai_backoffice.web.refusals.failed"
