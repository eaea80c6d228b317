"""Limit drafts: what a change makes of each table's sign, worked out from the sign in force at its moment."""

import datetime as dt
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from django.core.exceptions import ValidationError

from games.engine.money import format_money
from games.engine.rules.rulebook import Layout
from games.engine.signs.changes import LimitChange, changes, stricter
from games.engine.signs.edits import is_named, removals
from games.engine.signs.limits import Limits
from games.limits.periods import limit_periods
from games.models import LimitProposal, LimitSet, ProposedSign, Table, TableState
from games.rounds.terms import terms_at

NOTHING = Limits()
#: The limits that somebody agreed to remove, by the table's code: names such as boxes.odd-even.min.
Confirmed = Mapping[str, Collection[str]]


@dataclass(frozen=True)
class LimitDraft:
    """One table's sign as it is at a moment, and as it would be."""

    table: Table
    moment: dt.datetime
    base: LimitSet | None
    new: Limits

    @cached_property
    def old(self) -> Limits:
        return self.base.sheet.limits() if self.base else NOTHING

    @cached_property
    def layout(self) -> Layout | None:
        terms = terms_at(self.table, self.moment)
        return terms.layout if terms.assignment else None

    @property
    def is_change(self) -> bool:
        return not is_same_sign(self.old, self.new)

    @cached_property
    def changes(self) -> list[LimitChange]:
        """Figure by figure, with boxes that lose the limit of their type."""
        written = changes(self.old, self.new)
        return [*written, *(change for change in self.removals if change not in written)]

    @cached_property
    def removals(self) -> list[LimitChange]:
        return removals(self.layout, self.old, self.new)

    @property
    def is_stricter(self) -> bool:
        """Players at the table have to be told in time."""
        return self.layout is not None and bool(stricter(self.layout, self.old, self.new))

    @cached_property
    def next_sign(self) -> LimitSet | None:
        """The sign that takes over from this one later, if one is approved already."""
        later = [
            limit_period.limit_set for limit_period in limit_periods(self.table) if limit_period.starts_at > self.moment
        ]
        return later[-1] if later else None


class UnconfirmedRemovalsError(ValidationError):
    """Limits would be removed and nobody has agreed to that; `drafts` has them table by table."""

    def __init__(self, drafts: Sequence[tuple[LimitDraft, list[LimitChange]]]) -> None:
        super().__init__({"remove": [_unconfirmed(draft, one) for draft, found in drafts for one in found]})
        self.drafts = drafts


def _unconfirmed(draft: LimitDraft, change: LimitChange) -> str:
    amount = format_money(change.old or 0)
    return (
        f"{draft.table}: {change.name} is {amount} on the sign and would be removed; keep it, or confirm its removal "
        f'with "{change.name}" under remove.'
    )


def base_at(table: Table, moment: dt.datetime, known_at: dt.datetime | None = None) -> LimitSet | None:
    """Find the limit set in force at a moment, as known now or then; None where there is no sign."""
    return terms_at(table, moment, known_at).limit_set


def is_same_sign(one: Limits, other: Limits) -> bool:
    """Line by line: an empty line for a box counts, since it replaces that of its type."""
    return (one.by_key, one.differential) == (other.by_key, other.differential)


def drafts_of(
    tables: Sequence[Table], make: Callable[[Table, Limits], Limits], *, starts_at: dt.datetime | None,
    notice: dt.timedelta, now: dt.datetime,
) -> list[LimitDraft]:  # fmt: skip
    """Work out each table's new sign from the one that it really replaces: after notice, where that is due."""
    drafts = _drafts_at(tables, make, starts_at or first_free_minute(tables, now))
    if starts_at is None and needs_notice(drafts):
        drafts = _drafts_at(tables, make, first_free_minute(tables, now + notice))
    return drafts


def _drafts_at(
    tables: Iterable[Table], make: Callable[[Table, Limits], Limits], moment: dt.datetime
) -> list[LimitDraft]:
    found = []
    for table in tables:
        base = base_at(table, moment)
        found.append(LimitDraft(table, moment, base, make(table, base.sheet.limits() if base else NOTHING)))
    return found


def drafts_now(proposal: LimitProposal, tables: Sequence[Table], *, now: dt.datetime) -> list[LimitDraft]:
    """What a proposal would change if it were approved now, against the signs that are then in force."""
    proposed = {sign.table_id: sign.limits() for sign in signs_of(proposal)}
    notice = dt.timedelta(minutes=proposal.casino.notice_minutes)
    return drafts_of(
        tables, lambda table, old: proposed[table.pk], starts_at=proposal.starts_at, notice=notice, now=now
    )


def drafts_then(proposal: LimitProposal) -> list[LimitDraft]:
    """What a proposal changed, against the signs that it was worked out from."""
    moment = proposal.starts_at or proposal.proposed_at
    return [LimitDraft(sign.table, moment, sign.base, sign.limits()) for sign in signs_of(proposal)]


def signs_of(proposal: LimitProposal) -> list[ProposedSign]:
    signs = proposal.signs.select_related("table__casino", "sheet", "base__sheet")
    return list(
        signs.prefetch_related(
            "sheet__lines", "sheet__differentials", "base__sheet__lines", "base__sheet__differentials"
        )
    )


def overtaken(proposal: LimitProposal, drafts: Iterable[LimitDraft]) -> list[tuple[LimitDraft, list[LimitChange]]]:
    """The tables whose sign is another than the one that the proposal was worked out from, with what changed since."""
    bases = {sign.table_id: sign.base_limits() for sign in signs_of(proposal)}
    return [
        (draft, changes(bases[draft.table.pk], draft.old))
        for draft in drafts
        if not is_same_sign(bases[draft.table.pk], draft.old)
    ]


def needs_notice(drafts: Iterable[LimitDraft]) -> bool:
    return any(draft.table.state != TableState.CLOSED and draft.is_stricter for draft in drafts)


def verify_removals(drafts: Sequence[LimitDraft], confirmed: Confirmed) -> dict[str, list[str]]:
    """Refuse a removal that nobody agreed to, and a name that removes nothing; return the full names by table."""
    missing = [
        (draft, found)
        for draft in drafts
        if (
            found := [
                removal for removal in draft.removals if not is_named(removal, confirmed.get(draft.table.code, ()))
            ]
        )
    ]
    if missing:
        raise UnconfirmedRemovalsError(missing)
    unused = {
        name
        for names in confirmed.values()
        for name in names
        if not any(
            name in confirmed.get(draft.table.code, ()) and is_named(removal, [name])
            for draft in drafts
            for removal in draft.removals
        )
    }
    if unused:
        listed = ", ".join(sorted(unused)[:10])
        raise ValidationError(
            {"remove": f"{listed}: no such limit would be removed; leave it out of the list, or check its name."}
        )
    return {draft.table.code: [change.name for change in draft.removals] for draft in drafts}


# --- Moments ---------------------------------------------------------------------------------------


def next_minute(moment: dt.datetime) -> dt.datetime:
    """A sign names whole minutes."""
    whole = moment.replace(second=0, microsecond=0)
    return whole if whole == moment else whole + dt.timedelta(minutes=1)


def first_free_minute(tables: Sequence[Table], moment: dt.datetime) -> dt.datetime:
    """The next whole minute from which none of the tables has limits yet."""
    minute = next_minute(moment)
    taken = set(LimitSet.objects.filter(table__in=tables, starts_at__gte=minute).values_list("starts_at", flat=True))
    while minute in taken:
        minute += dt.timedelta(minutes=1)
    return minute
