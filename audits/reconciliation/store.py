"""Findings on record: what is new is added, what is no longer found lapses, what is found again stands again."""

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

FOUND = tuple(field.name for field in fields(FindingDraft))
OF_ROUND = ("round_id", "table_id", "gaming_day", "round_started_at", "rulebook", "limit_set_id")
OF_RUN = ("engine", "found_by_id", "found_at")
#: What nobody has said anything about yet.
NEW = {
    "state": Finding.State.OPEN.value, "acknowledged_by": "", "outcome": "", "resolution": "",
    "needs_confirmation": False,
}  # fmt: skip


class KnownFindings(NamedTuple):
    """Of what is on record, as much as is compared."""

    pk: int
    round_id: int
    key: str
    ordinal: int
    detail: str
    lapsed_at: dt.datetime | None


@dataclass
class GatheredDrafts:
    """All that was found in some rounds, by round."""

    by_round: dict[int, list[FindingDraft]] = field(default_factory=dict)
    rounds: dict[int, OnRecord] = field(default_factory=dict)  # those that are at hand

    def add(self, key: int, found: Iterable[FindingDraft], on_record: OnRecord | None = None) -> None:
        listed = list(found)
        if listed:
            self.by_round.setdefault(key, []).extend(listed)
        if listed and on_record is not None:
            self.rounds[key] = on_record

    def kinds(self) -> Counter[tuple[str, str]]:
        """How many there are of each category and kind."""
        keyed = {(key, one.key): (one.category.value, one.kind) for key, _, one in self}
        return Counter(keyed.values())

    def __iter__(self) -> Iterator[tuple[int, int, FindingDraft]]:
        for key, found in self.by_round.items():
            for ordinal, one in enumerate(found):
                yield key, ordinal, one


def findings_save(
    gathered: GatheredDrafts, known: QuerySet[Finding], run: Callable[[], Run], applying: TermsOfDay
) -> None:
    """`known` are the findings on record of what was looked at: all of these that were not found again lapse."""
    on_record = {
        (one.round_id, one.key): one for one in map(KnownFindings._make, known.values_list(*KnownFindings._fields))
    }
    found = {(key, one.key): (ordinal, one) for key, ordinal, one in gathered}
    if new := {name: entry for name, entry in found.items() if name not in on_record}:
        _add(new, gathered.rounds, run(), applying)
    gone = [one.pk for name, one in on_record.items() if name not in found and one.lapsed_at is None]
    back = [one.pk for name, one in on_record.items() if name in found and one.lapsed_at is not None]
    moved = [one.pk for name, one in on_record.items() if name in found and _differs(one, *found[name])]
    changing = Finding.objects.in_bulk({*gone, *back, *moved})
    if gone:
        _mark([changing[key] for key in gone], run(), "No longer found", lapsed_by=run(), lapsed_at=timezone.now())
    if back:
        _mark([changing[key] for key in back], run(), "Found again", lapsed_by=None, lapsed_at=None)
    for one in (changing[key] for key in moved):
        one.ordinal, now = found[one.round_id or 0, one.key]  # `known` are those of rounds on record
        one.detail = now.detail
    Finding.objects.bulk_update([changing[key] for key in moved], ["ordinal", "detail"], batch_size=500)


def _differs(known_findings: KnownFindings, ordinal: int, now: FindingDraft) -> bool:
    """The same finding at another place, or in other words: a ruling is named once there is one."""
    return known_findings.ordinal != ordinal or known_findings.detail != now.detail


def _add(
    entries: dict[tuple[int, str], tuple[int, FindingDraft]],
    at_hand: dict[int, OnRecord],
    run: Run,
    applying: TermsOfDay,
) -> None:
    """By COPY: a day on which everything is wrong has as many findings as bets."""
    columns = ("table_id", "gaming_day", "assignment_id", "started_at", "rulebook")
    missing = Round.objects.only(*columns).in_bulk({key for key, _ in entries} - at_hand.keys())
    rounds: dict[int, OnRecord | Round] = {**at_hand, **missing}
    now = timezone.now()
    named = (*FOUND, *OF_ROUND, "ordinal", *OF_RUN, *NEW)
    with connection.cursor() as cursor, cursor.copy(f"COPY audits_finding ({', '.join(named)}) FROM STDIN") as copy:
        for (key, _), (ordinal, one) in entries.items():
            of = rounds[key]
            sign = applying.at(of.assignment_id, of.started_at).limit_set
            of_round = (key, of.table_id, of.gaming_day, of.started_at, of.rulebook, sign.pk if sign else None)
            found = (getattr(one, name) for name in FOUND)
            copy.write_row((*found, *of_round, ordinal, VERSION, run.pk, now, *NEW.values()))


def _mark(findings: list[Finding], run: Run, reason: str, **values: Any) -> None:
    """A change that no person made, in the history all the same: the run is its author."""
    for finding in findings:
        for name, value in values.items():
            setattr(finding, name, value)
    Finding.objects.bulk_update(findings, list(values), batch_size=500)
    Finding.history.bulk_history_create(
        findings, update=True, default_change_reason=reason,
        custom_historical_attrs={"history_author": f"Reconciliation run {run}"},
    )  # fmt: skip
