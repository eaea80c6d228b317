"""Templates name things by the filters of `games/templatetags/labels.py`."""

import pytest
from django.template import Context, Template

from games.engine.rules.loader import rulebooks
from games.labels.rounds import ACTIONS, STATES, action_label, state_label


@pytest.mark.parametrize(
    ("expression", "text"),
    [
        ("'domino-24'|box_name", "Domino 2-4"),
        ("boxes|boxes_name", "Big and Small"),
        ("'big-small'|bet_type_name", "Big/Small"),
        ("'rws-tai-sai-v6#5.1.1'|rule_name", "Tai Sai v6 · Rule 5.1.1"),
        ("rules|rules_name", "Tai Sai v6 · Rules 4.1.2, 5.1.1"),
        ("'division-9-2008'|rulebook_name", "Division 9 (2008)"),
        ("'rws-tai-sai-v6'|game_name:'C'", "Tai Sai v6 · Layout C"),
        ("'no-more-bets'|event_name", "No more bets"),
        ("kinds|events_name", "No more bets, Void"),
        ("'open'|state_name", "Betting open"),
        ("'ruling'|action_name", "Needs a ruling"),
        ("'win'|result_name", "Wins"),
        ("'seat-1 small withdrawn after no-more-bets'|detail_name", "seat-1 Small withdrawn after No more bets"),
        ("'big domino-24'|detail_name", "big Domino 2-4"),
        ("123450|money", "1,234.50"),
        ("'-1234.50'|money", "−1,234.50"),
        ("None|money", "–"),
    ],
)  # fmt: skip
def test_a_filter_names_a_thing(expression: str, text: str) -> None:
    values = {
        "boxes": ["big", "small"],
        "rules": ["rws-tai-sai-v6#4.1.2", "rws-tai-sai-v6#5.1.1"],
        "kinds": ["no-more-bets", "void"],
    }
    assert Template("{% load labels %}{{ " + expression + " }}").render(Context(values)) == text


def test_every_state_of_every_order_of_play_has_a_name() -> None:
    states = {state for book in rulebooks().values() for step in book.play for state in (step.before, step.after)}
    assert states <= STATES.keys()


def test_what_has_no_name_is_written_as_words() -> None:
    assert (state_label("half-open"), action_label("settle-as-placed")) == ("Half open", "Settle as placed")
    assert all(name[0].isupper() for name in (*STATES.values(), *ACTIONS.values()))
