"""Names for people in templates, from `games.labels`. Show the id or the citation in a tooltip (`title="…"`)."""

from collections.abc import Sequence

from django import template

from games.engine.money import parse_net
from games.labels import boxes, events, rounds, rules
from games.labels.money import money_label

register = template.Library()


@register.filter
def box_name(code: str) -> str:
    """Name a betting box: `Domino 2-4` for `domino-24`."""
    return boxes.box_label(code)


@register.filter
def boxes_name(codes: Sequence[str]) -> str:
    """Name several boxes: `Big and Small`."""
    return boxes.boxes_label(codes)


@register.filter
def bet_type_name(code: str) -> str:
    """Name a bet type: `Big/Small` for `big-small`."""
    return boxes.bet_type_label(code)


@register.filter
def rule_name(citation: str) -> str:
    """Name a cited rule: `Tai Sai v6 · Rule 5.1.1`."""
    return rules.rule_label(citation)


@register.filter
def rules_name(citations: Sequence[str]) -> str:
    """Name several cited rules, each rulebook once: `Tai Sai v6 · Rules 4.1.2, 5.1.1`."""
    return rules.rules_label(list(citations))


@register.filter
def rulebook_name(rulebook_id: str) -> str:
    """Name a rulebook in short: `Tai Sai v6`."""
    return rules.rulebook_label(rulebook_id)


@register.filter
def game_name(rulebook_id: str, layout: str) -> str:
    """Name what is played at a table: `{{ round.rulebook|game_name:round.layout }}` gives `Tai Sai v6 · Layout C`."""
    return rules.game_label(rulebook_id, layout)


@register.filter
def event_name(kind: str) -> str:
    """Name an event or a step of a round in play: `Place your bets` for `place-bets`."""
    return events.event_label(kind)


@register.filter
def money(amount: float | str | None) -> str:
    """Write minor units, or an amount as the API sends it, as money: `−1,234.50`, or `–` for None."""
    return money_label(parse_net(amount) if isinstance(amount, str) else amount)


@register.filter
def events_name(kinds: Sequence[str]) -> str:
    """Name several events: `No more bets, Void`."""
    return ", ".join(map(events.event_label, kinds))


@register.filter
def state_name(code: str) -> str:
    """Name the state of a round in play: `Betting open` for `open`."""
    return rounds.state_label(code)


@register.filter
def action_name(code: str) -> str:
    """Name what the rules want done: `Needs a ruling` for `ruling`."""
    return rounds.action_label(code)


@register.filter
def detail_name(detail: str) -> str:
    """Name the boxes and events in the detail of an irregularity: `seat-1 Small withdrawn after No more bets`."""
    return rounds.detail_label(detail)


@register.filter
def result_name(code: str) -> str:
    """Name what became of a bet: `Wins` for `win`."""
    return rounds.result_label(code)
