"""A terminal that plays rounds step by step, and a person who looks on, for tests."""

from itertools import count
from typing import Any

from django.test import Client

from games.models import Table
from games.terminals.services import terminal_create
from tests.conftest import OPERATOR, House
from tests.games.logins import logged_in


class Player:
    """Sends steps of one round; keeps what it was answered."""

    def __init__(self, *tables: Table, name: str = "Terminal") -> None:
        key = terminal_create(actor=OPERATOR, name=name, tables=list(tables), reason="New")[1]
        self.client = Client(headers={"Authorization": f"Bearer {key}"})
        self.table = tables[0]
        self.calls = count(1)
        self.key = 0

    def post(self, path: str, document: dict[str, Any]) -> tuple[int, dict[str, Any]]:
        answer = self.client.post(f"/api/v1/{path}", document, "application/json")
        return answer.status_code, answer.json()

    def open(self, ref: str = "R-1", **more: Any) -> tuple[int, dict[str, Any]]:
        document = {"source": "floor", "ref": ref, "table": self.table.code} | more
        code, body = self.post("live-rounds/", document)
        self.key = body.get("id", self.key)
        return code, body

    def send(self, kind: str, call: str | None = None, **fields: Any) -> tuple[int, dict[str, Any]]:
        document = {"call": call or f"c-{next(self.calls)}", "kind": kind, **fields}
        return self.post(f"live-rounds/{self.key}/steps/", document)

    def do(self, kind: str, **fields: Any) -> dict[str, Any]:
        """A step that is taken."""
        code, body = self.send(kind, **fields)
        assert code == 201, body
        return body

    def bet(self, player: str, box: str, stake: str, **more: Any) -> dict[str, Any]:
        return self.do("bet", player=player, box=box, stake=stake, **more)

    def end(self, dice: list[int], nets: dict[tuple[str, str], str]) -> dict[str, Any]:
        """From betting to settlement."""
        self.do("no-more-bets")
        self.do("tumbler", tumbles=3)
        self.do("result", dice=dice)
        paid = [{"player": player, "box": box, "net": net} for (player, box), net in nets.items()]
        return self.do("settled", nets=paid)


def box(body: dict[str, Any], code: str) -> dict[str, Any]:
    """One box of an answer."""
    return next(one for one in body["boxes"] if one["box"] == code)


def person(house: House, role: str = "pit-supervisor") -> Client:
    return logged_in(house[role])


def see(client: Client, path: str) -> str:
    answer = client.get(f"/admin/games/{path}", follow=True)
    assert answer.status_code == 200
    return " ".join(answer.content.decode().split())
