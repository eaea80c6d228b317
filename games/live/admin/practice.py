"""The practice page of a table: a round played by hand in the session, and what a terminal would be answered."""

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
from games.engine.settlement import Settlement, winning
from games.floor.approval import approval_notice
from games.labels.boxes import bet_type_label
from games.labels.money import limit_label
from games.live.expected_nets import expected
from games.live.labels import step_lines
from games.live.practice import HANDS, SEATS, TUMBLES, Practice, chips_of, click, practice_state
from games.live.serializers import answer_document
from games.live.services import voidings_of
from games.live.session_state import SessionState
from games.models import Table

KEPT = "practices"
#: Of so many tables a session keeps the practice; the one begun first gives way.
MOST_TABLES = 5
STEPS = {PLACE_BETS: "Place your bets", NO_MORE_BETS: "No more bets", SETTLED: "Settle"}
MISHAPS = {DICE_EXPOSED: "Dice seen", DIE_NOT_FLAT: "Die not flat"}
MARGIN = 10  # around the felt, in its own units
WIDE = 2000  # a felt that is wider is printed larger, to be read at the same width


def practise(request: HttpRequest, table: Table, context: dict[str, Any]) -> HttpResponse:
    """Nothing is written but the session."""
    practice = _kept(request.session, table)
    if request.method == "POST":
        _clicked(practice, table, request)
        _keep(request.session, table, practice)
        return redirect(reverse("admin:games_table_practise", args=[table.pk]))
    context |= {"title": f"Practise: {table}", "practice": practice}
    try:
        stand = practice_state(table, practice, timezone.now())
    except InputError as error:
        practice.faults = list(error.faults)
    else:
        context |= page_of(stand, practice) | {"approval": approval_notice(stand.book, table.casino)}
    return TemplateResponse(request, "live/practice.html", context)


def _clicked(practice: Practice, table: Table, request: HttpRequest) -> None:
    if "again" in request.POST:
        practice.steps, practice.pressed, practice.faults, practice.rules = [], [], [], []
        return
    now = timezone.now()
    practice.faults, practice.rules = [], []
    try:
        stand = practice_state(table, practice, now)
        click(practice, stand, request.POST.dict(), now)
    except InputError as error:
        practice.faults = list(error.faults)
        practice.rules = list(error.rules) if isinstance(error, OrderError) else []


def _kept(session: SessionBase, table: Table) -> Practice:
    return Practice(**session.get(KEPT, {}).get(str(table.pk), {}))


def _keep(session: SessionBase, table: Table, practice: Practice) -> None:
    others = {key: kept for key, kept in session.get(KEPT, {}).items() if key != str(table.pk)}
    latest = dict(list(others.items())[-(MOST_TABLES - 1) :])
    session[KEPT] = latest | {str(table.pk): asdict(practice)}


# --- What the page shows ---------------------------------------------------------------------------


def page_of(stand: SessionState, practice: Practice) -> dict[str, Any]:
    lines, play = step_lines(stand)
    refusal = lines[-1].refusal if lines and not practice.faults else None
    answer = answer_document(stand, play, len(lines), refusal)
    throw = assessed(stand.book, play).throw if play.events else None
    won = winning(stand.layout, throw) if throw and not answer["void"] else {}
    chips = chips_of(stand.layout, stand.limits)
    practice.chip = practice.chip or format_money(chips[0])
    return {
        "book": stand.book, "layout": stand.layout, "answer": answer, "lines": lines[::-1], "refusal": refusal,
        "throw": throw, "seats": SEATS, "hands": HANDS.items(), "faces": FACES, "tumbles": TUMBLES.items(),
        "known_dice": [(f"known{number}", f"Die {number}") for number in range(1, COUNT + 1)],
        "chips": [(format_money(chip), limit_label(chip)) for chip in chips],
        "step_buttons": STEPS.items(), "mishaps": MISHAPS.items(),
        "voidings": [(rule, stand.book.rules[rule]) for rule in voidings_of(stand.book)],
        "display": [*(practice.pressed), *["–"] * (COUNT - len(practice.pressed))],
        "terminal_rules": cited_for(stand.book.id, "entry-terminal"),
        "results": results_of(stand, expected(stand, play)) if play.is_over else None,
        "watched": [one for one in answer["boxes"] or () if one["total"] != "0.00"],
        "document": json.dumps(answer, indent=2, ensure_ascii=False),
        **felt(stand, play, won),
    }  # fmt: skip


def felt(stand: SessionState, play: Play, won: dict[str, int]) -> dict[str, Any]:
    """Every area of the drawing with its box; and the boxes by bet type, for narrow screens."""
    layout = stand.layout
    totals = dict.fromkeys(layout.boxes, 0)
    for bet in play.bets():
        totals[bet.box] += bet.stake

    def box(code: str) -> dict[str, Any]:
        odds = " or ".join(map(str, layout.boxes[code].odds))
        total = limit_label(totals[code]) if totals[code] else ""
        label = f"{code}, pays {odds} to 1{f', holds {total}' if total else ''}{', wins' if code in won else ''}"
        return {"code": code, "odds": odds.replace(" or ", "/"), "total": total, "won": code in won, "label": label}

    areas = [(area, box(area.box)) for area in layout.areas]
    right, bottom = (length + 2 * MARGIN for length in size_of(layout))
    by_type = groupby(layout.boxes.values(), key=lambda one: one.type)
    return {
        "areas": areas,
        "captions": [(caption, caption_text(layout, caption)) for caption in layout.captions],
        "is_large": right > WIDE,
        "view_box": f"{-MARGIN} {-MARGIN} {right} {bottom}",
        "box_list": [(bet_type_label(type_), [box(one.code) for one in boxes]) for type_, boxes in by_type],
    }


def results_of(stand: SessionState, settlement: Settlement | None) -> list[tuple[str, str, list[dict[str, Any]]]]:
    """By player: what he gained in all, and each bet with the rules that decided it."""
    bets = sorted(settlement.bets if settlement else (), key=lambda one: one.bet.player)
    return [
        (player, format_money(sum(one.net for one in own)), [
            {
                "box": one.bet.box, "stake": format_money(one.bet.stake), "result": one.result,
                "counts_for": format_money(one.effective), "net": format_money(one.net), "odds": one.odds,
                "rules": stand.book.cite(*dict.fromkeys(one.rules)),
            }
            for one in own
        ])
        for player, own in ((player, list(group)) for player, group in groupby(bets, key=lambda one: one.bet.player))
    ]  # fmt: skip
