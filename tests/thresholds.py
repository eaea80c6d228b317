"""Thresholds in force in a test: proposed and approved by two compliance people, some days before now."""

import datetime as dt
from typing import Any

import time_machine
from django.utils import timezone

from games.access.services.people import staff_create
from games.models import Casino, Staff, ThresholdDecision
from games.thresholds.services import threshold_approve, threshold_propose
from tests.conftest import OPERATOR, House

LONG_AGO = dt.timedelta(days=3)


def compliance_person(house: House, number: str, casino: Casino | None = None) -> Staff:
    """A compliance person of a casino (the house's own, where none is given), hired once."""
    place = casino or house.casino
    known = Staff.objects.filter(number=number, casino=place).first()
    return known or staff_create(
        actor=OPERATOR, number=number, name=f"Person {number}", department="compliance", post="", casino=place,
        pit=None, reason="Hired",
    )  # fmt: skip


def approved(
    house: House, kind: str, casino: Casino | None = None, reason: str = "Policy", **values: Any
) -> ThresholdDecision:
    """Approved now: in force from the next gaming day on."""
    place = casino or house.casino
    first, other = (compliance_person(house, f"{place.code}-C{n}", place) for n in (1, 2))
    change = threshold_propose(actor=first, casino=place, kind=kind, values=values, reason=reason)
    return threshold_approve(actor=other, change=change, reason="Agreed")


def in_force(
    house: House, kind: str, casino: Casino | None = None, reason: str = "Policy", **values: Any
) -> ThresholdDecision:
    """In force now: approved some days ago."""
    with time_machine.travel(timezone.now() - LONG_AGO, tick=False):
        return approved(house, kind, casino, reason, **values)
