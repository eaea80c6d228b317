"""Whose casino a document was approved for: page, sign and report say where it is used by agreement only."""

import json
from pathlib import Path
from typing import Any

import pytest
import typst
from django.core.management import call_command

from audits.models import Finding
from audits.reconciliation.services.arrivals import arrivals_take
from audits.reports.notes import approval_notes, table_notes
from games.engine.rules.loader import rulebook
from games.floor.approval import CasinoApproval, approval_of, approval_text
from games.floor.services.casinos import casino_update
from games.limits.signs.pdf import sign_pdf
from games.models import Casino, Table, TableAssignment
from games.rounds.services.recording import round_record
from tests.audits.reports.asking import asked_by
from tests.conftest import OPERATOR, House
from tests.games.engine.oracle import DIVISION_9, OPEN_COVER, V6
from tests.games.floor_setup import NOON, bare_table, put_sign
from tests.games.floors import CASINO, edited, faults, load, on_record
from tests.games.limits.test_signs import page, printed, sign_now
from tests.games.logins import logged_in
from tests.games.rounds.samples import bet, current, line

APPROVED = "Resorts World at Sentosa Pte. Ltd."
OTHER = "Harbour Gaming Pte. Ltd."
BY_AGREEMENT = "used by agreement, not approved for this casino"
DAY = NOON.date()


@pytest.fixture
def table(house: House, clock: Any) -> Table:
    table = bare_table(house, layout="E")
    put_sign(table)
    return table


def run_by(casino: Casino, operator: str) -> None:
    casino_update(actor=OPERATOR, casino=casino, changes={"operator": operator}, reason="As the licence says")


@pytest.mark.parametrize("book", [V6, OPEN_COVER])
@pytest.mark.parametrize(
    ("operator", "approval"),
    [
        (APPROVED, CasinoApproval.APPROVED),
        ("resorts  world at sentosa, pte ltd", CasinoApproval.APPROVED),
        ("RWS", CasinoApproval.APPROVED),
        (OTHER, CasinoApproval.BY_AGREEMENT),
        ("Resorts World", CasinoApproval.BY_AGREEMENT),
        ("", CasinoApproval.OPERATOR_NOT_NAMED),
        ("  ", CasinoApproval.OPERATOR_NOT_NAMED),
    ],
)
def test_the_operator_that_the_document_names_has_its_approval(
    book: str, operator: str, approval: CasinoApproval
) -> None:
    assert approval_of(rulebook(book), Casino(operator=operator)) is approval


@pytest.mark.parametrize("operator", [APPROVED, OTHER, ""])
def test_of_a_document_that_names_nobody_nothing_is_claimed(operator: str) -> None:
    casino = Casino(operator=operator)
    assert approval_of(rulebook(DIVISION_9), casino) is CasinoApproval.DOCUMENT_SILENT
    assert approval_text(rulebook(DIVISION_9), casino) == "The document names no operator; approval not checked."


@pytest.mark.parametrize(
    ("operator", "said", "is_on_the_sign"),
    [
        (APPROVED, "These rules are approved for this casino.", False),
        (OTHER, BY_AGREEMENT, True),
        ("", "The operator of this casino is not named; approval not checked.", False),
    ],
)
def test_table_page_and_sign_say_it(house: House, table: Table, operator: str, said: str, is_on_the_sign: bool) -> None:
    run_by(house.casino, operator)
    assert said in page(house, "pit-supervisor", table, "change/")
    assert (BY_AGREEMENT in page(house, "pit-supervisor", table)) is is_on_the_sign
    one = sign_now(Table.objects.get(pk=table.pk))
    client = logged_in(house["pit-supervisor"])
    values = {"limit_set": one.limit_set.pk, "assignment": one.assignment.pk, "form": "html"}
    paper = client.post(f"/admin/games/table/{table.pk}/print/", values).content.decode()
    assert (BY_AGREEMENT in paper) is is_on_the_sign


def test_the_pdf_of_a_sign_says_it(house: House, table: Table, monkeypatch: pytest.MonkeyPatch) -> None:
    texts: list[str] = []
    monkeypatch.setattr(typst, "compile", _keeping(typst.compile, texts))
    run_by(house.casino, APPROVED)
    approved = sign_pdf(sign_now(Table.objects.get()), printed(house, table))
    run_by(house.casino, OTHER)
    by_agreement = sign_pdf(sign_now(Table.objects.get()), printed(house, table))
    assert [BY_AGREEMENT in json.loads(text)["notice"] for text in texts] == [False, True]
    assert approved.startswith(b"%PDF-")
    assert by_agreement.startswith(b"%PDF-")


