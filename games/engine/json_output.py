"""The engine's JSON documents, in the format that other programs rely on."""

from collections.abc import Mapping
from decimal import ROUND_HALF_EVEN, Decimal
from fractions import Fraction
from typing import Any

from games.engine.errors import InputError
from games.engine.exposure import Exposure, exposure
from games.engine.json_input import parse_json, read_request
from games.engine.money import MINOR, format_money
from games.engine.paytable import paytable
from games.engine.rules.advice import advise
from games.engine.rules.loader import layout, rulebook
from games.engine.rules.rulebook import Rulebook
from games.engine.settlement import SettledBet, Settlement, settle, settle_void
from games.engine.signs.limits import Breach

__all__ = [
    "InputError",
    "advise_document",
    "exposure_document",
    "paytable_rows",
    "settle_document",
    "settle_text",
]

FOUR_PLACES = Decimal("0.0001")


# --- Settle ----------------------------------------------------------------------------------------


def settle_text(text: str | bytes) -> dict[str, Any]:
    return settle_document(parse_json(text))


def settle_document(document: object) -> dict[str, Any]:
    """Settle one round and return the settlement as JSON values."""
    request = read_request(document)
    book, felt = request.book, request.layout
    if request.void is not None:
        settled = settle_void(book, felt, request.void, request.bets, request.limits)
    elif request.throw is None:  # without a void the dice are required
        raise AssertionError
    else:
        settled = settle(book, felt, request.throw, request.bets, limits=request.limits, excess=request.excess)
    return {
        "rulebook": book.id,
        "layout": felt.code,
        "dice": list(request.throw.faces) if request.throw else None,
        "total": settled.throw.total if settled.throw else None,
        "call": settled.throw.call() if settled.throw else None,
        "void": settled.void,
        "winning": settled.winning,
        "bets": [_bet_document(book, bet) for bet in settled.bets],
        "breaches": [breach_document(book, breach) for breach in settled.breaches],
        "needs_ruling": ruling_documents(book, settled),
    }


def _bet_document(book: Rulebook, settled: SettledBet) -> dict[str, Any]:
    return {
        "ref": settled.bet.ref,
        "player": settled.bet.player,
        "box": settled.bet.box,
        "stake": format_money(settled.bet.stake),
        "effective": format_money(settled.effective),
        "result": settled.result,
        "odds": settled.odds,
        "net": format_money(settled.net),
        "rules": book.cite(*settled.rules),
    }


def breach_document(book: Rulebook, breach: Breach) -> dict[str, Any]:
    rules = book.limits.below_minimum if breach.kind == "below-minimum" else book.limits.cut
    return {
        "kind": breach.kind,
        "boxes": list(breach.boxes),
        "player": breach.player,
        "placed": format_money(breach.placed),
        "permitted": format_money(breach.permitted),
        "rules": book.cite(*rules),
    }


def ruling_documents(book: Rulebook, settled: Settlement) -> list[dict[str, Any]]:
    reason = "The minimums of the bets in this box exceed what it may hold; the rules do not say which bets to cut."
    return [{"boxes": [box], "rules": book.cite(*book.ruling_rules), "reason": reason} for box in settled.needs_ruling]


# --- Exposure, pay table, advice -------------------------------------------------------------------


def exposure_document(document: object) -> dict[str, Any]:
    """Return the house result on every throw as JSON values. Takes the same input as `settle`; dice are optional."""
    request = read_request(document, dice_needed=False)
    bets = () if request.void is not None else request.bets
    result: Exposure = exposure(request.book, request.layout, bets, request.limits, request.excess)
    return {
        "throws": [
            {"dice": list(outlook.throw.faces), "ways": outlook.ways, "house": format_money(outlook.house)}
            for outlook in result.outlooks
        ],
        "worst": {"dice": list(result.worst.throw.faces), "house": format_money(result.worst.house)},
        "mean": _four_places(result.mean / MINOR),
        "sd": str((Decimal(result.deviation) / MINOR).quantize(FOUR_PLACES, ROUND_HALF_EVEN)),
    }


def _four_places(value: Fraction) -> str:
    """Write a number with four decimals, exact to the last digit."""
    scaled = round(value * 10_000)
    return str((Decimal(scaled) / 10_000).quantize(FOUR_PLACES))


def paytable_rows(book_id: str, layout_code: str) -> list[dict[str, Any]]:
    return [
        {
            "box": pay.box.code,
            "type": pay.box.type,
            "odds": list(pay.box.odds) if len(pay.box.odds) > 1 else pay.box.odds[0],
            "wins": pay.wins,
            "edge": str(pay.edge),
        }
        for pay in paytable(layout(rulebook(book_id), layout_code))
    ]


def advise_document(book_id: str, situation: str, facts: Mapping[str, str]) -> dict[str, Any]:
    book = rulebook(book_id)
    advice = advise(book, situation, facts)
    return {
        "situation": advice.code,
        "action": advice.action,
        "rules": book.cite(*advice.rules),
        "authority": advice.authority,
        "explain": advice.explain,
    }
