"""A worker that reconciles the planted day as the command does; called by `bench.reconciliation.reconcile`."""

import resource
import time
from contextlib import suppress
from typing import TYPE_CHECKING

import django
from django.db import transaction

from bench.children import answer
from bench.reconciliation.planted import DAY

if TYPE_CHECKING:
    from audits.models import Run


class NeverHappenedError(Exception):
    """Raised to roll the rehearsal back."""


def ready() -> bool:
    """Warm up: import the modules, connect, and read the limits of the tables."""
    from audits.reconciliation.services.runs import part_take, parts_of
    from audits.reconciliation.terms import terms_of_day
    from games.models import Table

    for table in Table.objects.select_related("casino"):
        terms_of_day(table)
    with suppress(NeverHappenedError), transaction.atomic():
        part_take(key=parts_of(started())[0])
        raise NeverHappenedError
    return True


def started() -> "list[Run]":
    from audits.reconciliation.services.runs import casinos_of, run_start
    from games.access.gate import Operator

    casinos = casinos_of(actor=Operator(), day=DAY, table=None)
    return [run_start(actor=Operator(), casino=casino, day=DAY) for casino in casinos]


def reconciled(workers: int) -> dict[str, float]:
    """Reconcile the whole day, with everything it records. The peak memory is that of the largest process."""
    from audits.management.commands.reconcile import counted, parts_taken
    from audits.reconciliation.services.runs import parts_of

    begun_at = time.perf_counter()
    runs = started()
    for _ in parts_taken(parts_of(runs), workers):
        pass
    counted(runs)  # raises if a part was left out
    seconds = time.perf_counter() - begun_at
    peaks = [resource.getrusage(who).ru_maxrss for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return {"seconds": seconds, "peak": max(peaks) / 1024}


if __name__ == "__main__":
    django.setup()
    answer(ready=ready, reconciled=reconciled)
