"""What must never be false of a round, and the view of one row a bet."""

from typing import Any

from django.db import migrations

from games.database.box_functions import create_box_functions

CHECKS = {
    "round_bets_side_by_side": (
        "cardinality(players) = cardinality(boxes) AND cardinality(boxes) = cardinality(stakes) "
        "AND cardinality(stakes) = cardinality(nets) "
        "AND cardinality(coalesce(nets_given, '{}')) IN (CASE WHEN nets_given IS NULL THEN 0 ELSE cardinality(boxes) END) "
        "AND cardinality(coalesce(placed_at, '{}')) IN (CASE WHEN placed_at IS NULL THEN 0 ELSE cardinality(boxes) END) "
        "AND cardinality(coalesce(late, '{}')) IN (CASE WHEN late IS NULL THEN 0 ELSE cardinality(boxes) END) "
        "AND cardinality(coalesce(refused, '{}')) IN (CASE WHEN refused IS NULL THEN 0 ELSE cardinality(boxes) END) "
        "AND cardinality(coalesce(house_placed, '{}')) "
        "IN (CASE WHEN house_placed IS NULL THEN 0 ELSE cardinality(boxes) END)"
    ),
    "round_nothing_missing": (
        "array_position(players, NULL) IS NULL AND array_position(nets, NULL) IS NULL "
        "AND coalesce(array_ndims(players), 1) = 1 AND coalesce(array_ndims(boxes), 1) = 1 "
        "AND coalesce(array_ndims(stakes), 1) = 1 AND coalesce(array_ndims(nets), 1) = 1"
    ),
    "round_stakes_positive": "(0 < ALL (stakes)) IS TRUE",
    "round_boxes_of_the_layout": "(boxes <@ layout_boxes(rulebook, layout)) IS TRUE",
    "round_three_dice": "dice IS NULL OR (cardinality(dice) = 3 AND 1 <= ALL (dice) AND 6 >= ALL (dice)) IS TRUE",
    "round_fingerprint": "octet_length(fingerprint) = 32",
    "round_in_time": "started_at <= ended_at",
}

VIEW = """
CREATE VIEW games_roundbet AS
SELECT r.id * 16384 + b.position AS id, r.id AS round_id, b.position::integer AS position, r.table_id, r.gaming_day,
       r.started_at, r.players, b.player, box_code(b.box) AS box, b.stake,
       CASE WHEN r.nets_given IS NULL OR r.nets_given[b.position] THEN b.net END AS net,
       r.placed_at[b.position] AS placed_at, coalesce(r.late[b.position], false) AS late,
       coalesce(r.refused[b.position], false) AS refused, coalesce(r.house_placed[b.position], false) AS house_placed
FROM games_round r
CROSS JOIN LATERAL unnest(r.players, r.boxes, r.stakes, r.nets) WITH ORDINALITY AS b (player, box, stake, net, position)
"""


def box_functions(apps: Any, schema_editor: Any) -> None:
    with schema_editor.connection.cursor() as cursor:
        create_box_functions(cursor)


class Migration(migrations.Migration):
    dependencies = [("games", "0006_rounds_and_ledger")]
    operations = [
        migrations.RunPython(box_functions, migrations.RunPython.noop),
        *(
            migrations.RunSQL(
                f"ALTER TABLE games_round ADD CONSTRAINT {name} CHECK ({condition})",
                f"ALTER TABLE games_round DROP CONSTRAINT {name}",
            )
            for name, condition in CHECKS.items()
        ),
        migrations.RunSQL(VIEW, "DROP VIEW games_roundbet"),
    ]
