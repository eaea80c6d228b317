"""The database's own word on which policies a rulebook leaves open. Policies on record from before stay as they are."""

from django.db import migrations

# `policy_is_open` is made from the rulebooks after every migrate.
FUNCTION = """
CREATE FUNCTION verify_settlement_policy() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF NOT policy_is_open(NEW.rulebook, NEW.excess, NEW.rounding) THEN
        RAISE EXCEPTION '% leaves no such policy open.', NEW.rulebook USING ERRCODE = 'check_violation';
    END IF;
    RETURN NEW;
END $$
"""
TRIGGER = """
CREATE TRIGGER verify_settlement_policy BEFORE INSERT ON games_settlementpolicy
    FOR EACH ROW EXECUTE FUNCTION verify_settlement_policy();
ALTER TABLE games_settlementpolicy ENABLE ALWAYS TRIGGER verify_settlement_policy
"""


class Migration(migrations.Migration):
    dependencies = [("games", "0014_acting_appointments")]
    operations = [
        migrations.RunSQL(FUNCTION, "DROP FUNCTION verify_settlement_policy()"),
        migrations.RunSQL(TRIGGER, "DROP TRIGGER verify_settlement_policy ON games_settlementpolicy"),
    ]
