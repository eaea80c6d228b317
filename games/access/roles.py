"""The table of roles, `roles.toml`: who may do what, and every decision that names a department, a post or a role."""

import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

PATH = Path(__file__).with_name("roles.toml")
REACHES = ("tables", "pit", "casino")
FIELDS = {"name", "department", "post", "reach", "as", "may", "second_factor"}
KEYS = {
    "fresh", "fresh_reads", "posts", "posts_by_rule", "privileged", "department_of_posts", "group_post",
    "appoints_over_steps", "short_idle", "escalation", "department", "notified", "confidential", "protected", "crew",
    "authority", "role",
}  # fmt: skip
#: What the product asks about, so that a name left out or misspelt is an error of the file.
NOTIFIED = {"disputes", "rulings", "corrective-actions", "report-schedules"}
CONFIDENTIAL_RECORDS = {"logentry", "handover", "incidentnote"}
CREW = {"dealer", "supervisor"}
AUTHORITY = {"void-by-ruling", "amend-result"}
#: The action of those who see what is confidential.
CONFIDENTIAL = "confidential.view"


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


@dataclass(frozen=True)
class AccessPolicy:
    """All that `roles.toml` says; its first lines explain each key."""

    posts: tuple[str, ...]  # the lowest first
    posts_by_rule: tuple[str, ...]
    roles: Mapping[str, Role]
    fresh: frozenset[str]
    fresh_reads: frozenset[str]
    departments: Mapping[str, str]  # code and name
    department_of_posts: str
    group_post: str
    appoints_over_steps: str
    short_idle: tuple[str, ...]
    escalation: tuple[str, ...]
    notified: Mapping[str, str]
    confidential: Mapping[str, tuple[str, ...]]
    protected: Mapping[str, tuple[str, ...]]
    crew: Mapping[str, str]
    authority: Mapping[str, str]

    def role_of(self, department: str, post: str) -> Role:
        """Return the role that a department and, where it has posts, a post give."""
        return next(role for role in self.roles.values() if role.department == department and (role.post or "") == post)

    def roles_with(self, action: str) -> list[Role]:
        """Return the roles of people that may do something."""
        return [role for role in self.roles.values() if role.department and action in role.may]


# --- Reading the file ------------------------------------------------------------------------------


def load(text: str) -> AccessPolicy:
    """Read a table of roles; raise RolesError where a key is unknown, missing or names something that is not there."""
    data = tomllib.loads(text)
    posts = tuple(data["posts"])
    roles = _roles(data, posts)
    _ensure_same("", data.keys(), KEYS)
    departments = dict(data["department"])
    _ensure_same("department", departments, {role.department for role in roles.values() if role.department})
    floor = data["department_of_posts"]
    _ensure_known("department_of_posts", [floor], departments)
    _ensure_posts(posts, floor, roles)
    _ensure_known("posts_by_rule", data["posts_by_rule"], posts)
    for name in ("group_post", "appoints_over_steps"):
        _ensure_known(name, [data[name]], posts)
    _ensure_known("short_idle", data["short_idle"], departments)
    _ensure_known("escalation", data["escalation"], _with_people(roles))
    _ensure_same("notified", data["notified"], NOTIFIED)
    _ensure_known("notified", data["notified"].values(), _with_people(roles))
    _ensure_same("confidential", data["confidential"], CONFIDENTIAL_RECORDS)
    readers = {role.department for role in roles.values() if CONFIDENTIAL in role.may}
    for name, writers in data["confidential"].items():
        _ensure_known(f"confidential: {name}", writers, departments.keys() & readers)
    for reporter, others in data["protected"].items():
        _ensure_known("protected", [reporter, *others], departments)
    for name, wanted in (("crew", CREW), ("authority", AUTHORITY)):
        _ensure_same(name, data[name], wanted)
        _ensure_known(name, data[name].values(), posts)
    known = {action for role in roles.values() for action in role.may}
    changes, reads = frozenset(data["fresh"]), frozenset(data["fresh_reads"])
    if unknown := (changes | reads) - known:
        raise RolesError(f"roles.toml: fresh: {min(unknown)} is not an action of any role; check its name.")
    return AccessPolicy(
        posts=posts, posts_by_rule=tuple(data["posts_by_rule"]), roles=roles,
        fresh=changes | reads, fresh_reads=reads, departments=departments,
        department_of_posts=floor, group_post=data["group_post"], appoints_over_steps=data["appoints_over_steps"],
        short_idle=tuple(data["short_idle"]), escalation=tuple(data["escalation"]), notified=dict(data["notified"]),
        confidential={name: tuple(writers) for name, writers in data["confidential"].items()},
        protected={name: tuple(others) for name, others in data["protected"].items()},
        crew=dict(data["crew"]), authority=dict(data["authority"]),
    )  # fmt: skip


