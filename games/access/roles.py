"""The roles as data, read once from `roles.toml`."""

import tomllib
from dataclasses import dataclass
from pathlib import Path

PATH = Path(__file__).with_name("roles.toml")
REACHES = ("tables", "pit", "casino")
FIELDS = {"name", "department", "post", "reach", "as", "may", "second_factor"}


@dataclass(frozen=True)
class Role:
    code: str
    name: str
    department: str | None
    post: str | None
    reach: str
    may: frozenset[str]
    second_factor: bool = False
    is_privileged: bool = False


class RolesError(Exception):
    """`roles.toml` is wrong; the message says where."""


def load(text: str) -> tuple[tuple[str, ...], dict[str, Role]]:
    """Read the posts, lowest first, and the roles by their code."""
    data = tomllib.loads(text)
    posts = tuple(data["posts"])
    privileged = frozenset(data.get("privileged", ()))
    roles: dict[str, Role] = {}
    for code, entry in data["role"].items():
        if unknown := entry.keys() - FIELDS:
            raise RolesError(f"roles.toml: role {code}: unknown key {min(unknown)}; the keys are {sorted(FIELDS)}.")
        if entry["reach"] not in REACHES:
            raise RolesError(f"roles.toml: role {code}: reach {entry['reach']!r} is not one of {REACHES}.")
        if entry.get("post") not in (None, *posts):
            raise RolesError(f"roles.toml: role {code}: post {entry['post']!r} is not in posts.")
        below = roles[entry["as"]].may if "as" in entry else frozenset()
        may = below | set(entry["may"])
        place = (entry.get("department"), entry.get("post"), entry["reach"])
        factor, is_privileged = entry.get("second_factor", False), not privileged.isdisjoint(may)
        roles[code] = Role(code, entry["name"], *place, may, factor, is_privileged)
    if unknown := privileged - {action for role in roles.values() for action in role.may}:
        raise RolesError(f"roles.toml: privileged: no role may do {min(unknown)}; check its name.")
    return posts, roles


def load_fresh(text: str, roles: dict[str, Role]) -> tuple[frozenset[str], frozenset[str]]:
    """Read the actions that need a fresh confirmation: those that change something, and those that read."""
    data = tomllib.loads(text)
    known = {action for role in roles.values() for action in role.may}
    changes, reads = frozenset(data.get("fresh", ())), frozenset(data.get("fresh_reads", ()))
    if unknown := (changes | reads) - known:
        raise RolesError(f"roles.toml: fresh: {min(unknown)} is not an action of any role; check its name.")
    return changes | reads, reads


POSTS, ROLES = load(PATH.read_text())
FRESH, FRESH_READS = load_fresh(PATH.read_text(), ROLES)
DEPARTMENTS = tuple(dict.fromkeys(role.department for role in ROLES.values() if role.department))
#: Department and post of each privileged role.
PRIVILEGED = frozenset((role.department, role.post or "") for role in ROLES.values() if role.is_privileged)
OPERATOR = ROLES["operator"]
TERMINAL = ROLES["terminal"]


def role_of(department: str, post: str) -> Role:
    """Return the role of a department and, in the pit, a post."""
    return next(role for role in ROLES.values() if role.department == department and (role.post or "") == post)


def is_above(post: str, other: str) -> bool:
    """Return whether a post is above another. An empty post is below all posts."""
    return rank(post) > rank(other)


def rank(post: str) -> int:
    return POSTS.index(post) if post else -1


def post_name(post: str) -> str:
    return role_of("pit", post).name
