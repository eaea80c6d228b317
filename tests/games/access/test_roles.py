"""The table of roles: what it says, and that it cannot be written wrongly without notice."""

import ast
import itertools

import pytest

from games.access.roles import PATH, RolesError, access_policy, is_above, load, role_of
from taisai_backoffice.embedded.home import PROJECT

POSTS, ROLES = access_policy().posts, access_policy().roles
#: Where posts are other things: sample people, examples of the API, and the authorities that rulebooks name.
SAMPLES = ("games/simulation/", "taisai_backoffice/management/", "audits/api/schemas.py", "audits/incidents/labels.py")
#: Also the names of a person's part in a round, of a place and of a word in a password.
OTHER_MEANINGS = {"dealer", "pit", "it"}
RULER = '[role.x]\nname = "X"\ndepartment = "it"\nreach = "casino"\nmay = []\n'


def test_each_post_may_do_all_that_the_one_below_may() -> None:
    for lower, higher in itertools.pairwise(POSTS):
        assert role_of("pit", lower).may <= role_of("pit", higher).may


def test_the_order_of_posts() -> None:
    assert is_above("shift-manager", "pit-manager")
    assert not is_above("shift-manager", "shift-manager")
    assert is_above("dealer", "")


def test_a_dealer_may_do_nothing_and_an_auditor_writes_nothing() -> None:
    assert ROLES["dealer"].may == frozenset()
    assert {action.rpartition(".")[2] for action in ROLES["auditor"].may} == {"view", "export"}


def test_nobody_deletes_anything() -> None:
    assert not [action for role in ROLES.values() for action in role.may if action.endswith(".delete")]


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        (RULER + 'colour = "red"\n', "role x: unknown key colour"),
        (RULER.replace("casino", "moon"), "role x: reach 'moon'"),
        (RULER + 'post = "king"\n', "role x: post 'king'"),
    ],
)
def test_a_wrong_table_is_an_error_that_says_where(text: str, fault: str) -> None:
    with pytest.raises(RolesError, match=fault):
        load('posts = ["dealer"]\n' + text)


@pytest.mark.parametrize(
    ("old", "new", "fault"),
    [
        ('group_post = "casino-manager"', "", "group_post is missing"),
        ('group_post = "casino-manager"', 'group_post = "king"', "group_post: 'king'"),
        ('group_post = "casino-manager"', 'group_post = "casino-manager"\ncolour = "red"', "unknown key colour"),
        ('department_of_posts = "pit"', 'department_of_posts = "it"', "it has one role for each of posts"),
        ('it = "IT"', "", "department: it is missing"),
        ('short_idle = ["pit"]', 'short_idle = ["moon"]', "short_idle: 'moon'"),
        ('"casino-manager", "compliance"]', '"operator"]', "escalation: 'operator'"),
        ('disputes = "compliance"', "", "notified: disputes is missing"),
        ('disputes = "compliance"', 'disputes = "nobody"', "notified: 'nobody'"),
        ('logentry = ["surveillance"]', 'logentry = ["pit"]', "confidential: logentry: 'pit'"),
        ('surveillance = ["pit"]', 'surveillance = ["moon"]', "protected: 'moon'"),
        ('supervisor = "pit-supervisor"', 'supervisor = "king"', "crew: 'king'"),
        ('amend-result = "pit-supervisor"', "", "authority: amend-result is missing"),
        ('as = "pit-supervisor"', 'as = "king"', "role pit-manager: as 'king'"),
        ('department = "audit"', 'department = "it"', "audit is missing|unknown key audit"),
    ],
)
def test_a_decision_that_names_what_is_not_there_is_an_error_that_says_where(old: str, new: str, fault: str) -> None:
    text = PATH.read_text()
    assert old in text
    with pytest.raises(RolesError, match=fault):
        load(text.replace(old, new, 1))


def test_no_decision_in_python_names_a_department_or_a_post() -> None:
    """A string of Python that is the code of one: whoever adds a role would have to find it."""
    names = {*POSTS, *access_policy().departments} - OTHER_MEANINGS
    found = [
        f"{path}:{node.lineno} {node.value}"
        for app in ("games", "audits", "taisai_backoffice")
        for path in (file.relative_to(PROJECT) for file in sorted((PROJECT / app).rglob("*.py")))
        if "migrations" not in path.parts and not str(path).startswith(SAMPLES)
        for node in ast.walk(ast.parse((PROJECT / path).read_text()))
        if isinstance(node, ast.Constant) and node.value in names
    ]
    assert found == []
