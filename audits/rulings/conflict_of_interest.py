"""Who may not rule: the dealer and supervisor of the round and, unless overridden, the reporter of the incident.

A person is a party by the round's own record, or if named on the incident and confirmed by surveillance or compliance.
"""

from collections.abc import Iterable

from django.db.models import Q

from audits.models import Incident, IncidentPerson, RulingConsent, ruling_setting_of
from games.access.gate import can
from games.access.selectors import staff_who_may
from games.models import Round, Staff


def is_party(person: Staff, rounds: Iterable[Round]) -> bool:
    """Return whether a person dealt or supervised one of these rounds.

    The staff numbers as sent count, too: a round may be older than the person's record.
    """
    return any(
        person.pk in (round_.dealer_staff_id, round_.supervisor_staff_id)
        or person.number in (round_.dealer, round_.supervisor)
        for round_ in rounds
    )


def rounds_as_party(person: Staff) -> Q:
    """Return the query for the rounds that a person dealt or supervised."""
    by_key = Q(dealer_staff=person.pk) | Q(supervisor_staff=person.pk)
    return by_key | Q(dealer=person.number) | Q(supervisor=person.number)


def was_there(person: Staff, incident: Incident) -> bool:
    """Return whether a person is a confirmed dealer or supervisor of the incident; unconfirmed ones do not count."""
    named = incident.people.filter(part__in=IncidentPerson.PARTIES, staff=person)
    return named.filter(confirmation__isnull=False).exists()


def is_disqualified(person: Staff, incident: Incident) -> bool:
    """Return whether a person is a party to the incident or to one of its rounds."""
    return is_party_on(person, incident, Round.objects.filter(incidents__incident=incident))


def is_party_on(person: Staff, incident: Incident, rounds: Iterable[Round]) -> bool:
    """Return whether a person is a party to these rounds by their record, or a confirmed party of the incident."""
    return was_there(person, incident) or is_party(person, rounds)


def is_reporter(person: Staff, incident: Incident) -> bool:
    """Return whether a person reported the incident, in a casino where the reporter may not rule."""
    return incident.reported_by_id == person.pk and ruling_setting_of(incident.casino).is_reporter_party


# --- Where everyone is disqualified ----------------------------------------------------------------


def rulers_of(incident: Incident) -> list[Staff]:
    """Return the people of the casino who can rule: in a ruling post now, permanent or acting, and no party."""
    people = staff_who_may("ruling.make").filter(casino=incident.casino)
    return [
        person
        for person in people.order_by("number")
        if can(person, "ruling.make", incident) and not is_disqualified(person, incident)
    ]


def group_rulers_of(incident: Incident) -> list[Staff]:
    """Return the group casino managers, who belong to no single casino, that are no party."""
    people = staff_who_may("ruling.make").filter(casino=None)
    return [person for person in people.order_by("number") if not is_disqualified(person, incident)]


def needs_consent(person: Staff) -> bool:
    """Return whether a person needs compliance's consent to rule: group staff, who replace the casino's own people."""
    return person.casino_id is None


def has_consent(person: Staff, incident: Incident) -> bool:
    """Return whether compliance has consented to a ruling by this person."""
    return RulingConsent.objects.filter(incident=incident, ruler=person).exists()


def who_decides(incident: Incident) -> str:
    """Say who can rule where no one of the casino can; empty where someone can."""
    if rulers_of(incident):
        return ""
    no_one = f"No one of {incident.casino.code} can rule on {incident}: everyone in a ruling post is a party."
    people = group_rulers_of(incident)
    if not people:
        return (
            f"{no_one} A group casino manager can rule, with a reason and compliance's consent on record, but there is "
            "none. Ask an administrator to create such an account."
        )
    ready = [person for person in people if has_consent(person, incident)]
    names = ", ".join(map(str, ready or people))
    if ready:
        return f"{no_one} Compliance has consented to a ruling by {names}; a reason is required."
    return f"{no_one} {names} can rule as group casino manager, with a reason, once compliance has consented."
