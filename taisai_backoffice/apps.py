from django.contrib.admin.apps import AdminConfig


class BackOfficeAdminConfig(AdminConfig):
    """Django's admin, on our own site."""

    default_site = "taisai_backoffice.site.BackOfficeSite"
