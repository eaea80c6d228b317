"""What a ruling may decide (5.14): what the rules leave open, and how a rule whose words leave room is read."""

from dataclasses import replace
from typing import Any

import pytest
from django.core.exceptions import ValidationError
from django.db import connection, transaction
from django.db.utils import DatabaseError
from django.utils import timezone

from audits.models import Finding, Incident, Ruling, RulingKind
from audits.reconciliation import terms
from audits.reconciliation.services.arrivals import arrivals_take
from audits.rulings.presenters import policy_words
from audits.rulings.remit import decided, not_covered_fault, readings_shown
from audits.rulings.reviews import to_review
from audits.rulings.services.rulings import ruling_make, ruling_review, ruling_supersede, ruling_withdraw
from games.engine.rules.loader import rulebooks
from games.engine.rules.readings import Excluded
from games.models import SettlementPolicy, Table
from games.settlement_policies import selectors
from games.settlement_policies.selectors import policies_of
from games.settlement_policies.services import Setting, settlement_policy_set
from tests.audits.decided import draft, incident_about, ruled, settled_as, standing, voided
from tests.audits.files import played
from tests.conftest import House
from tests.games.engine.oracle import DIVISION_9, OPEN_COVER, V6
from tests.games.floor_setup import MINUTE, SECOND, ready_table, sign
from tests.games.rounds.samples import bet

INTERPRETATION, CONFIRMATION = RulingKind.INTERPRETATION, RulingKind.CONFIRMATION


@pytest.fixture
def table(house: House) -> Table:
    return ready_table(house, "TS-01", layout="C", limits=sign())


def of_book(house: House, book: str) -> Table:
    return ready_table(
        house, f"T-{book[:3]}", rulebook=book, layout=next(iter(rulebooks()[book].layouts)), limits=sign()
    )


# --- Not covered -------------------------------------------------------------------------------------


def test_5_5_2_a_cocked_die_cannot_be_ruled_valid(house: House, table: Table) -> None:
    """The rule decides it; by no kind of ruling does the round become a settled one."""
    one = played(table, timezone.now() - MINUTE, "R-1")
    incident = incident_about(house, table, one, situation="die-not-flat")
    with pytest.raises(ValidationError) as refused:
        ruled(house, incident, decision="The die is good enough; the round is valid.")
    (words,) = refused.value.message_dict["kind"]
    assert "Tai Sai v6 · Rule 5.5.2 decides this: Void the round." in words
    assert "correct the situation" in words
    with pytest.raises(ValidationError, match="lists no reading of"):
        ruled(house, incident, kind=INTERPRETATION, rules=[f"{V6}#5.5.2"])
    assert not Ruling.objects.exists()
    confirmed = ruled(house, incident, kind=CONFIRMATION, rules=[f"{V6}#5.5.2"])
    with pytest.raises(ValidationError, match="order a void"):
        settled_as(house, confirmed, one, dice=[6, 6, 5])
    assert voided(house, incident, one, ruling=confirmed).needs_second


def test_a_confirmation_of_a_rule_that_does_not_void_voids_nothing(house: House, table: Table) -> None:
    one = played(table, timezone.now() - MINUTE, "R-1")
    incident = incident_about(house, table, one, situation="late-bet")
    confirmed = ruled(house, incident, kind=CONFIRMATION, rules=[f"{V6}#5.7"])
    with pytest.raises(ValidationError, match="cannot be voided"):
        voided(house, incident, one, ruling=confirmed)


#: What each document leaves to somebody; everything else it decides itself.
OPEN_IN_RWS = {
    ("tumbler-not-activated", ""), ("tumbler-fault", ""), ("wrong-result-entered", "yes"), ("other", ""),
    ("error-noticed-later", ""),  # 5.8 is about later rounds; the error itself may need a ruling
}  # fmt: skip
OPEN_IN_DIVISION_9 = {
    ("dice-damaged", ""), ("interruption", ""), ("over-limit-noticed", ""), ("over-limit-unnoticed", ""),
    ("below-minimum-noticed", ""), ("below-minimum-unnoticed", ""), ("player-left", ""),
    ("wrong-result-entered", "yes"), ("chips-moved", ""), ("error-noticed-later", ""), ("other", ""),
}  # fmt: skip


