"""Rounds in play: a terminal opens a round and sends its steps; at its end it is recorded like any other.

Every call may be repeated safely: the round is known by its name, a step by the terminal's name for the call.
"""

import datetime as dt
from typing import Any

import msgspec
from django.db import IntegrityError, transaction
from django.utils import timezone

from games.access.gate import Actor, actor_name, authorize
from games.engine.errors import InputError
from games.engine.play.irregularities import PLACE_BETS, VOID
from games.engine.play.live_play import Play, PlayStep, retake, take
from games.engine.rules.loader import listed, rulebook
from games.engine.rules.rulebook import Rulebook, Voiding
from games.floor.availability import availability_of
from games.history.audited_save import verify_reason
from games.limits.selectors import NoLimitsError, limits_at
from games.live.parser import Opening, as_step, read_opening, read_step
from games.live.serializers import answer_document, round_of, warnings_of
from games.live.session_state import SessionState, session_state_of
from games.models import LiveRound, LiveStep, LiveWarning, Round, Table
from games.rounds.fast_parser import rule_of
from games.rounds.services.outbox import warnings_wake
from games.rounds.services.recording import CLOCKS_DIFFER, RoundConflictError, Sent, record_document
from games.terminals.sources import key_of, verify_source

#: State of a round that could not be recorded, because its name was taken meanwhile by different content.
CONFLICT = "conflict"
#: The fields of a round in play that change; the others stay as at the opening.
CHANGING = ("rulebook", "layout", "chip_unit", "limit_set", "state", "steps_taken", "last_step_at", "ended_at",
            "recorded")  # fmt: skip


class LiveConflictError(Exception):
    """The call conflicts with something on record; nothing was changed."""


# --- Opening ---


def live_open(*, actor: Actor, document: object) -> tuple[dict[str, Any], bool]:
    """Open a round. Return the answer, and whether it is new."""
    now = timezone.now()
    opening = read_opening(document, latest=now + CLOCKS_DIFFER)
    table = Table.objects.select_related("casino").filter(code=opening.table).first()
    if table is None:
        raise InputError(f"table: there is no table {opening.table[:40]}; check the code, or load the floor first.")
    authorize(actor, "liveround.play", table)
    verify_source(actor, table.casino_id, opening.source)
    try:
        with transaction.atomic():
            live, is_new = _opened(opening, table, actor, now)
    except IntegrityError:  # another call created it in the meantime
        with transaction.atomic():
            live, is_new = _opened(opening, table, actor, now)
    session = session_state_of(live)
    return answer_document(session, Play(), 0, warnings=warnings_of(live, 0)), is_new


def _opened(opening: Opening, table: Table, actor: Actor, now: dt.datetime) -> tuple[LiveRound, bool]:
    name = {"casino": table.casino_id, "source": opening.source, "ref": opening.ref}
    known = LiveRound.objects.filter(**name).select_related("table__casino").first()
    if known is not None:
        if (known.table_id, known.dealer, known.supervisor) != (table.pk, opening.dealer, opening.supervisor):
            raise LiveConflictError(
                f"{opening.source} {opening.ref} was opened with different content; use another ref."
            )
        return known, False
    if Round.objects.filter(**name).exists():
        raise LiveConflictError(f"{opening.source} {opening.ref} is already on record; use another ref.")
    if other := LiveRound.objects.filter(table=table, ended_at=None).first():
        raise LiveConflictError(
            f"{table} has a round in play, {other.source} {other.ref}; end it first (its id is {other.pk})."
        )
    live = LiveRound(
        source=opening.source,
        ref=opening.ref,
        table=table,
        casino_id=table.casino_id,
        dealer=opening.dealer,
        supervisor=opening.supervisor,
        opened_at=now,
        last_step_at=now,
        who=actor_name(actor),
        terminal_id=key_of(actor),
    )
    _pin(live, now)
    live.save(force_insert=True)
    _warn(live, now, 0)
    return live, True


def _warn(live: LiveRound, moment: dt.datetime, step: int) -> None:
    """Record that the table was not in play, and notify audits after the commit."""
    availability = availability_of(live.table).while_played(moment, live.rulebook)
    if availability is None or live.warnings.filter(kind=availability.kind).exists():
        return
    LiveWarning.objects.create(
        live_round=live,
        kind=availability.kind,
        step=step,
        at=moment,
        rules=list(availability.rules),
        explain=availability.explain,
    )
    transaction.on_commit(warnings_wake)


def _pin(live: LiveRound, moment: dt.datetime) -> None:
    """Set the rules and limits of the round from a moment on."""
    assignment = live.table.assignment_at(moment)
    if assignment is None:
        raise InputError(f"table: {live.table} had no rulebook and layout then; assign them first.")
    live.rulebook, live.layout, live.chip_unit = assignment.rulebook, assignment.layout, assignment.chip_unit
    try:
        live.limit_set = limits_at(table=live.table, at=moment).limit_set
    except NoLimitsError:
        live.limit_set = None


