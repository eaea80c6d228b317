"""Describe calls in OpenAPI: `operation` for one call, and what applies to all of them.

Django REST framework loads this module while its own views are being created: nothing here may import them.
"""

from collections.abc import Callable, Sequence
from http import HTTPStatus
from typing import Any, NamedTuple, TypeVar

from django.conf import settings
from drf_spectacular.extensions import OpenApiAuthenticationExtension
from drf_spectacular.openapi import AutoSchema
from drf_spectacular.utils import OpenApiExample, OpenApiParameter, OpenApiResponse, extend_schema

View = TypeVar("View", bound=Callable[..., Any])
Schema = dict[str, Any]

JSON = "application/json"
PROBLEM = "application/problem+json"
PROBLEM_SCHEMA: Schema = {"$ref": "#/components/schemas/Problem"}


class RefusalAnswer(NamedTuple):
    """A refusal in the description: what it means, and the title and detail of an example."""

    about: str
    title: str
    detail: str


#: Refusals that any call may answer.
REFUSALS = {
    HTTPStatus.BAD_REQUEST: RefusalAnswer(
        "The input is wrong; `errors` says where, and what to do.",
        "Wrong input", "colour: is not a known parameter; there are none here.",
    ),
    HTTPStatus.UNAUTHORIZED: RefusalAnswer(
        "No one is logged in.",
        "Unauthorized", "Log in on the site first; the API takes its session.",
    ),
    HTTPStatus.FORBIDDEN: RefusalAnswer(
        "Your post does not allow this, the CSRF token is missing, or you must choose your own password first.",
        "Not open to you", "S11 Supervisor 11, pit supervisor may not do this (limits.propose).",
    ),
    HTTPStatus.NOT_FOUND: RefusalAnswer(
        "There is no such record, or no such page of the list.",
        "Not there", "There is no table TS-99; check the code.",
    ),
    HTTPStatus.METHOD_NOT_ALLOWED: RefusalAnswer(
        "The address takes another method; `Allow` names it.",
        "Method Not Allowed", 'Method "PUT" not allowed.',
    ),
    HTTPStatus.NOT_ACCEPTABLE: RefusalAnswer(
        "The answer is JSON, and `Accept` asks for something else.",
        "Not Acceptable", "Could not satisfy the request Accept header.",
    ),
}  # fmt: skip
#: Further refusals of calls that take a body.
REFUSALS[HTTPStatus.TOO_MANY_REQUESTS] = RefusalAnswer(
    "More calls, searches or exports in this minute than allowed; `Retry-After` says when to continue.",
    "Too many requests", "More than 120 searches in this minute; try again in 54 seconds.",
)  # fmt: skip
BODY_REFUSALS = {
    HTTPStatus.UNSUPPORTED_MEDIA_TYPE: RefusalAnswer(
        "The body is in a format that is not accepted here.",
        "Unsupported Media Type", 'Unsupported media type "text/plain" in request.',
    )
}  # fmt: skip


def operation(
    name: str,
    summary: str,
    *,
    answers: dict[int, Schema],
    about: str = "",
    parameters: Sequence[OpenApiParameter] = (),
    takes: Schema | None = None,
    media_type: str = JSON,
    takes_also: dict[str, Schema] | None = None,
    answer_type: str = JSON,
    refusals: dict[int, RefusalAnswer] | None = None,
) -> Callable[[View], View]:
    """Describe a view's method: its purpose, parameters, body and answers.

    `refusals` are those of this call alone (409, 429) with their meaning; the others are added to every call.
    `takes_also` are bodies of other media types.
    """
    problems = {
        (code, PROBLEM): OpenApiResponse(
            PROBLEM_SCHEMA, refusal.about, [OpenApiExample(refusal.title, problem_example(code, refusal))]
        )
        for code, refusal in (refusals or {}).items()
    }
    good = {(code, answer_type): OpenApiResponse(schema, HTTPStatus(code).phrase) for code, schema in answers.items()}
    return extend_schema(
        operation_id=name,
        summary=summary,
        description=about,
        parameters=list(parameters),
        request={media_type: takes} | (takes_also or {}) if takes else None,
        responses={**good, **problems},
    )


class DescribedSchema(AutoSchema):
    """Add to every call its possible refusals, and mark a body as required."""

    def get_description(self) -> str:  # type: ignore[override]
        return ""  # docstrings are for readers of the code; `operation` describes calls for callers

    def get_operation(self, *args: Any, **kwargs: Any) -> Schema | None:
        found: Schema | None = super().get_operation(*args, **kwargs)
        if found is None:
            return None
        refusals = REFUSALS
        if "requestBody" in found:
            found["requestBody"]["required"] = True
            refusals = REFUSALS | BODY_REFUSALS
        found["responses"] |= {
            str(code.value): {"$ref": f"#/components/responses/{component_name(code)}"} for code in refusals
        }
        return found


def problem_example(code: int, refusal: RefusalAnswer) -> Schema:
    return {"type": "about:blank", "title": refusal.title, "status": int(code), "detail": refusal.detail}


def component_name(code: HTTPStatus) -> str:
    return code.phrase.replace(" ", "")


def add_components(result: Schema, **context: Any) -> Schema:
    """Add the named schemas and refusals to those found in the views."""
    from games.api.schemas import SCHEMAS
    from games.live.api.schemas import LIVE_SCHEMAS  # its models do not exist yet while this file is loaded

    components = result.setdefault("components", {})
    from games.floor.api.tumbler_schemas import TUMBLER_SCHEMAS

    components["schemas"] = components.get("schemas", {}) | SCHEMAS | LIVE_SCHEMAS | TUMBLER_SCHEMAS
    components["responses"] = {
        component_name(code): {
            "description": refusal.about,
            "content": {PROBLEM: {"schema": PROBLEM_SCHEMA, "example": problem_example(code, refusal)}},
        }
        for code, refusal in (REFUSALS | BODY_REFUSALS).items()
    }
    return result


class PersonScheme(OpenApiAuthenticationExtension):
    """Describe the authentication of people: the session of the site."""

    target_class = "games.api.authentication.PersonAuthentication"
    name = "session"

    def get_security_definition(self, auto_schema: AutoSchema) -> Schema:
        return {
            "type": "apiKey",
            "in": "cookie",
            "name": settings.SESSION_COOKIE_NAME,
            "description": "Log in on the site. A POST also carries the token of the cookie "
            f"`{settings.CSRF_COOKIE_NAME}` in the header `X-CSRFToken`.",
        }


class TerminalScheme(OpenApiAuthenticationExtension):
    """Describe the authentication of terminals: their own key."""

    target_class = "games.api.authentication.TerminalAuthentication"
    name = "terminal"

    def get_security_definition(self, auto_schema: AutoSchema) -> Schema:
        return {"type": "http", "scheme": "bearer", "description": "The key that `terminal_key create` printed once."}
