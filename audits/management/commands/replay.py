"""Settle a recorded round otherwise, for disputes and training: what would each player have won? Writes nothing."""

from typing import Any

from django.core.management.base import CommandError, CommandParser
from django.db.models import Q

from audits.reconciliation.terms import terms_of_day
from audits.reconciliation.what_if import OtherGame, Replay, other_game, replay, replay_document
from games.access.gate import Actor, authorize, visible
from games.engine.errors import InputError
from games.engine.json_input import read_limits
from games.engine.rules.readings import POLICIES
from games.engine.signs.limits import Limits
from games.management.acting_command import ActingCommand, coded
from games.management.rules_command import as_json, in_file, read_document
from games.models import Casino, Round
from games.rounds.terms import Terms


class Command(ActingCommand):
    help = "Settles a recorded round by another rulebook, layout, policy or sign, with the difference for each player."

    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("round", metavar="ROUND", help="its ref, or source/ref")
        parser.add_argument("--casino", metavar="CODE", help="where rounds of several casinos have this name")
        parser.add_argument("--rulebook", metavar="R", help="else the round's own")
        parser.add_argument("--layout", metavar="L", help="else the round's own")
        parser.add_argument("--excess", choices=POLICIES, help="else the rulebook's own policy")
        parser.add_argument("--limits", metavar="FILE", help="a JSON file, or - for standard input; else as known now")

    def act(self, actor: Actor, **options: Any) -> None:
        one = round_named(actor, options["round"], coded(Casino, "--casino", options["casino"]))
        authorize(actor, "round.view", one)
        terms = terms_of_day(one.table).at(one.assignment_id, one.started_at)
        try:
            done = replayed(one, terms, options)
        except InputError as error:
            raise CommandError(str(error)) from None
        self.stdout.write(as_json(replay_document(done)))


def replayed(round_: Round, terms: Terms, options: dict[str, Any]) -> Replay:
    game = other_game(round_, options["rulebook"], options["layout"])
    file = options["limits"]
    limits = limits_in(file, game, terms.limits.chip_unit) if file is not None else None
    return replay(round_, terms, game, excess=options["excess"], limits=limits, limits_file=file)


def limits_in(file: str, game: OtherGame, chip_unit: int) -> Limits:
    document = read_document(file)
    found: Limits = in_file(file, lambda: read_limits(document, game.book, game.layout, chip_unit=chip_unit))
    return found


def round_named(actor: Actor, name: str, casino: Casino | None) -> Round:
    """Find a round by its ref, or by source and ref (either may hold a stroke itself): of the casino that is named,
    else of the actor's own where it has one of this name."""
    rounds = Round.objects.select_related("table__casino", "limit_set").filter(named(name))
    if casino is not None:
        rounds = rounds.filter(casino=casino)
    elif actor.casino_id is not None and rounds.filter(casino=actor.casino_id).exists():
        rounds = rounds.filter(casino=actor.casino_id)
    found = list(rounds.order_by("casino", "source", "ref")[:2])
    if not found:
        raise CommandError(f"round: there is no round {name!r:.60} on record; check its ref, or write source/ref.")
    if len(found) > 1:
        verify_single(name, list(visible(actor, rounds).order_by("casino", "source", "ref")[:20]))
    return found[0]


def verify_single(name: str, seen: list[Round]) -> None:
    """Ask for the casino, or the source, where several rounds that the actor may see have the name."""
    if casinos := sorted({one.table.casino.code for one in seen}):
        if len(casinos) > 1:
            listed = ", ".join(casinos)
            raise CommandError(f"round: several casinos have a round {name!r:.60}; add --casino, one of {listed}.")
        listed = ", ".join(f"{one.source}/{one.ref}" for one in seen)
        raise CommandError(f"round: {name!r:.60} is the ref of several rounds; write one of {listed}.")


def named(name: str) -> Q:
    parts = name.split("/")
    wanted = Q(ref=name)
    for place in range(1, len(parts)):
        wanted |= Q(source="/".join(parts[:place]), ref="/".join(parts[place:]))
    return wanted