def _keeping(compile_: Any, texts: list[str]) -> Any:
    def kept(template: Path, *, sys_inputs: dict[str, str], **options: Any) -> bytes:
        texts.append(sys_inputs["sign"])
        assert "sign.notice" in template.read_text()
        pdf: bytes = compile_(template, sys_inputs=sys_inputs, **options)
        return pdf

    return kept


def test_a_report_says_it_of_each_rulebook_played_in_its_period(house: House, table: Table) -> None:
    bare_table(house, "TS-02", rulebook=DIVISION_9, layout="1")
    asked = asked_by(OPERATOR, DAY, DAY)
    run_by(house.casino, APPROVED)
    assert approval_notes(asked) == []
    run_by(house.casino, OTHER)
    (note,) = approval_notes(asked)
    assert note == f"{house.casino}: {rulebook(V6).title}, version 6. These rules are {BY_AGREEMENT}."
    assert approval_notes(asked_by(OPERATOR, DAY, DAY, table=Table.objects.get(code="TS-02"))) == []
    assert table_notes(Table.objects.get(code="TS-01"), DAY) == [note]
    before = TableAssignment.objects.get(table=table).starts_at.date().replace(year=2025)
    assert approval_notes(asked_by(OPERATOR, before, before)) == []


def test_the_command_says_it_beside_the_file_and_never_in_the_rows(
    house: House, table: Table, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run_by(house.casino, OTHER)
    path = tmp_path / "found.json"
    call_command("report", "breaches", "--day", f"{DAY}", "--format", "json", "-o", str(path))
    assert BY_AGREEMENT in capsys.readouterr().out
    assert json.loads(path.read_text()) == []
    beside = tmp_path / "found.json.notes.txt"
    assert beside.read_text() == f"{house.casino}: {rulebook(V6).title}, version 6. These rules are {BY_AGREEMENT}.\n"
    call_command("report", "breaches", "--day", f"{DAY}", "--format", "json")
    assert json.loads(capsys.readouterr().out) == []
    run_by(house.casino, APPROVED)
    call_command("report", "breaches", "--day", f"{DAY}", "--format", "json", "-o", str(path))
    assert not beside.exists()


def test_the_pages_of_a_round_its_findings_and_of_practice_say_it(house: House, table: Table, clock: Any) -> None:
    round_record(actor=OPERATOR, line=line(current(bets=[bet(net="90.00")])), channel="api")
    arrivals_take()
    finding = Finding.objects.filter(category="discrepancy").get()
    client = logged_in(house["shift-manager"])
    pages = (
        f"/admin/games/round/{finding.round_id}/change/", f"/admin/audits/finding/{finding.pk}/change/",
        f"/admin/games/table/{table.pk}/practise/",
    )  # fmt: skip
    for operator, is_said in ((APPROVED, False), (OTHER, True)):
        run_by(house.casino, operator)
        for page_ in pages:
            assert (BY_AGREEMENT in client.get(page_).content.decode()) is is_said, page_


def test_the_api_says_it_of_a_game(house: House, table: Table) -> None:
    run_by(house.casino, OTHER)
    client = logged_in(house["auditor"])
    assert client.get("/api/v1/tables/TS-01/").json()["game"]["approval"] == "by-agreement"


# --- Who runs the casino ---


def test_a_floor_file_names_the_operator_and_one_that_does_not_changes_nothing(db: None, tmp_path: Path) -> None:
    path = tmp_path / "floor.toml"
    load(path, CASINO)
    assert Casino.objects.get().operator == ""
    load(path, CASINO + f'operator = "{APPROVED}"\n')
    casino = Casino.objects.get()
    assert casino.operator == APPROVED
    assert [one.operator for one in casino.history.all()] == [APPROVED, ""]
    before = on_record()
    load(path, CASINO)
    assert on_record() == before


@pytest.mark.parametrize("value", ['""', '"  "', "7", '["RWS"]'])
def test_an_operator_that_is_no_name_is_refused(db: None, tmp_path: Path, value: str) -> None:
    (fault,) = faults(
        tmp_path / "floor.toml", edited(CASINO, ('currency = "SGD"', f'currency = "SGD"\noperator = {value}'))
    )
    assert "casino RWS: operator: " in fault
    assert not Casino.objects.exists()


def test_the_page_of_a_casino_changes_its_operator_with_its_history(house: House) -> None:
    client = logged_in(house["casino-manager"])
    url = f"/admin/games/casino/{house.casino.pk}/change/"
    form = client.get(url).context["adminform"].form
    values = {name: form[name].value() for name in form.fields if form[name].value() is not None}
    answer = client.post(url, {**values, "operator": OTHER, "reason": "The licence changed hands"})
    assert answer.status_code == 302, answer.content.decode()
    casino = Casino.objects.get(pk=house.casino.pk)
    last = casino.history.first()
    assert last
    assert (casino.operator, last.operator, last.history_change_reason) == (OTHER, OTHER, "The licence changed hands")
