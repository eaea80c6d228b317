"""Thresholds bind, by the database too; a party is a fact; nobody of the casino can rule: with compliance's consent."""

from importlib import import_module

import django.db.models.deletion
import django.utils.timezone
from django.conf import settings
from django.db import migrations, models

RULING_BEFORE = import_module("audits.migrations.0005_who_may_rule").RULING
MAY_RULE_BEFORE = import_module("audits.migrations.0007_checklist_and_who_acts").MAY_RULE
SOUND = """
ALTER TABLE games_thresholdchange ADD CONSTRAINT threshold_findings_sound CHECK (kind <> 'findings' OR coalesce(
    (proposed->>'medium_from')::bigint BETWEEN 0 AND (proposed->>'high_from')::bigint
    AND (proposed->>'confirm_from')::bigint >= 0 AND (proposed->>'escalate_low_after')::int >= 1
    AND (proposed->>'escalate_medium_after')::int >= 1 AND (proposed->>'escalate_high_after')::int >= 1
    AND jsonb_typeof(proposed->'procedural') = 'object', false));
ALTER TABLE games_thresholdchange ADD CONSTRAINT threshold_rulings_sound CHECK (kind <> 'rulings' OR coalesce(
    (proposed->>'second_person_from')::bigint >= 0 AND (proposed->>'notify_from')::bigint >= 0
    AND (proposed->>'is_reporter_party')::boolean IS NOT NULL, false))
"""
UNSOUND = (
    "ALTER TABLE games_thresholdchange DROP CONSTRAINT threshold_findings_sound; "
    "ALTER TABLE games_thresholdchange DROP CONSTRAINT threshold_rulings_sound"
)
#: A finding never weighs less than when it was found, and what it weighed then stays on record.
WEIGHT = """
CREATE FUNCTION finding_weight_kept() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF NEW.severity < coalesce(OLD.severity_found, OLD.severity)
        OR NEW.severity_found IS DISTINCT FROM OLD.severity_found
            AND (OLD.severity_found IS NOT NULL OR NEW.severity_found <> OLD.severity)
        OR NEW.severity <> OLD.severity AND NEW.severity_found IS NULL THEN
        RAISE EXCEPTION 'Finding % does not weigh less than when it was found.', OLD.id
            USING ERRCODE = 'insufficient_privilege';
    END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER finding_weight_kept BEFORE UPDATE OF severity, severity_found ON audits_finding
    FOR EACH ROW EXECUTE FUNCTION finding_weight_kept();
ALTER TABLE audits_finding ENABLE ALWAYS TRIGGER finding_weight_kept;
"""
#: As in 0007, with the acting limits in force.
MAY_RULE = """
CREATE OR REPLACE FUNCTION may_rule(person bigint, at_casino bigint, at_pit bigint) RETURNS boolean
LANGUAGE sql STABLE AS $$
    SELECT EXISTS (
        SELECT 1 FROM games_staff s WHERE s.id = person AND s.is_active AND (
            (s.department = 'pit' AND s.post IN ('shift-manager', 'casino-manager')
                AND (s.casino_id IS NULL OR s.casino_id = at_casino))
            OR EXISTS (
                SELECT 1 FROM games_duty d JOIN games_casino c ON c.id = d.casino_id
                WHERE d.staff_id = s.id AND d.post IN ('shift-manager', 'casino-manager')
                AND d.casino_id = at_casino AND (d.pit_id IS NULL OR d.pit_id = at_pit)
                AND d.starts_at <= clock_timestamp() AND d.ends_at > clock_timestamp()
                AND CASE WHEN s.department = 'pit' THEN d.department IN ('', 'pit')
                    ELSE d.department = s.department AND coalesce(
                        (threshold_in_force(c.id, 'acting')->>'acting_other_departments')::boolean,
                        c.acting_other_departments) END)))
$$
"""
#: By the round's own record, or named on the incident and confirmed.
DISQUALIFIED = """
CREATE FUNCTION is_disqualified(person bigint, for_incident bigint) RETURNS boolean LANGUAGE sql STABLE AS $$
    SELECT is_party(person, ARRAY(SELECT round_id FROM audits_incidentround WHERE incident_id = for_incident))
        OR EXISTS (SELECT 1 FROM audits_incidentperson p JOIN audits_partyconfirmation c ON c.person_id = p.id
            WHERE p.incident_id = for_incident AND p.staff_id = person AND p.part IN ('dealer', 'supervisor'))
$$
"""
RULING = """
CREATE OR REPLACE FUNCTION verify_ruling() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF NOT may_rule(NEW.by_id, NEW.casino_id, NEW.pit_id) THEN
        RAISE EXCEPTION 'Staff % holds no post that rules at this moment.', NEW.by_id
            USING ERRCODE = 'insufficient_privilege';
    END IF;
    IF is_disqualified(NEW.by_id, NEW.incident_id) THEN
        RAISE EXCEPTION 'Staff % dealt or supervised what is ruled on.', NEW.by_id
            USING ERRCODE = 'insufficient_privilege';
    END IF;
    IF NEW.override = ''
        AND EXISTS (SELECT 1 FROM audits_incident i WHERE i.id = NEW.incident_id AND i.reported_by_id = NEW.by_id)
        AND coalesce((threshold_in_force(NEW.casino_id, 'rulings')->>'is_reporter_party')::boolean,
            (SELECT is_reporter_party FROM audits_rulingsetting WHERE casino_id = NEW.casino_id), true) THEN
        RAISE EXCEPTION 'Staff % reported what is ruled on.', NEW.by_id USING ERRCODE = 'insufficient_privilege';
    END IF;
    IF EXISTS (SELECT 1 FROM games_staff s WHERE s.id = NEW.by_id AND s.casino_id IS NULL)
        AND (NEW.override = '' OR NOT EXISTS (SELECT 1 FROM audits_rulingconsent c
            WHERE c.incident_id = NEW.incident_id AND c.ruler_id = NEW.by_id)) THEN
        RAISE EXCEPTION 'Staff % rules in the place of the casino without the consent of compliance.', NEW.by_id
            USING ERRCODE = 'insufficient_privilege';
    END IF;
    RETURN NEW;
END $$
"""
CONFIRMATION = """
CREATE FUNCTION verify_party_confirmation() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE named record;
BEGIN
    SELECT p.by_id, p.part, p.staff_id, i.casino_id, i.reported_by_id INTO named
        FROM audits_incidentperson p JOIN audits_incident i ON i.id = p.incident_id WHERE p.id = NEW.person_id;
    IF NOT EXISTS (SELECT 1 FROM games_staff s WHERE s.id = NEW.by_id AND s.is_active
            AND s.department IN ('surveillance', 'compliance')
            AND (s.casino_id IS NULL OR s.casino_id = named.casino_id))
        OR NEW.by_id IN (coalesce(named.by_id, 0), coalesce(named.reported_by_id, 0))
        OR named.part NOT IN ('dealer', 'supervisor') OR named.staff_id IS NULL THEN
        RAISE EXCEPTION 'Staff % may not confirm this person.', NEW.by_id USING ERRCODE = 'insufficient_privilege';
    END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER verify_party_confirmation BEFORE INSERT ON audits_partyconfirmation
    FOR EACH ROW EXECUTE FUNCTION verify_party_confirmation();
ALTER TABLE audits_partyconfirmation ENABLE ALWAYS TRIGGER verify_party_confirmation;
"""
CONSENT = """
CREATE FUNCTION verify_ruling_consent() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE about record;
BEGIN
    SELECT i.casino_id, i.pit_id INTO about FROM audits_incident i WHERE i.id = NEW.incident_id;
    IF EXISTS (SELECT 1 FROM games_staff s WHERE s.casino_id = about.casino_id AND s.is_active
        AND may_rule(s.id, about.casino_id, about.pit_id) AND NOT is_disqualified(s.id, NEW.incident_id)) THEN
        RAISE EXCEPTION 'Somebody of the casino can rule on incident %.', NEW.incident_id
            USING ERRCODE = 'insufficient_privilege';
    END IF;
    IF NOT is_compliance(NEW.by_id, about.casino_id)
        OR NOT EXISTS (SELECT 1 FROM games_staff s WHERE s.id = NEW.ruler_id AND s.is_active AND s.casino_id IS NULL
            AND s.department = 'pit' AND s.post = 'casino-manager') THEN
        RAISE EXCEPTION 'Compliance consents to a ruling by a casino manager of no single casino.'
            USING ERRCODE = 'insufficient_privilege';
    END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER verify_ruling_consent BEFORE INSERT ON audits_rulingconsent
    FOR EACH ROW EXECUTE FUNCTION verify_ruling_consent();
ALTER TABLE audits_rulingconsent ENABLE ALWAYS TRIGGER verify_ruling_consent;
"""


