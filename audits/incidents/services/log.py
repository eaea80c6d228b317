"""The daily log and the handover between shifts. Entries are written once; whoever erred adds to them."""

import datetime as dt
from typing import Any

from django.core.exceptions import ValidationError
from django.db import IntegrityError, transaction
from django.utils import timezone

from audits.incidents.services.past_moment import verify_past
from audits.incidents.shifts import shift_at
from audits.incidents.states import UNFINISHED
from audits.models import Finding, Handover, HandoverTaken, Incident, LogEntry
from games.access.gate import actor_name, authorize, visible
from games.access.roles import may_be_confidential
from games.floor.moments import as_text, gaming_day
from games.history.audited_save import OvertakenError, verify_text, verify_texts
from games.ledger.services import LedgerEntry, ledger_append
from games.models import Casino, Pit, Staff, Table

MOST_NAMED = 200


@transaction.atomic
def log_write(
    *, actor: Staff, casino: Casino, at: dt.datetime, summary: str, pit: Pit | None = None, table: Table | None = None,
    is_confidential: bool = False, addendum_to: LogEntry | None = None, **seen: Any,
) -> LogEntry:  # fmt: skip
    """What was seen. `seen` has location, camera, time_code, recording, keep_until and was_monitored."""
    verify_past("at", at)
    entry = LogEntry(
        casino=casino, pit=pit or (table.pit if table else None), table=table, at=at, summary=summary.strip(),
        is_confidential=is_confidential, addendum_to=addendum_to, author=actor, department=actor.department,
        who=actor_name(actor), gaming_day=gaming_day(casino, at), shift=shift_at(casino, at), **seen,
    )  # fmt: skip
    authorize(actor, "logentry.add", entry)
    if addendum_to is not None:
        authorize(actor, "logentry.view", addendum_to)
    verify_entry(entry)
    verify_texts(entry)
    entry.full_clean(exclude=["search"])
    entry.save(force_insert=True)
    ledger_append(casino if is_confidential else table or casino, entry_leaf(entry))
    return entry


def log_addendum(*, actor: Staff, entry: LogEntry, summary: str) -> LogEntry:
    """Mends a slip: stands beside the entry, which stays as it is."""
    authorize(actor, "logentry.view", entry)
    return log_write(
        actor=actor, casino=entry.casino, at=entry.at, summary=summary, pit=entry.pit, table=entry.table,
        is_confidential=entry.is_confidential, addendum_to=entry,
    )  # fmt: skip


def verify_entry(entry: LogEntry) -> None:
    if entry.is_confidential and not may_be_confidential("logentry", entry.department):
        raise ValidationError({"is_confidential": "Only surveillance writes confidential entries."})
    if entry.addendum_to is not None:
        verify_addendum(entry, entry.addendum_to)
    else:
        verify_place(entry.casino, entry.pit, entry.table)


def verify_place(casino: Casino, pit: Pit | None, table: Table | None) -> None:
    """All three belong together: else what was seen in one pit could be put down in another."""
    if table is not None and table.casino_id != casino.pk:
        raise ValidationError({"table": f"{table} is not a table of this casino; choose one that is."})
    if pit is not None and pit.casino_id != casino.pk:
        raise ValidationError({"pit": f"{pit} is not a pit of this casino; choose one that is."})
    if pit is not None and table is not None and table.pit != pit:
        raise ValidationError({"pit": f"{table} stands in {table.pit}; leave the pit out, or name that one."})


def verify_addendum(addendum: LogEntry, entry: LogEntry) -> None:
    """Mended by those who wrote it, and never less confidential than what it is added to."""
    if entry.addendum_to_id is not None:
        raise ValidationError("An addendum is added to the entry itself, not to another addendum.")
    if addendum.department != entry.department:
        raise ValidationError(f"This is an entry of {entry.department}; write one of your own beside it.")
    if (addendum.casino_id, addendum.pit_id, addendum.table_id) != (entry.casino_id, entry.pit_id, entry.table_id):
        raise ValidationError("An addendum is about the same place as its entry.")
    if entry.is_confidential and not addendum.is_confidential:
        raise ValidationError({"is_confidential": "The entry is confidential, and so is what is added to it."})


