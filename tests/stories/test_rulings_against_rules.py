"""Two shifts in which a ruling was wanted against an express rule: a cocked die, and an over-full box paid in full."""

import datetime as dt
from typing import Any

import pytest
from django.core.exceptions import ValidationError
from django.db import DatabaseError, transaction

from audits.models import Consequence, Finding, Ruling, RulingKind
from audits.reconciliation.services.arrivals import arrivals_take
from audits.rulings.services.corrective_actions import consequence_execute
from audits.rulings.services.rulings import ruling_make
from games.models import Round, SettlementPolicy, Table
from games.rounds.terms import terms_at
from games.settlement_policies.services import Setting
from tests.audits.decided import incident_about, ruled, settled_as, standing, voided
from tests.audits.files import played
from tests.conftest import House
from tests.games.engine.oracle import V6
from tests.games.floor_setup import HOUR, NOON, open_table, sign
from tests.games.rounds.samples import bet

DAY = dt.timedelta(days=1)


@pytest.fixture
def table(house: House, clock: Any) -> Table:
    clock.move_to(NOON - 2 * HOUR)
    found = open_table(house, "TS-01", layout="C", limits=sign({"big-small": (50, 3000)}))
    clock.move_to(NOON)
    return found


def discrepancies(round_: Round) -> list[tuple[str, int | None, int | None]]:
    found = Finding.objects.filter(round=round_, category="discrepancy", lapsed_at=None).order_by("position")
    return list(found.values_list("kind", "expected", "recorded"))


def test_5_5_2_a_cocked_die_that_was_to_be_ruled_valid_ends_as_a_void_with_every_stake_returned(
    house: House, table: Table
) -> None:
    cocked = played(
        table, NOON - HOUR, "COCKED",
        [bet("seat-1", "small", "100", net="100"), bet("seat-2", "big", "60", net="-60")],
        kinds=[
            ("place-bets", {}), ("no-more-bets", {}), ("tumbler", {"tumbles": 3}), ("die-not-flat", {}),
            ("result", {"dice": [1, 3, 6]}), ("settled", {}),
        ],
    )  # fmt: skip
    arrivals_take()
    assert discrepancies(cocked) == [("void-not-returned", 0, 10_000), ("void-not-returned", 0, -6_000)]
    incident = incident_about(house, table, cocked, situation="die-not-flat", account="A die leaned on the wall.")

    with pytest.raises(ValidationError, match=f"{V6}#5.5.2 decides this: Void the round"):
        ruled(house, incident, decision="The face could be read: the round is valid.")
    with pytest.raises(ValidationError, match="lists no reading of"):
        ruled(house, incident, kind=RulingKind.INTERPRETATION, rules=[f"{V6}#5.5.2"])
    confirmed = ruled(house, incident, kind=RulingKind.CONFIRMATION, rules=[f"{V6}#5.5.2"])
    with pytest.raises(ValidationError, match="order a void"):
        settled_as(house, confirmed, cocked, dice=[1, 3, 6])
    arrivals_take()
    assert [kind for kind, *_ in discrepancies(cocked)] == ["void-not-returned"] * 2  # what was paid stays a finding

    order = voided(house, incident, cocked, ruling=confirmed)
    consequence_execute(actor=house["casino-manager"], consequence=order, reason="The rule voids it")
    arrivals_take()
    assert discrepancies(cocked) == []
    refunds = Consequence.objects.get(pk=order.pk).repayments.order_by("player")
    assert [(refund.player, refund.amount) for refund in refunds] == [("seat-1", -10_000), ("seat-2", 6_000)]


def test_5_1_1_in_full_cannot_be_made_a_standing_ruling_under_rws(house: House, table: Table, clock: Any) -> None:
    over_full = played(table, NOON - HOUR, "FULL", [bet("seat-1", "small", "4000", net="4000")])
    arrivals_take()
    assert discrepancies(over_full) == [("overpaid", 300_000, 400_000)]
    incident = incident_about(house, table, over_full, situation="over-limit-unnoticed", account="Paid in full.")
    from_tomorrow = {"rules": [f"{V6}#5.1.1"], "effective_from": NOON + 6 * HOUR}

    with pytest.raises(ValidationError, match=f"{V6}#5.1.1 excludes in-full"):
        ruling_make(
            actor=house["shift-manager"], incident=incident, draft=standing(setting=Setting("in-full"), **from_tomorrow)
        )
    assert not Ruling.objects.exists()
    ruling = ruling_make(
        actor=house["shift-manager"], incident=incident, draft=standing(setting=Setting("filled"), **from_tomorrow)
    )
    policy = SettlementPolicy.objects.get(ruling=ruling.number)
    with pytest.raises(DatabaseError), transaction.atomic():
        SettlementPolicy.objects.create(
            casino=policy.casino, rulebook=V6, starts_at=policy.starts_at + DAY, excess="in-full", ruling=ruling.number
        )

    clock.move_to(NOON + DAY)
    next_day = played(table, NOON + 23 * HOUR, "NEXT", [bet("seat-1", "small", "4000", net="4000")])
    arrivals_take()
    assert terms_at(table, NOON + DAY).policy.excess == "filled"
    assert discrepancies(next_day) == [("overpaid", 300_000, 400_000)]
