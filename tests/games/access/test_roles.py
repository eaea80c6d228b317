"""The table of roles: what it says, and that it cannot be written wrongly without notice."""

import itertools

import pytest

from games.access.roles import POSTS, ROLES, RolesError, is_above, load, role_of

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
