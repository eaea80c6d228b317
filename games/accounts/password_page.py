"""The page on which a person chooses a password through a sign-in link.

It needs no login and reveals nothing about accounts: the page is the same for every token, and the token is behind
the # of the address until the form is sent.
"""

from csp.constants import UNSAFE_EVAL
from csp.decorators import csp_update
from django import forms
from django.contrib import admin
from django.contrib.auth.password_validation import password_validators_help_text_html
from django.core.cache import cache
from django.core.exceptions import ValidationError
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods
from unfold.widgets import UnfoldAdminPasswordWidget, UnfoldAdminTextInputWidget

from games.accounts.services.sign_in_links import LinkError, link_use
from games.pages.gated import add_errors
from taisai_backoffice.web.addresses import client_address, network_of

#: Attempts with an invalid token, by address and minute. A valid token is never counted, so that guessing locks no one
#: else out.
WRONG_TRIES, WINDOW_SECONDS = 10, 60
TOO_MANY = 429
LONGEST_TOKEN, LONGEST_PASSWORD = 100, 500


class ChoosePasswordForm(forms.Form):
    token = forms.CharField(
        label="Code of the link", max_length=LONGEST_TOKEN,
        widget=UnfoldAdminTextInputWidget(attrs={"autocomplete": "off", "spellcheck": "false"}),
        help_text="The part behind the # in your link. It is filled in when you open the link itself.",
        error_messages={"required": "Open your sign-in link, or paste the code behind its #."},
    )  # fmt: skip
    password = forms.CharField(
        label="New password", strip=False, max_length=LONGEST_PASSWORD,
        widget=UnfoldAdminPasswordWidget(attrs={"autocomplete": "new-password"}),
        help_text=password_validators_help_text_html,
    )  # fmt: skip
    again = forms.CharField(
        label="New password again", strip=False, max_length=LONGEST_PASSWORD,
        widget=UnfoldAdminPasswordWidget(attrs={"autocomplete": "new-password"}),
    )  # fmt: skip

    def clean(self) -> dict[str, str]:
        values = super().clean() or {}
        if "password" in values and values["password"] != values.get("again"):
            self.add_error("again", "The two passwords differ. Type the same password twice.")
        return values


@csp_update({"script-src": [UNSAFE_EVAL]})  # one of Unfold's pages
@never_cache
@sensitive_post_parameters()
@require_http_methods(["GET", "HEAD", "POST"])
def account_password(request: HttpRequest) -> HttpResponse:
    """Show the form; set the password if the token is valid."""
    form = ChoosePasswordForm(request.POST if request.method == "POST" else None)
    status, is_done = 200, False
    if form.is_bound and form.is_valid():
        try:
            link_use(token=form.cleaned_data["token"], password=form.cleaned_data["password"])
            is_done = True
        except LinkError as error:
            status = 400 if count_wrong_token(request) <= WRONG_TRIES else TOO_MANY
            form.add_error(None, error if status != TOO_MANY else "Too many attempts. Wait a minute and try again.")
        except ValidationError as error:
            add_errors(form, error)
    context = {**admin.site.each_context(request), "title": "Choose your password", "form": form, "is_done": is_done}
    answer = TemplateResponse(request, "accounts/account_password.html", context, status=status)
    answer.headers["Referrer-Policy"] = "same-origin"
    if status == TOO_MANY:
        answer.headers["Retry-After"] = str(WINDOW_SECONDS)
    return answer


def count_wrong_token(request: HttpRequest) -> int:
    """Count an invalid token and return how many this address has sent in this minute, in this process."""
    key = f"account-password:{network_of(client_address(request))}"
    cache.add(key, 0, WINDOW_SECONDS)
    try:
        return int(cache.incr(key))
    except ValueError:  # the minute ended between the two calls
        return 1
