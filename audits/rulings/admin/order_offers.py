"""Which corrective actions a person may order on an incident: the pages offer only these."""

from collections.abc import Iterable

from django.core.exceptions import ValidationError
from django.db.models import QuerySet

from audits.incidents.affected_rounds import DAMAGED
from audits.models import Incident
from audits.rulings.conflict_of_interest import is_party, rounds_as_party, was_there
from audits.rulings.corrections.damage import radius_for
from audits.rulings.corrections.standing_nets import StandingNets, standing_nets_of
from audits.rulings.discretion_scope import leaves_room
from games.access.gate import can, visible
from games.models import LiveRound, Round, Staff, Table

ORDER, VOID = "consequence.order", "consequence.void"


def file_rounds(actor: Staff, incident: Incident) -> QuerySet[Round]:
    """Return the rounds of an incident that the actor may see."""
    return visible(actor, Round.objects.filter(incidents__incident=incident))


def may_void(actor: Staff, incident: Incident) -> bool:
    """Return whether this person may void rounds: any as an impartial orderer, otherwise only ones never settled."""
    if can(actor, ORDER, incident):
        return is_impartial(actor, incident)
    return can(actor, VOID, incident) and bool(voidable(actor, pending_rounds(actor, incident)))


def voidable(actor: Staff, rounds: Iterable[Round]) -> list[Round]:
    """Return the rounds that are not void yet and that this person may void."""
    return [
        standing_nets.round
        for standing_nets in standing_nets_of(rounds)
        if not standing_nets.is_returned and _may_void(actor, standing_nets)
    ]


def _may_void(actor: Staff, standing_nets: StandingNets) -> bool:
    if can(actor, ORDER, standing_nets.round.table):
        return not is_party(actor, [standing_nets.round])
    return not (standing_nets.has_paid or standing_nets.was_settled) and can(actor, VOID, standing_nets.round.table)


def is_impartial(actor: Staff, incident: Incident) -> bool:
    """Return whether the incident has no rounds yet, or one that this person neither dealt nor supervised.

    A confirmed dealer or supervisor of the incident may order nothing on it.
    """
    if was_there(actor, incident):
        return False
    rounds = file_rounds(actor, incident)
    return not rounds.exists() or rounds.exclude(rounds_as_party(actor)).exists()


def pending_rounds(actor: Staff, incident: Incident) -> QuerySet[Round]:
    """Return the rounds of an incident that were neither settled nor void when they were recorded."""
    rounds = file_rounds(actor, incident).filter(status=Round.Status.UNFINISHED)
    return rounds.select_related("table__casino").order_by("started_at", "pk")


def amendable(actor: Staff, incident: Incident) -> dict[str, Round | LiveRound]:
    """Return the rounds whose result can be amended before settlement: of the incident, and in play at its table."""
    all_standing_nets = standing_nets_of(pending_rounds(actor, incident))
    rounds = [
        standing_nets.round
        for standing_nets in all_standing_nets
        if not standing_nets.is_settled and not standing_nets.is_void
    ]
    known: dict[str, Round | LiveRound] = {
        f"round-{round_.pk}": round_ for round_ in rounds if can(actor, VOID, round_)
    }
    in_play = LiveRound.objects.filter(table=incident.table_id, ended_at=None) if incident.table_id else []
    return known | {
        f"live-{live_round.pk}": live_round for live_round in in_play if can(actor, "liveround.finish", live_round)
    }


def may_amend(actor: Staff, incident: Incident) -> bool:
    return can(actor, VOID, incident) and bool(amendable(actor, incident))


def may_void_affected(actor: Staff, incident: Incident) -> bool:
    """Return whether this person may void all affected rounds: at every table, and as no party to any.

    True also where something is missing for the order: its page then says what.
    """
    if incident.situation != DAMAGED or not can(actor, ORDER, incident) or was_there(actor, incident):
        return False
    try:
        rounds = radius_for(incident).rounds()
    except ValidationError:
        return True
    tables = Table.objects.filter(pk__in=rounds.order_by().values("table"))
    return all(can(actor, ORDER, table) for table in tables) and not rounds.filter(rounds_as_party(actor)).exists()


def may_suspend(actor: Staff, incident: Incident) -> bool:
    return incident.table is not None and can(actor, "table.suspend", incident.table)


def may_settle(actor: Staff, incident: Incident) -> bool:
    return can(actor, ORDER, incident) and is_impartial(actor, incident)


def may_settle_by_discretion(actor: Staff, incident: Incident) -> bool:
    """Return whether a decision by discretion is on record, and this person may settle by it."""
    return leaves_room(incident) and incident.discretions.exists() and may_settle(actor, incident)


def impartial_first(actor: Staff, rounds: Iterable[Round]) -> list[Round]:
    """Sort rounds: those that this person dealt or supervised, and may not settle, come last."""
    return sorted(rounds, key=lambda round_: is_party(actor, [round_]))
