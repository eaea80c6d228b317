"""Queries on incidents: lists, numbers, the records of an incident, and the search by words."""

import datetime as dt
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, TypeVar

from django.contrib.postgres.search import SearchQuery, SearchRank
from django.db.models import F, Model, OrderBy, Q, QuerySet

from audits.incidents.states import UNFINISHED
from audits.models import Evidence, Incident, IncidentLink, IncidentNote, IncidentRound, LogEntry
from games.access.gate import any_of, can, visible, within_reach
from games.floor.moments import day_starts
from games.models import Casino, Round, Table

M = TypeVar("M", bound=Model)

MOST_HITS = 50
#: How many matches of each kind are ranked: only the newest, as a common word has far more than anyone reads.
MOST_RANKED = 200
MOST_SORTED = 1000
INCIDENT_NUMBERS = re.compile(r"IN-([0-9]{4})-([0-9]{6,9})", re.ASCII | re.IGNORECASE)
#: Fields that no list reads: the advice on damaged dice names every round since the last inspection.
UNLISTED = ("search", "advice")
MOST_WORDS_OF_A_SOURCE = 5
LONGEST_SEARCH = 500
#: Two or more signs in a row, spaces included; quotes and the minus that means "not" stay, as they come singly.
SIGNS = re.compile(r"[^\w\s\"](?:\s*[^\w\s\"])+")
ONE_DAY = dt.timedelta(days=1)
#: The name of the filter for every state but closed.
UNFINISHED_FILES = "unfinished"

# --- Files and entries -----------------------------------------------------------------------------


@dataclass(frozen=True)
class SearchPeriod:
    """A period of gaming days, first and last included; either may be open."""

    first: dt.date | None = None
    last: dt.date | None = None

    def within(self, casinos: QuerySet[Casino], path: str) -> Q:
        """Filter a moment field by each casino's own clock."""
        return any_of(self._of(casino, path) for casino in casinos)

    def _of(self, casino: Casino, path: str) -> Q:
        query = Q(casino=casino)
        if self.first is not None:
            query &= Q(**{f"{path}__gte": day_starts(casino, self.first)})
        if self.last is not None:
            query &= Q(**{f"{path}__lt": day_starts(casino, self.last + ONE_DAY)})
        return query


ALWAYS = SearchPeriod()


@dataclass(frozen=True)
class IncidentFilter:
    """A filter on incidents; every part is optional. The state may also be "unfinished"."""

    table: str | None = None
    state: str | None = None
    situation: str | None = None
    period: SearchPeriod = ALWAYS
    text: str = ""


def incidents_found(actor: Any, wanted: IncidentFilter) -> QuerySet[Incident]:
    """Return the visible incidents that match, the newest first.

    Answered from an index: nothing is counted, and a page is found by where the last one ended.
    """
    incidents = visible(actor, Incident.objects.select_related("casino", "pit", "table", "reported_by"))
    if wanted.table:
        incidents = incidents.filter(table=table_key(wanted.table))
    if wanted.state == UNFINISHED_FILES:
        incidents = incidents.filter(state__in=UNFINISHED)
    elif wanted.state:
        incidents = incidents.filter(state=wanted.state)
    if wanted.situation:
        incidents = incidents.filter(situation=wanted.situation)
    if wanted.period != ALWAYS:
        incidents = incidents.filter(wanted.period.within(casinos_of(actor), "occurred_from"))
    if wanted.text.strip():
        incidents = incidents.filter(search=by_words(wanted.text))
    return incidents.defer(*UNLISTED).order_by("-occurred_from", "-pk")


@dataclass(frozen=True)
class EntryFilter:
    """A filter on log entries; every part is optional."""

    table: str | None = None
    shift: str | None = None
    department: str | None = None
    period: SearchPeriod = ALWAYS
    text: str = ""


