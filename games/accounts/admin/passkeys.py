"""Your own passkeys: added, used and removed. The browser's part is static/taisai/passkeys.js."""

from collections.abc import Callable
from functools import wraps

from django import forms
from django.contrib import messages
from django.core.exceptions import ValidationError
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import redirect
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST
from unfold.widgets import UnfoldAdminTextInputWidget

from games.accounts.admin.confirmation import PASSKEY, next_of
from games.accounts.admin.second_factor import page, pass_factor
from games.accounts.clients import client_of
from games.accounts.services.fresh_factor import FreshFactorNeededError, verify_confirmed
from games.accounts.services.login_throttle import ThrottledError
from games.accounts.services.logins import verify_code_allowed
from games.accounts.services.passkeys import (
    NAME_LENGTH,
    Ceremony,
    answer_take,
    check_options,
    enrol_options,
    passkey_enrol,
    passkey_remove,
    passkeys_of,
    verify_passkey_name,
)
from games.accounts.services.second_factors import has_factor, is_factor_asked
from games.accounts.services.sessions import current
from games.models import Staff
from games.pages.gated import actor_of, add_errors

Options = Callable[[HttpRequest, Staff], str]


class PasskeyForm(forms.Form):
    """The name of a new passkey. The browser adds the passkey itself."""

    name = forms.CharField(
        label="Name", max_length=NAME_LENGTH, widget=UnfoldAdminTextInputWidget(attrs={"autofocus": True}),
        help_text="A name to recognise it by: office laptop, blue key.",
    )  # fmt: skip


@never_cache
def passkey_add(request: HttpRequest) -> HttpResponse:
    """Add a passkey: name it and let the browser create it. The first factor comes with recovery codes."""
    actor = actor_of(request)
    if has_factor(actor):
        verify_confirmed(request)
    form = PasskeyForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        answer = answer_take(request, Ceremony.ENROL, request.POST.get(PASSKEY, ""))
        name = form.cleaned_data["name"]
        try:
            passkey, codes = passkey_enrol(staff=actor, name=name, answer=answer, client=client_of(request))
        except ValidationError as error:
            add_errors(form, error)
        except ThrottledError as error:
            form.add_error(None, str(error))
        else:
            if is_factor_asked(actor, current.get()):
                pass_factor(request, passkey)
            if codes:
                return page(
                    request, "accounts/recovery_codes.html", "Recovery codes", codes=codes, next=next_of(request)
                )
            messages.success(request, f"The passkey “{passkey.name}” was added.")
            return redirect("admin:second_factor")
    return page(request, "accounts/passkey_add.html", "Add a passkey", form=form, is_first=not has_factor(actor))


def own_passkey_remove(request: HttpRequest, key: int) -> HttpResponse:
    """Remove a passkey, from the button in your own list."""
    actor = actor_of(request)
    if request.method == "POST":
        verify_confirmed(request)
        try:
            passkey = passkey_remove(staff=actor, key=key)
            messages.success(request, f"The passkey “{passkey.name}” was removed.")
        except ValidationError as error:
            messages.error(request, " ".join(error.messages))
    return redirect("admin:second_factor")


# --- Options that the browser fetches before it asks the person: JSON, by POST, with the CSRF token-----


def answered(options: Options) -> Callable[[HttpRequest], HttpResponse]:
    """Answer a script with options, or with a refusal and its reason, as JSON."""

    @never_cache
    @require_POST
    @wraps(options)
    def view(request: HttpRequest) -> HttpResponse:
        actor = actor_of(request)
        try:
            verify_code_allowed(client=client_of(request), staff=actor)
            return HttpResponse(options(request, actor), content_type="application/json")
        except ThrottledError as error:
            return refused(429, str(error), wait=error.wait)
        except FreshFactorNeededError:
            return refused(403, "Your confirmation has expired. Reload the page.")
        except ValidationError as error:
            return refused(400, " ".join(error.messages))

    return view


def refused(status: int, reason: str, wait: int | None = None) -> HttpResponse:
    headers = {"Retry-After": str(wait)} if wait else {}
    return JsonResponse({"detail": reason}, status=status, headers=headers)


@answered
def passkey_enrol_options(request: HttpRequest, actor: Staff) -> str:
    if has_factor(actor):
        verify_confirmed(request)
    verify_passkey_name(staff=actor, name=request.POST.get("name", ""))
    return enrol_options(request, actor)


@answered
def passkey_login_options(request: HttpRequest, actor: Staff) -> str:
    return _to_check(request, actor, Ceremony.LOGIN)


@answered
def passkey_confirm_options(request: HttpRequest, actor: Staff) -> str:
    return _to_check(request, actor, Ceremony.CONFIRM)


def _to_check(request: HttpRequest, actor: Staff, ceremony: Ceremony) -> str:
    if not passkeys_of(actor).exists():
        raise ValidationError("You have no passkey.")
    return check_options(request, actor, ceremony)
