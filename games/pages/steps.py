"""The steps that people take on a record from its page, declared once each: where, by which right, with which form."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from games.models import Staff
from games.pages.gated import ActionForm


def always(actor: Any, thing: Any) -> bool:
    return True


@dataclass(frozen=True)
class PageStep:
    """A page with one form, taken by one call of a service."""

    name: str  # in the address
    title: str
    icon: str
    action: str  # asked of the gate
    form: type[ActionForm]
    #: Calls the service. The sentence on what was done is shown on the page behind it; a record leads to its own page.
    take: Callable[[Staff, Any, dict[str, Any]], Any]
    #: Whether the page offers the step to a person now, beside their right to it.
    makes_sense: Callable[[Any, Any], bool] = always
    is_main: bool = False
    above: str | None = None  # a template with what is known
