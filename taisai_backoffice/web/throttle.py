"""How often a person may search, export and start runs in a minute.

Counted in the memory of each web process, as a limit against scripts. Terminals are counted exactly, in the database
(games.terminals.services).
"""

import time
from dataclasses import dataclass

from django.conf import settings
from django.core.cache import cache
from django.http import HttpRequest

from games.models import Staff

MINUTE = 60
#: Parameters that mean a search, on any page or call.
SEARCHES = ("q", "text", "player", "term")
SEARCH_ROUTES = {"api:incident_precedents", "api:advice"}
EXPORT_ROUTES = {
    "api:evidence_content", "admin:audits_evidence_copy", "admin:games_table_sign", "admin:audits_reportrun_file",
    "admin:audits_reportrun_certified", "api:report_file",
}  # fmt: skip
RUN_ROUTES = {"admin:audits_run_add", "admin:audits_reportrun_add", "api:reports"}


@dataclass(frozen=True)
class Kind:
    """What is counted together, its name, and the setting that limits it."""

    words: str
    setting: str


SEARCH = Kind("searches", "PERSON_SEARCHES_A_MINUTE")
EXPORT = Kind("exports", "PERSON_EXPORTS_A_MINUTE")
RUN = Kind("runs", "PERSON_RUNS_A_MINUTE")


class TooOftenError(Exception):
    """Too many of a kind in this minute; `wait` is the time to wait in seconds."""

    def __init__(self, kind: Kind, most: int, wait: int) -> None:
        super().__init__(f"More than {most} {kind.words} in this minute; try again in {wait} seconds.")
        self.wait = wait


def kind_of(request: HttpRequest) -> Kind | None:
    """Return the kind of a request; None if it is not counted."""
    route = request.resolver_match.view_name if request.resolver_match else ""
    if route in RUN_ROUTES and request.method == "POST":
        return RUN
    if route in EXPORT_ROUTES:
        return EXPORT
    if route in SEARCH_ROUTES or any(request.GET.get(name) for name in SEARCHES):
        return SEARCH
    return None


def count(person: Staff, kind: Kind) -> None:
    """Count one more request; raise if it is one too many."""
    now = int(time.time())
    most: int = getattr(settings, kind.setting)
    key = f"throttle:{kind.setting}:{person.pk}:{now // MINUTE}"
    cache.add(key, 0, timeout=MINUTE)
    if cache.incr(key) > most:
        raise TooOftenError(kind, most, MINUTE - now % MINUTE)
