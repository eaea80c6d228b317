"""What a document leaves to the casino operator (Division 9, 4.3 and 4.9), and why it leaves nothing elsewhere."""

from collections.abc import Iterable, Mapping

from django.core.exceptions import ValidationError

from audits.incidents.labels import ACTIONS, situation_label
from audits.models import Discretion, Incident
from games.engine.errors import InputError
from games.engine.rules.advice import advise
from games.engine.rules.citation import cite
from games.engine.rules.loader import rulebook, rulebooks
from games.engine.rules.rulebook import DiscretionRule as Scope
from games.engine.rules.rulebook import Rulebook
from games.models import Round

HOUSE_PLACED = "house-placed"


def discretion_scope(incident: Incident) -> Scope:
    """What may be decided on an incident, by which rules; else the reason why nothing may."""
    if incident.table_id is None or incident.rulebook not in rulebooks():
        raise ValidationError(f"{incident} is at no table with a rulebook; name the table first.")
    book = rulebook(incident.rulebook)
    found = book.discretions.get(incident.situation)
    if found is None:
        raise ValidationError(f"{_decided_otherwise(book, incident)} {_what_is_left(book)}")
    return found


def _decided_otherwise(book: Rulebook, incident: Incident) -> str:
    words = situation_label(incident.situation)
    try:
        said = advise(book, incident.situation, incident.facts)
    except InputError:  # the situation is no longer one of the rulebook, or its facts are not complete
        return f"{book.id} leaves nothing to the operator's discretion here ({words})."
    if said.action == "ruling":
        cited = f" ({', '.join(book.cite(*said.rules))})" if said.rules else ""
        return f"{book.id} leaves nothing to the operator's discretion here ({words}); ask for a ruling{cited}."
    action = ACTIONS.get(said.action, said.action).lower()
    return (
        f"{', '.join(book.cite(*said.rules))} decides this ({words}): {action}. It leaves no room for the operator's "
        "discretion."
    )


def _what_is_left(book: Rulebook) -> str:
    if not book.discretions:
        return "If what happened is something else, correct the situation of the incident."
    left = "; ".join(f"{', '.join(discretion.rules)}: {discretion.about}" for discretion in book.discretions.values())
    return f"The document leaves to the operator only ({left}). If it was one of these, correct the situation."


def leaves_room(incident: Incident) -> bool:
    """Whether the document of an incident leaves its situation to the operator."""
    try:
        discretion_scope(incident)
    except ValidationError:
        return False
    return True


def verify_bets(incident: Incident, scope: Scope, played: Round, places: Iterable[int]) -> None:
    """The bets are of that round, were on the felt, and are of the kind that the rule speaks of. Places from 0."""
    if played.table_id != incident.table_id:
        raise ValidationError({"round": f"{played} was not played at the table of {incident}; name another round."})
    if played.rulebook != incident.rulebook:
        raise ValidationError({"round": f"{played} was played by {played.rulebook}, not by {incident.rulebook}."})
    for place in places:
        _verify_bet(scope, played, place)


def _verify_bet(scope: Scope, played: Round, place: int) -> None:
    count, name, cited = len(played.players), f"Bet {place + 1} of {played}", ", ".join(scope.rules)
    if not 0 <= place < count:
        raise ValidationError({"bet": f"There is no bet {place + 1}; {played} has {count}."})
    for facts, word in ((played.refused, "refused"), (played.late, "late"), (played.withdrawn, "withdrawn in time")):
        if facts and facts[place]:
            raise ValidationError(
                {"bet": f"{name} was {word} and is not settled at all; {cited} is about bets that are."}
            )
    if scope.bets != HOUSE_PLACED:
        return
    if played.call and played.call[place]:
        raise ValidationError(
            {"bet": f"{name} was a call bet: {cited} excepts these, so it is settled where it lay (4.6)."}
        )
    if not (played.house_placed and played.house_placed[place]):
        raise ValidationError({"bet": f"{name} was not placed by the house; {cited} speaks here of {scope.about}."})


def verify_scope(incident: Incident, discretion: Discretion, played: Round, nets: Mapping[int, int]) -> None:
    """As it is when it is ordered: the situation may have been corrected since the record was made."""
    scope = discretion_scope(incident)
    if cite(incident.rulebook, scope.rules[0]) != discretion.rule:
        raise ValidationError(
            f"Discretion {discretion} was recorded by {discretion.rule}; the situation is another one now. Record what "
            "is decided anew."
        )
    if not nets:
        raise ValidationError({"nets": "Say what the bet in question wins or loses."})
    if discretion.bet is not None and (others := set(nets) - {discretion.bet - 1}):
        raise ValidationError({
            "nets": f"The discretion is about bet {discretion.bet}; leave bet {min(others) + 1} to the rules."
        })  # fmt: skip
    verify_bets(incident, scope, played, nets)
