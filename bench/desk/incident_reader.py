"""What each list and search takes in one database: prints the best of some tries in seconds, as JSON.

`python -m bench.desk.incident_reader`, with the database in the environment.
"""

import json
import sys
import time
from collections.abc import Callable, Iterable
from typing import Any

import django

Works = dict[str, Callable[[], list[Any]]]
TRIES = 15
#: Readers: one sees the whole casino with everything confidential; one sees one pit without it.
READERS = ("surveillance", "pit-supervisor")


def main() -> None:
    django.setup()
    measure(READERS, candidates)


def measure(readers: Iterable[str], candidates: Callable[[Any], Works]) -> None:
    """Measure each query for each reader, and print the seconds."""
    seconds = {}
    for name in readers:
        for what, work in candidates(person(name)).items():
            verify(f"{name}: {what}", work)
            seconds[f"{name}: {what}"] = min(timed(work) for _ in range(TRIES))
    json.dump(seconds, sys.stdout)


def candidates(reader: Any) -> Works:
    from audits.incidents.search import IncidentFilter, incidents_found, search
    from audits.incidents.serializers import hit_document, incident_line
    from bench.desk.incidents import COMMON, RARE, TWO
    from games.api.views import Pages
    from games.models import Table

    code = Table.objects.filter(assignments__pit=reader.pit_id).first() if reader.pit_id else Table.objects.first()

    def listed(**wanted: Any) -> list[Any]:
        incidents = incidents_found(reader, IncidentFilter(**wanted))
        return [incident_line(incident) for incident in incidents[: Pages.page_size + 1]]

    def sought(words: str) -> list[Any]:
        return [hit_document(hit) for hit in search(reader, words)]

    return {
        "list": listed,
        "list, closed": lambda: listed(state="closed"),
        "list, open": lambda: listed(state="open"),
        "list, a table": lambda: listed(table=str(code)),
        "search, rare word": lambda: sought(RARE),
        "search, common word": lambda: sought(COMMON),
        "search, two words": lambda: sought(TWO),
    }


def person(role: str) -> Any:
    """Return a person of a department or post, and one of a single pit, if there is one."""
    from django.db.models import F

    from games.models import Staff

    known = Staff.objects.select_related("casino", "pit").order_by(F("pit").asc(nulls_last=True), "pk")
    return known.filter(department=role).first() or known.filter(post=role)[0]


def verify(name: str, work: Callable[[], list[Any]]) -> None:
    if not work():
        raise RuntimeError(f"{name}: nothing was found, so nothing is measured")


def timed(work: Callable[[], object]) -> float:
    started = time.perf_counter()
    work()
    return time.perf_counter() - started


if __name__ == "__main__":
    main()