@pytest.mark.parametrize(
    ("book", "opened"), [(V6, OPEN_IN_RWS), (OPEN_COVER, OPEN_IN_RWS), (DIVISION_9, OPEN_IN_DIVISION_9)]
)
def test_5_14_what_is_decided_follows_from_rulebook_situation_and_facts(book: str, opened: set[Any]) -> None:
    left = {
        (situation.code, next(iter(situation.when.values()), ""))
        for situation in rulebooks()[book].situations
        if not situation.is_decided
    }
    assert opened <= left
    assert not {code for code, _ in left - opened} & {code for code, _ in opened}


FACTS = [
    (V6, "interruption", {"known_dice": "2,?,?"}, "5.4.1"), (V6, "interruption", {"known_dice": "?,?,?"}, "5.4.2"),
    (DIVISION_9, "interruption", {"known_dice": "2,?,?"}, None),
    (V6, "wrong-result-entered", {"settled": "no"}, "3.8"), (V6, "wrong-result-entered", {"settled": "yes"}, None),
    (DIVISION_9, "wrong-result-entered", {"settled": "no"}, "7.2"),
    (DIVISION_9, "tumbler-not-activated", {}, "7.1(d)"), (V6, "tumbler-not-activated", {}, None),
    (V6, "dice-exposed-early", {}, "5.5.3"), (OPEN_COVER, "dice-exposed-early", {}, "3.7"),
    (V6, "over-limit-unnoticed", {}, "5.1.1"), (DIVISION_9, "over-limit-unnoticed", {}, None),
    (DIVISION_9, "chips-moved", {}, None), (V6, "chips-moved", {}, "5.9"), (V6, "error-noticed-later", {}, None),
]  # fmt: skip


@pytest.mark.parametrize(("book", "situation", "facts", "rule"), FACTS)
def test_5_14_not_covered_is_refused_where_a_rule_decides_the_facts(
    house: House, book: str, situation: str, facts: dict[str, str], rule: str | None
) -> None:
    incident = incident_about(house, of_book(house, book), situation=situation, facts=facts)
    found = decided(incident)
    assert (found.rules[0] if found else None) == (f"{book}#{rule}" if rule else None)
    if rule is None:
        assert ruled(house, incident).kind == RulingKind.NOT_COVERED
    else:
        with pytest.raises(ValidationError, match="decides this"):
            ruled(house, incident)
        assert not Ruling.objects.exists()


def test_once_the_situation_is_corrected_it_can_be_ruled_on(house: House, table: Table) -> None:
    incident = incident_about(house, table, situation="die-not-flat")
    Incident.objects.filter(pk=incident.pk).update(situation="tumbler-fault")
    incident.refresh_from_db()
    assert not_covered_fault(incident) == ""
    assert ruled(house, incident)


def test_5_1_1_minimums_that_exceed_the_box_are_left_to_a_ruling(house: House) -> None:
    """Three bets of 50 in a box that may hold 100: the rule on sharing decides it, but not this."""
    table = ready_table(house, "TS-01", layout="C", limits=sign({"big-small": (50, 100)}))
    bets = [bet(f"seat-{seat}", "small", "60", net="50") for seat in (1, 2, 3)]
    one = played(table, timezone.now() - MINUTE, "R-1", bets)
    other = incident_about(house, table, situation="over-limit-unnoticed", account="Another.")
    with pytest.raises(ValidationError, match="decides this"):
        ruled(house, other)
    ruling = ruled(house, incident_about(house, table, one, situation="over-limit-unnoticed"))
    assert ruling.readings == ["minimums-exceed-the-box"]
    assert to_review(house["shift-manager"]) == []


# --- Interpretations, and what they set --------------------------------------------------------------


