"""The path above a page, in the words of the sidebar."""

from collections.abc import Iterable
from typing import Any

from django import template

from taisai_backoffice.site.navigation import sidebar_places

register = template.Library()


@register.filter
def sidebar_path(parts: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """Name the parts of a page's path as the sidebar does: Floor › Tables, where Django says Games › Tables."""
    named = [dict(part) for part in parts]
    places = sidebar_places()
    for part in named[1:]:
        if place := places.get(str(part["link"])):
            named[0] = {"title": place[0], "link": ""}
            part["title"] = place[1]
            break
    return named
