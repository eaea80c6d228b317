"""The pages of reports: shelf, form with preview, one report, certification, comparison; and who gets in."""

import html
import re
import uuid

import pytest
from django.test import Client
from django.urls import reverse

from audits.models import ReportRun
from audits.reports.registry import REPORTS
from audits.reports.services.production import report_take
from games.models import Table
from tests.audits.playing import DAY, UNDERPAID, played, record, table_for
from tests.conftest import House
from tests.games.logins import logged_in

SHELF = "/admin/audits/reportrun/"
D = DAY.isoformat()


def asked(client: Client, **values: str) -> ReportRun:
    form = {"kind": "discrepancies", "first": D, "last": D, "format": "pdf", "table": "", **values}
    answer = client.post(f"{SHELF}add/", form)
    assert answer.status_code == 302, answer.content.decode()
    run = ReportRun.objects.get(pk=answer.headers["Location"].split("/")[-3])
    report_take(key=run.pk)
    run.refresh_from_db()
    return run


def page(client: Client, path: str, status: int = 200) -> str:
    answer = client.get(path)
    assert answer.status_code == status
    return answer.content.decode()


def address(run: ReportRun, step: str = "") -> str:
    return reverse("admin:audits_reportrun_change", args=[run.pk]).removesuffix("change/") + (
        f"{step}/" if step else "change/"
    )


def test_compliance_goes_from_the_shelf_to_a_certified_copy(house: House, table: Table) -> None:
    record(played("R-1", UNDERPAID))
    client = logged_in(house["compliance"])
    shelf = page(client, SHELF)
    assert "For the regulator" in shelf
    assert all(report.title in shelf and report.about in html.unescape(shelf) for report in REPORTS.values())
    assert "No reports yet" in shelf
    previewed = f"{SHELF}add/?kind=discrepancies&first={D}&last={D}&format=pdf&preview=1"
    preview = page(client, previewed)
    assert "Nil report" in preview  # a preview reconciles nothing, and says so
    assert "not reconciled yet" in preview
    run = asked(client)
    shown = page(client, address(run))
    assert "R-1" in shown
    assert re.search(r'<td class="" title="rws-tai-sai-v6#(4[.\d]+)">Tai Sai v6 · Rule \1</td>', shown)
    assert '<td class="" title="underpaid">Underpaid</td>' in shown
    assert run.sha256 in shown
    assert "not reconciled yet" not in page(client, previewed)
    assert "Certify" in shown
    assert client.post(address(run, "certify"), {"statement": "Complete and correct."}).status_code == 302
    certified = client.get(address(run, "certified"))
    assert (
        certified.headers["Content-Disposition"] == 'attachment; filename="RWS-discrepancies-2026-11-15-certified.pdf"'
    )
    assert b"".join(certified).startswith(b"%PDF")
    assert "Complete and correct." in page(client, address(run))
    assert "certified" in page(client, SHELF)


def test_an_auditor_reads_and_exports_and_does_not_certify(house: House, table: Table) -> None:
    record(played("R-1", UNDERPAID))
    client = logged_in(house["auditor"])
    run = asked(client)
    assert b"".join(client.get(address(run, "file"))).startswith(b"%PDF")
    assert "Certify" not in page(client, address(run))
    assert client.post(address(run, "certify"), {"statement": "x"}).status_code == 403


def test_a_pit_manager_sees_only_the_reports_of_the_pit(house: House, table: Table) -> None:
    table_for(house, "TS-02", pit="P2")
    record(played("R-1", UNDERPAID), played("R-2", UNDERPAID, table="TS-02"))
    whole = asked(logged_in(house["compliance"]))
    client = logged_in(house["pit-manager"])
    own = asked(client)
    shown = page(client, address(own))
    assert "R-1" in shown
    assert "R-2" not in shown
    assert str(whole.pk) not in page(client, SHELF)
    for step in ("", "file", "certified", "again", "compare"):
        assert client.get(address(whole, step)).status_code == 404


@pytest.mark.parametrize("role", ["pit-supervisor", "surveillance", "administrator"])
def test_nobody_else_gets_in(house: House, table: Table, role: str) -> None:
    run = asked(logged_in(house["compliance"]))
    client = logged_in(house[role])
    assert client.get(SHELF).status_code == 403
    assert client.get(f"{SHELF}add/").status_code == 403
    assert client.get(address(run)).status_code == 403
    assert client.get(address(run, "file")).status_code == 403
    assert client.post(f"{SHELF}add/", {"kind": "discrepancies"}).status_code == 403