@pytest.mark.parametrize("book", [V6, OPEN_COVER])
def test_5_1_1_in_full_is_no_open_reading_under_rws(house: House, book: str) -> None:
    incident = incident_about(house, of_book(house, book), situation="over-limit-unnoticed")
    with pytest.raises(ValidationError) as refused:
        ruling_make(
            actor=house["shift-manager"], incident=incident,
            draft=standing(rules=[f"{book}#5.1.1"], setting=Setting("in-full")),
        )  # fmt: skip
    (words,) = refused.value.message_dict["excess"]
    assert f"{book}#5.1.1 excludes in-full" in words
    assert "Choose proportional or filled." in words
    assert not Ruling.objects.exists()
    with pytest.raises(ValidationError, match="excludes in-full"):
        settlement_policy_set(
            actor=house["shift-manager"], casino=house.casino, rulebook=book, starts_at=timezone.now(),
            now=timezone.now(), setting=Setting("in-full"), ruling="RU-2026-000001",
        )  # fmt: skip
    assert not SettlementPolicy.objects.exists()


@pytest.mark.parametrize("excess", ["in-full", "proportional", "filled"])
def test_division_9_leaves_all_three_policies_open(house: House, excess: str) -> None:
    incident = incident_about(house, of_book(house, DIVISION_9), situation="over-limit-unnoticed")
    ruling = ruling_make(
        actor=house["shift-manager"], incident=incident,
        draft=standing(rules=[f"{DIVISION_9}#4.1"], setting=Setting(excess, 500)),
    )  # fmt: skip
    assert policies_of(house.casino, DIVISION_9)[-1].excess == excess
    assert ruling.readings == ["settled-in-full", "rounded-down"]


def test_which_reading_an_interpretation_is_about_is_on_record(house: House, table: Table) -> None:
    incident = incident_about(house, table, situation="die-not-flat")
    for readings, kind, fault in (
        (["luck"], INTERPRETATION, "'luck' is not a reading of Tai Sai v6; choose excess-in-proportion"),
        (["void-is-not-healed"], CONFIRMATION, "Only an interpretation takes a reading"),
    ):
        with pytest.raises(ValidationError, match=fault):
            ruled(house, incident, kind=kind, rules=[f"{V6}#5.5.2"], readings=readings)
    ruling = ruled(house, incident, kind=INTERPRETATION, rules=[f"{V6}#5.5"], readings=["void-is-not-healed"])
    assert ruling.readings == ["void-is-not-healed"]
    assert next(one.name for one in readings_shown(incident)) == "void-is-not-healed"
    assert len(readings_shown(incident)) == len(rulebooks()[V6].readings)


# --- By SQL, and what was kept from before -------------------------------------------------------------


COPIED = (
    "casino_id", "pit_id", "table_id", "incident_id", "year", "kind", "situation", "rulebook", "rules", "readings",
    "question", "facts", "decision", "reasoning", "scope", "effective_from", "is_withdrawal", "departure", "override",
    "serial", "number", "by_id", "post", "who", "made_at",
)  # fmt: skip


def insert_like(ruling: Ruling, incident: Incident) -> int:
    """A ruling on another incident, in the words of the first, as the application's own role would write it."""
    other = {
        "incident_id": str(incident.pk), "situation": f"'{incident.situation}'", "kind": "'not-covered'",
        "serial": "99", "number": "'RU-' || year || '-000099'", "scope": "'round'", "effective_from": "NULL",
    }  # fmt: skip
    columns, values = ", ".join(COPIED), ", ".join(other.get(name, name) for name in COPIED)
    statement = f"INSERT INTO audits_ruling ({columns}) SELECT {values} FROM audits_ruling WHERE id = %s RETURNING id"
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(statement, [ruling.pk])
        return int(cursor.fetchone()[0])


def test_the_database_lets_no_ruling_call_uncovered_what_a_rule_decides(house: House, table: Table) -> None:
    sound = ruled(house, incident_about(house, table))
    with pytest.raises(DatabaseError, match="itself decides die-not-flat"):
        insert_like(sound, incident_about(house, table, situation="die-not-flat"))
    for known, rule in (("2,?,?", "5.4.1"), ("?,?,?", "5.4.2")):
        incident = incident_about(house, table, situation="interruption", facts={"known_dice": known}, account=rule)
        with pytest.raises(DatabaseError, match="itself decides interruption"):
            insert_like(sound, incident)
    open_ = incident_about(house, table, situation="wrong-result-entered", facts={"settled": "yes"})
    assert insert_like(sound, open_)


