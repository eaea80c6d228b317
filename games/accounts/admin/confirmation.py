"""Confirm your identity: inside the form that was interrupted, or on a page of its own."""

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

from games.accounts.clients import client_of
from games.accounts.services.login_throttle import ThrottledError
from games.accounts.services.passkeys import Ceremony, answer_take, passkey_verify, passkeys_of
from games.accounts.services.second_factors import identity_confirm
from games.accounts.services.sessions import session_confirm
from games.models import Staff
from games.pages.gated import actor_of

CONFIRM_FIELD = "_confirm"
#: Fields for a passkey's answer: in the confirmation form, and in an interrupted form.
PASSKEY, PASSKEY_FIELD = "passkey", "_passkey"
TITLE = "Confirm your identity"
WRONG = "This is neither your password nor a valid code."
WRONG_PASSKEY = "The passkey was not accepted. Try again, or enter your password or a code."


class ConfirmIdentityForm(forms.Form):
    """A password or code. Pasting is allowed, and a password manager may fill it in."""

    secret = forms.CharField(
        label="Password or code", strip=False, max_length=200,
        widget=UnfoldAdminPasswordWidget(attrs={"autocomplete": "current-password", "autofocus": True}),
        help_text="Your password, or a code of your second factor. Valid for five minutes.",
    )  # fmt: skip


class InterruptedForm(ConfirmIdentityForm):
    """The same form with a field name that none of our forms uses."""

    def add_prefix(self, field_name: str | int) -> str:
        return CONFIRM_FIELD


def ask_again(request: HttpRequest, fault: str = "") -> HttpResponse:
    """Ask for a confirmation and keep everything that was sent: confirming sends the original form again."""
    kept = [
        (name, value)
        for name, values in request.POST.lists()
        for value in values
        if name not in ("csrfmiddlewaretoken", CONFIRM_FIELD, PASSKEY_FIELD)
    ]
    if request.FILES:  # a browser does not send a file again by itself
        messages.warning(request, "Choose your file again after confirming.")
        return redirect(f"{reverse('admin:confirm')}?{urlencode({'next': request.get_full_path()})}")
    context = {
        **admin.site.each_context(request), "title": TITLE, "form": InterruptedForm(), "kept": kept, "fault": fault,
        "back": request.get_full_path(), **_passkey_context(request, PASSKEY_FIELD),
    }  # fmt: skip
    answer = TemplateResponse(request, "accounts/confirm.html", context, status=403 if fault else 200)
    setattr(answer, "_csp_update", {"script-src": [UNSAFE_EVAL]})  # noqa: B010  one of Unfold's pages; read by django-csp
    return answer.render()


def confirm(request: HttpRequest) -> HttpResponse:
    """Confirm in advance of an action that needs it: a download, or an API call."""
    is_passkey = PASSKEY in request.POST
    form = ConfirmIdentityForm(None if is_passkey else request.POST or None)
    fault = ""
    if request.method == "POST" and (is_passkey or form.is_valid()):
        sent = request.POST[PASSKEY] if is_passkey else form.cleaned_data["secret"]
        fault = confirm_by(request, actor_of(request), sent, is_passkey=is_passkey)
        if not fault:
            messages.success(request, "Confirmed. Valid for five minutes.")
            return redirect(next_of(request))
        if not is_passkey:
            form.add_error("secret", fault)
    context: dict[str, Any] = {
        "title": TITLE, "form": form, "kept": [], "fault": fault if is_passkey else "", "back": next_of(request),
        **_passkey_context(request, PASSKEY),
    }  # fmt: skip
    return TemplateResponse(request, "accounts/confirm.html", {**admin.site.each_context(request), **context})


def confirm_by(request: HttpRequest, actor: Staff, sent: str, *, is_passkey: bool) -> str:
    """Check a password, a code or a passkey's answer. Return the fault, or an empty text."""
    client = client_of(request)
    try:
        if is_passkey:
            answer = answer_take(request, Ceremony.CONFIRM, sent)
            is_right = passkey_verify(staff=actor, answer=answer, client=client) is not None
        else:
            is_right = identity_confirm(staff=actor, secret=sent, client=client)
    except ThrottledError as error:
        return str(error)
    if not is_right:
        return WRONG_PASSKEY if is_passkey else WRONG
    session_confirm(request)
    return ""


def _passkey_context(request: HttpRequest, field: str) -> dict[str, Any]:
    return {"has_passkey": passkeys_of(actor_of(request)).exists(), "passkey_field": field}


def next_of(request: HttpRequest) -> str:
    """Return the page that a person was going to, if it is a path of this site; else the overview.

    `redirect` would take a word without a slash for the name of a route.
    """
    wanted = request.GET.get("next", "")
    is_ours = url_has_allowed_host_and_scheme(wanted, allowed_hosts=None, require_https=request.is_secure())
    return wanted if is_ours and wanted.startswith("/") else reverse("admin:index")
