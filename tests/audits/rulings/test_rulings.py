"""Rulings: who makes them, what they say, what takes their place, and what went before."""

import datetime as dt
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from django.core.exceptions import ValidationError
from django.db import connection, connections, transaction
from django.db.utils import DatabaseError
from django.utils import timezone

from audits.incidents.services.incidents import incident_step, party_confirm
from audits.models import (
    Finding,
    Incident,
    IncidentState,
    Notice,
    Ruling,
    RulingKind,
    RulingReview,
    Scope,
)  # fmt: skip
from audits.reconciliation.services.arrivals import arrivals_take
from audits.rulings.precedents import PrecedentQuery, precedents
from audits.rulings.reviews import to_review
from audits.rulings.services.discretions import discretion_record
from audits.rulings.services.rulings import (  # fmt: skip
    RulingDraft,
    ruling_make,
    ruling_review,
    ruling_supersede,
    ruling_withdraw,
)
from games.access.gate import Denied
from games.access.models.acting_appointment import ALL_PITS
from games.access.services.acting_appointments import duty_end, duty_grant
from games.floor.services.tables import table_assign
from games.history.audited_save import OvertakenError
from games.models import Denial, Duty, LedgerLeaf, SettlementPolicy, Staff, Table
from games.rounds.terms import terms_at
from games.settlement_policies.selectors import policies_of
from games.settlement_policies.services import Setting
from tests import servers
from tests.audits.decided import draft, incident_about, ruled, standing
from tests.audits.files import played
from tests.conftest import PEOPLE, House, build_house
from tests.games.engine.oracle import DIVISION_9, OPEN_COVER, V6
from tests.games.floor_setup import HOUR, MINUTE, SECOND, ready_table, sign
from tests.games.rounds.samples import bet
from tests.thresholds import in_force

FILLED = Setting(excess="filled")


@pytest.fixture
def table(house: House) -> Table:
    return ready_table(house, "TS-01", layout="C", limits=sign())


@pytest.fixture
def incident(house: House, table: Table) -> Incident:
    return incident_about(house, table)


# --- On record ---


def test_5_14_a_ruling_keeps_the_post_it_was_made_in(house: House, incident: Incident) -> None:
    ruling = ruled(house, incident, facts="Two chips on one box.")
    assert ruling.number == f"RU-{timezone.now().year}-000001"
    assert (ruling.post, ruling.by, ruling.rulebook) == ("shift manager", house["shift-manager"], V6)
    incident.refresh_from_db()
    assert incident.state == IncidentState.RULED
    assert [step.after for step in incident.steps.all()] == ["open", "awaiting-ruling", "ruled"]
    leaf = LedgerLeaf.objects.get(kind="ruling")
    assert leaf.subject == ruling.pk
    assert b"Two chips on one box." in bytes(leaf.content)


def test_an_acting_shift_manager_rules_and_no_longer_once_the_duty_has_ended(house: House, incident: Incident) -> None:
    now = timezone.now()
    duty = duty_grant(
        actor=house["casino-manager"], staff=house["pit-manager"], post="shift-manager", casino=house.casino,
        pit=ALL_PITS, starts_at=now, ends_at=now + HOUR, reason="Ill",
    )  # fmt: skip
    ruling = ruled(house, incident, "pit-manager")
    assert (ruling.post, ruling.duty) == ("acting shift manager", duty)
    duty_end(actor=house["casino-manager"], duty=duty, reason="Back")
    with pytest.raises(Denied):
        ruling_supersede(actor=house["pit-manager"], ruling=ruling, draft=draft())


@pytest.mark.parametrize("role", [role for role in PEOPLE if role not in ("shift-manager", "casino-manager")])
def test_nobody_else_rules_and_each_attempt_is_on_record(house: House, incident: Incident, role: str) -> None:
    with pytest.raises(Denied):
        ruled(house, incident, role)
    assert Denial.objects.filter(staff_id=house[role].pk, action="ruling.make").count() == 1
    assert not Ruling.objects.exists()


def test_who_dealt_or_supervised_does_not_rule(house: House, table: Table) -> None:
    dealt = played(table, timezone.now() - MINUTE, "R-1", dealer="SHIFT-MANAGER")
    incident = incident_about(house, table, dealt)
    with pytest.raises(Denied, match="dealt or supervised"):
        ruled(house, incident)
    named = incident_about(house, table, account="Another.", people=[("supervisor", "SHIFT-MANAGER")])
    party_confirm(actor=house["compliance"], person=named.people.get(), reason="On the recording")
    with pytest.raises(Denied, match="dealt or supervised"):
        ruled(house, named)
    assert Denial.objects.filter(staff_id=house["shift-manager"].pk, action="ruling.make").count() == 2
    assert ruled(house, incident, "casino-manager")


