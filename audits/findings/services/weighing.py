"""Findings on record are weighed by a policy that comes into force: never below the severity they were found with."""

import datetime as dt

from django.db import transaction
from django.db.models import Case, F, IntegerField, Value, When
from django.db.models.functions import Coalesce, Greatest
from django.utils import timezone

from audits.findings.models.policy import FINDINGS, PROCEDURAL_SEVERITY
from audits.models import NEEDS_SOMEBODY, Category, Finding, FindingPolicy, FindingWeighing, Severity, policy_of
from games.models import Casino, ThresholdDecision

#: Weighed again for this long: what was found by the policy before may still be on its way to the record.
SETTLES_AFTER = dt.timedelta(hours=1)


def confirm_from(finding: Finding) -> int:
    """Return the amount from which compliance confirms: the lower of the policy when it was found and now."""
    casino = finding.table.casino
    return min(policy_of(casino, finding.found_at).confirm_from, policy_of(casino).confirm_from)


@transaction.atomic
def findings_weigh(*, now: dt.datetime | None = None) -> int:
    """Weigh what still needs a person by each policy that came into force since; return how many changed."""
    moment = now or timezone.now()
    approved = ThresholdDecision.objects.filter(
        change__kind=FINDINGS.code, outcome=ThresholdDecision.Outcome.APPROVED, effective_from__lte=moment,
        weighing=None,
    )  # fmt: skip
    fresh = list(approved.select_related("change__casino").order_by("pk"))
    changed = sum(_weigh(casino, moment) for casino in {one.change.casino for one in fresh})
    settled = [one for one in fresh if one.effective_from and one.effective_from + SETTLES_AFTER <= moment]
    FindingWeighing.objects.bulk_create(
        [FindingWeighing(decision=one, at=moment) for one in settled], ignore_conflicts=True
    )
    return changed


def _weigh(casino: Casino, now: dt.datetime) -> int:
    """One statement a casino: its findings that need a person and weigh otherwise by the policy in force."""
    found = Coalesce("severity_found", "severity", output_field=IntegerField())
    weight = Greatest(found, weight_by(policy_of(casino, now)), output_field=IntegerField())
    tables = list(casino.tables.values_list("pk", flat=True))
    differing = Finding.objects.filter(NEEDS_SOMEBODY, table__in=tables).exclude(severity=weight)
    return differing.update(severity=weight, severity_found=Coalesce(F("severity_found"), F("severity")))


def weight_by(policy: FindingPolicy) -> Case:
    """What a finding weighs by a policy; of an irregularity no policy decides."""
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
