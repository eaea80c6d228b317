"""The readers of incidents: found by their words, what belongs together, and the evidence."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from django.contrib.postgres.search import SearchQuery, SearchRank
from django.db.models import F, Model, Q, QuerySet

from audits.models import Evidence, Incident, IncidentLink, IncidentNote, LogEntry
from games.services.gate import visible, within_reach

MOST_HITS = 50


@dataclass(frozen=True)
class Hit:
    """Something that was found by its words."""

    thing: Model
    words: str
    rank: float


def search(actor: Any, text: str) -> list[Hit]:
    """Over entries, files and notes, of all that the actor may see, the best first. Empty for an empty text."""
    if not text.strip():
        return []
    query = SearchQuery(text, search_type="websearch", config="english")
    hits = [hit for found in _found(actor, query) for hit in found]
    return sorted(hits, key=lambda hit: (-hit.rank, -hit.thing.pk))[:MOST_HITS]


def _found(actor: Any, query: SearchQuery) -> Iterator[list[Hit]]:
    sources = ((LogEntry, "summary", "logentry"), (Incident, "account", "incident"), (IncidentNote, "text", "incident"))
    for model, words, seen in sources:
        matching = within_reach(actor, f"{seen}.view", model._default_manager.filter(search=query))
        ranked = matching.annotate(rank=SearchRank(F("search"), query)).order_by("-rank", "-pk")[:MOST_HITS]
        yield [Hit(one, getattr(one, words), one.rank) for one in ranked]


def related(incident: Incident) -> list[tuple[Incident, IncidentLink]]:
    """The files that belong to this one, from whichever side the link was made."""
    links = IncidentLink.objects.filter(Q(one=incident) | Q(other=incident)).select_related("one", "other")
    return [(link.other if link.one_id == incident.pk else link.one, link) for link in links]


def evidence_of(actor: Any, about: Incident | LogEntry) -> QuerySet[Evidence]:
    path = "entry" if isinstance(about, LogEntry) else "incident"
    return visible(actor, Evidence.objects.filter(**{path: about})).prefetch_related("custody")
