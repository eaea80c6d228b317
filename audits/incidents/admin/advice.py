"""Advice for the pages: action, rules, authority and figures with names instead of codes."""

import datetime as dt
from typing import Any

from audits.findings.labels import kind_name
from audits.incidents.affected_rounds import affected_of
from audits.incidents.labels import ACTIONS, AUTHORITIES, situation_label
from audits.models import Category, Incident
from games.engine.errors import InputError
from games.engine.money import parse_net
from games.engine.rules.advice import advise
from games.engine.rules.loader import rulebooks
from games.engine.rules.readings import Reading
from games.labels.money import money_label
from games.labels.rules import rule_about

#: What happened to the dice set.
POINTS = {
    "last-good-inspection": "Last good inspection",
    "fitted": "Fitted",
    "incident": "Incident",
    "found": "Damage found",
    "removed": "Removed",
    "inspected-good": "Inspected: good (earlier rounds stay affected)",
    "inspected-damaged": "Inspected: damaged or worn",
    "inspected-seal-broken": "Inspected: seal broken",
    "still-fitted": "Still fitted",
}
#: The figures of advice that are amounts of money.
AMOUNTS = frozenset({
    "stakes", "refunds", "recoveries", "refund", "total", "placed", "permitted", "stake", "stands", "goes_back", "won",
    "kept",
})  # fmt: skip


def affected_shown(figures: dict[str, Any]) -> dict[str, Any]:
    """Prepare the affected rounds for a template: times as times, names for codes, a row for each part and table."""
    shown: dict[str, Any] = with_money(figures)
    for name in ("last_good", "from", "to"):
        if shown.get(name):
            shown[name] = dt.datetime.fromisoformat(shown[name])
    if "timeline" in shown:  # older advice has none
        shown["timeline"] = [
            point | {"at": dt.datetime.fromisoformat(point["at"]), "label": POINTS.get(point["what"], point["what"])}
            for point in shown["timeline"]
        ]
        shown["parts"] = [
            ("Before the incident", shown["before"]), ("Since the incident", shown["after"]),
            *((f"At {table['table']}", table) for table in shown["tables"]),
        ]  # fmt: skip
    return shown


def with_money(figures: Any) -> Any:
    """Copy the figures of advice with each amount as money for people: `1,234.50` for `1234.50`."""
    if isinstance(figures, list):
        return [with_money(figure) for figure in figures]
    if not isinstance(figures, dict):
        return figures
    return {
        name: money_label(parse_net(value)) if name in AMOUNTS and isinstance(value, str) else with_money(value)
        for name, value in figures.items()
    }


def limit_rounds_shown(rounds: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Add the name of each breach to the rounds of a limit situation."""
    return [
        round_
        | {
            "breaches": [
                breach | {"label": kind_name(Category.BREACH, breach["kind"])} for breach in round_["breaches"]
            ]
        }
        for round_ in rounds
    ]


def readings_advised(advice: dict[str, Any]) -> list[Reading]:
    """Return our readings on which the advice rests, as they are in the rulebook now."""
    book = rulebooks().get(advice.get("rulebook", ""))
    if book is None or not advice.get("action"):
        return []
    try:
        return book.readings_of(advise(book, advice["situation"], advice.get("facts") or {}))
    except InputError:  # older advice, on a situation that requires other facts now
        return []


def advice_shown(result: dict[str, Any]) -> dict[str, Any]:
    """Prepare advice for the templates: as it was given, with names for its codes, and what is missing for more."""
    advice: dict[str, Any] | None = result.get("advice")
    if advice is None:
        return {"advice": None, "wanted": result.get("wanted", "")}
    figures = affected_shown(advice.get("figures") or {})
    return {
        "advice": advice,
        "wanted": result.get("wanted", ""),
        "advised_situation": situation_label(advice.get("situation", "")),
        "advised_action": ACTIONS.get(advice.get("action", ""), advice.get("action", "")),
        "advised_by": AUTHORITIES.get(advice.get("authority", ""), advice.get("authority", "")),
        "advised_rules": [(citation, rule_about(citation)) for citation in advice.get("rules", ())],
        "open_rules": [(citation, rule_about(citation)) for citation in figures.get("open_rules", ())],
        "advised_readings": readings_advised(advice),
        "figures": figures,
        "limit_rounds": limit_rounds_shown(figures.get("rounds", [])) if "dice_set" not in figures else [],
    }


def affected_now(incident: Incident) -> dict[str, Any]:
    """Return the rounds affected by damaged dice as of now; the advice keeps what was known when it was given."""
    return affected_shown(affected_of(incident) or {})
