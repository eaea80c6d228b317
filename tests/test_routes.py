"""Every route × role, by tests/routes.toml: what each role may open, and that nobody forgot to say so."""

import datetime as dt
import io
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.contrib.contenttypes.models import ContentType
from django.test import Client
from django.urls import URLPattern, URLResolver, get_resolver
from django.utils import timezone
from django_celery_beat.models import IntervalSchedule, PeriodicTask
from django_celery_results.models import TaskResult

from audits.models import DayClose, DaySummary, Finding, Notice
from audits.services.arrivals import arrivals_take
from audits.services.consequences import Basis, consequence_execute, round_settle
from audits.services.discretions import discretion_record
from audits.services.disputes import dispute_raise, dispute_rule_set
from audits.services.evidence import evidence_add
from audits.services.findings import finding_acknowledge
from audits.services.incidents import Report, incident_open
from audits.services.logs import handover_sign, log_write
from audits.services.rulings import Draft, ruling_make
from audits.services.runs import close_start, part_take, run_start
from audits.services.shifts import shift_add
from games.engine.sign_edits import Edits
from games.models import (
    AccessRecord,
    Denial,
    Duty,
    FactorReset,
    FailedLogin,
    ImportJob,
    LoginSession,
    Round,
    SettlementPolicy,
    Staff,
    Table,
)
from games.services.access_reviews import reviews_open
from games.services.duties import duty_grant
from games.services.limits import limits_edit
from games.services.live import live_open
from games.services.people import account_reset
from games.services.presets import preset_add
from games.services.rounds import round_record
from games.services.settlement import Setting
from games.services.terminals import terminal_create
from games.services.thresholds import threshold_propose
from tests.audits.decided import incident_about, standing
from tests.audits.files import PNG
from tests.conftest import OPERATOR, House
from tests.games.engine.oracle import DIVISION_9
from tests.games.floor import bare_table, open_table, sign
from tests.games.rounds.samples import bet, current, line

TABLE = tomllib.loads(Path(__file__).with_name("routes.toml").read_text())
ROLES: list[str] = TABLE["roles"]
ROUTES: dict[str, list[int]] = TABLE["routes"]


def all_routes(resolver: URLResolver | None = None, prefix: str = "", names: str = "") -> Iterator[tuple[str, str]]:
    """The name and the path of every route there is; one without a name goes by its path."""
    for entry in (resolver or get_resolver()).url_patterns:
        path = prefix + str(entry.pattern)
        if isinstance(entry, URLResolver):
            yield from all_routes(entry, path, f"{names}{entry.namespace}:" if entry.namespace else names)
        elif isinstance(entry, URLPattern):
            yield (names + entry.name if entry.name else path), path


PATHS = dict(all_routes())
KEYS = {
    "dice-sets": "diceset", "tumblers": "tumbler", "rounds": "round", "live-rounds": "liveround",
    "log-entries": "logentry", "evidence": "evidence", "consequences": "consequence", "repayments": "repayment",
}  # fmt: skip
QUERIES = {"admin:autocomplete": "?app_label=games&model_name=duty&field_name=staff&term=", "api:search": "?q=dice"}


def test_every_route_has_its_line_and_every_line_its_route() -> None:
    assert set(PATHS) == set(ROUTES)


def test_every_line_answers_for_every_role() -> None:
    assert {name: len(answers) for name, answers in ROUTES.items()} == dict.fromkeys(ROUTES, len(ROLES))


def record_round() -> None:
    """With a winner who was paid twice."""
    wrong = [bet("seat-3", "small", "100.00", net="200.00")]
    round_record(actor=OPERATOR, line=line(current(bets=wrong)), channel="api")


def audited_samples(house: House) -> dict[str, str]:
    """A finding that was acknowledged, a run under way, a day that was closed."""
    arrivals_take()
    finding = finding_acknowledge(actor=house["pit-manager"], finding=Finding.objects.get(category="discrepancy"))
    close = close_start(casino=house.casino, day=finding.gaming_day, who="x")
    for part in close.parts.all():
        part_take(key=part.pk)
    run = run_start(actor=OPERATOR, casino=house.casino, day=finding.gaming_day)
    notice = Notice.objects.create(casino=house.casino, pit=house.pits["P1"], role="pit-manager", text="x")
    return {
        "finding": str(finding.pk),
        "run": str(run.pk),
        "daysummary": str(DaySummary.objects.get().pk),
        "dayclose": str(DayClose.objects.get().pk),
        "notice": str(notice.pk),
        "finding/history": str(finding.history.get().history_id),
    }


