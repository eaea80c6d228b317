"""The pages for "you may not" and "no such page": in the look of the site, with a way on; programs get a problem."""

from django.contrib import admin
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.defaults import bad_request

from games.api.problems import is_call, problem_outside
from taisai_backoffice.uploads import UploadTooLargeError


def unreadable(request: HttpRequest, exception: Exception) -> HttpResponse:
    if isinstance(exception, UploadTooLargeError):
        if is_call(request):
            return problem_outside(413, "Too large", str(exception))
        return _page(request, 413, "Too large", str(exception))
    if is_call(request):
        return problem_outside(400, "Not readable", "The call is not readable, or has too many parameters; check it.")
    return bad_request(request, exception)


def forbidden(request: HttpRequest, exception: Exception) -> HttpResponse:
    return _page(
        request,
        403,
        "Not open to you",
        str(exception) or "Your post does not open this page. The attempt is on record.",
    )


def missing(request: HttpRequest, exception: Exception) -> HttpResponse:
    if is_call(request):
        return problem_outside(
            404, "Not there", "There is nothing at this address; /api/v1/schema/ names all there are."
        )
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
