"""Turn each warning about a round in play into a finding at once, before the round is over.

The records themselves show what is left to do: a warning without a finding, of a round that is not recorded yet. Once
the round is recorded, reconciliation finds the same.
"""

from django.db import transaction
from django.db.models import Exists, OuterRef

from audits.models import Finding, policy_of
from audits.reconciliation.checks.out_of_play import out_of_play_draft
from audits.reconciliation.services.arrivals import SYSTEM, ArrivalRun
from audits.reconciliation.services.faults import DeferredFaults
from games.engine.play.findings import VERSION
from games.floor.moments import gaming_day
from games.models import LiveRound, LiveWarning


def warnings_take(*, who: str = SYSTEM) -> int:
    """Make a finding of each warning that has none; return how many. Safe to repeat."""
    faults, made = DeferredFaults(), 0
    for key in warnings_waiting():
        with faults:
            made += _take(key, who)
    faults.raise_all()
    return made


def warnings_waiting() -> list[int]:
    """List the warnings without a finding, of rounds that are not recorded."""
    found = Finding.objects.filter(live_round=OuterRef("live_round"), kind=OuterRef("kind"))
    waiting = LiveWarning.objects.filter(~Exists(found), live_round__recorded=None)
    return list(waiting.order_by("pk").values_list("pk", flat=True))


@transaction.atomic
def _take(key: int, who: str) -> bool:
    """Make the finding of one warning, if it is still needed.

    The round in play is locked: it cannot be recorded meanwhile, and no other worker makes the same finding.
    """
    warning = LiveWarning.objects.get(pk=key)
    locked = LiveRound.objects.select_for_update(of=("self",), skip_locked=True).select_related("table__casino")
    live = locked.filter(pk=warning.live_round_id).first()
    if live is None:  # a step is being recorded, or another worker has it: the next sweep tries again
        return False
    draft = out_of_play_draft(policy_of(live.table.casino), warning.kind, warning.rules, warning.explain)
    if live.recorded_id is not None or Finding.objects.filter(live_round=live, key=draft.key).exists():
        return False
    finding = Finding(
        category=draft.category, key=draft.key, kind=draft.kind, severity=draft.severity, rule=draft.rule,
        rules=draft.rules, detail=draft.detail, live_round=live, table=live.table, rulebook=live.rulebook,
        gaming_day=gaming_day(live.table.casino, warning.at), round_started_at=warning.at, ordinal=0,
        limit_set_id=live.limit_set_id, engine=VERSION, found_by=ArrivalRun(live.table.casino, who).run(),
    )  # fmt: skip
    Finding.objects.bulk_create(
        [finding]
    )  # without a history entry: the history begins with the first step that a person takes
    return True
