"""A casino in London over the night in which the clocks go back, with all that is awkward for a file.

A table that is moved and re-ruled between the two half past ones; players that are formulas; Chinese names; text with
quotes, line ends and markup; a day with one round, and no rounds at all before.
"""

import datetime as dt
from typing import Any

from audits.incidents.services.disputes import dispute_mark, dispute_raise
from audits.incidents.services.incidents import incident_note
from audits.incidents.services.log import log_addendum
from audits.reports.services.production import report_take
from audits.reports.services.reports import report_ask, report_file
from games.floor.services.casinos import pit_create
from games.floor.services.tables import table_assign
from games.models import Round, Staff, Table
from tests.audits.decided import executed, incident_about, ruled, settled_as, voided
from tests.audits.files import seen
from tests.audits.playing import COCKED_EVENTS, drain, played, record, table_for
from tests.conftest import OPERATOR, PEOPLE, House, build_house
from tests.games.engine.oracle import OPEN_COVER
from tests.games.floor_setup import HOUR, MINUTE, completed, put_sign, sign
from tests.games.rounds.samples import bet

SET_UP = dt.datetime(2026, 9, 30, 12, tzinfo=dt.UTC)
#: 01:30 twice: by summer time, and an hour later by winter time.
SUMMER, WINTER = dt.datetime(2026, 10, 25, 0, 30, tzinfo=dt.UTC), dt.datetime(2026, 10, 25, 1, 30, tzinfo=dt.UTC)
MOVED = dt.datetime(2026, 10, 25, 1, tzinfo=dt.UTC)
#: The gaming day of both, which ends at 06:00 on Sunday; a day with one round; and one before there was anything.
NIGHT, ONE_ROUND, NIL = dt.date(2026, 10, 24), dt.date(2026, 10, 20), dt.date(2025, 9, 1)
NOW = WINTER + 12 * HOUR
FORMULA, COMMAND, SIGNED, CHINESE = "=1+1", "@SUM(A1:A9)", "-2+3", "陈小明"
ACCOUNT = '=HYPERLINK("http://x.example","大"), said <b>seat 3</b>;\n"small, 小"'


def london() -> House:
    """The people of a casino of its own, in two pits."""
    house = build_house()
    pits = {"P1": house.other_pit, "P2": pit_create(actor=OPERATOR, casino=house.other, code="P2", name="", reason="x")}
    found = House(house.other, pits, house.casino, house.pits["P1"])
    for role, (_, _, place) in PEOPLE.items():
        found.people[role] = found.hire(f"L-{role}".upper(), role, pit=pits[place] if place else None)
    named = {"shift-manager": "陈美玲", "surveillance": '=cmd|" /C calc"!A0', "auditor": "+49 Zoë Müller"}
    for role, name in named.items():
        Staff.objects.filter(pk=found.people[role].pk).update(name=name)
    return found


def awkward_floor(clock: Any) -> House:
    """Play and write it all down, by the clock."""
    clock.move_to(SET_UP)
    house = london()
    table, other = table_for(house, "L-1"), table_for(house, "L-2")
    clock.move_to(SUMMER - 100 * HOUR)
    record(played("R-1", bet(FORMULA, net="90.00"), at=dt.datetime(2026, 10, 20, 12, tzinfo=dt.UTC), table="L-1"))
    clock.move_to(SUMMER)
    for number, player in enumerate((FORMULA, COMMAND, SIGNED), 2):
        wrong_round(f"R-{number}", player, SUMMER - number * MINUTE)
    decide(house, table, "R-9", SUMMER)
    clock.move_to(MOVED + MINUTE)
    table_assign(
        actor=OPERATOR, table=table, pit=house.pits["P2"], rulebook=OPEN_COVER, layout="C", chip_unit="1.00",
        starts_at=MOVED, reason="Moved",
    )  # fmt: skip
    put_sign(other, completed(other, sign()), WINTER)
    clock.move_to(WINTER)
    wrong_round("R-5", CHINESE, WINTER - 5 * MINUTE)
    decide(house, table, "R-19", WINTER)
    asked = report_ask(actor=house["auditor"], kind="daily", format="csv", first=NIGHT, last=NIGHT)
    run = report_take(key=asked.pk)
    assert run is not None
    report_file(actor=house["auditor"], run=run)
    drain()
    clock.move_to(NOW)
    return house


def wrong_round(ref: str, player: str, at: dt.datetime) -> None:
    """Underpaid, over a maximum, below a minimum, with a late bet and an unknown dealer."""
    late = {"at": (at + dt.timedelta(seconds=35)).isoformat()}
    bets = [
        bet(player, net="90.00"), bet(player, "big", "4000.00", net="-4000.00"),
        bet(player, "single-1", "10.00", net="10.00"), bet(player, "any-triple", "25.00", net="-25.00", **late),
    ]  # fmt: skip
    record(played(ref, *bets, at=at, table="L-1", dealer="=D"))


def decide(house: House, table: Table, ref: str, now: dt.datetime) -> None:
    """Write incident, log, dispute and ruling; settle a round by it, void one, and call one off at the table."""
    number = int(ref.removeprefix("R-"))
    for add, minutes in ((0, 10), (1, 12)):
        record(played(f"R-{number + add}", bet(CHINESE, net="100.00"), at=now - minutes * MINUTE, table="L-1"))
    record(played(f"R-{number + 2}", bet(FORMULA), at=now - 14 * MINUTE, table="L-1", events=COCKED_EVENTS))
    first, second = (Round.objects.select_related("table").get(ref=f"R-{number + add}") for add in (0, 1))
    incident = incident_about(house, table, first, account=ACCOUNT)
    incident_note(actor=house["compliance"], incident=incident, text=ACCOUNT)
    entry = seen(house, summary=ACCOUNT, table=table)
    log_addendum(actor=house["surveillance"], entry=entry, summary=CHINESE)
    dispute = dispute_raise(
        actor=house["shift-manager"], incident=incident, patron=FORMULA, raised_at=now, reason="Does not accept it"
    )
    dispute_mark(actor=house["compliance"], dispute=dispute, mark="notified_at", at=now, reason="By letter")
    settled_as(house, ruled(house, incident, decision=ACCOUNT), first, nets={0: -5000})
    ruling = ruled(house, incident_about(house, table, second, account=CHINESE))
    executed(house, voided(house, ruling.incident, second, ruling=ruling))
