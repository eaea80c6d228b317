"""Advice as people read it: what to do first, by which rule, who decides, and the figures."""

import datetime as dt
from typing import Any

from audits.incidents.affected_rounds import affected_of
from audits.incidents.labels import ACTIONS, AUTHORITIES, rule_words, situation_words
from audits.models import Incident
from games.engine.errors import InputError
from games.engine.rules.advice import advise
from games.engine.rules.loader import rulebooks
from games.engine.rules.readings import Reading

#: What happened to the dice set, in words.
POINTS = {
    "last-good-inspection": "Last good inspection",
    "fitted": "Fitted",
    "incident": "Incident",
    "found": "Damage found",
    "removed": "Taken out",
    "inspected-good": "Inspected: good (takes nothing back)",
    "inspected-damaged": "Inspected: damaged or worn",
    "inspected-seal-broken": "Inspected: seal broken",
    "still-fitted": "Still in place",
}


def affected_shown(figures: dict[str, Any]) -> dict[str, Any]:
    """The radius of damaged dice for a template: times as times, codes in words, one row a part and a table."""
    shown = dict(figures)
    for name in ("last_good", "from", "to"):
        if shown.get(name):
            shown[name] = dt.datetime.fromisoformat(shown[name])
    if "timeline" in shown:  # advice of earlier days has none
        shown["timeline"] = [
            point | {"at": dt.datetime.fromisoformat(point["at"]), "words": POINTS.get(point["what"], point["what"])}
            for point in shown["timeline"]
        ]
        shown["parts"] = [
            ("Before the incident", shown["before"]), ("Since the incident", shown["after"]),
            *((f"At {table['table']}", table) for table in shown["tables"]),
        ]  # fmt: skip
    return shown


def readings_advised(advice: dict[str, Any]) -> list[Reading]:
    """Our readings that the advice rests on, as the rulebook has them now."""
    book = rulebooks().get(advice.get("rulebook", ""))
    if book is None or not advice.get("action"):
        return []
    try:
        return book.readings_of(advise(book, advice["situation"], advice.get("facts") or {}))
    except InputError:  # advice of before, on a situation that asks for other facts now
        return []


def advice_shown(found: dict[str, Any]) -> dict[str, Any]:
    """What the templates take: `advice` as it was given, its codes in words, and what is wanted to say more."""
    advice: dict[str, Any] | None = found.get("advice")
    if advice is None:
        return {"advice": None, "wanted": found.get("wanted", "")}
    figures = affected_shown(advice.get("figures") or {})
    return {
        "advice": advice,
        "wanted": found.get("wanted", ""),
        "advised_situation": situation_words(advice.get("situation", "")),
        "advised_action": ACTIONS.get(advice.get("action", ""), advice.get("action", "")),
        "advised_by": AUTHORITIES.get(advice.get("authority", ""), advice.get("authority", "")),
        "advised_rules": [(citation, rule_words(citation)) for citation in advice.get("rules", ())],
        "open_rules": [(citation, rule_words(citation)) for citation in figures.get("open_rules", ())],
        "advised_readings": readings_advised(advice),
        "figures": figures,
        "limit_rounds": figures.get("rounds", ()) if "dice_set" not in figures else (),
    }


def affected_now(incident: Incident) -> dict[str, Any]:
    """The rounds that damaged dice affected, as it is now; the advice keeps what was known when it was given."""
    return affected_shown(affected_of(incident) or {})
