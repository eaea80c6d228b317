"""Privileged accounts: what one administrator starts waits until a second one confirms it.

An account is privileged if its role rules, approves, sees what is confidential or lets people in (`privileged` in
games/access/roles.toml), or if its person acts in such a post. Creating it, changing its rights or its e-mail address,
reactivating it and resetting it are proposals. Taking rights away is not: a leaver is switched off by one person.

The operator of the machine sets up the first accounts alone, while fewer than two administrators of the casino can sign
in; from then on the operator proposes like anybody else. Proposals are confirmed on the site only.
"""

from collections.abc import Mapping
from typing import Any

from django.contrib.auth.hashers import UNUSABLE_PASSWORD_PREFIX
from django.core.exceptions import ValidationError
from django.db import transaction
from django.db.models import Q, QuerySet
from django.utils import timezone

from games.access.gate import Actor, Operator, actor_name, authorize, can, deny, visible
from games.access.roles import role_of, role_of_post
from games.access.selectors import staff_who_may
from games.accounts.services.account_changes import RIGHTS, account_change, future_of
from games.accounts.services.sign_in_links import IssuedLink, link_make
from games.history.audited_save import OvertakenError, verify_reason
from games.models import AccountDecision, AccountProposal, Casino, Pit, Staff

ENOUGH = 2
#: What a second administrator confirms on a privileged account; the e-mail address is where its links go.
GUARDED = RIGHTS | {"email"}
RECORDS: dict[str, type[Casino] | type[Pit]] = {"casino": Casino, "pit": Pit}
#: After these the person needs a password.
WITH_LINK = (AccountProposal.Kind.CREATE, AccountProposal.Kind.REACTIVATE, AccountProposal.Kind.RESET)


# --- Whether a second administrator is needed ------------------------------------------------------


def is_privileged(staff: Staff) -> bool:
    """By the permanent role, or by an acting appointment that runs or is to come."""
    if staff.is_privileged:
        return True
    posts = staff.duties.filter(ends_at__gt=timezone.now()).values_list("post", flat=True) if staff.pk else ()
    return any(role_of_post(post).is_privileged for post in posts)


def change_needs_second(*, actor: Actor, staff: Staff, changes: Mapping[str, Any]) -> bool:
    """Return whether a change gives a privileged account rights, or another address for its links."""
    future = future_of(staff, changes)
    if not future.is_active or not is_privileged(future):
        return False
    touched = any(getattr(staff, name) != getattr(future, name) for name in GUARDED)
    return touched and not sets_up_alone(actor, staff.casino, future.casino)


def sets_up_alone(actor: Actor, *casinos: Casino | None) -> bool:
    """Only the operator of the machine, and only while there are not two administrators to do it."""
    return isinstance(actor, Operator) and all(administrators(casino).count() < ENOUGH for casino in casinos)


def administrators(casino: Casino | None) -> QuerySet[Staff]:
    """Administrators who look after a casino and can sign in."""
    of_casino = Q(casino=None) if casino is None else Q(casino=None) | Q(casino=casino)
    with_password = ~Q(("password", "")) & ~Q(("password__startswith", UNUSABLE_PASSWORD_PREFIX))
    return staff_who_may("accountproposal.decide").filter(of_casino, with_password)


# --- Proposals -------------------------------------------------------------------------------------


def propose(
    *, actor: Actor, staff: Staff, kind: AccountProposal.Kind, reason: str, changes: Mapping[str, Any] | None = None
) -> AccountProposal:
    """Put a change of a privileged account on record, to be confirmed. The caller has locked the person's row."""
    authorize(actor, "staff.link" if kind == AccountProposal.Kind.RESET else "staff.change", staff)
    verify_reason(reason)
    if actor == staff:
        raise ValidationError("You cannot propose a change of your own account; ask another administrator.")
    if waiting := pending(staff):
        raise ValidationError(
            f"A change of this account waits for a second administrator already (proposal no. {waiting.pk}). "
            "Have it decided first."
        )
    wanted = {name: value for name, value in (changes or {}).items() if getattr(staff, name) != value}
    return AccountProposal.objects.create(
        staff=staff, kind=kind, reason=reason.strip(), changes={name: as_json(value) for name, value in wanted.items()},
        before={name: as_json(getattr(staff, name)) for name in wanted}, summary=summary_of(staff, kind, wanted),
        proposed_by=actor if isinstance(actor, Staff) else None, who=actor_name(actor),
    )  # fmt: skip


def pending(staff: Staff) -> AccountProposal | None:
    return AccountProposal.objects.filter(staff=staff, decision=None).first()


def pending_for(actor: Any) -> QuerySet[AccountProposal]:
    """Proposals that this administrator can decide."""
    waiting = AccountProposal.objects.filter(decision=None).exclude(proposed_by=actor).exclude(staff=actor)
    return visible(actor, waiting).select_related("staff")


def as_json(value: Any) -> Any:
    return value.pk if isinstance(value, Casino | Pit) else value.isoformat() if hasattr(value, "isoformat") else value


