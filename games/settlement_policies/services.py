"""Settlement policies: how a casino settles from a moment on. Only a standing ruling sets one."""

import datetime as dt
from dataclasses import dataclass

from django.core.exceptions import ValidationError
from django.db import transaction

from games.access.gate import actor_name, authorize
from games.engine.rules.loader import rulebook as rulebook_of
from games.engine.rules.readings import setting_faults
from games.floor.moments import as_text
from games.history.audited_save import verify_texts
from games.ledger.services import LedgerEntry, ledger_append
from games.models import Casino, SettlementPolicy, Staff, Table
from games.rounds.services.outbox import requeue_since
from games.settlement_policies.models import EXCESS


@dataclass(frozen=True)
class Setting:
    """The values that a policy sets. Both may be empty only if it cancels another policy."""

    excess: str = ""
    rounding: int | None = None

    def __bool__(self) -> bool:
        return bool(self.excess or self.rounding)


NOTHING_SET = Setting()


@transaction.atomic
def settlement_policy_set(
    *, actor: Staff, casino: Casino, rulebook: str, starts_at: dt.datetime, now: dt.datetime, setting: Setting,
    ruling: str, replaces: SettlementPolicy | None = None,
) -> SettlementPolicy:  # fmt: skip
    """Set a policy from a moment on, never for the past. Rounds recorded since then are settled again."""
    authorize(actor, "ruling.make", casino)
    verify_setting(setting, rulebook, is_withdrawal=replaces is not None)
    if starts_at < now:
        raise ValidationError(
            {"starts_at": f"It is already {as_text(now, casino)}. Rounds played before now are not changed."}
        )
    tables = list(
        Table.objects.select_for_update().filter(casino=casino).order_by("pk")
    )  # no round is settled meanwhile
    policy = SettlementPolicy(
        casino=casino, rulebook=rulebook, starts_at=starts_at, excess=setting.excess, rounding=setting.rounding,
        ruling=ruling, replaces=replaces, who=actor_name(actor),
    )  # fmt: skip
    verify_texts(policy)
    policy.full_clean()
    policy.save(force_insert=True)
    held = (
        rulebook, starts_at.astimezone(dt.UTC), policy.excess, policy.rounding, ruling,
        replaces.ruling if replaces else None, policy.who,
    )  # fmt: skip
    ledger_append(casino, LedgerEntry("settlement-policy", policy.pk, held))
    for table in tables:
        requeue_since(table, since=starts_at)
    return policy


def verify_setting(setting: Setting, rulebook: str, *, is_withdrawal: bool) -> None:
    """Refuse a setting that the document does not leave open in one of its readings."""
    book = rulebook_of(rulebook)
    if not setting and not is_withdrawal:
        raise ValidationError("Choose what the policy sets: how excess bets are reduced, or how a stake is rounded.")
    if setting.excess and setting.excess not in EXCESS:
        raise ValidationError({"excess": f"{setting.excess!r:.40} is not one of {', '.join(EXCESS)}."})
    if setting.rounding is not None and setting.rounding <= 0:
        raise ValidationError({"rounding": "The rounding unit must be more than 0."})
    if faults := setting_faults(book, setting.excess, setting.rounding):
        raise ValidationError(dict(faults))
