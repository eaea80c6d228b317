"""Any sequence of corrections: recorded plus corrected is what is expected of every round ruled on."""

from typing import Any

from django.core.exceptions import ValidationError
from django.db import transaction
from django.utils import timezone
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from audits.models import Consequence, Correction, DaySummary, Finding, Repayment, Ruling
from audits.reconciliation.services.arrivals import arrivals_take
from audits.rulings.corrections.standing_nets import standing_nets_of
from audits.rulings.services.corrective_actions import (  # fmt: skip
    Basis,
    consequence_decline,
    consequence_execute,
    result_amend,
    round_settle,
    rounds_void,
)
from audits.rulings.services.rulings import ruling_supersede
from games.history.audited_save import OvertakenError
from games.models import Round, Table
from tests.audits.decided import draft, incident_about, ruled
from tests.audits.files import played
from tests.conftest import House
from tests.games.floor_setup import MINUTE, ready_table, sign
from tests.games.rounds.samples import bet

DICE = st.tuples(*[st.integers(1, 6)] * 3).map(list)
#: By the stakes below: no bet loses more than its stake, or wins more than that at the best odds of its box.
BOUNDS = ((-400_000, 400_000), (-6_000, 6_000), (-10_000, 30_000))
NETS = st.fixed_dictionaries(
    {}, optional={place: st.integers(*bounds) for place, bounds in enumerate(BOUNDS)}
)  # fmt: skip
PLACES = st.integers(0, 2)
STAKES = (("seat-1", "small", "4000"), ("seat-2", "big", "60"), ("seat-1", "single-1", "100"))