def entries_found(actor: Any, wanted: EntryFilter) -> QuerySet[LogEntry]:
    """Return the visible log entries that match, the newest first."""
    entries = visible(actor, LogEntry.objects.select_related("casino", "pit", "table", "author"))
    if wanted.table:
        entries = entries.filter(table=table_key(wanted.table))
    if wanted.shift:
        entries = entries.filter(shift=wanted.shift)
    if wanted.department:
        entries = entries.filter(department=wanted.department)
    if wanted.period.first is not None:
        entries = entries.filter(gaming_day__gte=wanted.period.first)
    if wanted.period.last is not None:
        entries = entries.filter(gaming_day__lte=wanted.period.last)
    if wanted.text.strip():
        entries = entries.filter(search=by_words(wanted.text))
    return entries.defer("search").order_by("-at", "-pk")


def by_words(text: str) -> SearchQuery:
    """Make a full-text query of the words.

    PostgreSQL's parser fails on a long row of signs, so only a single sign is left between words.
    """
    plain = SIGNS.sub(lambda found: found[0][0], text.replace("\x00", " ")[:LONGEST_SEARCH])
    return SearchQuery(plain, search_type="websearch", config="english")


def table_key(code: str) -> int:
    """Return the key of a table by its code; 0 where there is none.

    A list filtered by the key is read in the order of its index.
    """
    return Table.objects.filter(code__iexact=code.strip()).values_list("pk", flat=True).first() or 0


def casinos_of(actor: Any) -> QuerySet[Casino]:
    """Return the casinos of a person: their own, or all for group staff."""
    casinos = Casino.objects.all()
    return casinos if actor.casino_id is None else casinos.filter(pk=actor.casino_id)


def incidents_numbered(actor: Any, number: str, casino: str | None = None) -> list[Incident]:
    """Return the incidents with this number.

    Each casino numbers its own: group staff, who belong to no single casino, may find several.
    """
    files = Incident.objects.select_related("casino", "pit", "table", "reported_by")
    return numbered(actor, files, INCIDENT_NUMBERS.fullmatch(number), casino)


def numbered(actor: Any, records: QuerySet[M], read: re.Match[str] | None, casino: str | None) -> list[M]:
    """Return the records with the year and serial of a parsed number; none where it was not a number."""
    if read is None:
        return []
    year, serial = map(int, read.groups())
    places = casinos_of(actor) if casino is None else casinos_of(actor).filter(code=casino)
    return list(records.filter(casino__in=list(places), year=year, serial=serial))


def rounds_named(actor: Any, names: Iterable[str], casino: Casino | None = None) -> dict[str, list[Round]]:
    """Return the visible rounds by name, several where sources share a ref; a casino limits them to its own.

    A name is a ref, or source and ref, as `floor TS01-000123`. Two queries, however many names there are.
    """
    rounds = visible(actor, Round.objects.select_related("table__casino")).order_by("casino", "source", "ref")
    if casino is not None:
        rounds = rounds.filter(casino=casino)
    found: dict[str, list[Round]] = {name: [] for name in names}
    for round_ in rounds.filter(ref__in=list(found)):
        found[round_.ref].append(round_)
    unknown = {name for name, known in found.items() if not known}
    for round_ in rounds.filter(ref__in={ref for name in unknown for ref in _refs_in(name)}):
        if (name := f"{round_.source} {round_.ref}") in unknown:
            found[name].append(round_)
    return found


def _refs_in(name: str) -> Iterator[str]:
    """Yield what may be the ref in a name that begins with a source: a source may have several words."""
    for _ in range(MOST_WORDS_OF_A_SOURCE):
        _, separator, name = name.partition(" ")
        if not separator:
            return
        yield name


# --- What belongs to a file ------------------------------------------------------------------------


def notes_of(actor: Any, incident: Incident) -> QuerySet[IncidentNote]:
    """Return the notes of an incident that the actor may read."""
    return within_reach(actor, "incident.view", incident.notes.all())


def rounds_of(actor: Any, incident: Incident) -> QuerySet[IncidentRound]:
    """Return the rounds of an incident that the actor may see."""
    rounds = visible(actor, Round.objects.filter(incidents__incident=incident))
    return incident.rounds.filter(round__in=rounds.values("pk"))


