"""How a casino settles by its standing rulings."""

from typing import Any

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse

from audits.models import Ruling
from audits.rulings.presenters import policy_words
from games.access.gate import authorize, visible
from games.models import SettlementPolicy, Staff
from games.pages.gated import actor_of, require_safe
from games.pages.paging import keyset_page
from games.pages.written_once import WrittenOnceAdmin


@admin.register(SettlementPolicy)
class SettlementPolicyAdmin(WrittenOnceAdmin):
    """Only to look at: a standing ruling sets it."""

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def changelist_view(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> HttpResponse:
        require_safe(request)
        actor = actor_of(request)
        authorize(actor, "settlementpolicy.view")
        found = visible(actor, SettlementPolicy.objects.select_related("casino", "replaces", "replaced_by"))
        part = keyset_page(request, found, "starts_at")
        rulings = rulings_of(actor, part.rows)
        rows = [(row, policy_words(row), rulings.get((row.casino_id, row.ruling))) for row in part.rows]
        context = self.page_context(request, "Settlement policies", part=part, policies=rows)
        return TemplateResponse(request, "settlement_policies/settlement_policies.html", context)

    def change_view(
        self, request: HttpRequest, object_id: str, form_url: str = "", extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        require_safe(request)
        actor = actor_of(request)
        policy: SettlementPolicy = self.get_or_deny(request, object_id)
        context = self.page_context(
            request, str(policy), original=policy, policy=policy, sets=policy_words(policy),
            ruling=rulings_of(actor, [policy]).get((policy.casino_id, policy.ruling)),
            replaced_by=getattr(policy, "replaced_by", None),
        )  # fmt: skip
        return TemplateResponse(request, "settlement_policies/settlement_policy.html", context)


def rulings_of(actor: Staff, policies: list[SettlementPolicy]) -> dict[tuple[int, str], Ruling]:
    """The rulings that set them, within the reader's sight."""
    numbers = [policy.ruling for policy in policies]
    found: QuerySet[Ruling] = visible(actor, Ruling.objects.filter(number__in=numbers).defer("search"))
    return {(one.casino_id, one.number): one for one in found}
