"""Damaged dice (5.6): which rounds are affected, and what a void of them would return to each player.

The moment at which a die cracked is unknown. Known are the last inspection that found the set good before the incident,
and when the set went out of use. Every round of the set in between is affected, before and after the incident itself,
at every table that had the set. Our reading of which rounds 5.6 reaches:

- The damaged set is the one at the table when the damage was found. If it had been removed for inspection by then, it
  is the last set there, unless a round was played since: then the dice of that round are unknown.
- The period begins after the last good inspection before the incident, or before the set came to the incident's table;
  without one, with the first fitting of the set. A round in progress at that moment is affected, as it ended later.
- The period ends when the damage was found or the set was removed, whichever is later; now, if the set is still fitted.
- A set that moves to another table without a good inspection in between is still in use: the period includes that
  fitting.
- A good inspection after the damage was found clears none of these rounds. It only clears later fittings.
- A round in progress when the set was removed or fitted is affected, too.
- A round belongs to the set by the fittings on record now, or because it was linked to the set when it was recorded:
  fittings may be corrected later, and no round may be missed.
"""

import datetime as dt
from dataclasses import dataclass
from typing import Any

from django.db import connection
from django.db.models import QuerySet
from django.db.models.expressions import RawSQL
from django.utils import timezone

from audits.models import Incident
from games.engine.money import format_money
from games.floor.moments import as_text
from games.models import DiceFit, DiceInspection, DiceSet, LiveRound, Round, Table

DAMAGED = "dice-damaged"
NO_DICE_SET = (
    "No dice set is on record at this table when the damage was found, and rounds may have been played with other dice "
    "since the last one was taken out. Record the fitting of the dice set, or correct the incident's table or time."
)
MOST = 1000  # rounds or players listed; the counts cover all

#: The longest that a round may last: the index on tables is read this far back.
LONGEST = dt.timedelta(days=1)
#: The parameters of the query: the set, from when to when, and how long a round may last.
ASKED = (
    "(VALUES (%s::bigint, %s::timestamptz, %s::timestamptz, %s::interval)) AS q (dice_set_id, since, until, longest)"
)
#: The rounds of a set in a period: by its fittings, and by the set kept on the round. `{after}` is > or >=.
ROUNDS = f"""
SELECT r.id FROM {ASKED} JOIN games_dicefit f ON f.dice_set_id = q.dice_set_id
JOIN games_round r ON r.table_id = f.table_id AND r.started_at >= greatest(lower(f.during), q.since) - q.longest
    AND r.started_at < coalesce(upper(f.during), 'infinity') AND r.started_at <= q.until
WHERE r.ended_at {{after}} q.since AND (r.started_at >= lower(f.during) OR r.ended_at > lower(f.during))
UNION
SELECT r.id FROM {ASKED} JOIN games_round r ON r.dice_set_id = q.dice_set_id
WHERE r.started_at <= q.until AND r.ended_at {{after}} q.since
"""
#: These rounds as they are now, corrections included, with the bets that a void would return.
BETS = """
WITH affected AS ({rounds}), books AS (
    SELECT r.id, r.table_id, r.rulebook, r.started_at < %s AS is_before, r.players, r.stakes, r.refused, r.withdrawn,
        coalesce(c.nets, r.nets) AS nets, CASE WHEN c.is_void THEN 'void' WHEN c.is_settled THEN 'settled'
            ELSE r.status END AS status
    FROM affected JOIN games_round r USING (id) LEFT JOIN LATERAL (
        SELECT nets, is_void, is_settled FROM audits_correction WHERE round_id = r.id ORDER BY ordinal DESC LIMIT 1
    ) c ON true
), bets AS (
    SELECT books.id, table_id, rulebook, is_before, status, bet.player, bet.net,
        CASE WHEN is_refused OR is_withdrawn THEN 0 ELSE bet.stake END AS stake
    FROM books LEFT JOIN LATERAL unnest(players, stakes, nets, refused, withdrawn)
        AS bet (player, stake, net, is_refused, is_withdrawn)
        ON status = 'settled' AND (net <> 0 OR NOT coalesce(is_refused OR is_withdrawn, false))
)
"""
#: Void rounds have returned every stake already; nothing was paid in unfinished ones.
SUMS = """
SELECT t.code, b.rulebook, b.is_before, count(DISTINCT b.id), count(DISTINCT b.id) FILTER (WHERE b.status = 'settled'),
    coalesce(sum(b.stake), 0), coalesce(-sum(b.net) FILTER (WHERE b.net < 0), 0),
    coalesce(sum(b.net) FILTER (WHERE b.net > 0), 0)
FROM bets b JOIN games_table t ON t.id = b.table_id GROUP BY t.code, b.rulebook, b.is_before ORDER BY 1, 2, 3 DESC
"""
PLAYERS = "SELECT player, -sum(net), count(DISTINCT id) FROM bets WHERE player IS NOT NULL GROUP BY player ORDER BY 1"
LISTED = """
SELECT r.ref, t.code, b.status FROM books b JOIN games_round r USING (id) JOIN games_table t ON t.id = b.table_id
ORDER BY r.started_at, r.id LIMIT {most}
"""