def incident_samples(house: House, table: Table) -> dict[str, str]:
    """A log entry, a handover, a file with evidence and a dispute, a shift and a rule for disputes."""
    now, surveillance, compliance = timezone.now(), house["surveillance"], house["compliance"]
    entry = log_write(actor=surveillance, casino=house.casino, at=now, summary="Sample", table=table)
    handover = handover_sign(actor=house["pit-supervisor"], casino=house.casino, watch="Sample")
    report = Report(house.casino, now, "other", "Sample", table=table)
    incident = incident_open(actor=surveillance, report=report)
    evidence = evidence_add(
        actor=surveillance, about=incident, description="Sample", name="x.png", content=io.BytesIO(PNG)
    )
    dispute = dispute_raise(actor=compliance, incident=incident, patron="P-1", raised_at=now, reason="Sample")
    shift = shift_add(actor=compliance, casino=house.casino, name="Day", starts=dt.time(6), reason="Sample")
    rule = dispute_rule_set(actor=compliance, casino=house.casino, changes={"days": 7}, reason="Sample")
    audited: dict[str, Any] = {"incident": incident, "dispute": dispute, "shift": shift, "disputerule": rule}
    things = {"logentry": entry, "handover": handover, "evidence": evidence, **audited}
    return (
        {"number": incident.number}
        | {name: str(thing.pk) for name, thing in things.items()}
        | {f"{name}/history": str(thing.history.first().history_id) for name, thing in audited.items()}
    )


def ruling_samples(house: House, table: Table) -> dict[str, str]:
    """A ruling on a file of its own, the round that is settled by it, and what a player gives back."""
    manager = house["casino-manager"]
    report = Report(house.casino, timezone.now(), "other", "Ruled on", table=table)
    incident = incident_open(actor=house["surveillance"], report=report)
    draft = Draft(kind="not-covered", question="Who won?", decision="The house.", reasoning="The recording")
    ruling = ruling_make(actor=manager, incident=incident, draft=draft)
    basis = Basis(incident, ruling)
    order = round_settle(actor=manager, basis=basis, round=Round.objects.get(), reason="As ruled", dice=[6, 6, 5])
    consequence_execute(actor=house["shift-manager"], consequence=order, reason="Agreed")
    return {
        "ruling": str(ruling.pk),
        "ruling_number": ruling.number,
        "consequence": str(order.pk),
        "repayment": str(order.repayments.get().pk),
    }


def decided_samples(house: House, table: Table) -> dict[str, str]:
    """What a standing ruling sets, a casino's setting, and a decision that Division 9 leaves to the operator."""
    manager = house["casino-manager"]
    filled = standing(setting=Setting(excess="filled"))
    ruling_make(actor=manager, incident=incident_about(house, table, account="Standing"), draft=filled)
    moved = incident_about(house, bare_table(house, "D9-01", rulebook=DIVISION_9, layout="1"), situation="chips-moved")
    decision = discretion_record(actor=manager, incident=moved, decision="Sample", reason="Sample")
    return {
        "settlementpolicy": str(SettlementPolicy.objects.get().pk),
        "discretion": str(decision.pk),
    }


@pytest.fixture
def samples(house: House) -> dict[str, str]:
    """An object for each place that a path leaves open."""
    now = timezone.now()
    other = house.hire("S2", "pit-supervisor", pit=house.pits["P1"])
    duty: Duty = duty_grant(
        actor=house["shift-manager"], staff=other, post="pit-manager", casino=house.casino,
        pit=house.pits["P1"], starts_at=now, ends_at=now + dt.timedelta(hours=1), reason="Sample",
    )  # fmt: skip
    interval = IntervalSchedule.objects.create(every=1, period="days")
    staff: Staff = house["pit-supervisor"]
    table = open_table(house)
    lower = Edits({("big-small", "min"): 500})
    proposal = limits_edit(actor=house["pit-manager"], edits={table: lower}, reason="Sample")
    preset = preset_add(
        actor=house["shift-manager"], casino=house.casino, name="Weekend 100", limits=sign(), reason="Sample"
    )
    dice_set = table.dice_fits.get().dice_set
    tumbler = table.tumbler_fits.get().tumbler
    record_round()
    upload = ImportJob.objects.create(casino=house.casino, by=staff, name="x", stored="x", size=1)
    terminal, _ = terminal_create(actor=OPERATOR, name="T1", tables=[table], reason="Sample")
    in_play, _ = live_open(actor=OPERATOR, document={"source": "floor", "ref": "L-1", "table": table.code})
    proposer = house.hire("C2", "compliance")
    change = threshold_propose(
        actor=proposer, casino=house.casino, kind="acting", values={"acting_days": 7}, reason="Sample"
    )
    other_admin = house.hire("IT2", "administrator")
    proposal_on_account = account_reset(
        actor=other_admin, staff=house["surveillance"], site="http://localhost", reason="Sample"
    )
    read = AccessRecord.objects.create(who="x", kind="export", thing="x", casino=house.casino)
    review = next(review for review in reviews_open() if review.casino == house.casino)
    denial = Denial.objects.create(who="x", action="x", thing="x", door="x", casino=house.casino)
    login = LoginSession.objects.create(staff=staff, started_at=now, seen_at=now)
    failed = FailedLogin.objects.create(staff=staff, number=staff.number, casino=house.casino, kind="password")
    reset = FactorReset.objects.create(staff=staff, proposed_by=other_admin, proposed_at=now, reason="Sample")
    return (
        audited_samples(house)
        | incident_samples(house, table)
        | ruling_samples(house, table)
        | decided_samples(house, table)
        | {
            "casino": str(house.casino.pk),
            "thresholdchange": str(change.pk),
            "pit": str(house.pits["P1"].pk),
            "staff": str(staff.pk),
            "duty": str(duty.pk),
            "denial": str(denial.pk),
            "loginsession": str(login.pk),
            "failedlogin": str(failed.pk),
            "factorreset": str(reset.pk),
            "accountproposal": str(getattr(proposal_on_account, "pk", None)),
            "accessrecord": str(read.pk),
            "accessreview": str(review.pk),
            "table": str(table.pk),
            "limitproposal": str(proposal.pk),
            "limitpreset": str(preset.pk),
            "limitset": str(table.limit_sets.get().pk),
            "diceset": str(dice_set.pk),
            "tumbler": str(tumbler.pk),
            "round": str(Round.objects.get().pk),
            "liveround": str(in_play["id"]),
            "importjob": str(upload.pk),
            "terminal": str(terminal.pk),
            "periodictask": str(PeriodicTask.objects.create(name="x", task="x", interval=interval).pk),
            "taskresult": str(TaskResult.objects.create(task_id="x").pk),
            "content_type": str(ContentType.objects.get_for_model(Staff).pk),
            "casino/history": str(house.casino.history.first().history_id),
            "limitpreset/history": str(preset.history.get().history_id),
            "pit/history": str(house.pits["P1"].history.first().history_id),
            "staff/history": str(staff.history.first().history_id),
            "duty/history": str(duty.history.first().history_id),
            "table/history": str(table.history.first().history_id),
            "diceset/history": str(dice_set.history.first().history_id),
            "tumbler/history": str(tumbler.history.first().history_id),
            "terminal/history": str(terminal.history.first().history_id),
        }
    )


