"""Precedents: what was decided before on the same situation, the same rules, or in similar words.

Each way of being similar is looked up by its own index, the newest first and so many at most; only what was found is
compared closely. So it costs little more with thousands of rulings than with a hundred.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from django.contrib.postgres.search import SearchQuery, SearchRank, TrigramSimilarity
from django.db.models import F, Q, QuerySet

from audits.models import Incident, Ruling, Scope
from games.services.gate import visible

#: So many of each way of being similar are compared, and so many of all are shown.
MOST_COMPARED, MOST_SHOWN = 100, 8
LONGEST_WORDS, SHORTEST_WORD, MOST_WORDS = 2000, 3, 40
OTHER = "other"


@dataclass(frozen=True)
class Asked:
    """What a ruling is drafted about."""

    rulebook: str
    situation: str
    rules: Sequence[str] = ()
    words: str = ""

    @property
    def plain(self) -> str:
        """The words as far as they are looked for."""
        return self.words.replace("\x00", " ")[:LONGEST_WORDS].strip()


@dataclass(frozen=True)
class Precedent:
    ruling: Ruling
    score: float
    is_same_situation: bool
    shared_rules: tuple[str, ...]

    @property
    def is_in_force(self) -> bool:
        return self.ruling.is_standing and getattr(self.ruling, "replaced_by", None) is None


def precedents(actor: Any, incident: Incident, asked: Asked) -> list[Precedent]:
    """Of those that the actor may see, the most similar first."""
    known = visible(actor, Ruling.objects.filter(casino=incident.casino_id, is_withdrawal=False))
    keys = {key for found in _candidates(known, asked) for key in found}
    if not keys:
        return []
    ranked = Ruling.objects.filter(pk__in=keys).select_related("incident", "replaced_by").defer("search")
    words = asked.plain
    if words:
        query = any_word(words)
        ranked = ranked.annotate(alike=TrigramSimilarity("question", words), rank=SearchRank(F("search"), query))
    found = [_compared(one, asked) for one in ranked]
    return sorted(found, key=lambda one: (-one.score, -one.ruling.pk))[:MOST_SHOWN]


def _candidates(known: QuerySet[Ruling], asked: Asked) -> Iterable[list[int]]:
    for query in _ways(asked):
        yield list(known.filter(query).order_by("-made_at", "-pk").values_list("pk", flat=True)[:MOST_COMPARED])


def _ways(asked: Asked) -> Iterable[Q]:
    if asked.situation != OTHER:
        yield Q(situation=asked.situation, rulebook=asked.rulebook)
    if asked.rules:
        yield Q(rules__overlap=list(asked.rules))
    if words := asked.plain:
        yield Q(search=any_word(words))
        yield Q(question__trigram_similar=words)


def any_word(text: str) -> SearchQuery:
    """Any of the words: who drafts a ruling does not know how another one put it."""
    plain = ["".join(letter for letter in word if letter.isalnum()) for word in text.split()]
    words = list(dict.fromkeys(word for word in plain if len(word) >= SHORTEST_WORD))[:MOST_WORDS]
    return SearchQuery(" or ".join(words) or "''", search_type="websearch", config="english")


def _compared(ruling: Ruling, asked: Asked) -> Precedent:
    is_same = ruling.situation == asked.situation != OTHER and ruling.rulebook == asked.rulebook
    shared = tuple(rule for rule in ruling.rules if rule in asked.rules)
    letters, rank = getattr(ruling, "alike", 0.0), getattr(ruling, "rank", 0.0)
    is_standing = ruling.is_standing and getattr(ruling, "replaced_by", None) is None
    score = 1.0 * is_same + 0.5 * bool(shared) + letters + rank + 0.25 * is_standing
    return Precedent(ruling, score, is_same, shared)


def binding(incident: Incident, rules: Sequence[str]) -> Ruling | None:
    """The latest interpretation that stands on this: to be followed, or departed from with a reason."""
    standing = Ruling.objects.filter(
        casino=incident.casino_id, rulebook=incident.rulebook, situation=incident.situation, scope=Scope.STANDING,
        is_withdrawal=False, replaced_by=None,
    ).exclude(incident=incident)  # fmt: skip
    if incident.situation == OTHER:  # which says nothing yet about what it is about
        standing = standing.filter(rules__overlap=list(rules))
    return standing.order_by("-made_at", "-pk").first()
