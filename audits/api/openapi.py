"""The schemas of the audits in the API description."""

from typing import Any

from games.api.openapi import Schema


def add_components(result: Schema, **context: Any) -> Schema:
    """Add the schemas of these calls to the API description."""
    from audits.api.schemas import INCIDENT_SCHEMAS
    from audits.reports.api.operations import REPORT_SCHEMAS
    from audits.rulings.api.schemas import (
        RULING_SCHEMAS,
    )  # these read models, which are not loaded yet when Django imports this module

    result["components"]["schemas"] |= INCIDENT_SCHEMAS | RULING_SCHEMAS | REPORT_SCHEMAS
    return result
