from django.apps import AppConfig
from django.contrib.admin.apps import AdminConfig


class BackOfficeAdminConfig(AdminConfig):
    """Django's admin, on our own site."""

    default_site = "taisai_backoffice.site.admin_site.BackOfficeSite"


class BackOfficeConfig(AppConfig):
    """The project itself: its commands."""

    name = "taisai_backoffice"
