"""Check that people who voided a round by ruling, or amended a result, had the authority to do so."""

from collections.abc import Iterator

from audits.reconciliation.checks.crew import Crews
from games.access.roles import access_policy, post_name
from games.engine.play.findings import RecordedRound
from games.engine.play.irregularities import RESULT_AMENDED, VOID, Event
from games.engine.play.procedure import ProceduralFault
from games.engine.settlement import RULING


def decision_faults(recorded_round: RecordedRound, crews: Crews) -> Iterator[ProceduralFault]:
    """Yield a fault for each kind of decision that was made without authority."""
    voided = [event for event in recorded_round.events if event.kind == VOID and event.rule == RULING]
    if reasons := [reason for event in voided for reason in _ruling_faults(recorded_round, event, crews)]:
        yield ProceduralFault("void-without-authority", f"Voided by a ruling: {' and '.join(reasons)}.")
    least = access_policy().authority["amend-result"]
    amended = [event for event in recorded_round.events if event.kind == RESULT_AMENDED]
    if wrong := [event for event in amended if not crews.has_authority(event.by, least, event.at)]:
        names = ", ".join(dict.fromkeys(event.by or "a person who is not named" for event in wrong))
        yield ProceduralFault(
            "amendment-without-authority", f"Amended by {names}, not by a {post_name(least).lower()} or above."
        )


def _ruling_faults(recorded_round: RecordedRound, event: Event, crews: Crews) -> Iterator[str]:
    if not recorded_round.answers:
        yield "no ruling on this round is on record"
    least = access_policy().authority["void-by-ruling"]
    if event.by is not None and not crews.has_authority(event.by, least, event.at):
        yield f"{event.by} was not a {post_name(least).lower()} or above at that moment"
