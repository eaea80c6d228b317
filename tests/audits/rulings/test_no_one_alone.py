"""Three people with any roles and appointments, any sequence of calls: none of them moves settled money alone.

No settled round's money changes without two different people, and no payment is marked by one of these two.
"""

from collections.abc import Callable, Sequence
from typing import Any

from django.core.exceptions import ValidationError
from django.db import connection, transaction
from django.utils import timezone
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule, run_state_machine_as_test

from audits.incidents.services.incidents import IncidentReport, incident_open
from audits.models import Consequence, Correction, Discretion, Incident, RepaymentMark, Ruling
from audits.rulings.corrections.standing_nets import standing_nets_of
from audits.rulings.services.corrective_actions import (
    Basis,
    consequence_decline,
    consequence_execute,
    repayment_mark,
    result_amend,
    round_settle,
    rounds_void,
)
from audits.rulings.services.discretions import discretion_record, discretion_settle
from audits.rulings.services.rulings import ruling_make, ruling_supersede, ruling_withdraw
from games.access.gate import Denied
from games.access.models.acting_appointment import ALL_PITS
from games.access.services.acting_appointments import duty_end, duty_grant
from games.models import Duty, Round, Staff, Table
from tests.audits.decided import draft, incident_about
from tests.audits.files import played
from tests.conftest import PEOPLE, House
from tests.games.engine.oracle import DIVISION_9
from tests.games.floor_setup import HOUR, MINUTE, ready_table, sign
from tests.games.rounds.samples import bet

MANAGERS, ROLES = st.sampled_from(["shift-manager", "casino-manager"]), st.sampled_from(list(PEOPLE))
#: Any roles; more often than not two who may order and execute, or little would ever happen.
THREE = (
    st.tuples(MANAGERS, MANAGERS, ROLES)
    | st.permutations(["shift-manager", "casino-manager", "pit-manager"])
    | (st.tuples(ROLES, ROLES, ROLES))
)
WHO, WHICH, MANY = st.integers(0, 2), st.integers(0, 4), st.integers(0, 50)
DICE = st.tuples(*[st.integers(1, 6)] * 3).map(list)
NETS = st.fixed_dictionaries({}, optional={0: st.integers(-11_000, 11_000), 1: st.integers(-7_000, 7_000)})
#: On 1, 3, 6: seat 1 wins, seat 2 loses.
BETS = [bet("seat-1", "small", "100", net="100"), bet("seat-2", "big", "60", net="-60")]
PENDING = [bet("seat-1", "small", "100"), bet("seat-2", "big", "60")]
UNSETTLED: list[tuple[str, dict[str, Any]]] = [
    ("place-bets", {}), ("no-more-bets", {}), ("result", {"dice": [1, 3, 6]}),
]  # fmt: skip


