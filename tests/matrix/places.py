"""Objects of every kind, once in each place: the own pit, another pit, another casino."""

import datetime as dt
import io
from dataclasses import dataclass
from typing import Any

from django.contrib.contenttypes.models import ContentType
from django.db.models import Model
from django.utils import timezone
from django_celery_beat.models import IntervalSchedule, PeriodicTask
from django_celery_results.models import TaskResult

from audits.findings.services.findings import finding_acknowledge
from audits.incidents.services.disputes import dispute_raise, dispute_rule_set
from audits.incidents.services.evidence import evidence_add
from audits.incidents.services.incidents import IncidentReport, incident_open
from audits.incidents.services.log import handover_sign, log_write
from audits.incidents.services.shifts import shift_add
from audits.models import DayClose, DaySummary, Finding, Notice
from audits.reconciliation.services.arrivals import arrivals_take
from audits.reconciliation.services.runs import close_start, part_take, run_start
from audits.reports.services.certificates import report_certify
from audits.reports.services.production import report_take
from audits.reports.services.reports import report_again, report_ask
from audits.reports.services.schedules import schedule_create
from audits.rulings.services.corrective_actions import Basis, consequence_execute, round_settle
from audits.rulings.services.discretions import discretion_record
from audits.rulings.services.rulings import RulingDraft, ruling_make
from games.access.services.access_reviews import reviews_open
from games.access.services.acting_appointments import duty_grant
from games.access.services.people import account_reset
from games.engine.signs.edits import Edits
from games.limits.services.presets import preset_add
from games.limits.services.proposals import limits_edit
from games.live.services import live_open
from games.models import (
    AccessRecord,
    AccessReview,
    Denial,
    FactorReset,
    FailedLogin,
    ImportJob,
    LoginSession,
    Round,
    SettlementPolicy,
    Staff,
    Table,
)
from games.rounds.services.recording import round_record
from games.settlement_policies.services import Setting
from games.terminals.services import terminal_create
from games.thresholds.services import threshold_propose
from tests.audits.decided import incident_about, standing
from tests.audits.files import PNG
from tests.conftest import OPERATOR, PEOPLE, House
from tests.games.engine.oracle import DIVISION_9
from tests.games.floor_setup import bare_table, open_table, sign
from tests.games.rounds.samples import bet, current, line

#: The object of each kind in one place, by the name of its model.
Samples = dict[str, Any]
OWN, PIT, CASINO = "own", "pit", "casino"
PASSED_NUMBERS = 8


@dataclass(frozen=True)
class Place:
    """Where objects are made, and by whom: a house as the people who work there see it."""

    name: str
    house: House

    @property
    def mark(self) -> str:
        """What tells the names of things of this place from those of the others."""
        return {OWN: "1", PIT: "2", CASINO: "3"}[self.name]


def places(house: House) -> list[Place]:
    """The own pit P1, the pit P2 of the same casino, and a pit of another casino, each with its own people."""
    other_pit = House(house.casino, {"P1": house.pits["P2"]}, house.other, house.other_pit, dict(house.people))
    elsewhere = House(house.other, {"P1": house.other_pit}, house.casino, house.pits["P1"])
    for role, (_, _, pit) in PEOPLE.items():
        if pit:
            other_pit.people[role] = other_pit.hire(f"P2-{role}".upper(), role, pit=house.pits["P2"])
        elsewhere.people[role] = elsewhere.hire(f"E-{role}".upper(), role, pit=house.other_pit if pit else None)
    return [Place(OWN, house), Place(PIT, other_pit), Place(CASINO, elsewhere)]


def whole_house(house: House) -> Samples:
    """Make an object of every kind in the own pit."""
    return samples_at([Place(OWN, house)])[OWN] | nowhere_samples()


def all_samples(house: House) -> dict[str, Samples]:
    """Make an object of every kind in every place that has such."""
    anywhere = nowhere_samples()
    return {place: made | anywhere for place, made in samples_at(places(house)).items()}


def samples_at(places: list[Place]) -> dict[str, Samples]:
    """Rounds and what is found in them everywhere first: a decision on a round would change what is found later."""
    made = {place.name: played_samples(place) for place in places}
    reviews_open()
    for place in places:
        made[place.name] |= decided_samples(place, made[place.name]["table"])
    return made


def played_samples(place: Place) -> Samples:
    table = open_table(place.house, f"TS-0{place.mark}")
    made = floor_samples(place, table) | round_samples(place, table) | audited_samples(place, table)
    made |= report_samples(place)
    return made if place.name == PIT else made | day_samples(place, table)


