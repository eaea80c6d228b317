"""Adoption: when a round in play is recorded, its findings become findings of the recorded round."""

from collections.abc import Callable, Iterable

from audits.models import Finding, Run
from games.database.sql import query_rows

#: Usually there is none, and an index answers this quickly.
WAITING = "SELECT FROM audits_finding WHERE table_id = %s AND round_id IS NULL LIMIT 1"
ADOPTED_FIELDS = ("round", "gaming_day", "round_started_at")


def findings_adopt(table_id: int, rounds: Iterable[int], run: Callable[[], Run]) -> None:
    """Move the findings of rounds in play to the recorded rounds, if those are among `rounds`.

    This happens before findings are compared, in the same transaction: a finding made during play is then known, and
    is neither duplicated nor lapsed.
    """
    if not query_rows(WAITING, table_id):
        return
    waiting = Finding.objects.filter(table=table_id, round=None, live_round__recorded__isnull=False)
    findings = list(waiting.select_related("live_round"))
    recorded = set(rounds)
    adopted = [finding for finding in findings if finding.live_round and finding.live_round.recorded_id in recorded]
    for finding in adopted:
        played = finding.live_round.recorded if finding.live_round else None
        if played is not None:
            finding.round, finding.gaming_day, finding.round_started_at = played, played.gaming_day, played.started_at
    if adopted:
        Finding.objects.bulk_update(adopted, ADOPTED_FIELDS, batch_size=500)
        Finding.history.bulk_history_create(
            adopted, update=True, default_change_reason="The round was recorded",
            custom_historical_attrs={"history_author": f"Reconciliation run {run()}"},
        )  # fmt: skip
