"""Thresholds are changed by two compliance people, and in force from the next gaming day on; by the database, too."""

from importlib import import_module

import django.db.models.deletion
import django.utils.timezone
from django.conf import settings
from django.db import migrations, models

#: What is in force of a kind: the approved values, or NULL where no change was approved yet.
IN_FORCE = """
CREATE FUNCTION threshold_in_force(at_casino bigint, wanted text, at_moment timestamptz DEFAULT clock_timestamp())
RETURNS jsonb LANGUAGE sql STABLE AS $$
    SELECT c.proposed FROM games_thresholddecision d JOIN games_thresholdchange c ON c.id = d.change_id
    WHERE c.casino_id = at_casino AND c.kind = wanted AND d.outcome = 'approved' AND d.effective_from <= at_moment
    ORDER BY d.effective_from DESC, d.id DESC LIMIT 1
$$
"""
#: As games.floor.moments has it: an hour that the clocks show twice counts the first time.
NEXT_DAY = """
CREATE FUNCTION next_gaming_day(at_casino bigint, moment timestamptz) RETURNS timestamptz LANGUAGE sql STABLE AS $$
    SELECT min(first) FROM (
        SELECT CASE WHEN (start - interval '1 hour') AT TIME ZONE c.timezone = start AT TIME ZONE c.timezone
            THEN start - interval '1 hour' ELSE start END AS first
        FROM games_casino c, generate_series(-1, 2) AS n, LATERAL (SELECT (
            (moment AT TIME ZONE c.timezone)::date + n + c.gaming_day_starts) AT TIME ZONE c.timezone AS start) AS day
        WHERE c.id = at_casino) AS days
    WHERE first > moment
$$
"""
IS_COMPLIANCE = """
CREATE FUNCTION is_compliance(person bigint, at_casino bigint) RETURNS boolean LANGUAGE sql STABLE AS $$
    SELECT EXISTS (SELECT 1 FROM games_staff s WHERE s.id = person AND s.is_active AND s.department = 'compliance'
        AND (s.casino_id IS NULL OR s.casino_id = at_casino))
$$
"""
CHANGE = """
CREATE FUNCTION verify_threshold_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF NOT is_compliance(NEW.proposed_by_id, NEW.casino_id) THEN
        RAISE EXCEPTION 'Staff % is not a compliance person of this casino.', NEW.proposed_by_id
            USING ERRCODE = 'insufficient_privilege';
    END IF;
    IF EXISTS (SELECT 1 FROM games_thresholdchange c LEFT JOIN games_thresholddecision d ON d.change_id = c.id
        WHERE c.casino_id = NEW.casino_id AND c.kind = NEW.kind AND d.id IS NULL) THEN
        RAISE EXCEPTION 'A proposal for these thresholds waits already: "threshold_change_one_at_a_time".'
            USING ERRCODE = 'check_violation';
    END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER verify_threshold_change BEFORE INSERT ON games_thresholdchange
    FOR EACH ROW EXECUTE FUNCTION verify_threshold_change();
ALTER TABLE games_thresholdchange ENABLE ALWAYS TRIGGER verify_threshold_change;
"""
DECISION = """
CREATE FUNCTION verify_threshold_decision() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE found record;
BEGIN
    SELECT c.casino_id, c.at INTO found FROM games_thresholdchange c WHERE c.id = NEW.change_id;
    IF NOT is_compliance(NEW.decided_by_id, found.casino_id) THEN
        RAISE EXCEPTION 'Staff % is not a compliance person of this casino.', NEW.decided_by_id
            USING ERRCODE = 'insufficient_privilege';
    END IF;
    IF NEW.at < found.at OR NEW.effective_from < next_gaming_day(found.casino_id, NEW.at) THEN
        RAISE EXCEPTION 'Thresholds take effect at the next gaming day: "threshold_from_the_next_gaming_day".'
            USING ERRCODE = 'check_violation';
    END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER verify_threshold_decision BEFORE INSERT ON games_thresholddecision
    FOR EACH ROW EXECUTE FUNCTION verify_threshold_decision();
ALTER TABLE games_thresholddecision ENABLE ALWAYS TRIGGER verify_threshold_decision;
"""
SOUND = """
ALTER TABLE games_thresholdchange ADD CONSTRAINT threshold_acting_sound CHECK (kind <> 'acting' OR coalesce(
    (proposed->>'acting_days')::int BETWEEN 1 AND 366
    AND (proposed->>'acting_other_departments')::boolean IS NOT NULL, false))
"""
#: A casino begins with the usual bounds; others are thresholds.
NEW_CASINO = """
CREATE FUNCTION verify_new_casino() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF NEW.acting_days > 31 OR NEW.acting_other_departments THEN
        RAISE EXCEPTION 'A casino begins with the usual acting limits: "casino_begins_with_usual_limits".'
            USING ERRCODE = 'check_violation';
    END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER verify_new_casino BEFORE INSERT ON games_casino FOR EACH ROW EXECUTE FUNCTION verify_new_casino();
ALTER TABLE games_casino ENABLE ALWAYS TRIGGER verify_new_casino;
"""
ACTING_BEFORE = import_module("games.migrations.0014_acting_appointments").VERIFY
#: As in 0014, with the bounds in force.
ACTING = """
CREATE OR REPLACE FUNCTION verify_acting_appointment() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE found record;
BEGIN
    SELECT c.code, coalesce((t.bounds->>'acting_days')::int, c.acting_days) AS acting_days,
            coalesce((t.bounds->>'acting_other_departments')::boolean, c.acting_other_departments)
                AS acting_other_departments, s.department, s.post INTO found
        FROM games_casino c, games_staff s, threshold_in_force(NEW.casino_id, 'acting') AS t (bounds)
        WHERE c.id = NEW.casino_id AND s.id = NEW.staff_id;
    IF TG_OP = 'INSERT' AND (NEW.department <> found.department OR NEW.own_post <> found.post) THEN
        RAISE EXCEPTION 'The appointment of staff % names another department or permanent post than theirs.', NEW.staff_id
            USING ERRCODE = 'check_violation';
    END IF;
    IF TG_OP = 'INSERT' AND found.department <> 'pit' AND NOT found.acting_other_departments THEN
        RAISE EXCEPTION 'Casino % does not allow people of other departments to act.', found.code
            USING ERRCODE = 'check_violation';
    END IF;
    IF TG_OP = 'UPDATE' AND NEW.starts_at >= OLD.starts_at AND NEW.ends_at <= OLD.ends_at THEN
        RETURN NEW;  -- one from before the bound is ended, or stays as long as it was
    END IF;
    IF NEW.ends_at - NEW.starts_at > make_interval(hours => 24 * found.acting_days) THEN
        RAISE EXCEPTION 'An acting appointment in casino % lasts at most % days.', found.code, found.acting_days
            USING ERRCODE = 'check_violation';
    END IF;
    RETURN NEW;
END $$
"""
OF_PROPOSER = (
    "ALTER TABLE games_thresholddecision ADD CONSTRAINT threshold_decision_of_proposer FOREIGN KEY "
    "(change_id, proposed_by_id) REFERENCES games_thresholdchange (id, proposed_by_id) DEFERRABLE INITIALLY DEFERRED"
)