def test_a_guessed_address_is_not_there(house: House) -> None:
    client = logged_in(house["compliance"])
    for key in (uuid.uuid4(), "1", "x"):
        assert client.get(f"{SHELF}{key}/change/").status_code == 404


def test_wrong_input_stays_on_the_form_with_a_sentence(house: House) -> None:
    client = logged_in(house["compliance"])
    answer = client.post(f"{SHELF}add/", {"kind": "discrepancies", "first": D, "last": "2026-11-01", "format": "pdf"})
    assert answer.status_code == 200
    assert "is before" in answer.content.decode()
    assert not ReportRun.objects.exists()
    for form in ({}, {"kind": "gossip", "first": "x", "last": "", "format": "doc"}):
        assert client.post(f"{SHELF}add/", form).status_code == 200


def test_old_and_new_side_by_side(house: House, table: Table) -> None:
    record(played("R-1", UNDERPAID))
    client = logged_in(house["compliance"])
    run = asked(client)
    record(played("R-2", UNDERPAID))
    assert client.post(address(run, "again"), {"go": "1"}).status_code == 302
    again = ReportRun.objects.get(again_of=run)
    report_take(key=again.pk)
    assert "figures have changed since" in page(client, address(run))
    compared = page(client, address(again, "compare"))
    assert "R-2" in compared
    assert "R-1" not in compared


def test_a_report_under_way_shows_its_progress_and_is_cancelled(house: House, table: Table) -> None:
    client = logged_in(house["compliance"])
    form = {"kind": "discrepancies", "first": D, "last": D, "format": "csv", "table": ""}
    client.post(f"{SHELF}add/", form)
    run = ReportRun.objects.get()
    assert "Waiting for a worker" in page(client, address(run))
    assert client.post(address(run, "cancel"), {"go": "1"}).status_code == 302
    assert "Cancelled by" in page(client, address(run))


def test_a_schedule_is_kept_on_its_page(house: House) -> None:
    client = logged_in(house["compliance"])
    form = {"casino": house.casino.pk, "kind": "discrepancies", "format": "pdf", "every": "day", "table": "",
            "recipients": "a@example.org\nb@example.org", "is_active": "on", "reason": "For the regulator"}  # fmt: skip
    answer = client.post("/admin/audits/reportschedule/add/", form)
    assert answer.status_code == 302, answer.content.decode()
    assert "Discrepancies" in page(client, "/admin/audits/reportschedule/")
    assert client.post("/admin/audits/reportschedule/add/", {**form, "recipients": "x"}).status_code == 200


# --- By API ---


def test_by_api_a_report_is_asked_for_watched_and_fetched(house: House, table: Table) -> None:
    record(played("R-1", UNDERPAID))
    client = logged_in(house["compliance"])
    body = {"kind": "discrepancies", "from": D, "to": D, "table": "TS-01", "format": "csv"}
    answer = client.post("/api/v1/reports/", body, content_type="application/json")
    assert (answer.status_code, answer.json()["state"]) == (202, "waiting")
    key = answer.json()["id"]
    assert client.get(f"/api/v1/reports/{key}/file/").status_code == 409
    report_take(key=key)
    state = client.get(f"/api/v1/reports/{key}/").json()
    assert (state["state"], state["row_count"], len(state["sha256"])) == ("done", 1, 64)
    assert b"R-1" in b"".join(client.get(f"/api/v1/reports/{key}/file/"))
    assert [one["id"] for one in client.get("/api/v1/reports/").json()["results"]] == [key]
    assert client.post(f"/api/v1/reports/{key}/cancel/").status_code == 409


@pytest.mark.parametrize(
    ("body", "fault"),
    [
        ({}, "kind"),
        ({"kind": "gossip", "from": D, "to": D, "format": "csv"}, "kind"),
        ({"kind": "breaches", "from": D, "to": "2026-11-01", "format": "csv"}, "is before"),
        ({"kind": "breaches", "from": "x", "to": D, "format": "csv"}, "from"),
        ({"kind": "breaches", "from": D, "to": D, "format": "csv", "table": "TS-99"}, "TS-99"),
        ({"kind": "breaches", "from": D, "to": D, "format": "csv", "more": 1}, "more"),
    ],
)
def test_by_api_wrong_input_is_400_with_its_field(house: House, body: dict[str, object], fault: str) -> None:
    answer = logged_in(house["compliance"]).post("/api/v1/reports/", body, content_type="application/json")
    assert answer.status_code == 400
    assert fault in answer.content.decode()
    assert not ReportRun.objects.exists()
