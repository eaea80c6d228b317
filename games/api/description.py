"""Where the description of the API is read: as a document by programs, as a page by people. Both for who may log in."""

from django.contrib import admin
from drf_spectacular.views import SpectacularAPIView, SpectacularSwaggerSplitView

from games.api.views import GatedView


class Description(GatedView, SpectacularAPIView):
    """OpenAPI, as YAML or JSON by `Accept` or `?format=json`."""


class DescriptionPage(SpectacularSwaggerSplitView):
    """Show the description to people, and do nothing else: its renderer has no template for an answer to OPTIONS."""

    http_method_names = ["get", "head"]


#: The page asks for its script separately, so that no script stands in it; whoever is not logged in is led there.
page = admin.site.plain_view(DescriptionPage.as_view(url_name="api:schema"))  # type: ignore[attr-defined]
