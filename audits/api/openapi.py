"""Adds what these calls take and answer to the description of the API."""

from typing import Any

from games.api.openapi import Schema


def add_components(result: Schema, **context: Any) -> Schema:
    from audits.api.schemas import INCIDENT_SCHEMAS
    from audits.reports.api.operations import REPORT_SCHEMAS
    from audits.rulings.api.schemas import RULING_SCHEMAS  # the models they read are not there yet while this is loaded

    result["components"]["schemas"] |= INCIDENT_SCHEMAS | RULING_SCHEMAS | REPORT_SCHEMAS
    return result
