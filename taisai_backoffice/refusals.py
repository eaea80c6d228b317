"""The pages for "you may not" and "there is no such page": in the look of the site, with a way on."""

from django.contrib import admin
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render


def forbidden(request: HttpRequest, exception: Exception) -> HttpResponse:
    return _page(
        request,
        403,
        "Not open to you",
        str(exception) or "Your post does not open this page. The attempt is on record.",
    )


def missing(request: HttpRequest, exception: Exception) -> HttpResponse:
    return _page(
        request, 404, "No such page", "There is nothing at this address. Perhaps it was mistyped, or the link is old."
    )


def _page(request: HttpRequest, status: int, title: str, message: str) -> HttpResponse:
    inside = admin.site.has_permission(request)
    layout = "admin/base_site.html" if inside else "unfold/layouts/skeleton.html"
    context = {
        **admin.site.each_context(request),
        "title": title,
        "message": message,
        "inside": inside,
        "layout": layout,
    }
    return render(request, "refusal.html", context, status=status)
