"""Descriptions of the calls on tumblers."""

from games.api.openapi import operation
from games.api.operations import PAGES, TABLE_CODE, in_path, moment
from games.api.schemas import NUMBER, ref

table_tumbler = operation(
    "table_tumbler",
    "Which tumbler a table has, or had",
    about="404 if none was on record.",
    parameters=[TABLE_CODE, moment("at", "The moment in question; defaults to now.")],
    answers={200: ref("TumblerFit")},
)
tumbler_list = operation(
    "tumbler_list", "Tumblers that you may see", parameters=PAGES, answers={200: ref("TumblerPage")}
)
tumbler_read = operation(
    "tumbler_read",
    "One tumbler, with what inspections found",
    parameters=[in_path("key", NUMBER, "The tumbler's `id`.")],
    answers={200: ref("InspectedTumbler")},
)
