"""A ruling names the readings it is about; the database lets none call uncovered what the rulebook decides.

Rulings on record from before stay as they are.
"""

import django.contrib.postgres.fields
from django.db import migrations, models

# `rules_decide` is made from the rulebooks after every migrate.
FUNCTION = """
CREATE FUNCTION verify_ruling_remit() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF NEW.kind = 'not-covered' AND NOT NEW.is_withdrawal AND NOT 'minimums-exceed-the-box' = ANY (NEW.readings)
        AND rules_decide(NEW.rulebook, NEW.situation,
            (SELECT facts FROM audits_incident WHERE id = NEW.incident_id)) THEN
        RAISE EXCEPTION '% itself decides %; no ruling can call it not covered.', NEW.rulebook, NEW.situation
            USING ERRCODE = 'check_violation';
    END IF;
    RETURN NEW;
END $$
"""
TRIGGER = """
CREATE TRIGGER verify_ruling_remit BEFORE INSERT ON audits_ruling
    FOR EACH ROW EXECUTE FUNCTION verify_ruling_remit();
ALTER TABLE audits_ruling ENABLE ALWAYS TRIGGER verify_ruling_remit
"""


class Migration(migrations.Migration):
    dependencies = [("audits", "0007_checklist_and_who_acts"), ("games", "0015_only_open_policies")]
    operations = [
        migrations.AddField(
            model_name="ruling",
            name="readings",
            field=django.contrib.postgres.fields.ArrayField(
                base_field=models.TextField(), blank=True, default=list, size=None,
                help_text="Of the rulebook, by name: what it is an interpretation of.",
            ),
        ),
        migrations.RunSQL(FUNCTION, "DROP FUNCTION verify_ruling_remit()"),
        migrations.RunSQL(TRIGGER, "DROP TRIGGER verify_ruling_remit ON audits_ruling"),
    ]  # fmt: skip