def dropped(table: str, function: str) -> str:
    return f"DROP TRIGGER {function} ON {table}; DROP FUNCTION {function}()"


class Migration(migrations.Migration):

    dependencies = [
        ('audits', '0014_two_people_by_trigger'),
        ('games', '0024_casino_managers_of_the_group'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.AddField(
            model_name='finding',
            name='severity_found',
            field=models.PositiveSmallIntegerField(blank=True, choices=[(1, 'Low'), (2, 'Medium'), (3, 'High')], help_text='As it was found, where another policy has changed it since.', null=True),
        ),
        migrations.AddField(
            model_name='historicalfinding',
            name='severity_found',
            field=models.PositiveSmallIntegerField(blank=True, choices=[(1, 'Low'), (2, 'Medium'), (3, 'High')], help_text='As it was found, where another policy has changed it since.', null=True),
        ),
        migrations.AddField(
            model_name='incidentperson',
            name='by',
            field=models.ForeignKey(blank=True, db_index=False, help_text='Empty: named by a program, or before this was recorded.', null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL),
        ),
        migrations.AlterField(
            model_name='finding',
            name='severity',
            field=models.PositiveSmallIntegerField(choices=[(1, 'Low'), (2, 'Medium'), (3, 'High')], help_text='By the stricter of the policy when it was found and the one in force now.'),
        ),
        migrations.AlterField(
            model_name='historicalfinding',
            name='severity',
            field=models.PositiveSmallIntegerField(choices=[(1, 'Low'), (2, 'Medium'), (3, 'High')], help_text='By the stricter of the policy when it was found and the one in force now.'),
        ),
        migrations.CreateModel(
            name='FindingWeighing',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('at', models.DateTimeField(default=django.utils.timezone.now)),
                ('decision', models.OneToOneField(on_delete=django.db.models.deletion.PROTECT, related_name='weighing', to='games.thresholddecision')),
            ],
        ),
        migrations.CreateModel(
            name='ThresholdNotice',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('decision', models.OneToOneField(on_delete=django.db.models.deletion.PROTECT, related_name='proposer_notice', to='games.thresholddecision')),
                ('notice', models.OneToOneField(on_delete=django.db.models.deletion.PROTECT, related_name='threshold_notice', to='audits.notice')),
            ],
        ),
        migrations.CreateModel(
            name='PartyConfirmation',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('reason', models.TextField()),
                ('who', models.TextField(verbose_name='confirmed by')),
                ('at', models.DateTimeField(default=django.utils.timezone.now)),
                ('by', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('person', models.OneToOneField(on_delete=django.db.models.deletion.PROTECT, related_name='confirmation', to='audits.incidentperson')),
            ],
            options={
                'constraints': [models.CheckConstraint(condition=models.Q(('reason', ''), _negated=True), name='party_confirmation_has_a_reason')],
            },
        ),
        migrations.CreateModel(
            name='RulingConsent',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('reason', models.TextField()),
                ('who', models.TextField(verbose_name='consented by')),
                ('at', models.DateTimeField(default=django.utils.timezone.now)),
                ('by', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('incident', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='ruling_consents', to='audits.incident')),
                ('ruler', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'ordering': ['at', 'id'],
                'constraints': [models.UniqueConstraint(fields=('incident', 'ruler'), name='ruling_consent_once'), models.CheckConstraint(condition=models.Q(('reason', ''), _negated=True), name='ruling_consent_has_a_reason'), models.CheckConstraint(condition=models.Q(('by', models.F('ruler')), _negated=True), name='ruling_consent_by_another')],
            },
        ),
        migrations.RunSQL(SOUND, UNSOUND),
        migrations.RunSQL(WEIGHT, dropped("audits_finding", "finding_weight_kept")),
        migrations.RunSQL(MAY_RULE, MAY_RULE_BEFORE),
        migrations.RunSQL(DISQUALIFIED, "DROP FUNCTION is_disqualified(bigint, bigint)"),
        migrations.RunSQL(RULING, RULING_BEFORE.replace("CREATE FUNCTION", "CREATE OR REPLACE FUNCTION")),
        migrations.RunSQL(CONFIRMATION, dropped("audits_partyconfirmation", "verify_party_confirmation")),
        migrations.RunSQL(CONSENT, dropped("audits_rulingconsent", "verify_ruling_consent")),
    ]
