"""Adoption: the finding of a round in play becomes the finding of the round on record, and stays one finding."""

from collections.abc import Callable, Iterable

from audits.models import Finding, Run
from games.database.sql import query_rows

#: SQL by hand for the benchmark.
#: Mostly there is none: asked before anything else, by an index.
WAITING = "SELECT FROM audits_finding WHERE table_id = %s AND round_id IS NULL LIMIT 1"
ADOPTED = ("round", "gaming_day", "round_started_at")


def findings_adopt(table_id: int, rounds: Iterable[int], run: Callable[[], Run]) -> None:
    """Hand the findings of rounds that were in play over to these rounds, where they are recorded as one of them.

    Done before findings are compared, in the same transaction: so what was found while a round was played is known
    already, and is neither doubled nor lapsed.
    """
    if not query_rows(WAITING, table_id):
        return
    waiting = Finding.objects.filter(table=table_id, round=None, live_round__recorded__isnull=False)
    found = list(waiting.select_related("live_round"))
    recorded = set(rounds)
    adopted = [one for one in found if one.live_round and one.live_round.recorded_id in recorded]
    for one in adopted:
        played = one.live_round.recorded if one.live_round else None
        if played is not None:
            one.round, one.gaming_day, one.round_started_at = played, played.gaming_day, played.started_at
    if adopted:
        Finding.objects.bulk_update(adopted, ADOPTED, batch_size=500)
        Finding.history.bulk_history_create(
            adopted, update=True, default_change_reason="The round is on record",
            custom_historical_attrs={"history_author": f"Reconciliation run {run()}"},
        )  # fmt: skip
