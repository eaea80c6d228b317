"""Save findings: add new ones, mark those no longer found as lapsed, restore those found again."""

import datetime as dt
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, fields
from typing import Any, NamedTuple

from django.db import connection
from django.db.models import QuerySet
from django.utils import timezone

from audits.models import Finding, Run
from audits.reconciliation.drafts import FindingDraft
from audits.reconciliation.explain import OnRecord
from audits.reconciliation.terms import TermsOfDay
from games.engine.play.findings import VERSION
from games.models import Round

DRAFT_FIELDS = tuple(field.name for field in fields(FindingDraft))
ROUND_FIELDS = ("round_id", "table_id", "gaming_day", "round_started_at", "rulebook", "limit_set_id")
RUN_FIELDS = ("engine", "found_by_id", "found_at")
#: The status of a new finding.
NEW = {
    "state": Finding.State.OPEN.value, "acknowledged_by": "", "outcome": "", "resolution": "",
    "needs_confirmation": False,
}  # fmt: skip


class KnownFinding(NamedTuple):
    """The columns of a finding on record that are compared."""

    pk: int
    round_id: int
    key: str
    ordinal: int
    detail: str
    lapsed_at: dt.datetime | None


@dataclass
class GatheredDrafts:
    """The findings of some rounds, by round."""

    by_round: dict[int, list[FindingDraft]] = field(default_factory=dict)
    rounds: dict[int, OnRecord] = field(default_factory=dict)  # rounds that are already read

    def add(self, key: int, drafts: Iterable[FindingDraft], on_record: OnRecord | None = None) -> None:
        listed = list(drafts)
        if listed:
            self.by_round.setdefault(key, []).extend(listed)
        if listed and on_record is not None:
            self.rounds[key] = on_record

    def kinds(self) -> Counter[tuple[str, str]]:
        """Count the findings of each category and kind."""
        keyed = {(key, draft.key): (draft.category.value, draft.kind) for key, _, draft in self}
        return Counter(keyed.values())

    def __iter__(self) -> Iterator[tuple[int, int, FindingDraft]]:
        for key, drafts in self.by_round.items():
            for ordinal, draft in enumerate(drafts):
                yield key, ordinal, draft


def findings_save(
    gathered: GatheredDrafts, known: QuerySet[Finding], run: Callable[[], Run], day_terms: TermsOfDay
) -> None:
    """Save the findings of a pass. `known` are the findings on record in its scope: those not found again lapse."""
    rows = map(KnownFinding._make, known.values_list(*KnownFinding._fields))
    on_record = {(finding.round_id, finding.key): finding for finding in rows}
    drafts = {(key, draft.key): (ordinal, draft) for key, ordinal, draft in gathered}
    if new := {name: entry for name, entry in drafts.items() if name not in on_record}:
        _add(new, gathered.rounds, run(), day_terms)
    gone, back, moved = [], [], []
    for name, finding in on_record.items():
        if name not in drafts:
            gone += [finding.pk] if finding.lapsed_at is None else []
            continue
        back += [finding.pk] if finding.lapsed_at is not None else []
        moved += [finding.pk] if _differs(finding, *drafts[name]) else []
    changing = Finding.objects.in_bulk({*gone, *back, *moved})
    if gone:
        _mark([changing[key] for key in gone], run(), "No longer found", lapsed_by=run(), lapsed_at=timezone.now())
    if back:
        _mark([changing[key] for key in back], run(), "Found again", lapsed_by=None, lapsed_at=None)
    for changed in (changing[key] for key in moved):
        changed.ordinal, draft = drafts[changed.round_id or 0, changed.key]  # `known` are findings of recorded rounds
        changed.detail = draft.detail
    Finding.objects.bulk_update([changing[key] for key in moved], ["ordinal", "detail"], batch_size=500)


def _differs(known: KnownFinding, ordinal: int, draft: FindingDraft) -> bool:
    """Say whether place or detail of a finding changed. The detail names a ruling once there is one."""
    return known.ordinal != ordinal or known.detail != draft.detail


def _add(
    entries: dict[tuple[int, str], tuple[int, FindingDraft]],
    rounds_read: dict[int, OnRecord],
    run: Run,
    day_terms: TermsOfDay,
) -> None:
    """Add findings by COPY: on a day when everything is wrong there are as many findings as bets."""
    columns = ("table_id", "gaming_day", "assignment_id", "started_at", "rulebook")
    missing = Round.objects.only(*columns).in_bulk({key for key, _ in entries} - rounds_read.keys())
    rounds: dict[int, OnRecord | Round] = {**rounds_read, **missing}
    now = timezone.now()
    names = (*DRAFT_FIELDS, *ROUND_FIELDS, "ordinal", *RUN_FIELDS, *NEW)
    with connection.cursor() as cursor, cursor.copy(f"COPY audits_finding ({', '.join(names)}) FROM STDIN") as copy:
        for (key, _), (ordinal, draft) in entries.items():
            played = rounds[key]
            sign = day_terms.at(played.assignment_id, played.started_at).limit_set
            of_round = (key, played.table_id, played.gaming_day, played.started_at, played.rulebook,
                        sign.pk if sign else None)  # fmt: skip
            of_draft = (getattr(draft, name) for name in DRAFT_FIELDS)
            copy.write_row((*of_draft, *of_round, ordinal, VERSION, run.pk, now, *NEW.values()))


def _mark(findings: list[Finding], run: Run, reason: str, **values: Any) -> None:
    """Change findings with a history entry whose author is the run, not a person."""
    for finding in findings:
        for name, value in values.items():
            setattr(finding, name, value)
    Finding.objects.bulk_update(findings, list(values), batch_size=500)
    Finding.history.bulk_history_create(
        findings, update=True, default_change_reason=reason,
        custom_historical_attrs={"history_author": f"Reconciliation run {run}"},
    )  # fmt: skip