@dataclass(frozen=True)
class Radius:
    """The period in which the rounds of a damaged dice set are affected."""

    dice_set: DiceSet
    incident_from: dt.datetime
    incident_to: dt.datetime | None
    good: DiceInspection | None  # the last good inspection before the incident
    fits: tuple[DiceFit, ...]  # from the first fitting to the last one that counts
    now: dt.datetime

    @property
    def found_at(self) -> dt.datetime:
        return self.incident_to or self.incident_from

    @property
    def last(self) -> DiceFit:
        return self.fits[-1]

    @property
    def is_in_place(self) -> bool:
        return self.last.during.upper is None

    @property
    def starts_at(self) -> dt.datetime:
        """Return the beginning: after the last good inspection; without one, with the first fitting."""
        return self.good.at if self.good else self.fits[0].during.lower

    @property
    def ends_at(self) -> dt.datetime:
        return max(self.found_at, self.last.during.upper or self.now)

    @property
    def _rounds(self) -> str:
        return ROUNDS.format(after=">" if self.good else ">=")

    @property
    def _parameters(self) -> list[Any]:
        return [self.dice_set.pk, self.starts_at, self.ends_at, LONGEST] * 2

    def rounds(self) -> QuerySet[Round]:
        """Return all affected rounds, the oldest first."""
        keys = RawSQL(self._rounds, self._parameters)  # noqa: S611  the text holds no input
        return Round.objects.filter(pk__in=keys).order_by("started_at", "pk")

    def in_play(self) -> QuerySet[LiveRound]:
        """Return the rounds in play with the set now: affected, although not on record yet."""
        if not self.is_in_place:
            return LiveRound.objects.none()
        return LiveRound.objects.filter(table=self.last.table_id, ended_at=None).select_related("table")

    def rows(self, question: str) -> list[Any]:
        with connection.cursor() as cursor:
            cursor.execute(BETS.format(rounds=self._rounds) + question, [*self._parameters, self.incident_from])
            return list(cursor.fetchall())

    def timeline(self) -> list[tuple[str, dt.datetime, Table | None]]:
        """Return the history of the set since the period began: what, when, at which table."""
        points: list[tuple[str, dt.datetime, Table | None]] = []
        if self.good:
            points.append(("last-good-inspection", self.good.at, self.good.table))
        for fit in self.fits:
            ended = fit.during.upper
            if ended is None or ended > self.starts_at:
                points.append(("fitted", fit.during.lower, fit.table))
                points += [("removed", ended, fit.table)] if ended else []
        points.append(("incident", self.incident_from, None))
        if self.incident_to is not None:
            points.append(("found", self.incident_to, None))
        later = self.dice_set.inspections.select_related("table").filter(at__gt=self.incident_from)
        points += [(f"inspected-{inspection.result}", inspection.at, inspection.table) for inspection in later]
        if self.is_in_place:
            points.append(("still-fitted", self.now, self.last.table))
        return sorted(points, key=lambda point: point[1])


def last_good(dice_set: DiceSet, at: dt.datetime) -> DiceInspection | None:
    """Return the last good inspection of a set up to a moment."""
    found = DiceInspection.objects.filter(dice_set=dice_set, at__lte=at, result=DiceInspection.Result.GOOD)
    return found.select_related("table").order_by("-at", "-pk").first()


def damaged_fit(table: Table, found_at: dt.datetime) -> DiceFit | None:
    """Return the fitting of the set found damaged at a table at this moment; None where none is on record.

    If two sets were exchanged at this very moment, it is the one that was removed.
    """
    fits = DiceFit.objects.filter(table=table).select_related("dice_set").order_by("-during")
    last = fits.filter(during__startswith__lt=found_at).first()
    if last is not None and (last.during.upper is None or last.during.upper >= found_at):
        return last
    there = fits.filter(during__startswith=found_at).first()
    if there is not None or last is None:
        return there
    return None if was_played(table, last.during.upper, found_at) else last


