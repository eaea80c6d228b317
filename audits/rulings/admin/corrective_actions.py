"""What follows from incidents and rulings: the list, one with its corrections and repayments, and the second person."""

from functools import partial
from typing import Any

from django.contrib import admin, messages
from django.core.exceptions import ValidationError
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseNotAllowed
from django.shortcuts import redirect
from django.template.response import TemplateResponse
from django.urls import URLPattern, path

from audits.models import Consequence, Repayment
from audits.rulings.corrections.previews import preview_of
from audits.rulings.presenters import changes, consequence_rows, consequence_state, order_rests_on, sums, with_words
from audits.rulings.selectors import consequences_waiting, repayments_open, unpaid
from audits.rulings.services.corrective_actions import (
    can_execute,
    consequence_decline,
    consequence_execute,
    marks_of,
    may_mark_money,
    repayment_mark,
)
from games.access.gate import authorize, can, visible
from games.models import Round, Staff
from games.pages.gated import ActionForm, Button, actor_of, require_safe, take_step
from games.pages.paging import key_of, keyset_page
from games.pages.written_once import WrittenOnceAdmin

#: Repayments on a page, those that are open first.
MOST_SHOWN = 300


class WaitingForm(ActionForm):
    """Of one that somebody decided on already that is told at once, and not only when it is sent."""

    def __init__(self, *args: Any, thing: Consequence, **kwargs: Any) -> None:
        super().__init__(*args, thing=thing, **kwargs)
        if not thing.is_waiting:
            made = thing.decision
            raise ValidationError(f"{thing} was {made.outcome} by {made.who}; nothing has changed.")


def execute(actor: Staff, order: Consequence, values: dict[str, Any]) -> str:
    consequence_execute(actor=actor, consequence=order, reason=values["reason"])
    return f"{order} is executed; what players get or give back stands below."


def decline(actor: Staff, order: Consequence, values: dict[str, Any]) -> str:
    consequence_decline(actor=actor, consequence=order, reason=values["reason"])
    return f"{order} is declined; nothing happens."


STEPS = {"execute": ("Execute", execute), "decline": ("Decline", decline)}


@admin.register(Consequence)
class ConsequenceAdmin(WrittenOnceAdmin):
    def has_add_permission(self, request: HttpRequest) -> bool:
        return False  # it is ordered on its incident

    def get_urls(self) -> list[URLPattern]:
        views: dict[str, Any] = {name: partial(self.step_view, name=name) for name in STEPS}
        views["mark"] = self.mark_view
        own = [
            path(f"<path:object_id>/{name}/", self.admin_site.admin_view(view), name=f"audits_consequence_{name}")
            for name, view in views.items()
        ]
        return [*own, *super().get_urls()]

    def changelist_view(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> HttpResponse:
        """The newest first: all, those that wait for a second person, or those with something to be paid."""
        require_safe(request)
        actor = actor_of(request)
        authorize(actor, "consequence.view")
        show = request.GET.get("show", "")
        found = consequences_waiting(actor) if show == "waiting" else visible(actor, Consequence.objects.all())
        if show == "unpaid":
            found = found.filter(pk__in=repayments_open(actor).order_by().values("consequence"))
        part = keyset_page(request, found, "at")
        chosen = Consequence.objects.filter(pk__in=[row.pk for row in part.rows]).order_by("-at", "-pk")
        context = self.page_context(
            request, "Consequences", part=part, consequences=consequence_rows(actor, chosen), show=show
        )
        return TemplateResponse(request, "rulings/consequences.html", context)

    def change_view(
        self, request: HttpRequest, object_id: str, form_url: str = "", extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        require_safe(request)
        actor = actor_of(request)
        order: Consequence = self.get_or_deny(request, object_id)
        state, colour = consequence_state(order)
        seen = visible(actor, Round.objects.filter(pk__in=order.round_ids))
        corrections = order.corrections.filter(round__in=seen.values("pk"))
        part = keyset_page(request, corrections.select_related("round__table__casino"), "at")
        context = self.page_context(
            request, str(order), original=order, order=order, state=state, colour=colour,
            decision=getattr(order, "decision", None), rules=with_words(order.rules), part=part,
            rests_on=order_rests_on(order),
            corrections=[(row, changes(row)) for row in part.rows], count=len(order.round_ids),
            waiting_rounds=visible(actor, Round.objects.filter(pk__in=order.round_ids[:100])).order_by("started_at"),
            buttons=self.buttons(actor, order), preview=preview_of(actor, order),
            **self.repaid(actor, order),
        )  # fmt: skip
        return TemplateResponse(request, "rulings/consequence.html", context)

    def buttons(self, actor: Staff, order: Consequence) -> list[Button]:
        if not order.is_waiting or not can(actor, "consequence.order", order):
            return []
        second = Button(self.address(order, "execute"), "Execute", "task_alt", is_main=True)
        return [
            *([second] if can_execute(actor, order) else []),
            Button(self.address(order, "decline"), "Decline", "block"),
        ]

    def step_view(self, request: HttpRequest, object_id: str, name: str) -> HttpResponse:
        order: Consequence = self.get_or_deny(request, object_id)
        title, take = STEPS[name]
        return take_step(
            self.admin_site, request, order, action="consequence.order", title=title, form_class=WaitingForm,
            take=take, back=self.address(order), above="rulings/consequence_above.html",
            context={"order": order, "preview": preview_of(actor_of(request), order)},
        )  # fmt: skip

    # --- What players get or give back ---

    def repaid(self, actor: Staff, order: Consequence) -> dict[str, Any]:
        """Each player with the marks, those that are open first, and the sums."""
        if not can(actor, "repayment.view", order):
            return {"repayments": None}
        every = order.repayments.all()
        is_open = unpaid(every)
        first = list(is_open.prefetch_related("marks").order_by("player")[:MOST_SHOWN])
        rest = every.exclude(pk__in=is_open.values("pk")).prefetch_related("marks").order_by("player")
        shown = [*first, *rest[: MOST_SHOWN - len(first)]]
        return {
            "repayments": [(one, marks_of(one), list(one.marks.all())) for one in shown],
            "is_cut": every[MOST_SHOWN : MOST_SHOWN + 1].exists(), "most_shown": MOST_SHOWN,
            "sums": [("In all", sums(every)), ("Still open", sums(is_open))],
            "may_mark": can(actor, "repayment.mark", order),
            "may_mark_money": order.is_executed and may_mark_money(actor, order),
        }  # fmt: skip

    def mark_view(self, request: HttpRequest, object_id: str) -> HttpResponse:
        """Told, paid, or not after all: a click in the list, and back to it."""
        actor = actor_of(request)
        order: Consequence = self.get_or_deny(request, object_id)
        authorize(actor, "repayment.mark", order)
        if request.method != "POST":
            return HttpResponseNotAllowed(["POST"])
        repayment: Repayment | None = order.repayments.filter(pk=key_of(request.POST.get("repayment"))).first()
        if repayment is None:
            raise Http404("There is no such repayment.")
        what, note = request.POST.get("what", ""), request.POST.get("note", "")
        try:
            made = repayment_mark(actor=actor, repayment=repayment, what=what, note=note)
            messages.success(request, f"{repayment.player}: {made.get_what_display().lower()}.")
        except ValidationError as error:
            messages.error(request, " ".join(error.messages))
        return redirect(f"{self.address(order)}#repayments")
