"""Your own second factor: asked for at login, set up and replaced, with recovery codes shown once."""

import base64
import io
from typing import Any

import qrcode
import qrcode.image.svg
from django import forms
from django.contrib import admin
from django.core.exceptions import ValidationError
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.template.response import TemplateResponse
from django.utils.safestring import SafeString, mark_safe
from django.views.decorators.cache import never_cache
from django_otp import login as otp_login
from django_otp.plugins.otp_totp.models import TOTPDevice
from unfold.widgets import UnfoldAdminTextInputWidget

from games.accounts.admin.confirmation import PASSKEY, next_of
from games.accounts.clients import client_of
from games.accounts.services.fresh_factor import verify_confirmed
from games.accounts.services.login_throttle import ThrottledError
from games.accounts.services.passkeys import Ceremony, answer_take, passkey_verify, passkeys_of
from games.accounts.services.second_factors import (
    factor_verify,
    has_factor,
    is_factor_asked,
    needs_factor,
    recovery_codes_left,
    recovery_codes_make,
    totp_draft,
    totp_enrol,
)
from games.accounts.services.sessions import current, session_pass
from games.models import Staff
from games.pages.gated import actor_of, add_errors

WRONG_PASSKEY = "The passkey was not accepted. Try again, or enter a code."
WRONG_CODE = "This code is wrong or was used before. Enter the code that the app shows now, or a recovery code."


class CodeForm(forms.Form):
    """A code. Pasting is allowed, and the browser may fill it in."""

    code = forms.CharField(
        label="Code", max_length=40,
        widget=UnfoldAdminTextInputWidget(attrs={"autocomplete": "one-time-code", "autofocus": True}),
    )  # fmt: skip


def page(request: HttpRequest, template: str, title: str, **context: Any) -> HttpResponse:
    return TemplateResponse(request, template, {**admin.site.each_context(request), "title": title, **context})


@never_cache
def second_factor_check(request: HttpRequest) -> HttpResponse:
    """Show the second step of the login."""
    actor = actor_of(request)
    if not is_factor_asked(actor, current.get()):
        return redirect(next_of(request))
    is_passkey = PASSKEY in request.POST
    form = CodeForm(None if is_passkey else request.POST or None)
    status, fault = 200, ""
    if request.method == "POST" and (is_passkey or form.is_valid()):
        try:
            device = given_factor(request, actor, "" if is_passkey else form.cleaned_data["code"])
            if device is not None:
                pass_factor(request, device)
                return redirect(next_of(request))
            fault = WRONG_PASSKEY if is_passkey else WRONG_CODE
        except ThrottledError as error:
            status, fault = 429, str(error)
        if not is_passkey:
            form.add_error("code", fault)
    context = {"form": form, "fault": fault if is_passkey else "", "has_passkey": passkeys_of(actor).exists()}
    answer = page(request, "accounts/second_factor_check.html", "Second factor", **context)
    answer.status_code = status
    return answer


def given_factor(request: HttpRequest, actor: Staff, code: str) -> Any:
    """Return the device of a code or of a passkey's answer; None if it is wrong."""
    client = client_of(request)
    if code:
        return factor_verify(staff=actor, code=code, client=client)
    answer = answer_take(request, Ceremony.LOGIN, request.POST[PASSKEY])
    return passkey_verify(staff=actor, answer=answer, client=client)


def pass_factor(request: HttpRequest, device: Any) -> None:
    """Mark the session as having passed its second factor, under a new session key."""
    login = current.get()
    otp_login(request, device)
    request.session.cycle_key()
    if login is not None:
        session_pass(request, login)


@never_cache
def second_factor(request: HttpRequest) -> HttpResponse:
    """Show your authenticator app, passkeys and recovery codes."""
    actor = actor_of(request)
    context = {
        "app": TOTPDevice.objects.filter(user=actor, confirmed=True).first(),
        "passkeys": passkeys_of(actor),
        "codes_left": recovery_codes_left(actor),
        "is_needed": needs_factor(actor),
    }
    return page(request, "accounts/second_factor.html", "Second factor", **context)


@never_cache
def second_factor_enrol(request: HttpRequest) -> HttpResponse:
    """Set up an authenticator app: scan, enter its first code, keep the recovery codes. It replaces the old app."""
    actor = actor_of(request)
    if has_factor(actor):
        verify_confirmed(request)
    form = CodeForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        try:
            device, codes = totp_enrol(staff=actor, code=form.cleaned_data["code"], client=client_of(request))
            pass_factor(request, device)
            return page(request, "accounts/recovery_codes.html", "Recovery codes", codes=codes, next=next_of(request))
        except ValidationError as error:
            add_errors(form, error)
        except ThrottledError as error:
            form.add_error("code", str(error))
    device = totp_draft(actor)
    context = {
        "form": form,
        "picture": qr_picture(device.config_url),
        "key": spaced(device),
        "is_first": not has_factor(actor),
        "replaces": TOTPDevice.objects.filter(user=actor, confirmed=True).exists(),
    }
    return page(request, "accounts/second_factor_enrol.html", "Set up your second factor", **context)


@never_cache
def recovery_codes(request: HttpRequest) -> HttpResponse:
    """Replace your recovery codes with new ones."""
    actor = actor_of(request)
    if request.method != "POST" or not has_factor(actor):
        return redirect("admin:second_factor")
    verify_confirmed(request)
    return page(request, "accounts/recovery_codes.html", "Recovery codes", codes=recovery_codes_make(staff=actor))


def spaced(device: TOTPDevice) -> str:
    """Write the key in groups, for typing it where there is no camera."""
    text = base64.b32encode(device.bin_key).decode()
    return " ".join(text[at : at + 4] for at in range(0, len(text), 4))


def qr_picture(text: str) -> SafeString:
    """Draw the QR code as an SVG inside the page, so that it has no address that others could open."""
    image = qrcode.make(text, image_factory=qrcode.image.svg.SvgPathImage, box_size=12, border=4)
    written = io.BytesIO()
    image.save(written)
    svg = written.getvalue().decode().partition("?>")[2]
    return mark_safe(svg)  # noqa: S308  made here from a key of ours