# --- A step ---


def live_step(
    *, actor: Actor, key: int, document: object, action: str = "liveround.play", note: str = ""
) -> tuple[dict[str, Any], bool]:  # fmt: skip
    """Take a step. Return the answer, and whether the step is new. A round that ends is recorded."""
    now = timezone.now()
    with transaction.atomic():
        live = LiveRound.objects.select_for_update(of=("self",)).select_related("table__casino").get(pk=key)
        authorize(actor, action, live)
        session = session_state_of(live)
        call, step, content = read_step(
            document, session.book, session.layout, now=now, latest=now + CLOCKS_DIFFER
        )  # fmt: skip
        if known := next((step for step in session.steps if step.call == call), None):
            return _repeated(session, known, content), False
        if step.kind == PLACE_BETS:
            _pin(live, step.at)
            session = session_state_of(live)
        play, refusal = take(session.book, session.play(), step)
        _keep(live, call, step, content, is_refused=refusal is not None, actor=actor, now=now)
        if step.kind == PLACE_BETS and refusal is None:
            _warn(live, step.at, live.steps_taken)
        conflict = _end(session, play, actor, now, note) if play.is_over else None
        live.state, live.last_step_at = CONFLICT if conflict else play.state, now
        live.save(update_fields=CHANGING)
    if conflict:
        raise conflict
    return answer_document(session, play, live.steps_taken, refusal, warnings_of(live, live.steps_taken)), True


def _repeated(session: SessionState, known: LiveStep, content: dict[str, Any]) -> dict[str, Any]:
    """Return the same answer again."""
    if known.content != content:
        raise LiveConflictError(f"call: {known.call} was another step of this round; give every call a new name.")
    if session.live.state == CONFLICT and known.number == len(session.steps):
        raise RoundConflictError(session.live.source, session.live.ref)
    before = session.play(known.number - 1)
    play, refusal = retake(session.book, before, as_step(known.content, session.book, known.at))
    return answer_document(session, play, known.number, refusal, warnings_of(session.live, known.number))


def _keep(
    live: LiveRound,
    call: str,
    step: PlayStep,
    content: dict[str, Any],
    *,
    is_refused: bool,
    actor: Actor,
    now: dt.datetime,
) -> None:
    live.steps_taken += 1
    LiveStep.objects.create(
        live_round=live,
        number=live.steps_taken,
        call=call,
        kind=step.kind,
        content=content,
        is_refused=is_refused,
        at=now,
        who=actor_name(actor),
    )


def _end(session: SessionState, play: Play, actor: Actor, now: dt.datetime, note: str) -> RoundConflictError | None:
    """Record the round in the same transaction. If its name was taken meanwhile, the conflict is recorded instead.

    If the round was cancelled before betting opened, only its steps are kept.
    """
    live = session.live
    live.ended_at = now
    if not any(kind == PLACE_BETS for kind, _, _ in play.events):
        return None
    channel = Round.Channel.HAND if note else Round.Channel.API
    line = msgspec.json.encode(round_of(live, play))
    try:
        live.recorded_id, _ = record_document(line, Sent(channel, now, actor_name(actor), note))
    except RoundConflictError as conflict:
        return conflict
    return None


# --- Finished by a person ---


def voidings_of(book: Rulebook) -> dict[str, Voiding]:
    """Return the rules by which a person may void a round in play: those that concern this round only."""
    return {rule: voiding for rule, voiding in book.voidings.items() if voiding.action == "void"}


def _verify_voiding(live: LiveRound, documents: list[dict[str, Any]]) -> None:
    book = rulebook(live.rulebook)
    for document in documents:
        rule = document.get("rule")
        if document.get("kind") == VOID and (not isinstance(rule, str) or rule_of(rule, book) not in voidings_of(book)):
            raise InputError(
                f"rule: {rule!r:.60} does not void a single round in play; choose {listed(voidings_of(book))}, or "
                "finish the round and log an incident."
            )


def live_finish(*, actor: Actor, key: int, documents: list[dict[str, Any]], reason: str) -> dict[str, Any]:
    """Finish a round by hand in place of a failed terminal: all missing steps or none."""
    authorize(actor, "liveround.finish", LiveRound.objects.select_related("table__casino").get(pk=key))
    verify_reason(reason)
    if not documents:
        raise InputError("kind: there is nothing to do; settle the round, or void it.")
    _verify_voiding(LiveRound.objects.get(pk=key), documents)
    answer: dict[str, Any] = {}
    conflict: RoundConflictError | None = None
    with transaction.atomic():
        for document in documents:
            try:
                answer, _ = live_step(
                    actor=actor, key=key, document=document, action="liveround.finish", note=reason.strip()
                )
            except RoundConflictError as error:  # the round is over all the same, so keep it
                conflict = error
    if conflict:
        raise conflict
    return answer