def test_who_reported_it_rules_only_for_a_reason_of_which_compliance_is_told(house: House, table: Table) -> None:
    own = incident_about(house, table, role="shift-manager")
    with pytest.raises(Denied, match="reported"):
        ruled(house, own)
    ruling = ruled(house, own, override="Nobody else is in the house")
    (notice,) = Notice.objects.all()
    assert (notice.role, ruling.number in notice.text) == ("compliance", True)
    assert "Nobody else is in the house" in notice.text


def test_a_casino_may_let_reporters_rule(house: House, table: Table) -> None:
    in_force(house, "rulings", is_reporter_party=False)
    assert ruled(house, incident_about(house, table, role="shift-manager")).override == ""


def test_a_file_is_ruled_on_once(house: House, incident: Incident) -> None:
    first = ruled(house, incident)
    with pytest.raises(OvertakenError, match=rf"{first} by SHIFT-MANAGER.*Nothing has changed"):
        ruled(house, incident, "casino-manager")
    assert Ruling.objects.count() == 1
    incident_step(actor=house["compliance"], incident=incident, to="closed", reason="Done")
    with pytest.raises(OvertakenError, match="closed"):
        ruled(house, incident, "casino-manager")


def test_of_two_managers_at_once_one_ruling_stands_and_the_other_is_told(clone: str) -> None:
    house = build_house()
    incident = incident_about(house, ready_table(house, "TS-01", layout="C", limits=sign()))
    connections.close_all()

    def rule(role: str) -> Ruling | Exception:
        try:
            return ruled(house, incident, role)
        except OvertakenError as error:
            return error
        finally:
            connections.close_all()

    with ThreadPoolExecutor(2) as pool:
        results = list(pool.map(rule, ("shift-manager", "casino-manager")))
    (stands,) = [result for result in results if isinstance(result, Ruling)]
    (told,) = [result for result in results if isinstance(result, OvertakenError)]
    assert str(stands) in str(told)
    assert list(Ruling.objects.all()) == [stands]


@pytest.mark.parametrize(
    ("more", "field"),
    [
        ({"question": " "}, "question"),
        ({"decision": ""}, "decision"),
        ({"reasoning": "\t"}, "reasoning"),
        ({"kind": "whim"}, "kind"),
        ({"kind": RulingKind.INTERPRETATION}, "rules"),
        ({"kind": RulingKind.CONFIRMATION}, "rules"),
        ({"rules": ["5.1.2"]}, "rules"),
        ({"rules": [f"{V6}#99.9"]}, "rules"),
        ({"scope": "for-ever"}, "scope"),
        ({"setting": FILLED}, "scope"),
        ({"scope": Scope.STANDING, "kind": RulingKind.CONFIRMATION, "rules": [f"{V6}#5.6"]}, "scope"),
        ({"scope": Scope.STANDING, "effective_from": dt.datetime(2020, 1, 1, tzinfo=dt.UTC)}, "effective_from"),
        ({"question": "a\x00b"}, "question"),
    ],
)
def test_a_ruling_that_makes_no_sense_says_which_part(
    house: House, incident: Incident, more: dict[str, Any], field: str
) -> None:
    with pytest.raises(ValidationError) as raised:
        ruled(house, incident, **more)
    assert list(raised.value.message_dict) == [field]
    assert not Ruling.objects.exists()


def test_what_waited_for_a_ruling_names_it_once_there_is_one(house: House, table: Table) -> None:
    kinds: list[tuple[str, dict[str, Any]]] = [("place-bets", {}), ("void", {"rule": "ruling"})]
    one = played(table, timezone.now() - MINUTE, "R-1", [bet("seat-1", "small", "100")], kinds=kinds)
    arrivals_take()
    finding = Finding.objects.get(category="irregularity")
    assert (finding.kind, finding.detail) == ("ruling", "Voided by a ruling.")
    ruling = ruled(house, incident_about(house, table, one))
    arrivals_take()
    finding.refresh_from_db()
    assert finding.detail == f"Voided by a ruling. Ruled on: {ruling}."
    assert not finding.is_lapsed


# --- Superseded, withdrawn ---


