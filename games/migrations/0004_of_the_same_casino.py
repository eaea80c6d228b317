"""What belongs to one casino stays in it, and a decision names its proposal's proposer, three dice are different dice."""

from django.db import migrations


def together(table: str, columns: str, other: str, others: str, name: str) -> migrations.RunSQL:
    return migrations.RunSQL(
        f"ALTER TABLE {table} ADD CONSTRAINT {name} FOREIGN KEY ({columns}) "
        f"REFERENCES {other} ({others}) DEFERRABLE INITIALLY DEFERRED",
        f"ALTER TABLE {table} DROP CONSTRAINT {name}",
    )


class Migration(migrations.Migration):
    dependencies = [("games", "0003_tables_limits_dice_signs")]
    operations = [
        together(table, "pit_id, casino_id", "games_pit", "id, casino_id", f"{table}_pit_of_same_casino")
        for table in ("games_tableassignment", "games_limitproposal", "games_diceset")
    ] + [
        together(
            "games_tableassignment", "table_id, casino_id", "games_table", "id, casino_id", "assignment_of_same_casino"
        ),
        together(
            "games_limitdecision", "proposal_id, proposed_by_id", "games_limitproposal", "id, proposed_by_id",
            "decision_names_the_proposer",
        ),
        # a limit set that names a decision names an approval: the database knows no other kind
        migrations.RunSQL(
            "ALTER TABLE games_limitdecision ADD CONSTRAINT decision_with_outcome UNIQUE (id, outcome);"
            "ALTER TABLE games_limitset ADD COLUMN outcome varchar(10) GENERATED ALWAYS AS ('approved') STORED;"
            "ALTER TABLE games_limitset ADD CONSTRAINT limit_set_of_an_approval FOREIGN KEY (decision_id, outcome) "
            "REFERENCES games_limitdecision (id, outcome) DEFERRABLE INITIALLY DEFERRED",
            "ALTER TABLE games_limitset DROP COLUMN outcome;"
            "ALTER TABLE games_limitdecision DROP CONSTRAINT decision_with_outcome",
        ),
        migrations.RunSQL(  # IS TRUE: a NULL among the dice is no die either
            "ALTER TABLE games_diceset ADD CONSTRAINT dice_set_of_different_dice CHECK ((serials[1] NOT IN ('', serials[2], "
            "serials[3]) AND serials[2] NOT IN ('', serials[3]) AND serials[3] <> '') IS TRUE)",
            "ALTER TABLE games_diceset DROP CONSTRAINT dice_set_of_different_dice",
        ),
    ]  # fmt: skip
