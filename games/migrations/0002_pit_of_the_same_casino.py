"""A person's pit, and a duty's, lies in the casino that stands beside it: a foreign key over both together."""

from django.db import migrations


def same_casino(table: str) -> migrations.RunSQL:
    name = f"{table}_pit_of_same_casino"
    return migrations.RunSQL(
        f"ALTER TABLE {table} ADD CONSTRAINT {name} FOREIGN KEY (pit_id, casino_id) "
        f"REFERENCES games_pit (id, casino_id) DEFERRABLE INITIALLY DEFERRED",
        f"ALTER TABLE {table} DROP CONSTRAINT {name}",
    )


class Migration(migrations.Migration):
    dependencies = [("games", "0001_initial")]
    operations = [same_casino("games_staff"), same_casino("games_duty")]