def test_a_ruling_is_superseded_by_another_and_once(house: House, incident: Incident) -> None:
    first = ruled(house, incident)
    second = ruling_supersede(actor=house["casino-manager"], ruling=first, draft=draft(decision="The house is."))
    assert (second.replaces, second.number[-1]) == (first, "2")
    with pytest.raises(OvertakenError, match="superseded by"):
        ruling_withdraw(actor=house["casino-manager"], ruling=first, reason="Wrong")
    withdrawn = ruling_withdraw(actor=house["casino-manager"], ruling=second, reason="Wrong as well")
    assert (withdrawn.is_withdrawal, withdrawn.replaces) == (True, second)
    with pytest.raises(ValidationError, match="only withdraws"):
        ruling_supersede(actor=house["casino-manager"], ruling=withdrawn, draft=draft())


# --- Standing interpretations and the policy they set ---


def test_a_standing_interpretation_sets_a_policy_and_its_successor_another(
    house: House, incident: Incident, table: Table
) -> None:
    now = timezone.now()
    first = ruling_make(
        actor=house["shift-manager"], incident=incident,
        draft=standing(setting=Setting("filled", 500), effective_from=now + HOUR),
    )  # fmt: skip
    second = ruling_supersede(
        actor=house["shift-manager"], ruling=first,
        draft=standing(setting=Setting("proportional"), effective_from=now + 24 * HOUR),
    )  # fmt: skip
    ruling_withdraw(
        actor=house["shift-manager"], ruling=second, reason="The document is clear", effective_from=now + 48 * HOUR
    )
    read = [(policy.excess, policy.rounding, policy.rulings) for policy in policies_of(house.casino, V6)]
    assert read == [
        (None, None, ()), ("filled", 500, (first.number,)), ("proportional", None, (second.number,)),
        (None, None, ()),
    ]  # fmt: skip
    assert terms_at(table, now).policy.excess is None
    assert terms_at(table, now + HOUR).policy.excess == "filled"
    assert terms_at(table, now + HOUR).policy_of(OPEN_COVER).excess is None


def test_what_stands_is_superseded_by_what_stands(house: House, incident: Incident) -> None:
    """Else nobody would have ended what it had set."""
    first = ruling_make(actor=house["shift-manager"], incident=incident, draft=standing(setting=FILLED))
    with pytest.raises(ValidationError, match="stands too, or withdraw it"):
        ruling_supersede(actor=house["shift-manager"], ruling=first, draft=draft())
    assert policies_of(house.casino, V6)[-1].excess == "filled"


def test_a_policy_that_is_replaced_before_it_begins_never_begins(
    house: House, incident: Incident, table: Table
) -> None:
    now = timezone.now()
    first = ruling_make(
        actor=house["shift-manager"], incident=incident,
        draft=standing(setting=FILLED, effective_from=now + 5 * HOUR),
    )  # fmt: skip
    ruling_withdraw(actor=house["shift-manager"], ruling=first, reason="No", effective_from=now + HOUR)
    assert terms_at(table, now + 9 * HOUR).policy.excess is None


def test_two_interpretations_of_two_things_stand_side_by_side(house: House, table: Table) -> None:
    now = timezone.now()
    made = [
        ruling_make(
            actor=house["shift-manager"], incident=incident_about(house, table, account=account),
            draft=standing(setting=setting, rules=[rule], effective_from=now + HOUR * place),
        )
        for place, (account, setting, rule) in enumerate(
            [("One.", FILLED, f"{V6}#5.1.2"), ("Two.", Setting(rounding=2500), f"{V6}#5.1.1")], start=1
        )
    ]  # fmt: skip
    last = policies_of(house.casino, V6)[-1]
    assert (last.excess, last.rounding) == ("filled", 2500)
    assert last.rulings == tuple(one.number for one in made)


@pytest.mark.parametrize("setting", [Setting(excess="generous"), Setting(excess="in-full"), Setting(rounding=-1)])
def test_a_policy_that_makes_no_sense_is_refused_with_its_ruling(
    house: House, incident: Incident, setting: Setting
) -> None:
    with pytest.raises(ValidationError):
        ruling_make(actor=house["shift-manager"], incident=incident, draft=standing(setting=setting))
    assert not Ruling.objects.exists()
    assert not SettlementPolicy.objects.exists()


