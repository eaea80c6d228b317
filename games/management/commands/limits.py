"""Limits from the command line: propose, approve, reject, take back, list; as a person, never as the operator."""

from typing import Any

from django.core.management.base import CommandError, CommandParser

from games.engine.errors import InputError
from games.engine.requests import verify_whole_characters
from games.management.acting import ActingCommand
from games.management.documents import as_json, read_document
from games.models import LimitProposal, Staff
from games.proposals import KNOWN, STATES, proposal_document, proposals_seen, read_proposal
from games.services.gate import Actor, deny
from games.services.limits import limits_approve, limits_propose, limits_reject, limits_withdraw

DECISIONS: dict[str, Any] = {"approve": limits_approve, "reject": limits_reject, "withdraw": limits_withdraw}


class Command(ActingCommand):
    help = "Proposes limits and decides on proposals; needs --as, since limits are one person's word and another's."

    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        verbs = parser.add_subparsers(dest="verb", required=True, metavar="propose|approve|reject|withdraw|list")
        propose = self.add_verb(verbs, "propose", "new limits, as the API takes them: tables, boxes, reason …")
        propose.add_argument("file", metavar="FILE", help="a JSON file, or - for standard input")
        for name in DECISIONS:
            decide = self.add_verb(verbs, name, f"{name} a proposal")
            decide.add_argument("number", type=int, help="the number of the proposal")
            decide.add_argument("--reason", required=True)
        listing = self.add_verb(verbs, "list", "proposals as JSON, the newest first")
        listing.add_argument("--state", choices=STATES)

    def act(self, actor: Actor, **options: Any) -> None:
        verb = options["verb"]
        if verb == "list":
            self.stdout.write(as_json([proposal_document(one) for one in proposals_seen(actor, options["state"])]))
            return
        if not isinstance(actor, Staff):
            raise deny(actor, f"limits.{verb}", "name a person with --as")
        if verb == "propose":
            proposal = proposed(actor, options["file"])
        else:
            proposal = found(options["number"])
            DECISIONS[verb](actor=actor, proposal=proposal, reason=options["reason"])
        self.stdout.write(as_json(proposal_document(found(proposal.pk))))


def proposed(actor: Staff, file: str) -> LimitProposal:
    try:
        document = read_document(file)
        verify_whole_characters(document)
        tables, limits, starts_at, correction, reason = read_proposal(document)
    except InputError as error:
        raise CommandError("\n".join(error.faults)) from None
    return limits_propose(
        actor=actor, tables=tables, limits=limits, starts_at=starts_at, is_correction=correction, reason=reason
    )


def found(number: int) -> LimitProposal:
    proposal = KNOWN.filter(pk=number).first()
    if proposal is None:
        raise CommandError(f"number: there is no proposal {number}; see `limits list`.")
    return proposal
