"""A round's name is unique within its casino, and a source belongs to the keys that name it.

Rounds get the casino of their table, held to it by a foreign key over both columns, and the key that sent them.
"""

import django.db.models.deletion
from django.db import migrations, models

import games.terminals.models

#: Rounds are written once: for the one statement that fills the new column, the trigger that says so is off.
FILL = """
DO $$
DECLARE guarded boolean := EXISTS (
    SELECT 1 FROM pg_trigger WHERE tgrelid = 'games_round'::regclass AND tgname = 'written_once');
BEGIN
    IF guarded THEN ALTER TABLE games_round DISABLE TRIGGER written_once; END IF;
    UPDATE games_round r SET casino_id = t.casino_id FROM games_table t WHERE t.id = r.table_id;
    UPDATE games_liveround r SET casino_id = t.casino_id FROM games_table t WHERE t.id = r.table_id;
    IF guarded THEN ALTER TABLE games_round ENABLE ALWAYS TRIGGER written_once; END IF;
END $$;
SET CONSTRAINTS ALL IMMEDIATE;
SET CONSTRAINTS ALL DEFERRED;
"""

#: Its own source; or, of a key that names none, any that no key of the casino names. Reserved ones are checks.
SOURCE = """
CREATE FUNCTION verify_source_of_key() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF NOT EXISTS (
        SELECT 1 FROM games_terminal t WHERE t.id = NEW.terminal_id AND t.casino_id = NEW.casino_id
        AND (t.source = NEW.source OR (t.source = '' AND NOT EXISTS (
            SELECT 1 FROM games_terminal o
            WHERE o.casino_id = t.casino_id AND o.source <> '' AND upper(o.source) = upper(NEW.source))))
    ) THEN
        RAISE EXCEPTION 'The source % does not belong to key %: "source_of_key".', NEW.source, NEW.terminal_id
            USING ERRCODE = 'insufficient_privilege';
    END IF;
    RETURN NEW;
END $$
"""
TABLES = ("games_round", "games_liveround")
HELP = (
    "The source of its rounds. It then belongs to the keys that name it, and these send no other. "
    "Leave empty for any source that is not reserved and belongs to no other key of the casino."
)
RESERVED = models.Q(source__iregex="^(hand|practice)$")


def source_field() -> models.Field:
    return models.CharField(
        blank=True, default="", db_default="", help_text=HELP, max_length=200,
        validators=[games.terminals.models.validate_plain_name],
    )  # fmt: skip


def casino_field(words: str, **more: bool) -> models.Field:
    return models.ForeignKey(
        db_constraint=False, db_index=False, editable=False, help_text=words,
        on_delete=django.db.models.deletion.PROTECT, related_name="+", to="games.casino", **more,
    )  # fmt: skip


def terminal_field(words: str) -> models.Field:
    return models.ForeignKey(
        db_index=False, help_text=words, null=True, on_delete=django.db.models.deletion.PROTECT, related_name="+",
        to="games.terminal",
    )  # fmt: skip


def of_the_same_casino(table: str) -> migrations.RunSQL:
    name = f"{table}_of_its_tables_casino"
    return migrations.RunSQL(
        f"ALTER TABLE {table} ADD CONSTRAINT {name} FOREIGN KEY (table_id, casino_id) "
        "REFERENCES games_table (id, casino_id) DEFERRABLE INITIALLY DEFERRED",
        f"ALTER TABLE {table} DROP CONSTRAINT {name}",
    )


def guard(table: str) -> migrations.RunSQL:
    return migrations.RunSQL(
        f"CREATE TRIGGER source_of_key BEFORE INSERT ON {table} FOR EACH ROW WHEN (NEW.terminal_id IS NOT NULL) "
        f"EXECUTE FUNCTION verify_source_of_key(); ALTER TABLE {table} ENABLE ALWAYS TRIGGER source_of_key",
        f"DROP TRIGGER source_of_key ON {table}",
    )


ROUND = "Of the table, by a foreign key over both: a round's name is unique within its casino."
LIVE = "Of the table, by a foreign key over both."


class Migration(migrations.Migration):
    dependencies = [("games", "0017_limits_per_table")]
    operations = [
        migrations.AddField("terminal", "source", source_field()),
        migrations.AddField("historicalterminal", "source", source_field()),
        migrations.AddField("round", "casino", casino_field(ROUND, null=True)),
        migrations.AddField("liveround", "casino", casino_field(LIVE, null=True)),
        migrations.RunSQL(FILL, migrations.RunSQL.noop),
        migrations.AlterField("round", "casino", casino_field(ROUND)),
        migrations.AlterField("liveround", "casino", casino_field(LIVE)),
        migrations.AddField("round", "terminal", terminal_field("The key that sent it, where one did.")),
        migrations.AddField("liveround", "terminal", terminal_field("The key that opened it, where one did.")),
        migrations.RemoveConstraint("round", "round_once"),
        migrations.RemoveConstraint("liveround", "live_round_once"),
        migrations.AddConstraint(
            "round", models.UniqueConstraint(fields=("casino", "source", "ref"), name="round_once_a_casino")
        ),
        migrations.AddConstraint(
            "liveround", models.UniqueConstraint(fields=("casino", "source", "ref"), name="live_round_once_a_casino")
        ),
        migrations.AddConstraint(
            "round",
            models.CheckConstraint(
                condition=models.Q(terminal__isnull=True) | ~RESERVED, name="round_source_not_reserved"
            ),
        ),
        migrations.AddConstraint(
            "liveround",
            models.CheckConstraint(
                condition=models.Q(terminal__isnull=True) | ~RESERVED, name="live_round_source_not_reserved"
            ),
        ),
        migrations.AddConstraint(
            "terminal",
            models.CheckConstraint(
                condition=~RESERVED, name="terminal_source_not_reserved",
                violation_error_message="This source is reserved for rounds entered by people and for practice; "
                "choose another name.",
            ),
        ),
        *(of_the_same_casino(table) for table in TABLES),
        migrations.RunSQL(SOURCE, "DROP FUNCTION verify_source_of_key()"),
        *(guard(table) for table in TABLES),
    ]  # fmt: skip