def decided_samples(place: Place, table: Table) -> Samples:
    if place.name == CASINO:
        pass_numbers(place, table)
    made = incident_samples(place, table) | ruling_samples(place, table) | people_samples(place)
    return made if place.name == PIT else made | casino_samples(place, table)


def pass_numbers(place: Place, table: Table) -> None:
    """Incidents and rulings are numbered by casino: those of another have numbers that the own one has not reached."""
    draft = RulingDraft(kind="not-covered", question="Who won?", decision="The house.", reasoning="The recording")
    for _ in range(PASSED_NUMBERS):
        ruling_make(actor=place.house["casino-manager"], incident=incident_about(place.house, table), draft=draft)


def floor_samples(place: Place, table: Table) -> Samples:
    house = place.house
    lower = Edits({("big-small", "min"): 500})
    return {
        "pit": house.pits["P1"],
        "table": table,
        "limitproposal": limits_edit(actor=house["pit-manager"], edits={table: lower}, reason="Sample"),
        "limitset": table.limit_sets.get(),
        "diceset": table.dice_fits.get().dice_set,
        "tumbler": table.tumbler_fits.get().tumbler,
    }


def round_samples(place: Place, table: Table) -> Samples:
    """A round with a winner who was paid twice, and a round in play."""
    house = place.house
    wrong = current(
        ref=f"R-{place.mark}", table=table.code, bets=[bet("seat-3", "small", "100.00", net="200.00")],
        dealer=house.people["dealer"].number, supervisor=house.people["pit-supervisor"].number,
    )  # fmt: skip
    key, _ = round_record(actor=OPERATOR, line=line(wrong), channel="api")
    document = {"source": "floor", "ref": f"L-{place.mark}", "table": table.code}
    in_play, _ = live_open(actor=OPERATOR, document=document)
    return {"round": Round.objects.get(pk=key), "liveround": in_play["id"]}


def audited_samples(place: Place, table: Table) -> Samples:
    """A finding that was acknowledged, and a notice."""
    house = place.house
    arrivals_take()
    finding = Finding.objects.get(category="discrepancy", table=table)
    return {
        "finding": finding_acknowledge(actor=house["pit-manager"], finding=finding),
        "notice": Notice.objects.create(casino=house.casino, pit=house.pits["P1"], role="pit-manager", text="x"),
    }


def report_samples(place: Place) -> Samples:
    """A report of the pit that was run again and certified."""
    house = place.house
    day, pit_manager = timezone.now().date(), house["pit-manager"]
    run = report_ask(actor=pit_manager, kind="discrepancies", format="pdf", first=day, last=day)
    report_take(key=run.pk)
    again = report_take(key=report_again(actor=pit_manager, run=run).pk)
    if again is None:
        raise AssertionError
    report_certify(actor=house["compliance"], run=again, statement="Sample")
    return {"reportrun": again}


def day_samples(place: Place, table: Table) -> Samples:
    """A day that was closed, and a run under way."""
    casino = place.house.casino
    day = Finding.objects.filter(table=table)[0].gaming_day
    for part in close_start(casino=casino, day=day, who="x").parts.all():
        part_take(key=part.pk)
    return {
        "run": run_start(actor=OPERATOR, casino=casino, day=day),
        "daysummary": DaySummary.objects.get(table=table),
        "dayclose": DayClose.objects.get(casino=casino),
    }


def incident_samples(place: Place, table: Table) -> Samples:
    """A log entry, a handover, and a file with evidence and a dispute."""
    house = place.house
    now, surveillance = timezone.now(), house["surveillance"]
    report = IncidentReport(house.casino, now, "other", "Sample", table=table)
    incident = incident_open(actor=surveillance, report=report)
    return {
        "logentry": log_write(actor=surveillance, casino=house.casino, at=now, summary="Sample", table=table),
        "handover": handover_sign(actor=house["pit-supervisor"], casino=house.casino, watch="Sample"),
        "incident": incident,
        "evidence": evidence_add(
            actor=surveillance, about=incident, description="Sample", name="x.png", content=io.BytesIO(PNG)
        ),
        "dispute": dispute_raise(
            actor=house["compliance"], incident=incident, patron="P-1", raised_at=now, reason="Sample"
        ),
    }


