"""Show a new sign-in link, once."""

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse

from games.accounts.services.sign_in_links import IssuedLink


def link_page(site: Any, request: HttpRequest, issued: IssuedLink) -> HttpResponse:
    """Show the link on the page itself, uncached: messages and redirects would store or repeat it."""
    page = {"title": f"Sign-in link of {issued.link.staff}", "issued": issued, "staff": issued.link.staff}
    answer = TemplateResponse(request, "accounts/account_link.html", {**site.each_context(request), **page})
    answer.headers["Cache-Control"] = "no-store"
    return answer
