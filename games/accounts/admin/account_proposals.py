"""Changes of privileged accounts: what waits for a second administrator, and what was decided."""

from functools import partial
from typing import Any

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.urls import URLPattern, path, reverse
from unfold.decorators import display

from games.access.gate import can
from games.accounts.admin.sign_in_links import link_page
from games.accounts.services.account_proposals import proposal_confirm, proposal_reject, proposal_withdraw
from games.accounts.services.sign_in_links import IssuedLink
from games.models import AccountProposal, Staff
from games.pages.gated import ActionForm, Button, GatedAdmin, require_safe, take_step

DECISIONS = {
    "confirm": ("Confirm", "check_circle"), "reject": ("Reject", "cancel"), "withdraw": ("Withdraw", "undo"),
}  # fmt: skip


class ProposalStateFilter(admin.SimpleListFilter):
    title, parameter_name = "state", "state"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return [(name, name.capitalize()) for name in ("pending", "confirmed", "rejected", "withdrawn")]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        if self.value() == "pending":
            return queryset.filter(decision=None)
        return queryset.filter(decision__outcome=self.value()) if self.value() else queryset


@admin.register(AccountProposal)
class AccountProposalAdmin(GatedAdmin):
    list_display = ["number", "kind", "staff", "state", "who", "at", "reason"]
    list_filter = [ProposalStateFilter, "kind"]
    list_select_related = ["staff__casino", "decision"]
    search_fields = ["staff__number", "staff__name", "who", "reason"]

    @display(description="No.", ordering="pk")
    def number(self, proposal: AccountProposal) -> int:
        return proposal.pk

    @display(description="State", label={"pending": "warning", "confirmed": "success", "rejected": "danger"})
    def state(self, proposal: AccountProposal) -> str:
        return proposal.state

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False  # it comes from a person's page

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def get_urls(self) -> list[URLPattern]:
        own = [
            path(
                f"<path:object_id>/{name}/",
                self.admin_site.admin_view(partial(self.decide_view, decision=name)),
                name=f"games_accountproposal_{name}",
            )
            for name in DECISIONS
        ]
        return [*own, *super().get_urls()]

    def change_view(
        self, request: HttpRequest, object_id: str, form_url: str = "", extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        require_safe(request)
        proposal: AccountProposal = self.get_or_deny(request, object_id)
        context = {
            **self.admin_site.each_context(request), "title": f"Account proposal {proposal}", "original": proposal,
            "proposal": proposal, "decision": getattr(proposal, "decision", None), "opts": self.opts,
            "own": proposal.proposed_by == request.user, "buttons": self.buttons_for(request, proposal),
        }  # fmt: skip
        return TemplateResponse(request, "accounts/account_proposal.html", context)

    def history_view(
        self, request: HttpRequest, object_id: str, extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        """Written once: its page is its history."""
        return self.change_view(request, object_id)

    def buttons_for(self, request: HttpRequest, proposal: AccountProposal) -> list[Button]:
        if proposal.state != "pending" or not can(request.user, "accountproposal.decide", proposal):
            return []
        offered = ("withdraw",) if proposal.proposed_by == request.user else ("confirm", "reject")
        address = "admin:games_accountproposal_{}"
        return [
            Button(reverse(address.format(name), args=[proposal.pk]), *DECISIONS[name], is_main=name == "confirm")
            for name in offered
        ]

    def decide_view(self, request: HttpRequest, object_id: str, decision: str) -> HttpResponse:
        proposal: AccountProposal = self.get_or_deny(request, object_id)
        made: list[IssuedLink] = []

        def take(actor: Staff, proposal: AccountProposal, values: dict[str, Any]) -> str:
            reason = values["reason"]
            if decision == "confirm":
                site = request.build_absolute_uri("/")
                link = proposal_confirm(actor=actor, proposal=proposal, reason=reason, site=site)
                made.extend([link] if link else [])
            elif decision == "reject":
                proposal_reject(actor=actor, proposal=proposal, reason=reason)
            else:
                proposal_withdraw(actor=actor, proposal=proposal, reason=reason)
            outcome = {"confirm": "confirmed", "reject": "rejected", "withdraw": "withdrawn"}[decision]
            return f"Proposal {proposal} is {outcome}."

        answer = take_step(
            self.admin_site, request, proposal, action="accountproposal.decide", title=DECISIONS[decision][0],
            form_class=ActionForm, take=take, back=reverse("admin:games_accountproposal_change", args=[proposal.pk]),
            above="accounts/account_proposal_facts.html", context={"proposal": proposal},
        )  # fmt: skip
        return link_page(self.admin_site, request, made[0]) if made else answer
