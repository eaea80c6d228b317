"""What a rulebook leaves to the casino operator's discretion (Division 9, 4.3 and 4.9), and why not elsewhere."""

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
from games.labels.rules import rule_label, rulebook_label, rules_label
from games.models import Round

HOUSE_PLACED = "house-placed"


def discretion_scope(incident: Incident) -> Scope:
    """Return what may be decided on an incident by discretion; refuse with the reason where nothing may."""
    if incident.table_id is None or incident.rulebook not in rulebooks():
        raise ValidationError(f"{incident} has no table with a rulebook; enter the table first.")
    book = rulebook(incident.rulebook)
    found = book.discretions.get(incident.situation)
    if found is None:
        raise ValidationError(f"{_decided_otherwise(book, incident)} {_what_is_left(book)}")
    return found


def _decided_otherwise(book: Rulebook, incident: Incident) -> str:
    label = situation_label(incident.situation)
    try:
        advised = advise(book, incident.situation, incident.facts)
    except InputError:  # the situation is no longer one of the rulebook, or its facts are not complete
        return f"{rulebook_label(book.id)} leaves nothing to the operator's discretion here ({label})."
    if advised.action == "ruling":
        cited = f" ({rules_label(book.cite(*advised.rules))})" if advised.rules else ""
        return (
            f"{rulebook_label(book.id)} leaves nothing to the operator's discretion here ({label}); ask for a "
            f"ruling{cited}."
        )
    action = ACTIONS.get(advised.action, advised.action).lower()
    return (
        f"{rules_label(book.cite(*advised.rules))} decides this ({label}): {action}. It leaves no room for the "
        "operator's discretion."
    )


def _what_is_left(book: Rulebook) -> str:
    if not book.discretions:
        return "If what happened is something else, correct the situation of the incident."
    left = "; ".join(f"{', '.join(discretion.rules)}: {discretion.about}" for discretion in book.discretions.values())
    return f"The rulebook leaves only this to the operator: {left}. If it was one of these, correct the situation."


def leaves_room(incident: Incident) -> bool:
    """Return whether the rulebook of an incident leaves its situation to the operator."""
    try:
        discretion_scope(incident)
    except ValidationError:
        return False
    return True


def verify_bets(incident: Incident, scope: Scope, played: Round, places: Iterable[int]) -> None:
    """Refuse bets that are not in the round, were not on the layout, or are of another kind. Places count from 0."""
    if played.table_id != incident.table_id:
        raise ValidationError({"round": f"{played} was not played at the table of {incident}; choose another round."})
    if played.rulebook != incident.rulebook:
        here, there = rulebook_label(played.rulebook), rulebook_label(incident.rulebook)
        raise ValidationError({"round": f"{played} was played under {here}, not under {there}."})
    for place in places:
        _verify_bet(scope, played, place)


def _verify_bet(scope: Scope, played: Round, place: int) -> None:
    count, name, cited = len(played.players), f"Bet {place + 1} of {played}", ", ".join(scope.rules)
    if not 0 <= place < count:
        raise ValidationError({"bet": f"There is no bet {place + 1}; {played} has {count}."})
    for facts, word in ((played.refused, "refused"), (played.late, "late"), (played.withdrawn, "withdrawn in time")):
        if facts and facts[place]:
            raise ValidationError({"bet": f"{name} was {word} and is not settled; {cited} is about settled bets."})
    if scope.bets != HOUSE_PLACED:
        return
    if played.call and played.call[place]:
        raise ValidationError(
            {"bet": f"{name} was a call bet: {cited} excludes these, so it is settled where it lay (4.6)."}
        )
    if not (played.house_placed and played.house_placed[place]):
        raise ValidationError({"bet": f"{name} was not placed by the house; {cited} is about {scope.about}."})


def verify_scope(incident: Incident, discretion: Discretion, played: Round, nets: Mapping[int, int]) -> None:
    """Check a discretion again when it is ordered: the situation may have been corrected since."""
    scope = discretion_scope(incident)
    if cite(incident.rulebook, scope.rules[0]) != discretion.rule:
        raise ValidationError(
            f"Discretion {discretion} was recorded under {rule_label(discretion.rule)}, but the situation has been "
            "corrected since. Record the decision again."
        )
    if not nets:
        raise ValidationError({"nets": "Enter what the bet in question wins or loses."})
    if discretion.bet is not None and (others := set(nets) - {discretion.bet - 1}):
        raise ValidationError({
            "nets": f"The discretion is about bet {discretion.bet}; leave bet {min(others) + 1} to the rules."
        })  # fmt: skip
    verify_bets(incident, scope, played, nets)
