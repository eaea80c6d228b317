"""Rulings: made in the right post by somebody who is no party, kept as they were made, superseded by another."""

import datetime as dt
from collections.abc import Sequence
from dataclasses import dataclass

from django.core.exceptions import ValidationError
from django.db import transaction
from django.utils import timezone

from audits.findings.services.escalation import people_in
from audits.incidents.services.incidents import incident_locked, incident_ruled
from audits.incidents.services.numbers import next_number, number_text
from audits.models import (
    Incident,
    IncidentState,
    Notice,
    Ruling,
    RulingConsent,
    RulingKind,
    RulingReview,
    Scope,
)
from audits.rulings.conflict_of_interest import (
    group_rulers_of,
    has_consent,
    is_disqualified,
    is_reporter,
    needs_consent,
    rulers_of,
)
from audits.rulings.precedents import binding
from audits.rulings.remit import readings_recorded, remit_faults
from games.access.gate import Capacity, actor_name, authorize, deny
from games.access.roles import access_policy
from games.engine.rules.loader import rulebook as rulebook_of
from games.engine.rules.loader import rulebooks
from games.engine.rules.readings import setting_faults
from games.floor.moments import as_text
from games.history.audited_save import OvertakenError, verify_reason, verify_texts
from games.ledger.services import LedgerEntry, ledger_append
from games.models import Round, SettlementPolicy, Staff
from games.rounds.services.outbox import requeue
from games.settlement_policies.services import NOTHING_SET, Setting, settlement_policy_set

SERIES = "RU"


@dataclass(frozen=True)
class RulingDraft:
    """What is going to be ruled."""

    kind: str
    question: str
    decision: str
    reasoning: str
    facts: str = ""
    rules: Sequence[str] = ()  # citations
    scope: str = Scope.ROUND
    effective_from: dt.datetime | None = None  # of a standing one; now, where none is given
    setting: Setting = NOTHING_SET
    readings: Sequence[
        str
    ] = ()  # names of the rulebook's readings that it is about; those that `setting` is about are added
    follows: Ruling | None = None
    departs_from: Ruling | None = None
    departure: str = ""
    override: str = ""
    is_withdrawal: bool = False


@transaction.atomic
def ruling_make(*, actor: Staff, incident: Incident, draft: RulingDraft) -> Ruling:
    """The file is ruled on with it. Of two at once, one stands and the other is told."""
    current = incident_locked(incident)
    post = verify_may_rule(actor, current, draft.override)
    verify_unruled(current)
    verify_precedent(current, draft)
    ruling = _record(actor, post, current, draft, replaces=None)
    incident_ruled(actor=actor, incident=current, ruling=ruling.number)
    return ruling


@transaction.atomic
def ruling_supersede(*, actor: Staff, ruling: Ruling, draft: RulingDraft) -> Ruling:
    """Another takes its place: a standing one from its own moment on, never for what was played before."""
    current = incident_locked(ruling.incident)
    post = verify_may_rule(actor, current, draft.override)
    verify_not_replaced(ruling)
    if ruling.is_standing and draft.scope != Scope.STANDING:
        raise ValidationError({"scope": f"{ruling} stands: what takes its place stands too, or withdraw it."})
    return _record(actor, post, current, draft, replaces=ruling)


def ruling_withdraw(
    *, actor: Staff, ruling: Ruling, reason: str, effective_from: dt.datetime | None = None, override: str = ""
) -> Ruling:  # fmt: skip
    """It no longer holds, and nothing takes its place: from then on the document's own words count again."""
    verify_reason(reason)
    draft = RulingDraft(
        kind=ruling.kind, question=ruling.question, facts=ruling.facts, decision=f"{ruling} is withdrawn.",
        reasoning=reason, rules=ruling.rules, scope=ruling.scope, effective_from=effective_from, override=override,
        readings=ruling.readings, is_withdrawal=True,
    )  # fmt: skip
    return ruling_supersede(actor=actor, ruling=ruling, draft=draft)


# --- Who may, and what ------------------------------------------------------------------------------


def verify_may_rule(actor: Staff, incident: Incident, override: str) -> Capacity:
    """In the post at this moment, and not by a party; each refusal is on record."""
    standing = authorize(actor, "ruling.make", incident)
    if is_disqualified(actor, incident):
        raise deny(actor, "ruling.make", f"incident {incident}, in which this person dealt or supervised")
    if is_reporter(actor, incident) and not override.strip():
        raise deny(actor, "ruling.make", f"incident {incident}, which this person reported")
    if needs_consent(actor):
        verify_consent(actor, incident, override)
    return standing


def verify_consent(actor: Staff, incident: Incident, override: str) -> None:
    """In the place of the casino's own people: with a reason, and compliance's consent on record."""
    if not has_consent(actor, incident):
        raise deny(actor, "ruling.make", f"incident {incident}, without compliance's consent on record")
    if not override.strip():
        raise ValidationError({"override": f"Say why you rule in the place of the people of {incident.casino.code}."})


