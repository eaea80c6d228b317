"""What belongs together stays together: records and pits of the same casino, a handover and who leaves, a number."""

from django.db import migrations


def together(table: str, columns: str, other: str, others: str, name: str) -> migrations.RunSQL:
    return migrations.RunSQL(
        f"ALTER TABLE {table} ADD CONSTRAINT {name} FOREIGN KEY ({columns}) "
        f"REFERENCES {other} ({others}) DEFERRABLE INITIALLY DEFERRED",
        f"ALTER TABLE {table} DROP CONSTRAINT {name}",
    )


class Migration(migrations.Migration):
    dependencies = [("audits", "0002_incidents")]
    operations = [
        together(f"audits_{name}", "pit_id, casino_id", "games_pit", "id, casino_id", f"{name}_pit_of_same_casino")
        for name in ("logentry", "handover", "incident", "evidence")
    ] + [
        together(
            f"audits_{name}", "table_id, casino_id", "games_table", "id, casino_id", f"{name}_table_of_same_casino"
        )
        for name in ("logentry", "incident")
    ] + [
        together(
            "audits_handovertaken", "handover_id, left_by_id", "audits_handover", "id, left_by_id",
            "handover_taken_from_who_left",
        ),
        migrations.RunSQL(
            "ALTER TABLE audits_incident ADD CONSTRAINT incident_number_says_year_and_serial CHECK (number = "
            "'IN-' || year || '-' || lpad(serial::text, greatest(6, length(serial::text)), '0'))",
            "ALTER TABLE audits_incident DROP CONSTRAINT incident_number_says_year_and_serial",
        ),
    ]  # fmt: skip