def related(incident: Incident) -> list[tuple[Incident, IncidentLink]]:
    """Return the related incidents with their links, whichever side each link was made from."""
    links = IncidentLink.objects.filter(Q(one=incident) | Q(other=incident)).select_related("one", "other")
    return [(link.other if link.one_id == incident.pk else link.one, link) for link in links]


def related_seen(actor: Any, incident: Incident) -> list[tuple[Incident, IncidentLink]]:
    """Return the related incidents that the actor may see."""
    return [(other, link) for other, link in related(incident) if can(actor, "incident.view", other)]


def evidence_of(actor: Any, about: Incident | LogEntry) -> QuerySet[Evidence]:
    """Return the visible evidence of an incident or a log entry."""
    path = "entry" if isinstance(about, LogEntry) else "incident"
    return visible(actor, Evidence.objects.filter(**{path: about})).prefetch_related("custody")


# --- Search ----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Hit:
    """A record found by the search."""

    thing: Model
    words: str
    rank: float


def search(actor: Any, text: str) -> list[Hit]:
    """Search the visible log entries, incidents and notes, the best match first. Empty for an empty text.

    Of each kind only the newest matches (MOST_RANKED) are ranked: a common word costs no more after ten years than
    after one.
    """
    if not text.strip():
        return []
    query = by_words(text)
    matches = [match for source in SOURCES for match in _ranked(actor, source, query)]
    best = sorted(matches, key=lambda match: (-match.rank, -match.key))[:MOST_HITS]
    things = {
        source.model: _things(source, [match.key for match in best if match.source is source]) for source in SOURCES
    }
    return [match.hit(things[match.source.model][match.key]) for match in best]


@dataclass(frozen=True)
class Source:
    """A searched model: the field of its words, the action that allows viewing, what is joined and what is deferred."""

    model: type[Model]
    words: str
    action: str
    shown: tuple[str, ...]
    unread: tuple[str, ...]


SOURCES = (
    Source(LogEntry, "summary", "logentry.view", ("casino", "table"), ("search",)),
    Source(Incident, "account", "incident.view", ("casino", "table"), UNLISTED),
    Source(
        IncidentNote, "text", "incident.view", ("incident__casino", "incident__table"),
        ("search", *(f"incident__{name}" for name in UNLISTED)),
    ),
)  # fmt: skip


def _newest_first(matching: QuerySet[Any]) -> OrderBy:
    """Choose the order of matches: few are found by their words and sorted, many are read from the newest row on.

    PostgreSQL knows too little of rare words to choose by itself: it would read all rows to find five.
    """
    are_many = matching.order_by().values("pk")[: MOST_SORTED + 1].count() > MOST_SORTED
    return F("pk").desc() if are_many else (F("pk") + 0).desc()  # the sum is not what the index of the key is sorted by


@dataclass(frozen=True)
class Match:
    """A record that has the words, before it is read."""

    source: Source
    key: int
    rank: float

    def hit(self, thing: Model) -> Hit:
        return Hit(thing, getattr(thing, self.source.words), self.rank)


def _ranked(actor: Any, source: Source, query: SearchQuery) -> list[Match]:
    """Rank the newest matches of one model."""
    records: Any = source.model._default_manager
    matching = records.filter(search=query)
    reached = within_reach(actor, source.action, matching)
    newest = reached.order_by(_newest_first(matching)).values("pk")[:MOST_RANKED]
    ranked = records.filter(pk__in=newest).annotate(rank=SearchRank(F("search"), query)).order_by("-rank", "-pk")
    return [Match(source, key, rank) for key, rank in ranked.values_list("pk", "rank")[:MOST_HITS]]


def _things(source: Source, keys: list[int]) -> dict[int, Any]:
    """Read the records found, only with the fields that are shown."""
    if not keys:
        return {}
    records: Any = source.model._default_manager
    found: dict[int, Any] = records.select_related(*source.shown).defer(*source.unread).in_bulk(keys)
    return found
