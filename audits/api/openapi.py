"""Adds what these calls take and answer to the description of the API."""

from typing import Any

from games.api.openapi import Schema


def add_components(result: Schema, **context: Any) -> Schema:
    from audits.api.report_operations import REPORT_SCHEMAS
    from audits.api.ruling_schemas import RULING_SCHEMAS  # the models they read are not there yet while this is loaded
    from audits.api.schemas import INCIDENT_SCHEMAS

    result["components"]["schemas"] |= INCIDENT_SCHEMAS | RULING_SCHEMAS | REPORT_SCHEMAS
    return result
