"""JSON Schemas of the answers on tumblers."""

from games.api.openapi import Schema
from games.api.schemas import CODE, MOMENT, NUMBER, TEXT, list_of, nullable, page_of, record, ref
from games.models import Tumbler, TumblerInspection

TUMBLER_FIT = record(
    "A tumbler at a table.",
    {
        "table": CODE,
        "tumbler": CODE,
        "serial": TEXT,
        "from": MOMENT,
        "to": nullable(MOMENT) | {"description": "Null while it is there."},
    },
    example={
        "table": "TS-01",
        "tumbler": "T-01",
        "serial": "TB-77120",
        "from": "2026-11-15T19:30:00+08:00",
        "to": None,
    },
)
FIELDS = {
    "id": NUMBER,
    "code": CODE,
    "casino": CODE,
    "pit": CODE,
    "serial": TEXT,
    "activation": {"type": "string", "enum": Tumbler.Activation.values},
    "lock": TEXT,
    "state": {"type": "string", "enum": Tumbler.State.values},
    "table": nullable(CODE) | {"description": "Where it is fitted now; null in store."},
}
TUMBLER = record(
    "A dice tumbler.",
    FIELDS,
    example={
        "id": 3, "code": "T-01", "casino": "RWS", "pit": "P1", "serial": "TB-77120", "activation": "electronic",
        "lock": "L-01", "state": "fit", "table": "TS-01",
    },
)  # fmt: skip
INSPECTION = record(
    "What an inspection of a tumbler found.",
    {
        "at": MOMENT,
        "result": {"type": "string", "enum": TumblerInspection.Result.values},
        "inspector": TEXT,
        "lock_found": TEXT,
        "new_lock": nullable(TEXT),
        "remarks": nullable(TEXT),
    },
    example={"at": "2026-11-15T19:00:00+08:00", "result": "good", "inspector": "S11", "lock_found": "L-01",
             "new_lock": None, "remarks": None},
)  # fmt: skip
INSPECTED = record(
    "A tumbler with its latest hundred inspections, the newest first.",
    {**FIELDS, "inspections": list_of(ref("TumblerInspection"), maxItems=100)},
)

TUMBLER_SCHEMAS: dict[str, Schema] = {
    "InspectedTumbler": INSPECTED,
    "Tumbler": TUMBLER,
    "TumblerFit": TUMBLER_FIT,
    "TumblerInspection": INSPECTION,
    "TumblerPage": page_of("Tumbler"),
}
