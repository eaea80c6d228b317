"""Settle a recorded round otherwise, for disputes and training: what would each player have won? Writes nothing."""

from typing import Any

from django.core.management.base import CommandError, CommandParser
from django.db.models import Q

from audits.reconciliation.applying import Applied, applying
from audits.reconciliation.replaying import Game, Replay, other_game, replay, replay_document
from games.engine.errors import InputError
from games.engine.limits import Limits
from games.engine.loader import POLICIES
from games.engine.requests import read_limits
from games.management.acting import ActingCommand
from games.management.documents import as_json, in_file, read_document
from games.models import Round
from games.services.gate import Actor, authorize, visible


class Command(ActingCommand):
    help = "Settles a recorded round by another rulebook, layout, policy or sign, with the difference for each player."

    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("round", metavar="ROUND", help="its ref, or source/ref")
        parser.add_argument("--rulebook", metavar="R", help="else the round's own")
        parser.add_argument("--layout", metavar="L", help="else the round's own")
        parser.add_argument("--excess", choices=POLICIES, help="else the rulebook's own policy")
        parser.add_argument("--limits", metavar="FILE", help="a JSON file, or - for standard input; else as known now")

    def act(self, actor: Actor, **options: Any) -> None:
        one = round_named(actor, options["round"])
        authorize(actor, "round.view", one)
        applied = applying(one.table).at(one.assignment_id, one.started_at)
        try:
            done = replayed(one, applied, options)
        except InputError as error:
            raise CommandError(str(error)) from None
        self.stdout.write(as_json(replay_document(done)))


def replayed(one: Round, applied: Applied, options: dict[str, Any]) -> Replay:
    game = other_game(one, options["rulebook"], options["layout"])
    file = options["limits"]
    limits = limits_in(file, game, applied.game.limits.chip_unit) if file is not None else None
    return replay(one, applied, game, excess=options["excess"], limits=limits, limits_file=file)


def limits_in(file: str, game: Game, chip_unit: int) -> Limits:
    document = read_document(file)
    found: Limits = in_file(file, lambda: read_limits(document, game.book, game.layout, chip_unit=chip_unit))
    return found


def round_named(actor: Actor, name: str) -> Round:
    """By its ref, or by source and ref; either may hold a stroke itself."""
    rounds = Round.objects.select_related("table__casino", "limit_set").filter(named(name))
    found = list(rounds.order_by("source", "ref")[:2])
    if not found:
        raise CommandError(f"round: there is no round {name!r:.60} on record; check its ref, or write source/ref.")
    if len(found) > 1:
        seen = list(visible(actor, rounds).order_by("source", "ref").values_list("source", "ref")[:20])
        if seen:
            listed = ", ".join(f"{source}/{ref}" for source, ref in seen)
            raise CommandError(f"round: {name!r:.60} is the ref of several rounds; write one of {listed}.")
    return found[0]


def named(name: str) -> Q:
    parts = name.split("/")
    wanted = Q(ref=name)
    for place in range(1, len(parts)):
        wanted |= Q(source="/".join(parts[:place]), ref="/".join(parts[place:]))
    return wanted
