"""Propose, approve, reject, withdraw and list limits from the command line, as a person, never as the operator."""

from typing import Any

from django.core.management.base import CommandError, CommandParser

from games.access.gate import Actor, deny
from games.engine.errors import InputError
from games.engine.json_input import verify_whole_characters
from games.limits.serializers import KNOWN, STATES, changes_document, proposal_document, proposals_seen, propose
from games.limits.services.proposals import limits_approve, limits_reject, limits_withdraw
from games.management.acting_command import ActingCommand
from games.management.rules_command import as_json, read_document
from games.models import LimitProposal, Staff

DECISIONS: dict[str, Any] = {"approve": limits_approve, "reject": limits_reject, "withdraw": limits_withdraw}


class Command(ActingCommand):
    help = "Proposes limits and decides on proposals. Needs --as, since one person proposes and another approves."

    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        verbs = parser.add_subparsers(dest="verb", required=True, metavar="propose|approve|reject|withdraw|list")
        proposing = self.add_verb(verbs, "propose", "new limits, as in the API: changes, reason …")
        proposing.add_argument("file", metavar="FILE", help="a JSON file, or - for standard input")
        for name in DECISIONS:
            decide = self.add_verb(verbs, name, f"{name} a proposal")
            decide.add_argument("number", type=int, help="the number of the proposal")
            decide.add_argument("--reason", required=True)
            if name == "approve":
                decide.add_argument(
                    "--remove", action="append", default=[], metavar="[TABLE:]LIMIT",
                    help="a removed limit by its full name, such as TS-01:boxes.double.max; repeat for each. Leave the "
                    "table out if the proposal has one table",
                )  # fmt: skip
        listing = self.add_verb(verbs, "list", "proposals as JSON, newest first")
        listing.add_argument("--state", choices=STATES)

    def act(self, actor: Actor, **options: Any) -> None:
        verb = options["verb"]
        if verb == "list":
            self.stdout.write(
                as_json([proposal_document(proposal) for proposal in proposals_seen(actor, options["state"])])
            )
            return
        if not isinstance(actor, Staff):
            raise deny(actor, f"limits.{verb}", "name a person with --as")
        if verb == "propose":
            proposal = proposed(actor, options["file"])
        else:
            proposal = proposal_numbered(options["number"])
            agreed = {"remove": removals(proposal, options["remove"])} if options.get("remove") else {}
            DECISIONS[verb](actor=actor, proposal=proposal, reason=options["reason"], **agreed)
        proposal = proposal_numbered(proposal.pk)
        self.stdout.write(as_json(proposal_document(proposal) | changes_document(proposal)))


def proposed(actor: Staff, file: str) -> LimitProposal:
    try:
        document = read_document(file)
        verify_whole_characters(document)
        return propose(actor, document)
    except InputError as error:
        raise CommandError("\n".join(error.faults)) from None


def removals(proposal: LimitProposal, written: list[str]) -> dict[str, list[str]]:
    """Read the limits to remove by table, as TABLE:LIMIT, or LIMIT where the proposal has one table."""
    codes = [sign.table.code for sign in proposal.signs.all()]
    by_table: dict[str, list[str]] = {}
    for text in written:
        code, colon, name = text.rpartition(":")
        if not colon and len(codes) > 1:
            raise CommandError(f"--remove {text}: the proposal has several tables; write it as {min(codes)}:{text}.")
        if colon and code not in codes:
            raise CommandError(f"--remove {text}: {code} is not a table of this proposal ({', '.join(sorted(codes))}).")
        by_table.setdefault(code or codes[0], []).append(name)
    return by_table


def proposal_numbered(number: int) -> LimitProposal:
    proposal = KNOWN.filter(pk=number).first()
    if proposal is None:
        raise CommandError(f"number: there is no proposal {number}; see `limits list`.")
    return proposal