def verify_unruled(incident: Incident) -> None:
    if incident.state == IncidentState.RULED:
        last = incident.rulings.order_by("-pk").first()
        known = f"in {last} by {last.who}" if last else "already"
        raise OvertakenError(f"{incident} was ruled on {known}. Nothing has changed; supersede that ruling if need be.")
    if incident.state == IncidentState.CLOSED:
        raise OvertakenError(f"{incident} is closed; have it reopened first. Nothing has changed.")


def verify_not_replaced(ruling: Ruling) -> None:
    later = Ruling.objects.filter(replaces=ruling).first()
    if later is not None:
        word = "withdrawn" if later.is_withdrawal else "superseded"
        raise OvertakenError(f"{ruling} was {word} by {later} ({later.who}). Nothing has changed.")
    if ruling.is_withdrawal:
        raise ValidationError(f"{ruling} only withdraws another one; there is nothing to take its place.")


def verify_precedent(incident: Incident, draft: RulingDraft) -> None:
    """What stands is followed, or departed from in so many words."""
    if draft.departs_from is not None and not draft.departure.strip():
        raise ValidationError({"departure": f"Say why this departs from {draft.departs_from}."})
    if draft.kind == RulingKind.CONFIRMATION:
        return
    standing = binding(incident, draft.rules)
    if standing is None or standing in (draft.follows, draft.departs_from):
        return
    raise ValidationError(
        {"departure": f"{standing} stands ({standing.decision:.200}): follow it, or say why this departs from it."}
    )


def verify_draft(incident: Incident, draft: RulingDraft, now: dt.datetime) -> None:
    faults: dict[str, str] = {}
    for name in ("question", "decision", "reasoning"):
        if not getattr(draft, name).strip():
            faults[name] = "Write something: it stands in the record for good."
    if draft.kind not in RulingKind.values:
        faults["kind"] = f"{draft.kind!r:.40} is none of {', '.join(RulingKind.values)}."
    elif draft.kind != RulingKind.NOT_COVERED and not draft.rules:
        faults["rules"] = "Name the rule that is interpreted or confirmed."
    if unknown := [rule for rule in draft.rules if not is_rule(rule)]:
        faults["rules"] = f"{', '.join(unknown)[:200]}: no such rule; write it as rws-tai-sai-v6#5.1.2."
    if draft.scope not in Scope.values:
        faults["scope"] = f"{draft.scope!r:.40} is none of {', '.join(Scope.values)}."
    elif draft.scope == Scope.STANDING:
        faults |= _standing_faults(incident, draft, now)
    elif draft.effective_from is not None or draft.setting:
        faults["scope"] = "Only a standing interpretation holds from a moment on, and sets how rounds are settled."
    faults = remit_faults(incident, draft) | faults
    if faults:
        raise ValidationError(dict(faults))


def _standing_faults(incident: Incident, draft: RulingDraft, now: dt.datetime) -> dict[str, str]:
    if draft.kind == RulingKind.CONFIRMATION:
        return {"scope": "A confirmation is of one case; an interpretation can stand."}
    if not incident.rulebook:
        return {"scope": f"{incident} is at no table with a rulebook, so there is nothing for it to stand in."}
    if draft.effective_from is not None and draft.effective_from < now:
        known = as_text(now, incident.casino)
        return {"effective_from": f"It is {known} already; what was played before is not touched."}
    return setting_faults(rulebook_of(incident.rulebook), draft.setting.excess, draft.setting.rounding)


def is_rule(citation: str) -> bool:
    book, separator, number = citation.partition("#")
    return bool(separator) and book in rulebooks() and number in rulebooks()[book].rules


# --- On record --------------------------------------------------------------------------------------


def _record(actor: Staff, post: Capacity, incident: Incident, draft: RulingDraft, *, replaces: Ruling | None) -> Ruling:
    now = timezone.now()
    verify_draft(incident, draft, now)
    starts_at = (draft.effective_from or now) if draft.scope == Scope.STANDING else None
    year, serial = next_number(SERIES, incident.casino, now)
    ruling = Ruling(
        casino=incident.casino, pit=incident.pit, table=incident.table, incident=incident, year=year, serial=serial,
        number=number_text(SERIES, year, serial), kind=draft.kind, situation=incident.situation,
        rulebook=incident.rulebook, rules=list(draft.rules), question=draft.question.strip(),
        readings=readings_recorded(incident, draft),
        facts=draft.facts.strip() or incident.account, decision=draft.decision.strip(),
        reasoning=draft.reasoning.strip(), scope=draft.scope, effective_from=starts_at, replaces=replaces,
        is_withdrawal=draft.is_withdrawal, follows=draft.follows, departs_from=draft.departs_from,
        departure=draft.departure.strip(), override=draft.override.strip(), by=actor, post=str(post), duty=post.duty,
        who=actor_name(actor), made_at=now,
    )  # fmt: skip
    verify_texts(ruling)
    ruling.full_clean()
    ruling.save(force_insert=True)
    _set_policy(actor, ruling, draft, replaces, now)  # which locks tables: before chains, as everybody does
    ledger_append(incident.table or incident.casino, LedgerEntry("ruling", ruling.pk, _held(ruling, draft)))
    _tell_of_override(ruling)
    requeue(Round.objects.filter(incidents__incident=incident).values_list("pk", flat=True))
    return ruling


