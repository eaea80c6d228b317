"""Names of rulebooks, rules and boxes as people read them."""

import pytest

from audits.findings.labels import box_name, boxes_name, rule_name, rulebook_name, rules_name
from tests.games.engine.oracle import DIVISION_9, OPEN_COVER, V6


@pytest.mark.parametrize(
    ("id_", "name"),
    [(V6, "Tai Sai v6"), (OPEN_COVER, "Tai Sai (Open Cover) v5"), (DIVISION_9, "Division 9 (2008)"), ("old", "old")],
)
def test_a_rulebook_has_a_short_name(id_: str, name: str) -> None:
    assert rulebook_name(id_) == name


def test_rules_are_named_by_rulebook_and_what_is_no_citation_stays() -> None:
    assert rule_name(f"{V6}#5.1.1") == "Tai Sai v6 · Rule 5.1.1"
    assert rule_name("") == rules_name([]) == ""
    assert rules_name([f"{V6}#5.5.1", f"{V6}#5.12"]) == "Tai Sai v6 · Rules 5.5.1, 5.12"
    mixed = [f"{V6}#5.14", f"{DIVISION_9}#4.9", "RU-2026-000001"]
    assert rules_name(mixed) == "Tai Sai v6 · Rule 5.14; Division 9 (2008) · Rule 4.9; RU-2026-000001"


def test_boxes_are_named_as_people_say_them() -> None:
    assert box_name("domino-24") == "Domino 2-4"
    assert boxes_name(["small", "total-16", "any-triple"]) == "Small, Total 16, Any triple"
