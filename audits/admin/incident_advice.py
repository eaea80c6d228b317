"""Advice as people read it: what to do first, by which rule, who decides, and the figures."""

import datetime as dt
from typing import Any

from audits.incidents.words import ACTIONS, AUTHORITIES, rule_words, situation_words


def advice_shown(found: dict[str, Any]) -> dict[str, Any]:
    """What the templates take: `advice` as it was given, its codes in words, and what is wanted to say more."""
    advice: dict[str, Any] | None = found.get("advice")
    if advice is None:
        return {"advice": None, "wanted": found.get("wanted", "")}
    figures = dict(advice.get("figures") or {})
    if figures.get("last_good"):
        figures["last_good"] = dt.datetime.fromisoformat(figures["last_good"])
    return {
        "advice": advice,
        "wanted": found.get("wanted", ""),
        "advised_situation": situation_words(advice.get("situation", "")),
        "advised_action": ACTIONS.get(advice.get("action", ""), advice.get("action", "")),
        "advised_by": AUTHORITIES.get(advice.get("authority", ""), advice.get("authority", "")),
        "advised_rules": [(citation, rule_words(citation)) for citation in advice.get("rules", ())],
        "open_rules": [(citation, rule_words(citation)) for citation in figures.get("open_rules", ())],
        "figures": figures,
        "limit_rounds": figures.get("rounds", ()) if "dice_set" not in figures else (),
    }