def dropped(table: str, function: str) -> str:
    return f"DROP TRIGGER {function} ON {table}; DROP FUNCTION {function}()"


class Migration(migrations.Migration):

    dependencies = [
        ('games', '0021_logins_and_second_factors'),
    ]

    operations = [
        migrations.CreateModel(
            name='ThresholdChange',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('kind', models.CharField(max_length=20)),
                ('proposed', models.JSONField(verbose_name='proposed values')),
                ('reason', models.TextField()),
                ('who', models.TextField(verbose_name='proposed by')),
                ('at', models.DateTimeField(default=django.utils.timezone.now, verbose_name='proposed at')),
                ('casino', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='threshold_changes', to='games.casino')),
                ('proposed_by', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'ordering': ['-at', '-id'],
            },
        ),
        migrations.CreateModel(
            name='ThresholdDecision',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('outcome', models.CharField(choices=[('approved', 'Approved'), ('rejected', 'Rejected'), ('withdrawn', 'Withdrawn')], max_length=10)),
                ('who', models.TextField(verbose_name='decided by')),
                ('at', models.DateTimeField(default=django.utils.timezone.now, verbose_name='decided at')),
                ('reason', models.TextField()),
                ('effective_from', models.DateTimeField(blank=True, null=True, verbose_name='in force from')),
                ('change', models.OneToOneField(on_delete=django.db.models.deletion.PROTECT, related_name='decision', to='games.thresholdchange')),
                ('decided_by', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('proposed_by', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
            ],
        ),
        migrations.AddIndex(
            model_name='thresholdchange',
            index=models.Index(fields=['casino', 'kind'], name='threshold_change_by_kind'),
        ),
        migrations.AddConstraint(
            model_name='thresholdchange',
            constraint=models.UniqueConstraint(fields=('id', 'proposed_by'), name='threshold_change_of_proposer'),
        ),
        migrations.AddConstraint(
            model_name='thresholdchange',
            constraint=models.CheckConstraint(condition=models.Q(('reason', ''), _negated=True), name='threshold_change_has_a_reason'),
        ),
        migrations.AddConstraint(
            model_name='thresholddecision',
            constraint=models.CheckConstraint(condition=models.Q(('outcome__in', ['approved', 'rejected', 'withdrawn'])), name='threshold_outcome_known'),
        ),
        migrations.AddConstraint(
            model_name='thresholddecision',
            constraint=models.CheckConstraint(condition=models.Q(('outcome', 'withdrawn'), models.Q(('decided_by', models.F('proposed_by')), _negated=True), _connector='OR'), name='threshold_decided_by_another', violation_error_message='Another compliance person decides on this proposal.'),
        ),
        migrations.AddConstraint(
            model_name='thresholddecision',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('outcome', 'withdrawn'), _negated=True), ('decided_by', models.F('proposed_by')), _connector='OR'), name='threshold_withdrawn_by_proposer'),
        ),
        migrations.AddConstraint(
            model_name='thresholddecision',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('effective_from__gt', models.F('at')), ('effective_from__isnull', False), ('outcome', 'approved')), models.Q(models.Q(('outcome', 'approved'), _negated=True), ('effective_from__isnull', True)), _connector='OR'), name='threshold_in_force_later'),
        ),
        migrations.AddConstraint(
            model_name='thresholddecision',
            constraint=models.CheckConstraint(condition=models.Q(('reason', ''), _negated=True), name='threshold_decision_has_a_reason'),
        ),
        migrations.RunSQL(IN_FORCE, "DROP FUNCTION threshold_in_force(bigint, text, timestamptz)"),
        migrations.RunSQL(NEXT_DAY, "DROP FUNCTION next_gaming_day(bigint, timestamptz)"),
        migrations.RunSQL(IS_COMPLIANCE, "DROP FUNCTION is_compliance(bigint, bigint)"),
        migrations.RunSQL(CHANGE, dropped("games_thresholdchange", "verify_threshold_change")),
        migrations.RunSQL(DECISION, dropped("games_thresholddecision", "verify_threshold_decision")),
        migrations.RunSQL(SOUND, "ALTER TABLE games_thresholdchange DROP CONSTRAINT threshold_acting_sound"),
        migrations.RunSQL(
            OF_PROPOSER, "ALTER TABLE games_thresholddecision DROP CONSTRAINT threshold_decision_of_proposer"
        ),
        migrations.RunSQL(NEW_CASINO, dropped("games_casino", "verify_new_casino")),
        migrations.RunSQL(ACTING, ACTING_BEFORE.replace("CREATE FUNCTION", "CREATE OR REPLACE FUNCTION")),
    ]
