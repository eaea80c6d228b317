"""Orders by 5.6 keep how far they reach and why they were narrowed; a settlement by discretion is a corrective action."""

from importlib import import_module

import django.contrib.postgres.fields
import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models

CONSEQUENCE_BEFORE = import_module("audits.migrations.0005_who_may_rule").CONSEQUENCE
#: As in 0005; a settlement by discretion is ordered by whoever may order one by a ruling, and rests on a record of its
#: own incident.
CONSEQUENCE = """
CREATE OR REPLACE FUNCTION verify_consequence() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE pit bigint := (SELECT pit_id FROM audits_incident WHERE id = NEW.incident_id);
BEGIN
    IF (NEW.needs_second OR NEW.kind IN ('settlement', 'discretion')) AND (
        NOT may_rule(NEW.by_id, NEW.casino_id, pit) OR is_party(NEW.by_id, NEW.round_ids)) THEN
        RAISE EXCEPTION 'Staff % may not order this at this moment.', NEW.by_id
            USING ERRCODE = 'insufficient_privilege';
    END IF;
    IF NEW.discretion_id IS NOT NULL AND NOT EXISTS (SELECT 1 FROM audits_discretion d
        WHERE d.id = NEW.discretion_id AND d.incident_id = NEW.incident_id
        AND (d.round_id IS NULL OR NEW.round_ids = ARRAY[d.round_id])) THEN
        RAISE EXCEPTION 'Discretion % is about another incident or another round.', NEW.discretion_id
            USING ERRCODE = 'check_violation';
    END IF;
    RETURN NEW;
END $$
"""
#: By discretion only the bets that were decided change.
DECIDED = """
CREATE FUNCTION verify_decided() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE made text := (SELECT kind FROM audits_consequence WHERE id = NEW.consequence_id);
BEGIN
    IF (made = 'discretion') <> (NEW.decided IS NOT NULL) OR NEW.decided IS NOT NULL AND (
        cardinality(NEW.decided) <> cardinality(NEW.deltas) OR EXISTS (
            SELECT 1 FROM unnest(NEW.deltas, NEW.decided) AS bet (delta, is_decided)
            WHERE delta <> 0 AND NOT is_decided)) THEN
        RAISE EXCEPTION 'By discretion only the bets that were decided change (round %).', NEW.round_id
            USING ERRCODE = 'check_violation';
    END IF;
    RETURN NEW;
END $$
"""
TRIGGER = """
CREATE TRIGGER verify_decided BEFORE INSERT ON audits_correction FOR EACH ROW EXECUTE FUNCTION verify_decided();
ALTER TABLE audits_correction ENABLE ALWAYS TRIGGER verify_decided
"""


class Migration(migrations.Migration):
    dependencies = [
        ("audits", "0009_findings_of_rounds_in_play"),
        ("games", "0012_withdrawn_and_call_bets"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.AddField(
            model_name="consequence",
            name="affected_from",
            field=models.DateTimeField(blank=True, null=True),
        ),
        migrations.AddField(
            model_name="consequence",
            name="affected_to",
            field=models.DateTimeField(blank=True, null=True),
        ),
        migrations.AddField(
            model_name="consequence",
            name="dice_set",
            field=models.ForeignKey(
                blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name="+", to="games.diceset"
            ),
        ),
        migrations.AddField(
            model_name="consequence",
            name="discretion",
            field=models.ForeignKey(
                blank=True,
                null=True,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="consequences",
                to="audits.discretion",
            ),
        ),
        migrations.AddField(
            model_name="consequence",
            name="narrowing",
            field=models.TextField(blank=True, default="", verbose_name="why only a part"),
        ),
        migrations.AddField(
            model_name="consequence",
            name="radius_from",
            field=models.DateTimeField(blank=True, null=True),
        ),
        migrations.AddField(
            model_name="consequence",
            name="radius_to",
            field=models.DateTimeField(blank=True, null=True),
        ),
        migrations.AddField(
            model_name="correction",
            name="decided",
            field=django.contrib.postgres.fields.ArrayField(
                base_field=models.BooleanField(),
                blank=True,
                help_text="Which bets were decided; the rules decide the others.",
                null=True,
                size=None,
            ),
        ),
        migrations.AddField(
            model_name="discretion",
            name="bet",
            field=models.PositiveIntegerField(blank=True, help_text="Its place in the round, from 1.", null=True),
        ),
        migrations.AlterField(
            model_name="consequence",
            name="kind",
            field=models.CharField(
                choices=[
                    ("void", "Void of a round"),
                    ("void-affected", "Void of all affected rounds"),
                    ("settlement", "Amended settlement"),
                    ("discretion", "Amended settlement by discretion"),
                    ("result", "Amended result"),
                    ("suspension", "Suspension of a table"),
                ],
                max_length=20,
            ),
        ),
        migrations.AddConstraint(
            model_name="consequence",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(("discretion__isnull", False), ("kind", "discretion")),
                    models.Q(models.Q(("kind", "discretion"), _negated=True), ("discretion__isnull", True)),
                    _connector="OR",
                ),
                name="consequence_by_a_discretion",
            ),
        ),
        migrations.AddConstraint(
            model_name="consequence",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(
                        ("affected_from__isnull", True),
                        ("affected_to__isnull", True),
                        ("narrowing", ""),
                        ("radius_from__isnull", True),
                        ("radius_to__isnull", True),
                    ),
                    models.Q(
                        ("affected_from__isnull", False),
                        ("affected_to__isnull", False),
                        ("dice_set__isnull", False),
                        ("kind", "void-affected"),
                        ("radius_from__isnull", False),
                        ("radius_to__isnull", False),
                        models.Q(
                            models.Q(
                                ("affected_from", models.F("radius_from")),
                                ("affected_to", models.F("radius_to")),
                                ("narrowing", ""),
                            ),
                            models.Q(
                                ("affected_from__gte", models.F("radius_from")),
                                ("affected_from__lte", models.F("affected_to")),
                                ("affected_to__lte", models.F("radius_to")),
                                models.Q(("narrowing", ""), _negated=True),
                            ),
                            _connector="OR",
                        ),
                    ),
                    _connector="OR",
                ),
                name="consequence_narrowed_within_the_radius",
            ),
        ),
        migrations.AddConstraint(
            model_name="correction",
            constraint=models.CheckConstraint(
                condition=models.Q(("decided__isnull", True), ("is_decided", True), _connector="OR"),
                name="correction_names_what_was_decided",
            ),
        ),
        migrations.AddConstraint(
            model_name="discretion",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    ("bet__isnull", True), models.Q(("bet__gte", 1), ("round__isnull", False)), _connector="OR"
                ),
                name="discretion_bet_of_a_round",
            ),
        ),
        migrations.RunSQL(CONSEQUENCE, CONSEQUENCE_BEFORE.replace("CREATE FUNCTION", "CREATE OR REPLACE FUNCTION")),
        migrations.RunSQL(DECIDED, "DROP FUNCTION verify_decided()"),
        migrations.RunSQL(TRIGGER, "DROP TRIGGER verify_decided ON audits_correction"),
    ]
