"""The answer that the data expects: by the row of the route, by the rules for its family, by named exceptions."""

import re
import tomllib
from pathlib import Path
from typing import Any

from tests.matrix.places import OWN, PIT
from tests.matrix.walk import NO_LOGIN, PATHS, model_of

DATA: dict[str, Any] = tomllib.loads((Path(__file__).parents[1] / "routes.toml").read_text())
ROLES: list[str] = DATA["roles"]
#: What each role gets from a GET of an object of its own pit.
ROUTES: dict[str, list[int]] = DATA["routes"]
#: The same of a POST, with an empty form or the example of the call, where it is not what the family says.
POSTS: dict[str, list[int]] = DATA["post"]
#: The same of a HEAD, where it is not what a GET answers.
HEADS: dict[str, list[int]] = DATA["head"]
#: What is only read (405 to a POST), and pages of ours that show a record (403).
ONLY_READ: list[str] = DATA["only"]["read"]
ONLY_LOOKED_AT: list[str] = DATA["only"]["looked_at"]
#: The last part of a page's name → what a POST answers to whoever opens it.
FAMILIES: dict[str, int] = DATA["post_families"]
#: Objects of another place: refused (403) or absent (404), where a route has no line of its own.
ABSENT: list[str] = DATA["other"]["absent"]
ELSEWHERE: dict[str, dict[str, list[int]]] = DATA["elsewhere"]
OUTSIDERS, PIT_ROLES = NO_LOGIN, ("pit-supervisor", "pit-manager")
SHUT = (401, 403)


def row_of(name: str, method: str) -> list[int]:
    """The answers to every role where the object is of the own pit."""
    if method == "HEAD":
        return HEADS.get(name, ROUTES[name])
    if method == "GET":
        return ROUTES[name]
    if name in POSTS:
        return POSTS[name]
    if name in (*ONLY_READ, *ONLY_LOOKED_AT):
        refused = 405 if name in ONLY_READ else 403
        return [answer if role in OUTSIDERS else refused for role, answer in zip(ROLES, ROUTES[name], strict=True)]
    ending = re.search(r"_(simple_history|[a-z]+)$", name)
    safe = FAMILIES.get(ending[1] if ending else "")
    return [safe or answer if answer == 200 else answer for answer in ROUTES[name]]


def expected(name: str, method: str, place: str, role: str) -> int:
    column = ROLES.index(role)
    if place != OWN and (row := ELSEWHERE.get(name, {}).get(f"{place} {method}")):
        return row[column]
    own = row_of(name, method)[column]
    is_same = place == OWN or role in OUTSIDERS or (place == PIT and role not in PIT_ROLES)
    if is_same or own in SHUT or (name.startswith("api:") and own == 405):
        return own
    return 404 if model_of(PATHS[name]) in ABSENT else 403