def _roles(data: dict[str, Any], posts: tuple[str, ...]) -> dict[str, Role]:
    privileged = frozenset(data.get("privileged", ()))
    roles: dict[str, Role] = {}
    for code, entry in data["role"].items():
        if unknown := entry.keys() - FIELDS:
            raise RolesError(f"roles.toml: role {code}: unknown key {min(unknown)}; the keys are {sorted(FIELDS)}.")
        if entry["reach"] not in REACHES:
            raise RolesError(f"roles.toml: role {code}: reach {entry['reach']!r} is not one of {REACHES}.")
        if entry.get("post") not in (None, *posts):
            raise RolesError(f"roles.toml: role {code}: post {entry['post']!r} is not in posts.")
        if entry.get("as") not in (None, *roles):
            raise RolesError(f"roles.toml: role {code}: as {entry['as']!r} is not a role above it in the file.")
        below = roles[entry["as"]].may if "as" in entry else frozenset()
        may = below | set(entry["may"])
        place = (entry.get("department"), entry.get("post"), entry["reach"])
        factor, is_privileged = entry.get("second_factor", False), not privileged.isdisjoint(may)
        roles[code] = Role(code, entry["name"], *place, may, factor, is_privileged)
    if unknown := privileged - {action for role in roles.values() for action in role.may}:
        raise RolesError(f"roles.toml: privileged: no role may do {min(unknown)}; check its name.")
    return roles


def _with_people(roles: dict[str, Role]) -> set[str]:
    return {code for code, role in roles.items() if role.department}


def _ensure_posts(posts: tuple[str, ...], floor: str, roles: dict[str, Role]) -> None:
    """Each department has one role, and the department of the posts one for each post."""
    places = sorted((role.department, role.post or "") for role in roles.values() if role.department)
    departments = {department for department, _ in places} - {floor}
    wanted = sorted([*((floor, post) for post in posts), *((department, "") for department in departments)])
    if places != wanted:
        odd = min({*places} ^ {*wanted}, default=None) or next(place for place in places if places.count(place) > 1)
        raise RolesError(
            f"roles.toml: department {odd[0]}, post {odd[1] or 'none'}: {floor} has one role for each of posts, every "
            "other department one role without a post."
        )


def _ensure_same(where: str, keys: Iterable[str], wanted: set[str]) -> None:
    table = f"{where}: " if where else ""
    if missing := wanted - set(keys):
        raise RolesError(f"roles.toml: {table}{min(missing)} is missing; add it.")
    if unknown := set(keys) - wanted:
        raise RolesError(f"roles.toml: {table}unknown key {min(unknown)}; the keys are {sorted(wanted)}.")


def _ensure_known(where: str, names: Iterable[str], known: Iterable[str]) -> None:
    if unknown := set(names) - set(known):
        raise RolesError(f"roles.toml: {where}: {min(unknown)!r} is not one of {sorted(known)}.")


# --- The table in force ----------------------------------------------------------------------------

in_force = load(PATH.read_text())


def access_policy() -> AccessPolicy:
    """Return the table of roles in force; a test may put another one in its place."""
    return in_force


def role_of(department: str, post: str) -> Role:
    """Return the role that a department and, where it has posts, a post give."""
    return access_policy().role_of(department, post)


def role_of_post(post: str) -> Role:
    """Return the role that a post gives, held or acted in."""
    return role_of(access_policy().department_of_posts, post)


def is_of_posts(department: str) -> bool:
    """Return whether the people of a department hold posts and act in them."""
    return department == access_policy().department_of_posts


def is_above(post: str, other: str) -> bool:
    """Return whether a post is above another one; no post is below all posts."""
    return rank(post) > rank(other)


def rank(post: str) -> int:
    return access_policy().posts.index(post) if post else -1


def post_name(post: str) -> str:
    return role_of_post(post).name


def department_name(department: str) -> str:
    return access_policy().departments[department]


def may_be_confidential(record: str, department: str) -> bool:
    """Return whether people of a department may mark a kind of record (`logentry`, `handover`…) as confidential."""
    return department in access_policy().confidential[record]


def may_change_report(department: str, *, reported_by: str) -> bool:
    """Return whether a department may change what people of a department reported."""
    return department not in access_policy().protected.get(reported_by, ())