def ruling_samples(place: Place, table: Table) -> Samples:
    """A ruling on a file of its own, the round that is settled by it, what a player gives back; a discretion."""
    house = place.house
    manager = house["casino-manager"]
    report = IncidentReport(house.casino, timezone.now(), "other", "Ruled on", table=table)
    incident = incident_open(actor=house["surveillance"], report=report)
    draft = RulingDraft(kind="not-covered", question="Who won?", decision="The house.", reasoning="The recording")
    ruling = ruling_make(actor=manager, incident=incident, draft=draft)
    order = round_settle(
        actor=manager, basis=Basis(incident, ruling), round=table.rounds.get(), reason="As ruled", dice=[6, 6, 5]
    )
    consequence_execute(actor=house["shift-manager"], consequence=order, reason="Agreed")
    by_division_9 = bare_table(house, f"D9-0{place.mark}", rulebook=DIVISION_9, layout="1")
    moved = incident_about(house, by_division_9, situation="chips-moved")
    decision = discretion_record(actor=manager, incident=moved, decision="Sample", reason="Sample")
    return {"ruling": ruling, "consequence": order, "repayment": order.repayments.get(), "discretion": decision}


def casino_samples(place: Place, table: Table) -> Samples:
    """What belongs to a whole casino."""
    house, staff, now = place.house, place.house["pit-supervisor"], timezone.now()
    compliance, manager = house["compliance"], house["casino-manager"]
    filled = standing(setting=Setting(excess="filled"))
    ruling_make(actor=manager, incident=incident_about(house, table, account="Standing"), draft=filled)
    other = house.hire(f"IT2-{place.mark}", "administrator")
    terminal, _ = terminal_create(actor=OPERATOR, name=f"T{place.mark}", tables=[table], reason="Sample")
    change: dict[str, Any] = {"kind": "acting", "values": {"acting_days": 7}}
    return {
        "casino": house.casino,
        "accessreview": AccessReview.objects.get(casino=house.casino),
        "settlementpolicy": SettlementPolicy.objects.get(casino=house.casino),
        "terminal": terminal,
        "shift": shift_add(actor=compliance, casino=house.casino, name="Day", starts=dt.time(6), reason="Sample"),
        "disputerule": dispute_rule_set(actor=compliance, casino=house.casino, changes={"days": 7}, reason="Sample"),
        "limitpreset": preset_add(
            actor=house["shift-manager"], casino=house.casino, name="Weekend", limits=sign(), reason="Sample"
        ),
        "thresholdchange": threshold_propose(
            actor=house.hire(f"C2-{place.mark}", "compliance"), casino=house.casino, reason="Sample", **change
        ),
        "accountproposal": account_reset(
            actor=other, staff=house["surveillance"], site="http://localhost", reason="Sample"
        ),
        "factorreset": FactorReset.objects.create(staff=staff, proposed_by=other, proposed_at=now, reason="Sample"),
        "reportschedule": schedule_create(
            actor=compliance, values={"casino": house.casino, "kind": "daily", "format": "pdf"}, reason="Sample"
        ),
        "importjob": ImportJob.objects.create(casino=house.casino, by=staff, name="x", stored="x", size=1),
        "accessrecord": AccessRecord.objects.create(who="x", kind="export", thing="x", casino=house.casino),
        "denial": Denial.objects.create(who="x", action="x", thing="x", door="x", casino=house.casino),
        "failedlogin": FailedLogin.objects.create(
            staff=staff, number=staff.number, casino=house.casino, kind="password"
        ),
    }


def people_samples(place: Place) -> Samples:
    """A person, an acting appointment and a session."""
    house, now = place.house, timezone.now()
    pit, staff = house.pits["P1"], house["pit-supervisor"]
    duty = duty_grant(
        actor=house["shift-manager"], staff=house.hire(f"S2-{place.mark}", "pit-supervisor", pit=pit), pit=pit,
        post="pit-manager", casino=house.casino, starts_at=now, ends_at=now + dt.timedelta(hours=1), reason="Sample",
    )  # fmt: skip
    login = LoginSession.objects.create(staff=staff, started_at=now, seen_at=now)
    return {"staff": staff, "duty": duty, "loginsession": login}


def nowhere_samples() -> Samples:
    """What belongs to no casino."""
    interval = IntervalSchedule.objects.create(every=1, period="days")
    return {
        "periodictask": PeriodicTask.objects.create(name="x", task="x", interval=interval),
        "taskresult": TaskResult.objects.create(task_id="x"),
        "content_type": ContentType.objects.get_for_model(Staff),
    }


def key_of(thing: Any) -> str:
    return str(thing.pk if isinstance(thing, Model) else thing)