def entry_leaf(entry: LogEntry) -> LedgerEntry:
    """What the ledger holds of an entry: all that was written."""
    return LedgerEntry(
        "log-entry", entry.pk,
        (
            entry.at.astimezone(dt.UTC), entry.gaming_day, entry.shift, entry.table_id, entry.location, entry.camera,
            entry.time_code, entry.recording, entry.keep_until, entry.was_monitored, entry.summary,
            entry.is_confidential, entry.addendum_to_id, entry.who, entry.recorded_at.astimezone(dt.UTC),
        ),
    )  # fmt: skip


# --- Handover --------------------------------------------------------------------------------------


@transaction.atomic
def handover_sign(*, actor: Staff, casino: Casino, watch: str, is_confidential: bool = False) -> Handover:
    """What is open at this moment, and what to watch; signed by who leaves."""
    pit = actor.pit
    now = timezone.now()
    handover = Handover(
        casino=casino, pit=pit, department=actor.department, gaming_day=gaming_day(casino, now),
        shift=shift_at(casino, now), watch=watch.strip(), is_confidential=is_confidential, left_by=actor,
        who=actor_name(actor), at=now, **open_matters(actor, casino),
    )  # fmt: skip
    authorize(actor, "handover.sign", handover)
    if not handover.watch:
        raise ValidationError({"watch": "Say what to watch; or that there is nothing."})
    if is_confidential and not may_be_confidential("handover", actor.department):
        raise ValidationError({"is_confidential": "Only surveillance signs a confidential handover."})
    verify_texts(handover)
    handover.save(force_insert=True)
    ledger_append(casino, handover_leaf(handover))
    return handover


def open_matters(actor: Staff, casino: Casino) -> dict[str, Any]:
    """What is open, of all that the actor may see."""
    incidents = visible(actor, Incident.objects.filter(casino=casino, state__in=UNFINISHED))
    findings = visible(actor, Finding.objects.filter(state=Finding.State.OPEN, lapsed_at=None, table__casino=casino))
    named = incidents.order_by("occurred_from").values_list("number", "state")[:MOST_NAMED]
    return {"open_incidents": [list(one) for one in named], "open_findings": findings.count()}


@transaction.atomic
def handover_take(*, actor: Staff, handover: Handover, remarks: str = "") -> HandoverTaken:
    """Signed by who takes over: somebody else of the same department."""
    authorize(actor, "handover.sign", handover)
    if actor.department != handover.department:
        raise ValidationError(f"This is a handover of {handover.department}; somebody of that department takes it.")
    if actor == handover.left_by:
        raise ValidationError("Nobody takes over from himself; let the next shift sign.")
    verify_text("remarks", remarks)
    taken = HandoverTaken(
        handover=handover, left_by=handover.left_by, taken_by=actor, who=actor_name(actor), remarks=remarks.strip()
    )
    try:
        with transaction.atomic():
            taken.save(force_insert=True)
    except IntegrityError:
        known = HandoverTaken.objects.get(handover=handover)
        at = as_text(known.at, handover.casino)
        raise OvertakenError(f"This handover was signed by {known.who} at {at}; nothing has changed.") from None
    ledger_append(handover.casino, taken_leaf(taken))
    return taken


def handover_leaf(handover: Handover) -> LedgerEntry:
    values = (
        handover.gaming_day,
        handover.shift,
        handover.department,
        handover.open_incidents,
        handover.open_findings,
        handover.watch,
        handover.who,
    )
    return LedgerEntry("handover", handover.pk, (*values, handover.at.astimezone(dt.UTC)))


def taken_leaf(handover_taken: HandoverTaken) -> LedgerEntry:
    return LedgerEntry(
        "handover-taken",
        handover_taken.pk,
        (handover_taken.handover_id, handover_taken.who, handover_taken.remarks, handover_taken.at.astimezone(dt.UTC)),
    )
