"""When a new policy comes into force, the severity of findings on record follows it.

It is never lowered below the severity that the finding was found with.
"""

import datetime as dt

from django.db import transaction
from django.db.models import Case, F, IntegerField, Value, When
from django.db.models.functions import Coalesce, Greatest
from django.utils import timezone

from audits.findings.models.policy import FINDINGS, PROCEDURAL_SEVERITY
from audits.models import NEEDS_ACTION, Category, Finding, FindingPolicy, FindingWeighing, Severity, policy_of
from games.models import Casino, ThresholdDecision

#: Findings are weighed again for this long: a run that used the previous policy may still be saving its findings.
SETTLES_AFTER = dt.timedelta(hours=1)


def confirm_from(finding: Finding) -> int:
    """Return the amount from which compliance must confirm: the lower one of the policy then and the policy now."""
    casino = finding.table.casino
    return min(policy_of(casino, finding.found_at).confirm_from, policy_of(casino).confirm_from)


@transaction.atomic
def findings_weigh(*, now: dt.datetime | None = None) -> int:
    """Weigh unfinished findings by each policy that has come into force. Return how many severities changed."""
    moment = now or timezone.now()
    approved = ThresholdDecision.objects.filter(
        change__kind=FINDINGS.code, outcome=ThresholdDecision.Outcome.APPROVED, effective_from__lte=moment,
        weighing=None,
    )  # fmt: skip
    fresh = list(approved.select_related("change__casino").order_by("pk"))
    changed = sum(_weigh(casino, moment) for casino in {decision.change.casino for decision in fresh})
    settled = [
        decision for decision in fresh if decision.effective_from and decision.effective_from + SETTLES_AFTER <= moment
    ]
    FindingWeighing.objects.bulk_create(
        [FindingWeighing(decision=decision, at=moment) for decision in settled], ignore_conflicts=True
    )
    return changed


def _weigh(casino: Casino, now: dt.datetime) -> int:
    """Update in one statement the unfinished findings of a casino whose severity differs under the policy in force."""
    first_severity = Coalesce("severity_found", "severity", output_field=IntegerField())
    weight = Greatest(first_severity, severity_by(policy_of(casino, now)), output_field=IntegerField())
    tables = list(casino.tables.values_list("pk", flat=True))
    differing = Finding.objects.filter(NEEDS_ACTION, table__in=tables).exclude(severity=weight)
    return differing.update(severity=weight, severity_found=Coalesce(F("severity_found"), F("severity")))


def severity_by(policy: FindingPolicy) -> Case:
    """Return the SQL expression for a finding's severity under a policy. Policies do not cover irregularities."""
    procedural = [
        When(category=Category.PROCEDURAL, kind=kind, then=Value(policy.procedural_severity(kind).value))
        for kind in PROCEDURAL_SEVERITY
    ]
    return Case(
        *procedural,
        When(category__in=[Category.PROCEDURAL, Category.IRREGULARITY], then=Value(Severity.LOW.value)),
        When(amount__gte=policy.high_from, then=Value(Severity.HIGH.value)),
        When(amount__gte=policy.medium_from, then=Value(Severity.MEDIUM.value)),
        default=Value(Severity.LOW.value),
        output_field=IntegerField(),
    )
