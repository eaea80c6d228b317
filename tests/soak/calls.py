"""Calls of the API made from its description, right and wrong, by every role: no 5xx, and no answer not described.

Fifty seeds are 10,000 calls: as many as `make soak` makes where nothing else is said.
"""

from random import Random
from typing import Any

from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import seed as seeded
from hypothesis.errors import Unsatisfiable
from schemathesis import GenerationMode
from schemathesis.core.failures import FailureGroup
from schemathesis.specs.openapi.checks import negative_data_rejection

from tests.games.api_calls import CHECKS, ROLES, aim, calls, everybody

CALLS = 200
#: Calls of one kind by one role, before it is another's turn.
EXAMPLES = 5
CALLERS = [*ROLES, "terminal"]
#: In a multipart form a number or truth value is a text like any other, and so rightly taken.
SURE_CHECKS = [check for check in CHECKS if check is not negative_data_rejection]


def scenario(seed: int) -> None:
    random = Random(seed)
    operations = [made.ok() for made in calls(thorough=False).get_all_operations()]
    with everybody() as callers:
        for _ in range(CALLS // EXAMPLES):
            operation, role = random.choice(operations), random.choice(CALLERS)
            mode = random.choice(list(GenerationMode))
            verify_answers(operation, mode, role, callers[role], random.getrandbits(32))


def verify_answers(operation: Any, mode: GenerationMode, role: str, caller: dict[str, Any], seed: int) -> None:
    """Make a few calls of one kind by one role; a failure says who asked for what."""
    checks = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much]

    @seeded(seed)
    @settings(
        max_examples=EXAMPLES, deadline=None, database=None, phases=[Phase.generate], suppress_health_check=checks
    )
    @given(operation.as_strategy(mode))
    def ask(case: Any) -> None:
        aim(case)
        case.call_and_validate(checks=SURE_CHECKS, **caller)

    try:
        ask()
    except Unsatisfiable:  # nothing wrong can be made of a call that takes anything
        return
    except FailureGroup as failures:  # which is no Exception: the soak could not name the seed
        raise AssertionError(f"{role} asked: {operation.label}, {mode.value}") from failures