def field_of(name: str) -> Any:
    return Staff._meta.get_field(name)


def from_json(name: str, value: Any) -> Any:
    if name in RECORDS and value is not None:
        return RECORDS[name]._default_manager.get(pk=value)
    return field_of(name).to_python(value)


def summary_of(staff: Staff, kind: AccountProposal.Kind, changes: Mapping[str, Any]) -> str:
    """What the second administrator reads: old and new of each field, and where the link goes."""
    role = role_of(staff.department, staff.post).name
    lines = [f"{kind.label}: {staff}, {role.lower()}, {staff.casino.code if staff.casino else 'every casino'}"]
    for name, value in changes.items():
        field = field_of(name)
        old, new = (value_text(name, one) for one in (getattr(staff, name), value))
        lines.append(f"{str(field.verbose_name).capitalize()}: {old} → {new}")
    if kind in WITH_LINK:
        address = changes.get("email", staff.email)
        lines.append(f"Sign-in link: {f'sent to {address}' if address else 'shown once to whoever confirms'}")
    return "\n".join(lines)


def value_text(name: str, value: Any) -> str:
    choices = dict(getattr(field_of(name), "flatchoices", ()))
    words = choices.get(value, value)
    return {True: "yes", False: "no", None: "none", "": "none"}.get(words, str(words))


# --- Decisions -------------------------------------------------------------------------------------


@transaction.atomic
def proposal_confirm(*, actor: Staff, proposal: AccountProposal, reason: str, site: str) -> IssuedLink | None:
    """Do what another administrator proposed. Returns the sign-in link where the person needs one."""
    current, staff = _to_decide(actor, proposal)
    if actor == staff:
        raise ValidationError("You cannot confirm a change of your own account; ask another administrator.")
    if current.proposed_by and not can(current.proposed_by, "accountproposal.decide", current):
        raise ValidationError(f"{current.who} is no longer an administrator here. Reject it and propose it anew.")
    changes = {name: from_json(name, value) for name, value in current.changes.items()}
    if {name: as_json(getattr(staff, name)) for name in current.before} != current.before:
        raise OvertakenError("The account has changed since the proposal. Reject it and propose it anew.")
    _decide(actor, current, AccountDecision.Outcome.CONFIRMED, reason)
    words = f"{current.reason} (proposal no. {current.pk} by {current.who})"
    if changes:
        account_change(actor=actor, staff=staff, changes=changes, reason=words)
    if current.kind in WITH_LINK and (staff.is_staff or staff.duties.filter(ends_at__gt=timezone.now()).exists()):
        return link_make(actor=actor, staff=staff, site=site, reason=words)
    return None


@transaction.atomic
def proposal_reject(*, actor: Staff, proposal: AccountProposal, reason: str) -> AccountDecision:
    current, _ = _to_decide(actor, proposal)
    return _decide(actor, current, AccountDecision.Outcome.REJECTED, reason)


@transaction.atomic
def proposal_withdraw(*, actor: Staff, proposal: AccountProposal, reason: str) -> AccountDecision:
    """Take back what one proposed oneself."""
    authorize(actor, "accountproposal.decide", proposal)
    current, _ = _locked(proposal)
    if current.proposed_by != actor:
        raise deny(actor, "accountproposal.decide", current)
    return _decide(actor, current, AccountDecision.Outcome.WITHDRAWN, reason)


def _to_decide(actor: Staff, proposal: AccountProposal) -> tuple[AccountProposal, Staff]:
    """Verify that another person than the proposer decides, who reaches the account as it is and as it will be."""
    authorize(actor, "accountproposal.decide", proposal)
    current, staff = _locked(proposal)
    if current.proposed_by == actor:
        deny(actor, "accountproposal.decide", current)
        raise ValidationError("You proposed this; another administrator decides. The attempt is on record.")
    future = future_of(staff, {name: from_json(name, value) for name, value in current.changes.items()})
    authorize(actor, "staff.change", future)
    return current, staff


def _locked(proposal: AccountProposal) -> tuple[AccountProposal, Staff]:
    """The person's row is the lock: a proposal is written once, and cannot be locked itself."""
    staff = Staff.objects.select_for_update(of=("self",)).select_related("casino", "pit").get(pk=proposal.staff_id)
    current = AccountProposal.objects.select_related("proposed_by", "staff__casino").get(pk=proposal.pk)
    decision = AccountDecision.objects.filter(proposal=current).first()
    if decision is not None:
        raise OvertakenError(f"Already {decision.outcome} by {decision.who}; nothing has changed.")
    return current, staff


def _decide(actor: Staff, proposal: AccountProposal, outcome: str, reason: str) -> AccountDecision:
    verify_reason(reason)
    return AccountDecision.objects.create(
        proposal=proposal, staff=proposal.staff, proposed_by=proposal.proposed_by, outcome=outcome, decided_by=actor,
        who=actor_name(actor), reason=reason.strip(),
    )  # fmt: skip
