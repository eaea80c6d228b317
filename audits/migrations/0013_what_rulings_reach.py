"""The database holds rulings to the incident they are on, and an order by 5.6 to damaged dice and a set on record.

Rulings and orders on record from before stay as they are.
"""

from django.db import migrations

# `rules_decide` and `reading_in_question` are made from the rulebooks after every migrate.
RULING = """
CREATE OR REPLACE FUNCTION verify_ruling_remit() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    about record;
BEGIN
    SELECT situation, facts, rulebook INTO about FROM audits_incident WHERE id = NEW.incident_id;
    IF NEW.situation <> about.situation OR NEW.rulebook <> about.rulebook THEN
        RAISE EXCEPTION 'A ruling has the situation and the rulebook of its incident.' USING ERRCODE = 'check_violation';
    END IF;
    IF NEW.is_withdrawal OR NOT rules_decide(about.rulebook, about.situation, about.facts) THEN
        RETURN NEW;
    END IF;
    IF NEW.kind = 'not-covered' AND NOT (about.situation = 'over-limit-unnoticed'
        AND 'minimums-exceed-the-box' = ANY (NEW.readings)) THEN
        RAISE EXCEPTION '% itself decides %; no ruling can call it not covered.', about.rulebook, about.situation
            USING ERRCODE = 'check_violation';
    END IF;
    IF NEW.kind = 'interpretation' AND NOT reading_in_question(about.rulebook, about.situation, NEW.readings)
        AND NOT (NEW.scope = 'standing' AND reading_in_question(about.rulebook, '', NEW.readings)) THEN
        RAISE EXCEPTION '% itself decides %; an interpretation names a reading that this rests on.', about.rulebook,
            about.situation USING ERRCODE = 'check_violation';
    END IF;
    RETURN NEW;
END $$
"""
BEFORE = """
CREATE OR REPLACE FUNCTION verify_ruling_remit() RETURNS trigger LANGUAGE plpgsql AS $$
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
DAMAGE = """
CREATE FUNCTION verify_damage_order() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF NEW.kind = 'void-affected' AND NEW.ruling_id IS NULL AND (NEW.dice_set_id IS NULL OR NOT EXISTS (
        SELECT 1 FROM audits_incident WHERE id = NEW.incident_id AND situation = 'dice-damaged')) THEN
        RAISE EXCEPTION 'A void of affected rounds needs an incident about damaged dice and a dice set on record.'
            USING ERRCODE = 'check_violation';
    END IF;
    RETURN NEW;
END $$
"""
TRIGGER = """
CREATE TRIGGER verify_damage_order BEFORE INSERT ON audits_consequence
    FOR EACH ROW EXECUTE FUNCTION verify_damage_order();
ALTER TABLE audits_consequence ENABLE ALWAYS TRIGGER verify_damage_order
"""


class Migration(migrations.Migration):
    dependencies = [("audits", "0012_ruling_setting_amounts")]
    operations = [
        migrations.RunSQL(RULING, BEFORE),
        migrations.RunSQL(DAMAGE, "DROP FUNCTION verify_damage_order()"),
        migrations.RunSQL(TRIGGER, "DROP TRIGGER verify_damage_order ON audits_consequence"),
    ]
