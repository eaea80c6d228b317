"""Confirm that it is you: inside the form that was interrupted, or on a page of its own."""

from typing import Any
from urllib.parse import urlencode

from csp.constants import UNSAFE_EVAL
from django import forms
from django.contrib import admin, messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.template.response import TemplateResponse
from django.urls import reverse
from django.utils.http import url_has_allowed_host_and_scheme
from unfold.widgets import UnfoldAdminPasswordWidget

from games.admin.gated import actor_of
from games.clients import client_of
from games.services.factors import identity_confirm
from games.services.sessions import session_confirm
from games.services.throttle import ThrottledError

CONFIRM_FIELD = "_confirm"
TITLE = "Confirm that it is you"
WRONG = "That is neither your password nor a code that is good now."


class ConfirmForm(forms.Form):
    """A password or code. Pasting is allowed, and a password manager may fill it in."""

    secret = forms.CharField(
        label="Password or code", strip=False, max_length=200,
        widget=UnfoldAdminPasswordWidget(attrs={"autocomplete": "current-password", "autofocus": True}),
        help_text="Your password, or a code of your second factor. It holds for five minutes.",
    )  # fmt: skip


class InterruptedForm(ConfirmForm):
    """The same, under a name that no form of ours has."""

    def add_prefix(self, field_name: str | int) -> str:
        return CONFIRM_FIELD


def ask_again(request: HttpRequest, fault: str = "") -> HttpResponse:
    """Show the page that asks, with everything that was sent in it: confirming sends the form on its way again."""
    kept = [
        (name, value)
        for name, values in request.POST.lists()
        for value in values
        if name not in ("csrfmiddlewaretoken", CONFIRM_FIELD)
    ]
    if request.FILES:  # a browser does not send a file twice by itself
        messages.warning(request, "Choose your file again after you confirmed.")
        return redirect(f"{reverse('admin:confirm')}?{urlencode({'next': request.get_full_path()})}")
    context = {
        **admin.site.each_context(request), "title": TITLE, "form": InterruptedForm(), "kept": kept, "fault": fault,
        "back": request.get_full_path(),
    }  # fmt: skip
    answer = TemplateResponse(request, "admin/confirm.html", context, status=403 if fault else 200)
    setattr(answer, "_csp_update", {"script-src": [UNSAFE_EVAL]})  # noqa: B010  one of Unfold's pages; read by django-csp
    return answer.render()


def confirm(request: HttpRequest) -> HttpResponse:
    """Confirm ahead of what needs it: a download, or a call of the API."""
    actor = actor_of(request)
    form = ConfirmForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        try:
            if identity_confirm(staff=actor, secret=form.cleaned_data["secret"], client=client_of(request)):
                session_confirm(request)
                messages.success(request, "Confirmed. It holds for five minutes.")
                return redirect(next_of(request))
            form.add_error("secret", WRONG)
        except ThrottledError as error:
            form.add_error("secret", str(error))
    context: dict[str, Any] = {"title": TITLE, "form": form, "kept": [], "fault": "", "back": next_of(request)}
    return TemplateResponse(request, "admin/confirm.html", {**admin.site.each_context(request), **context})


def next_of(request: HttpRequest) -> str:
    """Where a person was going, where that is a page of this site; else the overview."""
    wanted = request.GET.get("next", "")
    is_ours = url_has_allowed_host_and_scheme(wanted, {request.get_host()}, require_https=request.is_secure())
    return wanted if is_ours else reverse("admin:index")
