"""Nobody rules on what is their own: who dealt or supervised the round, and, unless overridden, who reported it.

A party is a fact: by the round's own record, or named on the incident and confirmed by surveillance or compliance.
"""

from collections.abc import Iterable

from django.db.models import Q

from audits.models import Incident, IncidentPerson, RulingConsent, ruling_setting_of
from games.access.gate import can
from games.access.selectors import staff_who_may
from games.models import Round, Staff


def is_party(person: Staff, rounds: Iterable[Round]) -> bool:
    """By the staff number as it was sent, too: a round may have come before the person was on record."""
    return any(
        person.pk in (round_.dealer_staff_id, round_.supervisor_staff_id)
        or person.number in (round_.dealer, round_.supervisor)
        for round_ in rounds
    )


def rounds_as_party(person: Staff) -> Q:
    """The same for a query: the rounds that a person dealt or supervised."""
    by_key = Q(dealer_staff=person.pk) | Q(supervisor_staff=person.pk)
    return by_key | Q(dealer=person.number) | Q(supervisor=person.number)


def was_there(person: Staff, incident: Incident) -> bool:
    """Named as dealer or supervisor and confirmed; a name that nobody confirmed bars nobody."""
    named = incident.people.filter(part__in=IncidentPerson.PARTIES, staff=person)
    return named.filter(confirmation__isnull=False).exists()


def is_disqualified(person: Staff, incident: Incident) -> bool:
    return is_party_on(person, incident, Round.objects.filter(incidents__incident=incident))


def is_party_on(person: Staff, incident: Incident, rounds: Iterable[Round]) -> bool:
    """Tell whether a person is a party to these rounds by their record, or a confirmed party of the incident."""
    return was_there(person, incident) or is_party(person, rounds)


def is_reporter(person: Staff, incident: Incident) -> bool:
    """Who reported it, where the casino asks for another one to rule."""
    return incident.reported_by_id == person.pk and ruling_setting_of(incident.casino).is_reporter_party


# --- Where everybody is disqualified ---------------------------------------------------------------


def rulers_of(incident: Incident) -> list[Staff]:
    """The people of the casino in a post that rules at this moment, permanently or acting, who are no party."""
    people = staff_who_may("ruling.make").filter(casino=incident.casino)
    return [
        person
        for person in people.order_by("number")
        if can(person, "ruling.make", incident) and not is_disqualified(person, incident)
    ]


def group_rulers_of(incident: Incident) -> list[Staff]:
    """The casino managers of the group, who belong to no single casino, and are no party."""
    people = staff_who_may("ruling.make").filter(casino=None)
    return [person for person in people.order_by("number") if not is_disqualified(person, incident)]


def needs_consent(person: Staff) -> bool:
    """A person of no single casino rules in the place of the casino's own people: with compliance's consent."""
    return person.casino_id is None


def has_consent(person: Staff, incident: Incident) -> bool:
    return RulingConsent.objects.filter(incident=incident, ruler=person).exists()


def who_decides(incident: Incident) -> str:
    """Say who can rule where nobody of the casino can; empty where somebody can."""
    if rulers_of(incident):
        return ""
    nobody = f"Nobody of {incident.casino.code} can rule on {incident}: everybody in a post that rules is a party."
    people = group_rulers_of(incident)
    if not people:
        return (
            f"{nobody} A casino manager of no single casino can, with a reason and compliance's consent on record; "
            "there is none. Ask an administrator for an account of one."
        )
    ready = [person for person in people if has_consent(person, incident)]
    names = ", ".join(map(str, ready or people))
    if ready:
        return f"{nobody} With compliance's consent on record {names} can, with a reason."
    return f"{nobody} {names} can, as casino manager of the group, with a reason, once compliance has consented."
