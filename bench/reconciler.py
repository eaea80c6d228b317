"""A worker that reconciles the planted day as the command does: asked by `bench.reconcile`."""

import resource
import time

import django

from bench.children import answer
from bench.planted import DAY


def ready() -> bool:
    """As a worker that has been at work for a while: with its modules, a connection, and the limits of its tables."""
    from audits.management.commands import reconcile  # noqa: F401
    from audits.reconciliation.applying import applying
    from games.models import Table

    for table in Table.objects.select_related("casino"):
        applying(table)
    return True


def reconciled(workers: int) -> dict[str, float]:
    """The whole day, with all that is on record afterwards. The peak is that of the process that did the work."""
    from audits.management.commands.reconcile import counted, taken
    from audits.services.runs import casinos_of, parts_of, run_start
    from games.services.gate import Operator

    started = time.perf_counter()
    casinos = casinos_of(actor=Operator(), day=DAY, table=None)
    runs = [run_start(actor=Operator(), casino=casino, day=DAY) for casino in casinos]
    for _ in taken(parts_of(runs), workers):
        pass
    counted(runs)  # raises where a part was left
    seconds = time.perf_counter() - started
    usage = resource.getrusage(resource.RUSAGE_SELF if workers == 1 else resource.RUSAGE_CHILDREN)
    return {"seconds": seconds, "peak": usage.ru_maxrss / 1024}


if __name__ == "__main__":
    django.setup()
    answer(ready=ready, reconciled=reconciled)