def _held(ruling: Ruling, draft: RulingDraft) -> tuple[object, ...]:
    starts_at = ruling.effective_from.astimezone(dt.UTC) if ruling.effective_from else None
    links = tuple(one.number if one else None for one in (ruling.replaces, ruling.follows, ruling.departs_from))
    return (
        ruling.number, ruling.incident.number, ruling.kind, ruling.rulebook, ruling.rules, ruling.question,
        ruling.facts, ruling.decision, ruling.reasoning, ruling.scope, starts_at, ruling.is_withdrawal, *links,
        ruling.departure, ruling.override, draft.setting.excess, draft.setting.rounding, ruling.who, ruling.post,
        ruling.made_at.astimezone(dt.UTC), ruling.readings,
    )  # fmt: skip


def _set_policy(actor: Staff, ruling: Ruling, draft: RulingDraft, replaces: Ruling | None, now: dt.datetime) -> None:
    """What a standing interpretation sets; one that takes another's place ends what that one had set."""
    before = SettlementPolicy.objects.filter(casino=ruling.casino, ruling=replaces.number).first() if replaces else None
    if ruling.effective_from is None or not (draft.setting or before):
        return
    settlement_policy_set(
        actor=actor, casino=ruling.casino, rulebook=ruling.rulebook, starts_at=ruling.effective_from, now=now,
        setting=draft.setting, ruling=ruling.number, replaces=before,
    )  # fmt: skip


def _tell_of_override(ruling: Ruling) -> None:
    if not ruling.override:
        return
    role = access_policy().notified["rulings"]
    people = people_in(role, ruling.casino)
    text = f"{ruling} on {ruling.incident} was made by {ruling.who} by override: {ruling.override}"
    Notice.objects.create(
        casino=ruling.casino, role=role, text=text, people=[str(person) for person in people],
        recipients=[person.pk for person in people],
    )  # fmt: skip


# --- Around rulings ---------------------------------------------------------------------------------


@transaction.atomic
def ruling_consent(*, actor: Staff, incident: Incident, ruler: Staff, reason: str) -> RulingConsent:
    """Consent that a casino manager of no single casino rules, where nobody of the casino can."""
    current = incident_locked(incident)
    authorize(actor, "ruling.consent", current)
    verify_unruled(current)
    verify_reason(reason)
    if rulers := rulers_of(current):
        names = ", ".join(map(str, rulers))
        raise ValidationError(f"{names} can rule on {current}; the consent is for where nobody of the casino can.")
    if ruler not in group_rulers_of(current):
        raise ValidationError({"ruler": "Choose a casino manager of no single casino who is no party."})
    if has_consent(ruler, current):
        raise OvertakenError(f"The consent for {ruler} is on record already; nothing has changed.")
    consent = RulingConsent.objects.create(
        incident=current, ruler=ruler, reason=reason.strip(), by=actor, who=actor_name(actor)
    )
    held = (current.number, ruler.number, consent.reason, consent.who, consent.at.astimezone(dt.UTC))
    ledger_append(current.table or current.casino, LedgerEntry("ruling-consent", consent.pk, held))
    return consent


@transaction.atomic
def ruling_review(*, actor: Staff, ruling: Ruling, rulebook: str, outcome: str) -> RulingReview:
    """A standing interpretation looked at again in the light of another document."""
    authorize(actor, "ruling.make", ruling)
    review = RulingReview(
        ruling=ruling, rulebook=rulebook_of(rulebook).id, outcome=outcome.strip(), by=actor, who=actor_name(actor)
    )
    if not review.outcome:
        raise ValidationError({"outcome": "Say what came of it."})
    verify_texts(review)
    if RulingReview.objects.filter(ruling=ruling, rulebook=rulebook).exists():
        raise OvertakenError(f"{ruling} was reviewed for {rulebook} already; nothing has changed.")
    review.save(force_insert=True)
    held = (ruling.number, review.rulebook, review.outcome, review.who, review.at.astimezone(dt.UTC))
    ledger_append(ruling.table or ruling.casino, LedgerEntry("ruling-review", review.pk, held))
    return review
