"""Rounds in play: a terminal opens one, sends step by step, and at its end it is recorded like any other.

Every call is harmless when it is repeated: the round is known by its name, a step by the terminal's name for the call.
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
from games.history.audited_save import verify_reason
from games.live.parser import Opening, as_step, read_opening, read_step
from games.live.serializers import answer_document, round_of, warnings_of
from games.live.session_state import SessionState, session_state_of
from games.models import LiveRound, LiveStep, LiveWarning, Round, Table
from games.rounds.fast_parser import rule_of
from games.rounds.services.outbox import warnings_wake
from games.rounds.services.recording import CLOCKS_DIFFER, RoundConflictError, Sent, record_document
from games.rounds.terms import Terms, terms_at
from games.terminals.sources import key_of, verify_source

#: How a round ends that cannot be recorded: its name was taken meanwhile by another content.
CONFLICT = "conflict"
#: What changes of a round in play; the rest stays as it was opened.
CHANGING = ("rulebook", "layout", "chip_unit", "limit_set", "state", "steps_taken", "last_step_at", "ended_at",
            "recorded")  # fmt: skip


class LiveConflictError(Exception):
    """Something else stands where this call would stand; nothing was changed."""


# --- Opening ---


def live_open(*, actor: Actor, document: object) -> tuple[dict[str, Any], bool]:
    """The round as it stands at its beginning, and whether it is new."""
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
    except IntegrityError:  # somebody was quicker by a moment
        with transaction.atomic():
            live, is_new = _opened(opening, table, actor, now)
    stand = session_state_of(live)
    return answer_document(stand, Play(), 0, warnings=warnings_of(live, 0)), is_new


def _opened(opening: Opening, table: Table, actor: Actor, now: dt.datetime) -> tuple[LiveRound, bool]:
    name = {"casino": table.casino_id, "source": opening.source, "ref": opening.ref}
    known = LiveRound.objects.filter(**name).select_related("table__casino").first()
    if known is not None:
        if (known.table_id, known.dealer, known.supervisor) != (table.pk, opening.dealer, opening.supervisor):
            raise LiveConflictError(f"{opening.source} {opening.ref} was opened with another content; use another ref.")
        return known, False
    if Round.objects.filter(**name).exists():
        raise LiveConflictError(f"{opening.source} {opening.ref} is on record already; use another ref.")
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
    terms = _pin(live, now)
    live.save(force_insert=True)
    _warn(live, terms, 0)
    return live, True


def _warn(live: LiveRound, terms: Terms, step: int) -> None:
    """Put on record that the table was not in play; the audits are told once that is committed."""
    found = terms.unavailable_in_play
    if found is None or live.warnings.filter(kind=found.kind).exists():
        return
    LiveWarning.objects.create(
        live_round=live, kind=found.kind, step=step, at=terms.moment, rules=list(found.rules), explain=found.explain
    )
    transaction.on_commit(warnings_wake)


def _pin(live: LiveRound, moment: dt.datetime) -> Terms:
    """Set what a round is played by from a moment on, as known now."""
    terms = terms_at(live.table, moment)
    if terms.assignment is None:
        raise InputError(f"table: {live.table} had no rulebook and layout then; assign them first.")
    live.rulebook, live.layout, live.chip_unit = terms.book.id, terms.layout.code, terms.chip_unit
    live.limit_set = terms.limit_set
    return terms


# --- A step ---


def live_step(
    *, actor: Actor, key: int, document: object, action: str = "liveround.play", note: str = ""
) -> tuple[dict[str, Any], bool]:  # fmt: skip
    """How the round stands after the step, and whether the step is new. A round that is over is recorded with it."""
    now = timezone.now()
    with transaction.atomic():
        live = LiveRound.objects.select_for_update(of=("self",)).select_related("table__casino").get(pk=key)
        authorize(actor, action, live)
        stand = session_state_of(live)
        call, step, content = read_step(
            document, stand.book, stand.layout, now=now, latest=now + CLOCKS_DIFFER
        )  # fmt: skip
        if known := next((step for step in stand.steps if step.call == call), None):
            return _repeated(stand, known, content), False
        terms = _pin(live, step.at) if step.kind == PLACE_BETS else None
        if terms is not None:
            stand = session_state_of(live)
        play, refusal = take(stand.book, stand.play(), step)
        _keep(live, call, step, content, is_refused=refusal is not None, actor=actor, now=now)
        if terms is not None and refusal is None:
            _warn(live, terms, live.steps_taken)
        conflict = _end(stand, play, actor, now, note) if play.is_over else None
        live.state, live.last_step_at = CONFLICT if conflict else play.state, now
        live.save(update_fields=CHANGING)
    if conflict:
        raise conflict
    return answer_document(stand, play, live.steps_taken, refusal, warnings_of(live, live.steps_taken)), True


def _repeated(stand: SessionState, known: LiveStep, content: dict[str, Any]) -> dict[str, Any]:
    """The same answer once more."""
    if known.content != content:
        raise LiveConflictError(f"call: {known.call} was another step of this round; name every call anew.")
    if stand.live.state == CONFLICT and known.number == len(stand.steps):
        raise RoundConflictError(stand.live.source, stand.live.ref)
    before = stand.play(known.number - 1)
    play, refusal = retake(stand.book, before, as_step(known.content, stand.book, known.at))
    return answer_document(stand, play, known.number, refusal, warnings_of(stand.live, known.number))


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


def _end(stand: SessionState, play: Play, actor: Actor, now: dt.datetime, note: str) -> RoundConflictError | None:
    """Recorded in the same transaction. Where its name was taken meanwhile, that conflict is what is kept.

    Called off before betting began, there was no round: its steps are all that is kept.
    """
    live = stand.live
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
    """The rules by which a person may void a round in play: not those that reach further than this round."""
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
    """The steps that are still missing, by a person in the place of a terminal that died: all of them or none."""
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
            except RoundConflictError as error:  # the round is over all the same, and that is kept
                conflict = error
    if conflict:
        raise conflict
    return answer