def test_5_1_2_later_rounds_are_settled_by_it_and_cite_it(house: House, incident: Incident, table: Table) -> None:
    """Small may hold 3,000; by the ruling a cut stake is rounded down to 2,000."""
    before = played(table, timezone.now() - MINUTE, "BEFORE", [bet("seat-1", "small", "4000", net="4000")])
    ruling = ruling_make(
        actor=house["shift-manager"], incident=incident, draft=standing(setting=Setting(rounding=200_000))
    )
    after = played(table, timezone.now() + SECOND, "AFTER", [bet("seat-1", "small", "4000", net="3000")])
    arrivals_take()
    (paid_too_much,) = Finding.objects.filter(round=before, category="discrepancy")
    assert (paid_too_much.expected, paid_too_much.recorded) == (300_000, 400_000)
    assert ruling.number not in paid_too_much.rules
    (not_rounded,) = Finding.objects.filter(round=after, category="discrepancy")
    assert (not_rounded.expected, not_rounded.recorded) == (200_000, 300_000)
    assert not_rounded.rules[-1] == ruling.number


# --- Precedents ---


def test_what_stands_is_followed_or_departed_from_with_a_reason(house: House, table: Table) -> None:
    def another(account: str) -> Incident:
        return incident_about(house, table, account=account, situation="late-bet")

    def of(**more: Any) -> RulingDraft:
        return draft(kind=RulingKind.INTERPRETATION, rules=[f"{V6}#5.7"], **more)

    manager = house["shift-manager"]
    first = ruling_make(actor=manager, incident=another("One."), draft=standing(rules=[f"{V6}#5.7"]))
    second = another("Two.")
    with pytest.raises(ValidationError, match=f"{first} stands"):
        ruling_make(actor=manager, incident=second, draft=of())
    with pytest.raises(ValidationError, match="Say why"):
        ruling_make(actor=manager, incident=second, draft=of(departs_from=first))
    followed = ruling_make(actor=manager, incident=second, draft=of(follows=first))
    assert followed.follows == first
    departed = ruling_make(
        actor=manager, incident=another("Three."), draft=of(departs_from=first, departure="The chip was in the air")
    )
    assert (departed.departs_from, departed.departure) == (first, "The chip was in the air")
    ruling_withdraw(actor=manager, ruling=first, reason="No longer")
    assert ruling_make(actor=manager, incident=another("Four."), draft=of())


def test_precedents_by_situation_rules_and_words(house: House, table: Table) -> None:
    manager = house["shift-manager"]
    texts = {
        "late-bet": "A chip landed while the dealer spoke.",
        "chips-moved": "A patron pushed chips onto the next box.",
        "other": "A drone hovered above the dome.",
    }
    kinds: dict[str, dict[str, Any]] = {
        "late-bet": {"kind": RulingKind.CONFIRMATION, "rules": [f"{V6}#5.7"]},
        "chips-moved": {"kind": RulingKind.INTERPRETATION, "rules": [f"{V6}#5.9"]},
    }
    made = {
        situation: ruling_make(
            actor=manager, incident=incident_about(house, table, account=text, situation=situation),
            draft=draft(question=text, **kinds.get(situation, {})),
        )
        for situation, text in texts.items()
    }  # fmt: skip
    new = incident_about(house, table, account="New.", situation="late-bet")

    def found(**asked: Any) -> list[Ruling]:
        return [precedent.ruling for precedent in precedents(manager, new, PrecedentQuery(**asked))]

    assert found(rulebook=V6, situation="late-bet") == [made["late-bet"]]
    assert found(rulebook=V6, situation="display-wrong", rules=[f"{V6}#5.9"]) == [made["chips-moved"]]
    assert found(rulebook=V6, situation="display-wrong", words="drones above a dome")[0] == made["other"]
    assert found(rulebook=V6, situation="display-wrong", words="A dronee hoverd above teh dome")[0] == made["other"]
    assert found(rulebook=V6, situation="display-wrong", words="' \x00 | & :*") == []
    stranger = house.hire("M-ELSE", "shift-manager", house.other)
    assert precedents(stranger, new, PrecedentQuery(V6, "late-bet")) == []


def test_another_document_puts_standing_interpretations_to_review(house: House, table: Table) -> None:
    ruling = ruling_make(actor=house["shift-manager"], incident=incident_about(house, table), draft=standing())
    assert to_review(house["compliance"]) == []
    table_assign(
        actor=house["casino-manager"], table=table, pit=house.pits["P1"], rulebook=OPEN_COVER, layout="C",
        chip_unit="1.00", starts_at=timezone.now(), reason="The covered game",
    )  # fmt: skip
    (waiting,) = to_review(house["compliance"])
    assert (waiting.ruling, waiting.rulebook, waiting.tables) == (ruling, OPEN_COVER, ("TS-01",))
    with pytest.raises(Denied):
        ruling_review(actor=house["compliance"], ruling=ruling, rulebook=OPEN_COVER, outcome="Seen")
    ruling_review(actor=house["shift-manager"], ruling=ruling, rulebook=OPEN_COVER, outcome="Not carried over")
    assert to_review(house["compliance"]) == []
    with pytest.raises(OvertakenError):
        ruling_review(actor=house["shift-manager"], ruling=ruling, rulebook=OPEN_COVER, outcome="Again")
    assert RulingReview.objects.count() == 1


