"""Descriptions of the API calls on reports: parameters, requests and answers."""

from audits.api.schemas import COUNT, DAY
from audits.models import ReportFormat, ReportRun
from audits.reports.registry import REPORTS
from games.api.openapi import RefusalAnswer, Schema, operation
from games.api.operations import PAGES, in_path, in_query
from games.api.schemas import CODE, MOMENT, TEXT, list_of, nullable, page_of, record, ref

KEY: Schema = {"type": "string", "format": "uuid"}
KIND: Schema = {"type": "string", "enum": sorted(REPORTS)}
FORMAT: Schema = {"type": "string", "enum": ReportFormat.values}
STATE: Schema = {"type": "string", "enum": ReportRun.State.values}
HASH: Schema = {"type": "string", "pattern": "^[0-9a-f]{64}$"}
NEW_REPORT = record(
    "A report for a period of gaming days, both included. Defaults to all tables that you may see.",
    {
        "kind": KIND, "from": DAY, "to": DAY, "table": nullable(CODE), "format": FORMAT,
        "casino": nullable(CODE) | {"description": "Only for people of no single casino. Defaults to all casinos."},
    },
    optional=("table", "casino"),
    example={"kind": "discrepancies", "from": "2026-11-15", "to": "2026-11-15", "table": "TS-01", "format": "pdf"},
)  # fmt: skip
CERTIFICATE = record(
    "The certificate of a finished report.",
    {"name": TEXT, "post": TEXT, "statement": TEXT, "at": MOMENT, "sha256": HASH},
)
REPORT = record(
    "A report that was requested. `as_of` is the moment at which its figures were read.",
    {
        "id": KEY, "kind": KIND, "title": TEXT, "format": FORMAT, "from": DAY, "to": DAY, "shift": nullable(TEXT),
        "casino": nullable(CODE), "pit": nullable(CODE), "table": nullable(CODE), "confidential": {"type": "boolean"},
        "asked_by": TEXT, "asked_at": MOMENT, "state": STATE, "rows_read": COUNT, "row_count": nullable(COUNT),
        "sha256": nullable(HASH), "size": nullable(COUNT), "as_of": nullable(MOMENT), "engine": nullable(TEXT),
        "rulebooks": list_of(TEXT), "fault": nullable(TEXT), "expires_at": nullable(MOMENT),
        "figures_changed_at": nullable(MOMENT), "certificate": {"anyOf": [CERTIFICATE, {"type": "null"}]},
    },
    example={
        "id": "0f2f8f3e-6f0c-4a7e-9f5e-6d3c1f0b8a11", "kind": "discrepancies", "title": "Discrepancies",
        "format": "pdf", "from": "2026-11-15", "to": "2026-11-15", "shift": None, "casino": "RWS", "pit": None,
        "table": "TS-01", "confidential": False, "asked_by": "C1 Officer 1, compliance",
        "asked_at": "2026-11-16T09:00:00+08:00", "state": "waiting", "rows_read": 0, "row_count": None, "sha256": None,
        "size": None, "as_of": None, "engine": None, "rulebooks": [], "fault": None, "expires_at": None,
        "figures_changed_at": None, "certificate": None,
    },
)  # fmt: skip
REPORT_SCHEMAS = {"NewReport": NEW_REPORT, "Report": REPORT, "ReportPage": page_of("Report")}

REPORT_KEY = in_path("key", KEY, "The report's `id`.")
NO_FILE = RefusalAnswer(
    "The report is not finished, has failed, or its file has expired.",
    "No file",
    "There is no file: this report is running.",
)
OVER = RefusalAnswer(
    "The report is already finished. Nothing has changed.", "Overtaken", "This report is already finished."
)

report_list = operation(
    "report_list",
    "List the reports that you may see, the newest first",
    parameters=[in_query("kind", KIND, "Only reports of this kind."), *PAGES],
    answers={200: ref("ReportPage")},
)
report_add = operation(
    "report_ask",
    "Request a report",
    about="A worker makes the report: poll its state until it is `done`. Pending rounds of the period are reconciled "
    "first.",
    takes=ref("NewReport"),
    answers={202: ref("Report")},
)
report_read = operation("report_read", "Read a report", parameters=[REPORT_KEY], answers={200: ref("Report")})
report_cancel = operation(
    "report_cancel", "Cancel an unfinished report", parameters=[REPORT_KEY],
    answers={200: ref("Report")}, refusals={409: OVER},
)  # fmt: skip
report_file = operation(
    "report_file",
    "Download the file of a report",
    about="With `certified=true` the certified copy. Every download is put on record.",
    parameters=[
        REPORT_KEY,
        in_query("certified", {"type": "string", "enum": ["true", "false"]}, "Download the certified copy."),
    ],
    answers={200: {"type": "string", "format": "binary"}},
    answer_type="application/octet-stream",
    refusals={409: NO_FILE},
)