def was_played(table: Table, since: dt.datetime, until: dt.datetime) -> bool:
    """Return whether a round began at a table in a period, on record or still in play."""
    rounds = Round.objects.filter(table=table, started_at__gte=since, started_at__lt=until)
    in_play = LiveRound.objects.filter(table=table, ended_at=None, opened_at__gte=since, opened_at__lt=until)
    return rounds.exists() or in_play.exists()


def radius_of(table: Table, incident_from: dt.datetime, incident_to: dt.datetime | None = None) -> Radius | None:
    """Return the affected period of damage noticed at a table; None where no dice set is on record there."""
    found_at = incident_to or incident_from
    fit = damaged_fit(table, found_at)
    if fit is None:
        return None
    return Radius(
        dice_set=fit.dice_set, incident_from=incident_from, incident_to=incident_to,
        good=last_good(fit.dice_set, max(incident_from, fit.during.lower)), fits=fits_in_use(fit.dice_set, found_at),
        now=timezone.now(),
    )  # fmt: skip


def fits_in_use(dice_set: DiceSet, found_at: dt.datetime) -> tuple[DiceFit, ...]:
    """Return the fittings up to the incident, and later ones up to the next good inspection."""
    good = dice_set.inspections.filter(result=DiceInspection.Result.GOOD, at__gt=found_at).order_by("at").first()
    fits = dice_set.fits.select_related("table").order_by("during")
    return tuple(
        fit for fit in fits if fit.during.lower <= found_at or good is None or fit.during.lower < good.at
    )  # fmt: skip


# --- As it is shown ----------------------------------------------------------------------------------


def blast_radius(table: Table, at: dt.datetime, until: dt.datetime | None = None) -> dict[str, Any]:
    """Return the affected period with its rounds and amounts, as JSON."""
    radius = radius_of(table, at, until)
    if radius is None:
        return {"explain": NO_DICE_SET}
    players, casino = radius.rows(PLAYERS), table.casino
    sums = radius.rows(SUMS)
    return {
        "dice_set": radius.dice_set.code,
        "last_good": as_text(radius.good.at, casino) if radius.good else None,
        "from": as_text(radius.starts_at, casino),
        "to": as_text(radius.ends_at, casino),
        "in_place": radius.is_in_place,
        "timeline": [
            {"what": what, "at": as_text(moment, casino), "table": at_table.code if at_table else None}
            for what, moment, at_table in radius.timeline()
        ],
        "before": _amounts([row for row in sums if row[2]]),
        "after": _amounts([row for row in sums if not row[2]]),
        "tables": _by_table(sums),
        "count": sum(row[3] for row in sums),
        "rounds": [
            {"ref": ref, "table": code, "status": status} for ref, code, status in radius.rows(LISTED.format(most=MOST))
        ],
        "in_play": [{"ref": live.ref, "table": live.table.code} for live in radius.in_play()],
        "players": [
            {"player": player, "rounds": count, "refund": format_money(int(amount))}
            for player, amount, count in players[:MOST]
        ],
        "player_count": len(players),
        "total": format_money(sum(int(amount) for _, amount, _ in players)),
    }


def affected_of(incident: Incident) -> dict[str, Any] | None:
    """Return the affected rounds of an incident as of now; None unless it is about damaged dice at a table."""
    if incident.situation != DAMAGED or incident.table is None:
        return None
    return blast_radius(incident.table, incident.occurred_from, incident.occurred_to)


def _by_table(sums: list[Any]) -> list[dict[str, Any]]:
    keys = dict.fromkeys((code, rulebook) for code, rulebook, *_ in sums)
    return [
        {"table": code, "rulebook": book, **_amounts([row for row in sums if row[:2] == (code, book)])}
        for code, book in keys
    ]


def _amounts(sums: list[Any]) -> dict[str, Any]:
    """Sum bet by bet: players get back what they lost (refunds) and return what they won (recoveries)."""
    rounds, settled, stakes, refunds, recoveries = (sum(int(row[place]) for row in sums) for place in range(3, 8))
    return {
        "rounds": rounds, "settled": settled, "stakes": format_money(stakes), "refunds": format_money(refunds),
        "recoveries": format_money(recoveries),
    }  # fmt: skip
