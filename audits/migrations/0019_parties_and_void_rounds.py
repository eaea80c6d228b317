"""A confirmed party neither orders nor executes, and a void round is changed by two people: by the database too."""

from importlib import import_module

from django.db import migrations

WHO_MAY_RULE = import_module("audits.migrations.0005_who_may_rule")
TWO_PEOPLE = import_module("audits.migrations.0014_two_people_by_trigger")

#: By the staff number as it was sent, too: a round may have come before the person was on record.
IS_PARTY = """
CREATE OR REPLACE FUNCTION is_party(person bigint, in_rounds bigint[]) RETURNS boolean LANGUAGE sql STABLE AS $$
    SELECT EXISTS (SELECT 1 FROM games_round r WHERE r.id = ANY (in_rounds)
        AND (r.dealer_staff_id = person OR r.supervisor_staff_id = person
            OR (SELECT s.number FROM games_staff s WHERE s.id = person) IN (r.dealer, r.supervisor)))
$$
"""
#: By the record of these rounds, or named on the incident and confirmed.
IS_PARTY_ON = """
CREATE FUNCTION is_party_on(person bigint, for_incident bigint, in_rounds bigint[]) RETURNS boolean
LANGUAGE sql STABLE AS $$
    SELECT is_party(person, in_rounds)
        OR EXISTS (SELECT 1 FROM audits_incidentperson p JOIN audits_partyconfirmation c ON c.person_id = p.id
            WHERE p.incident_id = for_incident AND p.staff_id = person AND p.part IN ('dealer', 'supervisor'))
$$
"""


def changed(body: str, *changes: tuple[str, str]) -> str:
    """Return a function of an earlier migration with some of its words replaced."""
    for before, now in changes:
        if body.count(before) != 1:
            raise ValueError(f"{before!r} does not stand once in the function to be changed.")
        body = body.replace(before, now)
    return body


CONSEQUENCE = changed(
    TWO_PEOPLE.CONSEQUENCE,
    ("is_party(NEW.by_id, NEW.round_ids)", "is_party_on(NEW.by_id, NEW.incident_id, NEW.round_ids)"),
)
DECISION = changed(
    TWO_PEOPLE.DECISION,
    ("SELECT c.casino_id, i.pit_id,", "SELECT c.casino_id, c.incident_id, i.pit_id,"),
    ("is_party(NEW.by_id, ordered.round_ids)", "is_party_on(NEW.by_id, ordered.incident_id, ordered.round_ids)"),
)
CORRECTION = changed(
    TWO_PEOPLE.CORRECTION,
    ("SELECT c.by_id, c.casino_id, c.round_ids,", "SELECT c.by_id, c.casino_id, c.incident_id, c.round_ids,"),
    ("r.status = 'settled' OR", "r.status IN ('settled', 'void') OR"),
    (
        "c.round_id = r.id AND c.is_settled) AS was_settled",
        "c.round_id = r.id AND (c.is_settled OR c.is_void)) AS was_decided",
    ),
    ("played.was_settled", "played.was_decided"),
    ("A change of a settled round takes two people", "A change of a settled or void round takes two people"),
    (
        "is_party(ordered.by_id, ARRAY[NEW.round_id])",
        "is_party_on(ordered.by_id, ordered.incident_id, ARRAY[NEW.round_id])",
    ),
)  # fmt: skip


class Migration(migrations.Migration):
    dependencies = [("audits", "0018_reports")]
    operations = [
        migrations.RunSQL(IS_PARTY, WHO_MAY_RULE.IS_PARTY.replace("CREATE FUNCTION", "CREATE OR REPLACE FUNCTION")),
        migrations.RunSQL(IS_PARTY_ON, "DROP FUNCTION is_party_on(bigint, bigint, bigint[])"),
        migrations.RunSQL(CONSEQUENCE, TWO_PEOPLE.CONSEQUENCE),
        migrations.RunSQL(DECISION, TWO_PEOPLE.DECISION),
        migrations.RunSQL(CORRECTION, TWO_PEOPLE.CORRECTION),
    ]