# --- Discretion ---


def test_4_9_discretion_is_a_record_of_its_own(house: House) -> None:
    table = ready_table(house, "D9-01", rulebook=DIVISION_9, layout="1", limits=sign())
    incident = incident_about(house, table, situation="chips-moved")
    record = discretion_record(
        actor=house["pit-manager"], incident=incident, decision="The bet counts where it was placed.", reason="Seen"
    )
    assert (record.rule, record.post) == (f"{DIVISION_9}#4.9", "pit manager")
    with pytest.raises(OvertakenError):
        discretion_record(actor=house["pit-manager"], incident=incident, decision=record.decision, reason="Again")
    with pytest.raises(Denied):
        discretion_record(actor=house["pit-supervisor"], incident=incident, decision="x", reason="x")


def test_4_9_is_not_for_documents_that_leave_nothing_open(house: House, incident: Incident) -> None:
    with pytest.raises(ValidationError, match="ask for a ruling"):
        discretion_record(actor=house["pit-manager"], incident=incident, decision="x", reason="x")


# --- By SQL ---


COPIED = (
    "casino_id, pit_id, table_id, incident_id, year, kind, situation, rulebook, rules, readings, question, facts, "
    "decision, reasoning, scope, is_withdrawal, departure, override"
)


def inserted(ruling: Ruling, by: Staff, post: str = "shift manager") -> None:
    """A copy of a ruling by somebody else, as the application's own role would write it."""
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(
            f"INSERT INTO audits_ruling ({COPIED}, serial, number, by_id, post, who, made_at) SELECT {COPIED}, 99, "
            "'RU-' || year || '-000099', %s, %s, 'x', made_at - interval '2 minutes' FROM audits_ruling WHERE id = %s",
            [by.pk, post, ruling.pk],
        )


def test_the_database_lets_only_who_may_rule(house: House, table: Table) -> None:
    dealt = played(table, timezone.now() - MINUTE, "R-1", dealer="PIT-MANAGER")
    ruling = ruled(house, incident_about(house, table, dealt, role="casino-manager"), override="")
    for role in PEOPLE:
        if role not in ("shift-manager", "casino-manager"):
            with pytest.raises(DatabaseError, match="holds no post"):
                inserted(ruling, house[role])
            refused = f"Staff {house[role].pk} holds no post that rules at this moment."
            assert refused in servers.servers()[0].log.read_text(errors="replace")  # the server's own record
    with pytest.raises(DatabaseError, match="reported"):
        inserted(ruling, house["casino-manager"])
    now = timezone.now()
    for name, starts_at, ends_at in (("was", now - 4 * MINUTE, now - MINUTE), ("is", now - MINUTE, now + HOUR)):
        acting = house.hire(f"ACTING-{name}", "pit-supervisor", pit=house.pits["P1"])
        duty = Duty(
            staff=acting, post="shift-manager", casino=house.casino, starts_at=starts_at, ends_at=ends_at,
            granted_by=house["casino-manager"], granted_as="casino-manager", reason="x",
            scope="all-pits", department="pit", own_post="pit-supervisor",
        )  # fmt: skip
        Duty.objects.bulk_create([duty])
        if name == "was":
            with pytest.raises(DatabaseError, match="holds no post"):
                inserted(ruling, acting)
        else:
            inserted(ruling, acting, "acting shift manager")


def test_the_database_lets_no_party_rule(house: House, table: Table) -> None:
    dealt = played(table, timezone.now() - MINUTE, "R-1", supervisor="CASINO-MANAGER")
    ruling = ruled(house, incident_about(house, table, dealt))
    with pytest.raises(DatabaseError, match="dealt or supervised"):
        inserted(ruling, house["casino-manager"])
    with pytest.raises(DatabaseError, match="ruling_in_a_post_that_rules"):
        inserted(ruling, house.hire("SM-2", "shift-manager"), "pit manager")


def test_a_ruling_is_written_once(house: House, incident: Incident) -> None:
    ruling = ruled(house, incident)
    for statement in ("UPDATE audits_ruling SET decision = 'x'", "DELETE FROM audits_ruling"):
        with pytest.raises(DatabaseError), transaction.atomic(), connection.cursor() as cursor:
            cursor.execute(f"{statement} WHERE id = %s", [ruling.pk])