def test_the_database_lets_no_policy_stand_that_the_rulebook_closes(house: House, table: Table) -> None:
    statement = (
        "INSERT INTO games_settlementpolicy (casino_id, rulebook, starts_at, excess, ruling, recorded_at, who) "
        "VALUES (%s, %s, now(), %s, %s, now(), 'x')"
    )
    with connection.cursor() as cursor:
        for book, excess in ((V6, "in-full"), (OPEN_COVER, "in-full"), ("poker", "filled")):
            with pytest.raises(DatabaseError, match="leaves no such policy open"), transaction.atomic():
                cursor.execute(statement, [house.casino.pk, book, excess, "RU-2026-000001"])
        cursor.execute(statement, [house.casino.pk, DIVISION_9, "in-full", "RU-2026-000002"])
        cursor.execute(statement, [house.casino.pk, V6, "filled", "RU-2026-000003"])


# --- Kept from before -------------------------------------------------------------------------------


def test_a_ruling_that_goes_against_a_rule_is_listed_for_review(house: House, table: Table) -> None:
    """Made while the facts were thought to be others: the bets were not settled yet, and 3.8 decides."""
    manager = house["shift-manager"]
    incident = incident_about(house, table, situation="wrong-result-entered", facts={"settled": "yes"})
    ruling = ruled(house, incident)
    assert to_review(manager) == []
    Incident.objects.filter(pk=incident.pk).update(facts={"settled": "no"})
    (waiting,) = to_review(house["compliance"])
    assert (waiting.ruling, waiting.rulebook, waiting.tables) == (ruling, V6, ())
    assert waiting.why == "Made as not covered by the rules, but Tai Sai v6 · Rule 3.8 decides this."
    assert to_review(manager, ruling) == [waiting]
    with pytest.raises(ValidationError, match="decides this"):
        ruling_supersede(actor=manager, ruling=ruling, draft=draft(decision="Again."))
    ruling_review(actor=manager, ruling=ruling, rulebook=V6, outcome="To be withdrawn")
    assert to_review(manager) == []
    assert ruling_withdraw(actor=manager, ruling=ruling, reason="3.8 decides").is_withdrawal


def close_filled(monkeypatch: pytest.MonkeyPatch) -> None:
    """As if the document ruled `filled` out, which a ruling on record had set before."""
    book = rulebooks()[V6]
    excess = book.reading("excess-in-proportion")
    closed = replace(excess, alternatives=(), excluded=(Excluded("filled", ("5.1.1",), "Every bet is cut alike."),))
    known = {**rulebooks(), V6: replace(book, readings={**book.readings, excess.name: closed})}
    monkeypatch.setattr(selectors, "rulebooks", lambda: known)
    monkeypatch.setattr(terms, "_KNOWN", {})  # as in a process that starts with the new file


def test_a_policy_that_the_rulebook_closes_is_not_applied_and_listed_for_review(
    house: House, table: Table, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Small may hold 3,000: 2,966 and 50 in proportion; the larger gives way to 2,950 where the box is filled."""
    manager = house["shift-manager"]
    ruling = ruling_make(
        actor=manager, incident=incident_about(house, table), draft=standing(setting=Setting("filled", 100))
    )
    bets = [bet("seat-1", "small", "4450", net="2966"), bet("seat-2", "small", "50", net="50")]
    one = played(table, timezone.now() + SECOND, "R-1", bets)
    arrivals_take()
    finding = Finding.objects.get(round=one, category="discrepancy", lapsed_at=None)
    assert (finding.expected, finding.rules[-1]) == (295_000, ruling.number)
    close_filled(monkeypatch)
    last = policies_of(house.casino, V6)[-1]
    assert (last.excess, last.rounding) == (None, 100)  # what it sets besides stays
    (waiting,) = to_review(manager)
    assert (waiting.ruling, waiting.rulebook) == (ruling, V6)
    assert f"Not applied: {V6}#5.1.1 excludes filled" in waiting.why
    assert "Not applied" in policy_words(SettlementPolicy.objects.get())
    another = played(table, timezone.now() + 2 * SECOND, "R-2", bets)
    arrivals_take()
    assert not Finding.objects.filter(round=another, category="discrepancy").exists()  # found by the rule now
    finding.refresh_from_db()
    assert not finding.is_lapsed  # what is on record stays until its day is reconciled anew