def concrete(path: str, samples: dict[str, str]) -> str:
    """A path with its open places filled: `admin/games/pit/<path:object_id>/change/` and its like."""
    thing = path.removeprefix("admin/").split("/")[1] if path.startswith("admin/") and path.count("/") > 2 else ""
    path = re.sub(r"\^\(\?P<app_label>[^)]*\)/\$", "games/", path)
    return "/" + (
        path.replace("<str:code>", "TS-01")
        .replace("<uuid:key>", samples["loginsession"])
        .replace("<str:number>", samples["ruling_number" if "/rulings/" in path else "number"])
        .replace("<int:key>", samples[KEYS.get(path.split("/")[2] if path.startswith("api/") else "", "limitproposal")])
        .replace("^([^/]+)/history/([^/]+)/$", f"{samples.get(thing)}/history/{samples.get(thing + '/history')}/")
        .replace("<path:object_id>", samples.get(thing, "1"))
        .replace("<int:content_type_id>", samples["content_type"])
        .replace("<path:content_type_id>", samples["content_type"])
        .replace("(?P<url>.*)$", "nowhere")
    )


def opened(client: Client, address: str) -> int:
    """The answer; a file that comes with it is read to its end, and so closed."""
    answer: Any = client.get(address)
    if answer.streaming:
        b"".join(answer.streaming_content)
    return int(answer.status_code)


@pytest.mark.parametrize("role", ROLES)
def test_each_role_opens_what_is_its_own_and_nothing_else(role: str, house: House, samples: dict[str, str]) -> None:
    client = Client()
    if role != "anonymous":
        client.force_login(house[role])
    answers = {name: opened(client, concrete(path, samples) + QUERIES.get(name, "")) for name, path in PATHS.items()}
    column = ROLES.index(role)
    assert answers == {name: line[column] for name, line in ROUTES.items()}


@pytest.mark.parametrize("role", ROLES[1:])
def test_what_a_role_may_not_open_it_may_not_post_to_either(role: str, house: House, samples: dict[str, str]) -> None:
    client = Client()
    client.force_login(house[role])
    column = ROLES.index(role)
    closed = [name for name, line in ROUTES.items() if line[column] == 403]
    answers = {name: client.post(concrete(PATHS[name], samples) + QUERIES.get(name, "")).status_code for name in closed}
    assert {name: answer for name, answer in answers.items() if answer not in (403, 405)} == {}


def test_an_auditor_reads_everything_and_writes_nothing(house: House, samples: dict[str, str]) -> None:
    client = Client()
    client.force_login(house["auditor"])
    pages = [
        name
        for name in PATHS
        if re.search(r"_(games|audits|celery)_.*_(change|simple_history|add|delete)$", f"_{name[6:]}")
    ]
    answers = {name: client.post(concrete(PATHS[name], samples)).status_code for name in pages}
    assert pages
    assert answers == dict.fromkeys(pages, 403)
