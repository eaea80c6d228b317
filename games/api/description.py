"""The API description, as a document for programs and as a page for people who may log in."""

from django.contrib import admin
from drf_spectacular.views import SpectacularAPIView, SpectacularSwaggerSplitView

from games.api.views import GatedView


class Description(GatedView, SpectacularAPIView):
    """Answer the OpenAPI document, as YAML or JSON by `Accept` or `?format=json`."""


class DescriptionPage(SpectacularSwaggerSplitView):
    """Show the description to people. GET only: its renderer has no template for OPTIONS."""

    http_method_names = ["get", "head"]


#: The page loads its script from a separate address, with none inline. Anyone not logged in is redirected to the login.
page = admin.site.plain_view(DescriptionPage.as_view(url_name="api:schema"))  # type: ignore[attr-defined]