class House3(RuleBasedStateMachine):
    """Five rounds in two pits: settled, dealt by one of the three, unsettled, elsewhere, and by Division 9."""

    house: House
    moved: list[int]  # how often money of a settled round moved, over all runs: the test is about something

    @initialize(roles=THREE, pits=st.tuples(*[st.sampled_from(["P1", "P2"])] * 3))
    def gather(self, roles: Sequence[str], pits: tuple[str, ...]) -> None:
        self.point = transaction.atomic()
        self.point.__enter__()
        house, mark = self.house, id(self) % 10**8
        self.people: list[Staff] = [
            house.hire(f"H{number}-{mark}", role, pit=house.pits[pits[number]] if PEOPLE[role][2] else None)
            for number, role in enumerate(roles)
        ]
        here = ready_table(house, f"T-{mark}", layout="C", limits=sign())
        there = ready_table(house, f"U-{mark}", pit="P2", layout="C", limits=sign())
        division = ready_table(house, f"V-{mark}", rulebook=DIVISION_9, layout="1", limits=sign())
        now = timezone.now()

        def a_round(table: Table, ref: str, minutes: int, bets: Any = BETS, **more: Any) -> Round:
            return played(table, now - minutes * MINUTE, f"{mark}-{ref}", bets, **more)

        self.rounds = [
            a_round(here, "1", 9), a_round(here, "2", 7, dealer=self.people[0].number),
            a_round(here, "3", 5, PENDING, kinds=UNSETTLED), a_round(there, "4", 9), a_round(division, "5", 9),
        ]  # fmt: skip
        self.incident = incident_about(house, here, *self.rounds[:4], account=f"About {mark}.")
        self.moved_chips = incident_about(
            house, division, self.rounds[4], situation="chips-moved", account=f"Chips {mark}."
        )
        ruling_make(actor=house["casino-manager"], incident=self.incident, draft=draft())  # by none of the three
        discretion_record(
            actor=house["pit-manager"], incident=self.moved_chips, round=self.rounds[4], decision="0", reason="x"
        )
        self.keys = [round_.pk for round_ in self.rounds]

    def teardown(self) -> None:
        if hasattr(self, "point"):
            transaction.set_rollback(True)
            self.point.__exit__(None, None, None)

    def call(self, service: Callable[..., Any], who: int, **values: Any) -> None:
        """By one of the three, read anew as in a request. What is refused changes nothing."""
        try:
            with transaction.atomic():
                service(actor=Staff.objects.select_related("casino", "pit").get(pk=self.people[who].pk), **values)
        except (Denied, ValidationError):
            return

    def orders(self) -> list[Consequence]:
        """All of the casino: the house is put back after each sequence, and nothing else is ordered in it."""
        return list(Consequence.objects.filter(incident__casino=self.house.casino).order_by("pk"))

    def chosen(self, things: Any, place: int) -> Any:
        listed = list(things)
        return listed[place % len(listed)] if listed else None

    def basis(self, of: int) -> Basis:
        """A file that was ruled on, also one that the three reported and ruled on among themselves."""
        ruling = self.chosen(self.rulings(), of)
        return Basis(ruling.incident, ruling)

    def rulings(self) -> list[Ruling]:
        made = Ruling.objects.filter(incident__casino=self.house.casino, replaced_by=None).select_related("incident")
        return list(made.order_by("pk"))

    # --- What they do ---

    @rule(granter=WHO, who=WHO, post=st.sampled_from(["pit-manager", "shift-manager", "casino-manager"]),
          pit=st.sampled_from(["P1", "P2", None]))  # fmt: skip
    def appoint(self, granter: int, who: int, post: str, pit: str | None) -> None:
        now = timezone.now()
        self.call(
            duty_grant, granter, staff=self.people[who], post=post, casino=self.house.casino,
            pit=self.house.pits[pit] if pit else ALL_PITS, starts_at=now, ends_at=now + HOUR, reason="x",
        )  # fmt: skip

    @rule(who=WHO, of=MANY)
    def end_appointment(self, who: int, of: int) -> None:
        if duty := self.chosen(Duty.objects.filter(staff__in=self.people).order_by("pk"), of):
            self.call(duty_end, who, duty=duty, reason="x")

    @rule(who=WHO, place=WHICH, rules=WHO, override=st.sampled_from(["", "x"]))
    def report(self, who: int, place: int, rules: int, override: str) -> None:
        """Open a file of one's own about a round; one of the three rules on it."""
        one = self.rounds[place]
        report = IncidentReport(self.house.casino, timezone.now(), "other", "Reported.", table=one.table, rounds=[one])
        self.call(incident_open, who, report=report)
        newest = Incident.objects.filter(casino=self.house.casino).order_by("pk").last()
        self.call(ruling_make, rules, incident=newest, draft=draft(override=override))

    @rule(who=WHO, of=MANY, override=st.sampled_from(["", "x"]))
    def decide(self, who: int, of: int, override: str) -> None:
        self.call(ruling_supersede, who, ruling=self.chosen(self.rulings(), of), draft=draft(override=override))

    @rule(who=WHO, of=MANY)
    def withdraw(self, who: int, of: int) -> None:
        self.call(ruling_withdraw, who, ruling=self.chosen(self.rulings(), of), reason="x", override="x")

    @rule(who=WHO, second=WHO, place=WHICH, nets=NETS, dice=st.none() | DICE, of=MANY)
    def settle(
        self, *, who: int, second: int, place: int, nets: dict[int, int], dice: list[int] | None, of: int
    ) -> None:
        values = {"round": self.rounds[place], "nets": nets, "dice": dice, "reason": "x"}
        self.call(round_settle, who, basis=self.basis(of), **values)
        self.execute(second, -1)

    @rule(who=WHO, second=WHO, places=st.sets(WHICH, min_size=1), by_rule=st.booleans(), of=MANY)
    def void(self, who: int, second: int, places: set[int], by_rule: bool, of: int) -> None:
        basis = Basis(self.incident, rule="5.5.2") if by_rule else self.basis(of)
        self.call(rounds_void, who, basis=basis, rounds=[self.rounds[place] for place in sorted(places)], reason="x")
        self.execute(second, -1)

    @rule(who=WHO, place=WHICH, dice=DICE)
    def amend(self, who: int, place: int, dice: list[int]) -> None:
        self.call(result_amend, who, basis=Basis(self.incident), round=self.rounds[place], dice=dice, reason="x")

    @rule(who=WHO, orders=WHO, second=WHO, nets=NETS)
    def use_discretion(self, who: int, orders: int, second: int, nets: dict[int, int]) -> None:
        words = f"{len(self.orders())}"
        self.call(discretion_record, who, incident=self.moved_chips, round=self.rounds[4], decision=words, reason="x")
        made = Discretion.objects.filter(incident=self.moved_chips).order_by("pk").last()
        self.call(discretion_settle, orders, discretion=made, nets=nets, reason="x")
        self.execute(second, -1)

    @rule(who=WHO, of=MANY)
    def execute_later(self, who: int, of: int) -> None:
        self.execute(who, of)

    def execute(self, who: int, of: int) -> None:
        if order := self.chosen([order for order in self.orders() if order.is_waiting], of):
            self.call(consequence_execute, who, consequence=order, reason="x")

    @rule(who=WHO, of=MANY)
    def decline(self, who: int, of: int) -> None:
        if order := self.chosen([order for order in self.orders() if order.is_waiting], of):
            self.call(consequence_decline, who, consequence=order, reason="x")

    @rule(who=WHO, of=MANY, what=st.sampled_from(RepaymentMark.What.values))
    def mark(self, who: int, of: int, what: str) -> None:
        made = [repayment for order in self.orders() for repayment in order.repayments.all()]
        if repayment := self.chosen(made, of):
            self.call(repayment_mark, who, repayment=repayment, what=what, note="x")

    # --- What holds ---

    @invariant()
    def two_people_moved_settled_money(self) -> None:
        if not hasattr(self, "keys"):
            return
        settled = {round_.pk for round_ in self.rounds if round_.status != "unfinished"}
        made = Correction.objects.filter(round__in=self.keys).select_related("consequence__decision", "round")
        for correction in made.order_by("pk"):
            order = correction.consequence
            if correction.round_id in settled:
                deciders = {one.by_id for one in (order.ruling, order.discretion) if one is not None}
                second = order.decision.by_id
                assert order.needs_second
                assert second not in {order.by_id, *deciders}
                assert second not in (correction.round.dealer_staff_id, correction.round.supervisor_staff_id)
                self.moved.append(correction.pk)
            for net, stake in zip(correction.nets, correction.round.stakes, strict=True):
                assert -stake <= net <= stake  # both boxes pay 1 to 1
            if correction.is_settled or correction.is_void:
                settled.add(correction.round_id)

    @invariant()
    def the_books_follow_from_the_corrections_alone(self) -> None:
        if not hasattr(self, "keys"):
            return
        for books in standing_nets_of(Round.objects.filter(pk__in=self.keys)):
            rows = Correction.objects.filter(round=books.round)
            sums = [sum(column) for column in zip(*(row.deltas for row in rows), strict=True)] or [0, 0]
            assert books.nets == [net + more for net, more in zip(books.round.nets, sums, strict=True)]

    @invariant()
    def neither_of_the_two_marks_the_payment(self) -> None:
        if not hasattr(self, "keys"):
            return
        marks = RepaymentMark.objects.filter(
            repayment__consequence__incident__casino=self.house.casino, what__in=["paid", "not-paid"]
        )
        for mark in marks.select_related("repayment__consequence__decision"):
            order = mark.repayment.consequence
            assert mark.by_id not in (order.by_id, order.decision.by_id)


def test_no_settled_money_moves_without_two_people_whoever_they_are(house: House, clock: Any) -> None:
    with connection.cursor() as cursor:
        cursor.execute("SELECT clock_timestamp()")  # who acts in a post asks the database's clock
        clock.move_to(cursor.fetchone()[0])
    moved: list[int] = []
    machine = type("ThreePeople", (House3,), {"house": house, "moved": moved})
    checks = [HealthCheck.too_slow, HealthCheck.data_too_large]
    run_state_machine_as_test(
        machine, settings=settings(
            max_examples=8, stateful_step_count=15, deadline=None, suppress_health_check=checks, derandomize=True
        ),
    )  # fmt: skip
    assert moved  # in some of these sequences money did move, by two people
