"""How a casino weighs its findings."""

from typing import Any

from django.db import transaction

from audits.models import FindingPolicy
from games.models import Casino, Staff
from games.services.gate import authorize
from games.services.saving import record_change, record_save


@transaction.atomic
def policy_set(*, actor: Staff, casino: Casino, changes: dict[str, Any], reason: str) -> FindingPolicy:
    """From now on; findings on record keep the severity that they were found with."""
    current = FindingPolicy.objects.select_for_update().filter(casino=casino).first()
    policy = current or FindingPolicy(casino=casino)
    authorize(actor, "findingpolicy.change", policy)
    if current is not None:
        record_change(policy, changes, actor=actor, reason=reason)
        return policy
    for name, value in changes.items():
        setattr(policy, name, value)
    record_save(policy, actor=actor, reason=reason)
    return policy
