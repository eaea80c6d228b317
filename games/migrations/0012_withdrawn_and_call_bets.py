"""Bets that were taken back, and bets that the house placed on a patron's oral call."""

from django.contrib.postgres.fields import ArrayField
from django.db import migrations, models

SIDE_BY_SIDE = " AND ".join(
    f"cardinality(coalesce({name}, '{{}}')) IN (CASE WHEN {name} IS NULL THEN 0 ELSE cardinality(boxes) END)"
    for name in ("call", "withdrawn_at", "withdrawn")
)
VIEW = """
CREATE OR REPLACE VIEW games_roundbet AS
SELECT r.id * 16384 + b.position AS id, r.id AS round_id, b.position::integer AS position, r.table_id, r.gaming_day,
       r.started_at, r.players, b.player, box_code(b.box) AS box, b.stake,
       CASE WHEN r.nets_given IS NULL OR r.nets_given[b.position] THEN b.net END AS net,
       r.placed_at[b.position] AS placed_at, coalesce(r.late[b.position], false) AS late,
       coalesce(r.refused[b.position], false) AS refused, coalesce(r.house_placed[b.position], false) AS house_placed,
       coalesce(r.call[b.position], false) AS call, r.withdrawn_at[b.position] AS withdrawn_at,
       coalesce(r.withdrawn[b.position], false) AS withdrawn
FROM games_round r
CROSS JOIN LATERAL unnest(r.players, r.boxes, r.stakes, r.nets) WITH ORDINALITY AS b (player, box, stake, net, position)
"""


class Migration(migrations.Migration):
    dependencies = [("games", "0011_round_by_day_and_time")]
    operations = [
        migrations.AddField(
            "round", "call",
            ArrayField(models.BooleanField(), null=True, help_text="Placed by the house on a patron's oral call."),
        ),
        migrations.AddField("round", "withdrawn_at", ArrayField(models.DateTimeField(null=True), null=True)),
        migrations.AddField(
            "round", "withdrawn",
            ArrayField(models.BooleanField(), null=True, help_text="In time: such a bet counts for nothing."),
        ),
        migrations.RunSQL(
            f"ALTER TABLE games_round ADD CONSTRAINT round_withdrawals_side_by_side CHECK ({SIDE_BY_SIDE})",
            "ALTER TABLE games_round DROP CONSTRAINT round_withdrawals_side_by_side",
        ),
        migrations.RunSQL(VIEW, migrations.RunSQL.noop),
    ]  # fmt: skip
