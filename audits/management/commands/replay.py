"""Settle a recorded round under other terms, for disputes and training. Writes nothing."""

from typing import Any

from django.core.management.base import CommandError, CommandParser
from django.db.models import Q

from audits.reconciliation.terms import AppliedTerms, terms_of_day
from audits.reconciliation.what_if import OtherGame, Replay, other_game, replay, replay_document
from games.access.gate import Actor, authorize, visible
from games.engine.errors import InputError
from games.engine.json_input import read_limits
from games.engine.rules.readings import POLICIES
from games.engine.signs.limits import Limits
from games.management.acting_command import ActingCommand, coded
from games.management.rules_command import as_json, in_file, read_document
from games.models import Casino, Round


class Command(ActingCommand):
    help = "Settle a recorded round by another rulebook, layout, policy or sign; print each player's difference."

    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("round", metavar="ROUND", help="its ref, or source/ref")
        parser.add_argument("--casino", metavar="CODE", help="required if rounds of several casinos have this name")
        parser.add_argument("--rulebook", metavar="R", help="defaults to the round's own")
        parser.add_argument("--layout", metavar="L", help="defaults to the round's own")
        parser.add_argument("--excess", choices=POLICIES, help="defaults to the rulebook's own policy")
        parser.add_argument(
            "--limits", metavar="FILE", help="a JSON file, or - for standard input; defaults to those known now"
        )

    def act(self, actor: Actor, **options: Any) -> None:
        round_ = round_named(actor, options["round"], coded(Casino, "--casino", options["casino"]))
        authorize(actor, "round.view", round_)
        applied = terms_of_day(round_.table).at(round_.assignment_id, round_.started_at)
        try:
            done = replayed(round_, applied, options)
        except InputError as error:
            raise CommandError(str(error)) from None
        self.stdout.write(as_json(replay_document(done)))


def replayed(round_: Round, applied: AppliedTerms, options: dict[str, Any]) -> Replay:
    game = other_game(round_, options["rulebook"], options["layout"])
    file = options["limits"]
    limits = limits_in(file, game, applied.game.limits.chip_unit) if file is not None else None
    return replay(round_, applied, game, excess=options["excess"], limits=limits, limits_file=file)


def limits_in(file: str, game: OtherGame, chip_unit: int) -> Limits:
    document = read_document(file)
    found: Limits = in_file(file, lambda: read_limits(document, game.book, game.layout, chip_unit=chip_unit))
    return found


def round_named(actor: Actor, name: str, casino: Casino | None) -> Round:
    """Find a round by its ref, or by source and ref (either may contain a slash): in the named casino, otherwise in
    the actor's own if it has one of this name."""
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
    """Ask for the casino or the source if several visible rounds have the name."""
    if casinos := sorted({round_.table.casino.code for round_ in seen}):
        if len(casinos) > 1:
            listed = ", ".join(casinos)
            raise CommandError(f"round: several casinos have a round {name!r:.60}; add --casino, one of {listed}.")
        listed = ", ".join(f"{round_.source}/{round_.ref}" for round_ in seen)
        raise CommandError(f"round: {name!r:.60} is the ref of several rounds; write one of {listed}.")


def named(name: str) -> Q:
    parts = name.split("/")
    wanted = Q(ref=name)
    for place in range(1, len(parts)):
        wanted |= Q(source="/".join(parts[:place]), ref="/".join(parts[place:]))
    return wanted
