"""Staff: their data, their sign-in links, and the end of their access when they leave."""

from typing import Any

from django.contrib import admin, messages
from django.db.models import Prefetch, QuerySet
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils import timezone
from unfold.decorators import action, display

from games.access.gate import can, capacities
from games.access.services.people import account_reset, staff_create, staff_update
from games.accounts.admin.sign_in_links import link_page
from games.accounts.services.account_changes import keys_made_by, verify_rights_not_own
from games.accounts.services.account_proposals import pending
from games.accounts.services.sign_in_links import IssuedLink
from games.floor.services.casinos import verify_pit_of_casino
from games.models import AccountProposal, Duty, Staff
from games.pages.gated import ActionForm, AuditedAdmin, ServiceForm, actor_of, take_step

WAITS = "Privileged account: proposal no. {} waits for a second administrator (People → Account proposals)."


class StaffForm(ServiceForm):
    class Meta:
        help_texts = {"email": "Notifications go here. If empty, they are only shown on the site."}

    def clean(self) -> dict[str, Any]:
        values = super().clean() or {}
        verify_pit_of_casino(values.get("pit"), values.get("casino"))
        if self.instance.pk is not None:
            verify_rights_not_own(actor=self.actor, staff=Staff.objects.get(pk=self.instance.pk), changes=values)
        return values


@admin.register(Staff)
class StaffAdmin(AuditedAdmin):
    form = StaffForm
    list_display = ["number", "name", "held_now", "department", "where", "active", "last_login"]
    list_filter = ["department", "post", "is_active", "casino", "pit"]
    list_filter_submit = True
    list_select_related = ["casino", "pit__casino"]
    search_fields = ["number", "name"]
    fields = ["number", "name", "department", "post", "casino", "pit", "email", "leaves_on", "is_active", "reason"]
    actions_detail = ["new_link"]

    def get_queryset(self, request: HttpRequest) -> QuerySet[Staff]:
        current = Duty.objects.filter(ends_at__gt=timezone.now()).select_related("casino", "pit")
        return (
            super().get_queryset(request).prefetch_related(Prefetch("duties", queryset=current, to_attr="known_duties"))
        )

    def lookup_allowed(self, lookup: str, value: str, request: HttpRequest | None = None) -> bool:
        """Refuse lookups by password: a filter in the address would let someone guess its hash letter by letter."""
        return not lookup.startswith("password") and super().lookup_allowed(lookup, value, request)

    @display(description="Post now")
    def held_now(self, staff: Staff) -> str:
        return ", ".join(str(standing) for standing in capacities(staff)).capitalize() or "–"

    @display(description="Where", ordering="casino__code")
    def where(self, staff: Staff) -> str:
        return str(staff.pit or (staff.casino.code if staff.casino else "every casino"))

    @display(description="Active", boolean=True, ordering="is_active")
    def active(self, staff: Staff) -> bool:
        return staff.is_active

    # --- Saving, and proposals for privileged accounts ---

    def save_model(self, request: HttpRequest, obj: Any, form: Any, change: bool) -> None:
        """Save with one service call. A new account that can sign in gets its link with it."""
        actor, reason = actor_of(request), form.cleaned_data["reason"]
        values = {name: form.cleaned_data[name] for name in form.fields if name != "reason"}
        if change:
            obj.was_active = Staff.objects.get(pk=obj.pk).is_active
            obj.proposal = staff_update(actor=actor, staff=obj, changes=values, reason=reason).proposal
            return
        staff = staff_create(actor=actor, reason=reason, **values)
        obj.pk, obj.proposal, obj.issued = staff.pk, pending(staff), None
        if staff.is_staff:
            obj.issued = account_reset(actor=actor, staff=staff, site=request.build_absolute_uri("/"), reason=reason)

    def response_add(self, request: HttpRequest, obj: Any, post_url_continue: str | None = None) -> HttpResponse:
        """Show the sign-in link in the response to the form, and nowhere else."""
        if isinstance(obj.issued, IssuedLink):
            return link_page(self.admin_site, request, obj.issued)
        if obj.proposal is not None:
            messages.warning(request, WAITS.format(obj.proposal.pk))
            return redirect("admin:games_accountproposal_change", obj.proposal.pk)
        answer: HttpResponse = super().response_add(request, obj, post_url_continue)
        return answer

    def response_change(self, request: HttpRequest, obj: Any) -> HttpResponse:
        if obj.proposal is not None:
            messages.warning(request, WAITS.format(obj.proposal.pk))
            return redirect("admin:games_accountproposal_change", obj.proposal.pk)
        if obj.was_active and not obj.is_active:
            messages.warning(request, leaver_text(obj))
        elif obj.is_active and not obj.was_active:
            messages.info(request, f"{obj} has no password yet. Create a new sign-in link.")
        answer: HttpResponse = super().response_change(request, obj)
        return answer

    # --- Steps ---

    @action(description="New sign-in link", icon="key", permissions=["new_link"])
    def new_link(self, request: HttpRequest, object_id: str) -> HttpResponse:
        staff = self.get_object(request, object_id)
        if staff is None:
            raise Http404(f"There is no staff member {object_id}.")
        made: list[IssuedLink] = []

        def take(actor: Staff, staff: Staff, values: dict[str, Any]) -> str:
            site = request.build_absolute_uri("/")
            done = account_reset(actor=actor, staff=staff, site=site, reason=values["reason"])
            if isinstance(done, AccountProposal):
                return WAITS.format(done.pk)
            made.append(done)
            return f"{staff} has a new sign-in link. The old password no longer works."

        back = reverse("admin:games_staff_change", args=[staff.pk])
        answer = take_step(
            self.admin_site, request, staff, action="staff.link", title="New sign-in link", form_class=ActionForm,
            take=take, back=back, above="accounts/new_link_above.html", context={"staff": staff},
        )  # fmt: skip
        return link_page(self.admin_site, request, made[0]) if made else answer

    def has_new_link_permission(self, request: HttpRequest, object_id: str | None = None) -> bool:
        return can(request.user, "staff.link", self.get_object(request, str(object_id)))


def leaver_text(staff: Staff) -> str:
    """Say what ended with an account, and which terminal keys the person has seen."""
    words = f"{staff} is inactive: sessions, sign-in links and acting appointments have ended."
    if keys := keys_made_by(staff):
        names = ", ".join(f"{key} ({key.casino.code})" for key in keys)
        words += f" Terminal keys they created are still in use: {names}. Replace these keys."
    return words
