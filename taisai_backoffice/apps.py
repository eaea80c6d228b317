from django.apps import AppConfig
from django.contrib.admin.apps import AdminConfig


class BackOfficeAdminConfig(AdminConfig):
    """Django's admin on our own site."""

    default_site = "taisai_backoffice.site.admin_site.BackOfficeSite"


class BackOfficeConfig(AppConfig):
    """The project itself: its commands, and what people call its records."""

    name = "taisai_backoffice"

    def ready(self) -> None:
        from taisai_backoffice.site.record_names import rename_records  # needs the loaded models

        rename_records()