class Books(RuleBasedStateMachine):
    """Three rounds: one settled rightly, one wrongly, one not at all; managers who change their minds, and a third."""

    house: House

    @initialize()
    def play(self) -> None:
        self.point = transaction.atomic()
        self.point.__enter__()
        house = self.house
        self.table: Table = ready_table(house, f"T-{id(self) % 10**8}", layout="C", limits=sign())
        now = timezone.now()
        right, wrong = ("3000", "-60", "100"), ("4000", "60", "0")
        self.rounds: list[Round] = [
            played(self.table, now - 9 * MINUTE, f"{self.table}-1", self.bets(right)),
            played(self.table, now - 8 * MINUTE, f"{self.table}-2", self.bets(wrong)),
            played(
                self.table, now - 7 * MINUTE, f"{self.table}-3", self.bets((None,) * 3),
                kinds=[("place-bets", {}), ("no-more-bets", {}), ("result", {"dice": [2, 2, 5]})],
            ),
        ]  # fmt: skip
        incident = incident_about(house, self.table, *self.rounds, account=f"About {self.table}.")
        self.ruling: Ruling = ruled(house, incident)
        self.third = house.hire(f"M-{id(self) % 10**8}", "shift-manager")

    def bets(self, nets: tuple[str | None, ...]) -> list[dict[str, Any]]:
        return [bet(*one) if net is None else bet(*one, net=net) for one, net in zip(STAKES, nets, strict=True)]

    def teardown(self) -> None:
        if hasattr(self, "point"):
            transaction.set_rollback(True)
            self.point.__exit__(None, None, None)

    def basis(self) -> Basis:
        return Basis(self.ruling.incident, self.ruling)

    def agree(self, order: Consequence) -> None:
        if order.needs_second:
            consequence_execute(actor=self.third, consequence=order, reason="x")

    # --- What managers do ---

    @rule(place=PLACES, dice=DICE, nets=NETS)
    def settle_otherwise(self, place: int, dice: list[int], nets: dict[int, int]) -> None:
        try:
            order = round_settle(
                actor=self.house["shift-manager"], basis=self.basis(), round=self.rounds[place], reason="x", dice=dice,
                nets=nets,
            )  # fmt: skip
            self.agree(order)
        except OvertakenError:
            return
        except ValidationError as error:
            if "which is a void" not in str(error) or any(nets.values()):
                raise

    @rule(place=PLACES)
    def settle_by_the_rules(self, place: int) -> None:
        try:
            order = round_settle(
                actor=self.house["casino-manager"], basis=self.basis(), round=self.rounds[place], reason="x"
            )
            self.agree(order)
        except OvertakenError:
            return

    @rule(places=st.sets(PLACES, min_size=1), is_agreed=st.booleans())
    def void(self, places: set[int], is_agreed: bool) -> None:
        rounds = [self.rounds[place] for place in sorted(places)]
        books = [standing_net for standing_net in standing_nets_of(rounds) if not standing_net.is_returned]
        try:
            order = rounds_void(actor=self.house["shift-manager"], basis=self.basis(), rounds=rounds, reason="x")
        except OvertakenError:
            assert all(standing_net.is_void for standing_net in standing_nets_of(rounds))
            return
        assert order.needs_second is any(book.was_settled or book.is_void for book in books)
        if is_agreed:
            self.agree(order)
        elif order.needs_second:
            consequence_decline(actor=self.house["shift-manager"], consequence=order, reason="x")

    @precondition(
        lambda self: (
            not any(
                (standing_net.is_void or standing_net.is_settled) for standing_net in standing_nets_of(self.rounds[2:])
            )
        )
    )
    @rule(dice=DICE)
    def amend_the_result(self, dice: list[int]) -> None:
        try:
            result_amend(
                actor=self.house["pit-supervisor"], basis=self.basis(), round=self.rounds[2], dice=dice, reason="x"
            )
        except OvertakenError:
            return

    @rule()
    def change_ones_mind(self) -> None:
        self.ruling = ruling_supersede(actor=self.house["casino-manager"], ruling=self.ruling, draft=draft())

    @rule()
    def reconcile(self) -> None:
        arrivals_take()
        summary = DaySummary.objects.get(table=self.table)
        books = standing_nets_of(self.rounds)
        over = [book for book in books if book.is_void or book.is_settled]
        assert summary.house_recorded == -sum(sum(one.nets) for one in over)
        assert (summary.settled, summary.voids) == (
            sum(book.is_settled for book in books),
            sum(book.is_void for book in books),
        )
        corrected = [one.round.pk for one in over if one.last]
        wrong = Finding.objects.filter(round__in=corrected, category="discrepancy", lapsed_at=None)
        assert not wrong.exists()

    # --- What holds ---

    @invariant()
    def the_books_balance(self) -> None:
        for one in standing_nets_of(self.rounds) if hasattr(self, "rounds") else ():
            rows = list(Correction.objects.filter(round=one.round).order_by("ordinal"))
            sums = [sum(deltas) for deltas in zip(*(row.deltas for row in rows), strict=True)] or [0] * 3
            now = [net + more for net, more in zip(one.round.nets, sums, strict=True)]
            assert now == one.nets
            if rows and (one.is_void or one.is_settled):
                assert now == [net for net, _ in one.recorded().expected()]

    @invariant()
    def players_get_what_the_corrections_say(self) -> None:
        if not hasattr(self, "rounds"):
            return
        due: dict[str, int] = {}
        for row in Correction.objects.filter(round__in=self.rounds):
            for (player, _, _), delta in zip(STAKES, row.deltas, strict=True):
                due[player] = due.get(player, 0) + delta
        listed: dict[str, int] = {}
        for player, amount in Repayment.objects.filter(consequence__incident=self.ruling.incident).values_list(
            "player", "amount"
        ):
            listed[player] = listed.get(player, 0) + amount
        assert {key: one for key, one in due.items() if one} == {key: one for key, one in listed.items() if one}


def test_recorded_plus_corrections_is_what_is_expected_after_any_sequence(house: House, clock: Any) -> None:
    machine = type("BooksOfAHouse", (Books,), {"house": house})
    checks = [HealthCheck.too_slow, HealthCheck.data_too_large]
    run_state_machine_as_test(
        machine, settings=settings(max_examples=15, stateful_step_count=12, deadline=None, suppress_health_check=checks)
    )
