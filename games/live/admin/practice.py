"""The practice page of a table: a round played by hand, kept in the browser session only."""

import json
from dataclasses import asdict
from itertools import groupby
from typing import Any

from django.contrib.sessions.backends.base import SessionBase
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.template.response import TemplateResponse
from django.urls import reverse
from django.utils import timezone

from games.clauses import cited_for
from games.engine.dice import COUNT, FACES
from games.engine.errors import InputError
from games.engine.felt import caption_text, size_of
from games.engine.money import format_money
from games.engine.play.irregularities import DICE_EXPOSED, DIE_NOT_FLAT, NO_MORE_BETS, PLACE_BETS, SETTLED
from games.engine.play.live_play import OrderError, Play, assessed
from games.engine.settlement import SettledBet, Settlement, winning
from games.floor.approval import approval_notice
from games.labels.boxes import bet_type_label, box_label
from games.labels.events import event_label
from games.labels.money import limit_label
from games.live.expected_nets import expected
from games.live.labels import step_lines
from games.live.practice import HANDS, SEATS, TUMBLES, Practice, chips_of, click, practice_state
from games.live.serializers import answer_document
from games.live.services import voidings_of
from games.live.session_state import SessionState
from games.models import Table

KEPT = "practices"
#: How many tables a session keeps practice rounds of; the oldest is dropped.
MAX_TABLES = 5
STEPS = {PLACE_BETS: event_label(PLACE_BETS), NO_MORE_BETS: event_label(NO_MORE_BETS), SETTLED: "Settle"}
MISHAPS = {kind: event_label(kind) for kind in (DICE_EXPOSED, DIE_NOT_FLAT)}
MARGIN = 10  # around the felt, in its own units
WIDE = 2000  # text on a wider felt is drawn larger, to stay readable at the same width


def practise(request: HttpRequest, table: Table, context: dict[str, Any]) -> HttpResponse:
    """Answer the practice page; only the browser session is written."""
    practice = _kept(request.session, table)
    if request.method == "POST":
        _clicked(practice, table, request)
        _keep(request.session, table, practice)
        return redirect(reverse("admin:games_table_practise", args=[table.pk]))
    context |= {"title": f"Practise: {table}", "practice": practice}
    try:
        session = practice_state(table, practice, timezone.now())
    except InputError as error:
        practice.faults = list(error.faults)
    else:
        context |= page_of(session, practice) | {"approval": approval_notice(session.book, table.casino)}
    return TemplateResponse(request, "live/practice.html", context)


def _clicked(practice: Practice, table: Table, request: HttpRequest) -> None:
    if "again" in request.POST:
        practice.steps, practice.pressed, practice.faults, practice.rules = [], [], [], []
        return
    now = timezone.now()
    practice.faults, practice.rules = [], []
    try:
        session = practice_state(table, practice, now)
        click(practice, session, request.POST.dict(), now)
    except InputError as error:
        practice.faults = list(error.faults)
        practice.rules = list(error.rules) if isinstance(error, OrderError) else []


def _kept(session: SessionBase, table: Table) -> Practice:
    return Practice(**session.get(KEPT, {}).get(str(table.pk), {}))


def _keep(session: SessionBase, table: Table, practice: Practice) -> None:
    others = {key: kept for key, kept in session.get(KEPT, {}).items() if key != str(table.pk)}
    latest = dict(list(others.items())[-(MAX_TABLES - 1) :])
    session[KEPT] = latest | {str(table.pk): asdict(practice)}


# --- What the page shows ---------------------------------------------------------------------------


def page_of(session: SessionState, practice: Practice) -> dict[str, Any]:
    lines, play = step_lines(session)
    refusal = lines[-1].refusal if lines and not practice.faults else None
    answer = answer_document(session, play, len(lines), refusal)
    throw = assessed(session.book, play).throw if play.events else None
    won = winning(session.layout, throw) if throw and not answer["void"] else {}
    chips = chips_of(session.layout, session.limits)
    practice.chip = practice.chip or format_money(chips[0])
    return {
        "book": session.book, "layout": session.layout, "answer": answer, "lines": lines[::-1], "refusal": refusal,
        "throw": throw, "seats": SEATS, "hands": HANDS.items(), "faces": FACES, "tumbles": TUMBLES.items(),
        "known_dice": [(f"known{number}", f"Die {number}") for number in range(1, COUNT + 1)],
        "chips": [(format_money(chip), limit_label(chip)) for chip in chips],
        "step_buttons": STEPS.items(), "mishaps": MISHAPS.items(),
        "voidings": [(rule, session.book.rules[rule]) for rule in voidings_of(session.book)],
        "display": [*(practice.pressed), *["–"] * (COUNT - len(practice.pressed))],
        "terminal_rules": cited_for(session.book.id, "entry-terminal"),
        "results": results_of(session, expected(session, play)) if play.is_over else None,
        "watched": [watched_box for watched_box in answer["boxes"] or () if watched_box["total"] != "0.00"],
        "document": json.dumps(answer, indent=2, ensure_ascii=False),
        **felt(session, play, won),
    }  # fmt: skip


def felt(session: SessionState, play: Play, won: dict[str, int]) -> dict[str, Any]:
    """Return every area of the drawing with its box, and the boxes by bet type for narrow screens."""
    layout = session.layout
    totals = dict.fromkeys(layout.boxes, 0)
    for bet in play.bets():
        totals[bet.box] += bet.stake

    def box(code: str) -> dict[str, Any]:
        odds = " or ".join(map(str, layout.boxes[code].odds))
        total = limit_label(totals[code]) if totals[code] else ""
        name = box_label(code)
        label = f"{name}, pays {odds} to 1{f', holds {total}' if total else ''}{', wins' if code in won else ''}"
        return {
            "code": code, "name": name, "odds": odds.replace(" or ", "/"), "total": total, "won": code in won,
            "label": label,
        }  # fmt: skip

    areas = [(area, box(area.box)) for area in layout.areas]
    right, bottom = (length + 2 * MARGIN for length in size_of(layout))
    by_type = groupby(layout.boxes.values(), key=lambda layout_box: layout_box.type)
    return {
        "areas": areas,
        "captions": [(caption, caption_text(layout, caption)) for caption in layout.captions],
        "is_large": right > WIDE,
        "view_box": f"{-MARGIN} {-MARGIN} {right} {bottom}",
        "box_list": [
            (bet_type_label(type_), [box(layout_box.code) for layout_box in boxes]) for type_, boxes in by_type
        ],
    }


def by_player(settled: SettledBet) -> str:
    return settled.bet.player


def results_of(session: SessionState, settlement: Settlement | None) -> list[tuple[str, str, list[dict[str, Any]]]]:
    """Return, by player, the total net and each bet with the rules that decided it."""
    bets = sorted(settlement.bets if settlement else (), key=by_player)
    return [
        (player, format_money(sum(settled.net for settled in own)), [
            {
                "box": settled.bet.box, "stake": format_money(settled.bet.stake), "result": settled.result,
                "counts_for": format_money(settled.effective), "net": format_money(settled.net), "odds": settled.odds,
                "rules": session.book.cite(*dict.fromkeys(settled.rules)),
            }
            for settled in own
        ])
        for player, own in ((player, list(group)) for player, group in groupby(bets, key=by_player))
    ]  # fmt: skip
