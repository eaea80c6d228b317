"""The roles as data: `roles.toml`, read once."""

import tomllib
from dataclasses import dataclass
from pathlib import Path

PATH = Path(__file__).with_name("roles.toml")
REACHES = ("tables", "pit", "casino")
FIELDS = {"name", "department", "post", "reach", "as", "may"}


@dataclass(frozen=True)
class Role:
    code: str
    name: str
    department: str | None
    post: str | None
    reach: str
    may: frozenset[str]


class RolesError(Exception):
    """`roles.toml` is wrong; the message says where."""


def load(text: str) -> tuple[tuple[str, ...], dict[str, Role]]:
    """The posts, lowest first, and the roles by their code."""
    data = tomllib.loads(text)
    posts = tuple(data["posts"])
    roles: dict[str, Role] = {}
    for code, entry in data["role"].items():
        if unknown := entry.keys() - FIELDS:
            raise RolesError(f"roles.toml: role {code}: unknown key {min(unknown)}; the keys are {sorted(FIELDS)}.")
        if entry["reach"] not in REACHES:
            raise RolesError(f"roles.toml: role {code}: reach {entry['reach']!r} is not one of {REACHES}.")
        if entry.get("post") not in (None, *posts):
            raise RolesError(f"roles.toml: role {code}: post {entry['post']!r} is not in posts.")
        below = roles[entry["as"]].may if "as" in entry else frozenset()
        roles[code] = Role(
            code, entry["name"], entry.get("department"), entry.get("post"), entry["reach"], below | set(entry["may"])
        )
    return posts, roles


POSTS, ROLES = load(PATH.read_text())
DEPARTMENTS = tuple(dict.fromkeys(role.department for role in ROLES.values() if role.department))
OPERATOR = ROLES["operator"]
TERMINAL = ROLES["terminal"]


def role_of(department: str, post: str) -> Role:
    """The role that a department and, in the pit, a post give."""
    return next(role for role in ROLES.values() if role.department == department and (role.post or "") == post)


def is_above(post: str, other: str) -> bool:
    """A post above another one; no post is below all posts."""
    return rank(post) > rank(other)


def rank(post: str) -> int:
    return POSTS.index(post) if post else -1


def post_name(post: str) -> str:
    return role_of("pit", post).name
