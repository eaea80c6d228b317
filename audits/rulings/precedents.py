"""Precedents: earlier rulings on the same situation, the same rules, or in similar words.

Each kind of similarity is looked up in its own index, the newest first up to a limit; only the rulings found are
compared closely. So it costs little more with thousands of rulings than with a hundred.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from django.contrib.postgres.search import SearchQuery, SearchRank, TrigramSimilarity
from django.db.models import Exists, F, OuterRef, Q, QuerySet, Value

from audits.models import Incident, Ruling, Scope
from games.access.gate import visible

#: How many rulings of each kind of similarity are compared, and how many are shown.
MOST_COMPARED, MOST_SHOWN = 50, 8
LONGEST_WORDS, SHORTEST_WORD, MOST_WORDS = 2000, 3, 40
#: A shorter text is never similar to a whole question, but to too many parts of one.
FEWEST_LETTERS = 20
OTHER = "other"
SHOWN = ("casino", "pit", "table", "incident", "replaces", "replaced_by")
UNREAD = ("search", "incident__search", "incident__advice", "replaces__search", "replaced_by__search")


@dataclass(frozen=True)
class PrecedentQuery:
    """The subject of a ruling being drafted."""

    rulebook: str
    situation: str
    rules: Sequence[str] = ()
    words: str = ""

    @property
    def plain(self) -> str:
        """Return the words that are searched for."""
        return self.words.replace("\x00", " ")[:LONGEST_WORDS].strip()


@dataclass(frozen=True)
class Precedent:
    """An earlier ruling, and in which way it is similar."""

    ruling: Ruling
    score: float
    is_same_situation: bool
    shared_rules: tuple[str, ...]

    @property
    def is_in_force(self) -> bool:
        return self.ruling.is_standing and getattr(self.ruling, "replaced_by", None) is None


def precedents(actor: Any, incident: Incident, asked: PrecedentQuery) -> list[Precedent]:
    """Return the visible precedents, the most similar first."""
    known = visible(actor, Ruling.objects.filter(casino=incident.casino_id, is_withdrawal=False))
    keys = {key for found in _candidates(known, asked) for key in found}
    compared = (_compared(row, asked) for row in _rows(keys, asked))
    best = sorted(compared, key=lambda text: (-text.score, -text.key))[:MOST_SHOWN]
    rulings = Ruling.objects.select_related(*SHOWN).defer(*UNREAD).in_bulk([text.key for text in best])
    return [Precedent(rulings[text.key], text.score, text.is_same_situation, text.shared_rules) for text in best]


def _candidates(known: QuerySet[Ruling], asked: PrecedentQuery) -> Iterable[list[int]]:
    for query in _ways(asked):
        yield list(known.filter(query).order_by("-made_at", "-pk").values_list("pk", flat=True)[:MOST_COMPARED])


def _ways(asked: PrecedentQuery) -> Iterable[Q]:
    if asked.situation != OTHER:
        yield Q(situation=asked.situation, rulebook=asked.rulebook)
    if asked.rules:
        yield Q(rules__overlap=list(asked.rules))
    if words := asked.plain:
        yield Q(search=any_word(words))
        if len(words) >= FEWEST_LETTERS:
            yield Q(question__trigram_similar=words)


def any_word(text: str) -> SearchQuery:
    """Make a query for any of the words: another ruling may have used different ones."""
    plain = ["".join(letter for letter in word if letter.isalnum()) for word in text.split()]
    words = list(dict.fromkeys(word for word in plain if len(word) >= SHORTEST_WORD))[:MOST_WORDS]
    return SearchQuery(" or ".join(words) or "''", search_type="websearch", config="english")


@dataclass(frozen=True)
class ComparedText:
    """The similarity of a ruling, before the whole ruling is read."""

    key: int
    score: float
    is_same_situation: bool
    shared_rules: tuple[str, ...]


def _rows(keys: set[int], asked: PrecedentQuery) -> Iterable[dict[str, Any]]:
    """Read only the compared fields: most of these rulings are not shown."""
    rulings: Any = Ruling.objects.filter(pk__in=keys).order_by()
    if words := asked.plain:
        rulings = rulings.annotate(
            letters=TrigramSimilarity("question", words), rank=SearchRank(F("search"), any_word(words))
        )
    else:
        rulings = rulings.annotate(letters=Value(0.0), rank=Value(0.0))
    rows: Iterable[dict[str, Any]] = rulings.values(
        "pk", "situation", "rulebook", "rules", "scope", "replaced_by", "letters", "rank"
    )
    return rows


def _compared(row: dict[str, Any], asked: PrecedentQuery) -> ComparedText:
    is_same = row["situation"] == asked.situation != OTHER and row["rulebook"] == asked.rulebook
    shared = tuple(rule for rule in row["rules"] if rule in asked.rules)
    is_standing = row["scope"] == Scope.STANDING and row["replaced_by"] is None
    score = 1.0 * is_same + 0.5 * bool(shared) + row["letters"] + row["rank"] + 0.25 * is_standing
    return ComparedText(row["pk"], score, is_same, shared)


def binding(incident: Incident, rules: Sequence[str]) -> Ruling | None:
    """Return the latest standing interpretation on the subject: to be followed, or departed from with a reason."""
    standing = Ruling.objects.filter(
        casino=incident.casino_id, rulebook=incident.rulebook, situation=incident.situation, scope=Scope.STANDING,
        is_withdrawal=False,
    ).exclude(Exists(Ruling.objects.filter(replaces=OuterRef("pk")))).exclude(incident=incident)  # fmt: skip
    if incident.situation == OTHER:  # such incidents have nothing in common but their rules
        standing = standing.filter(rules__overlap=list(rules))
    return standing.order_by("-made_at", "-pk").first()
