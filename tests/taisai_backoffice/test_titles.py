"""Page titles and the path above each page use the words of the sidebar."""

import re

import pytest
from django.test import Client

from tests.conftest import House

PARTS = re.compile(r'tracking-tight">\s*(.*?)\s*</', re.DOTALL)


@pytest.mark.parametrize(
    ("address", "path"),
    [
        ("games/table/", ["Floor", "Tables"]),
        ("games/limitset/", ["Floor", "Table signs"]),
        ("games/denial/", ["Reports", "Access denials"]),
        ("games/duty/", ["People", "Acting appointments"]),
        ("audits/notice/", ["Findings", "Notifications"]),
    ],
)
def test_a_list_has_the_title_and_path_of_its_sidebar_entry(house: House, address: str, path: list[str]) -> None:
    client = Client()
    client.force_login(house["auditor"])
    page = client.get(f"/admin/{address}").text
    assert PARTS.findall(page)[: len(path)] == path
    assert f"<title>{path[-1]} |" in re.sub(r"\s+", " ", page).replace("<title> ", "<title>")
