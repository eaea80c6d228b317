"""Nobody rules on what is his own: who dealt or supervised the round, and, unless overridden, who reported it."""

from collections.abc import Iterable

from audits.models import Incident, IncidentPerson, ruling_setting_of
from games.models import Round, Staff

OWN = (IncidentPerson.Part.DEALER, IncidentPerson.Part.SUPERVISOR)


def is_party(person: Staff, rounds: Iterable[Round]) -> bool:
    """By the staff number as it was sent, too: a round may have come before the person was on record."""
    return any(
        person.pk in (one.dealer_staff_id, one.supervisor_staff_id) or person.number in (one.dealer, one.supervisor)
        for one in rounds
    )


def was_there(person: Staff, incident: Incident) -> bool:
    return incident.people.filter(part__in=OWN, staff=person).exists()


def is_reporter(person: Staff, incident: Incident) -> bool:
    """Who reported it, where the casino asks for another one to rule."""
    return incident.reported_by_id == person.pk and ruling_setting_of(incident.casino).is_reporter_party
