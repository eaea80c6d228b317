"""Rulings: their register, a ruling with all that belongs to it, those that stand, and what takes their place."""

from typing import Any

from django import forms
from django.contrib import admin, messages
from django.core.exceptions import ValidationError
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.template.response import TemplateResponse
from django.urls import URLPattern, path

from audits.incidents.admin import fields
from audits.incidents.admin.form import situation_groups
from audits.incidents.labels import situation_words
from audits.incidents.search import SearchPeriod
from audits.models import Ruling, RulingKind, Scope
from audits.rulings.admin.orders import order_buttons
from audits.rulings.admin.ruling_form import ASKED_BY_THE_FORM, draft_page, initial_instead_of, may_rule, override_field
from audits.rulings.conflict_of_interest import is_reporter
from audits.rulings.presenters import (
    authority_of,
    consequence_rows,
    policies_shown,
    readings_of,
    ruling_rests_on,
    ruling_rows,
    state_of,
    with_words,
)
from audits.rulings.reviews import ToReview, standing_rulings, to_review
from audits.rulings.selectors import RulingFilter, rulings_found
from audits.rulings.services.rulings import (
    RulingDraft,
    ruling_review,
    ruling_supersede,
    ruling_withdraw,
    verify_may_rule,
    verify_not_replaced,
)
from games.access.gate import authorize, can, visible
from games.engine.rules.loader import rulebooks
from games.floor.admin.forms import MomentField
from games.models import Staff
from games.pages.gated import ActionForm, Button, actor_of, require_safe, take_step
from games.pages.paging import keyset_page
from games.pages.written_once import WrittenOnceAdmin

STATES = [("", "Any"), ("in-force", "In force"), ("superseded", "Superseded"), ("withdrawn", "Withdrawn")]


def any_of(label: str, choices: Any) -> forms.ChoiceField:
    return fields.choice_field(label, [("", "Any"), *choices], required=False)


class RulingSearch(forms.Form):
    kind = any_of("Kind", RulingKind.choices)
    scope = any_of("Scope", Scope.choices)
    state = fields.choice_field("State", STATES, required=False)
    table = fields.text_field("Table", most=20)
    first = fields.day_field("From")
    last = fields.day_field("To")
    text = fields.text_field("Words or number")

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["rulebook"] = any_of("Rulebook", [(name, name) for name in sorted(rulebooks())])
        self.fields["situation"] = any_of("Situation", situation_groups())
        self.order_fields(["kind", "scope", "state", "rulebook", "situation"])

    def wanted(self) -> RulingFilter:
        given = dict(self.cleaned_data)
        return RulingFilter(period=SearchPeriod(given.pop("first"), given.pop("last")), **given)


class WithdrawForm(ActionForm):
    """Of a standing one also from when on."""

    actor: Staff  # set by the page

    def __init__(self, *args: Any, thing: Ruling, **kwargs: Any) -> None:
        super().__init__(*args, thing=thing, **kwargs)
        verify_not_replaced(thing)
        if thing.is_standing:
            self.fields["effective_from"] = MomentField(label="From", required=False, help_text="Empty: from now on.")
        if is_reporter(self.actor, thing.incident):
            self.fields["override"] = override_field()
        self.order_fields(["effective_from", "reason", "override"])


class ReviewForm(ActionForm):
    outcome = fields.text_field(
        "Outcome", required=True, most=20_000, rows=4,
        help_text="Whether the ruling holds under this rulebook. If not, supersede or withdraw it.",
    )  # fmt: skip

    def __init__(self, *args: Any, thing: Ruling, **kwargs: Any) -> None:
        super().__init__(*args, thing=thing, **kwargs)
        del self.fields["reason"]
        self.fields["rulebook"] = fields.choice_field("In the light of", [(name, name) for name in sorted(rulebooks())])
        self.order_fields(["rulebook", "outcome"])


@admin.register(Ruling)
class RulingAdmin(WrittenOnceAdmin):
    def has_add_permission(self, request: HttpRequest) -> bool:
        return False  # it is made on its incident

    def get_urls(self) -> list[URLPattern]:
        view = self.admin_site.admin_view
        views = {"supersede": self.supersede_view, "withdraw": self.withdraw_view, "review": self.review_view}
        own = [path("standing/", view(self.standing_view), name="audits_ruling_standing")]
        own += [
            path(f"<path:object_id>/{name}/", view(step), name=f"audits_ruling_{name}") for name, step in views.items()
        ]
        return [*own, *super().get_urls()]

    # --- Lists ---

    def changelist_view(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> HttpResponse:
        require_safe(request)
        actor = actor_of(request)
        authorize(actor, "ruling.view")
        form = RulingSearch(request.GET or None)
        wanted = RulingFilter() if not form.is_bound else form.wanted() if form.is_valid() else None
        part = keyset_page(
            request, Ruling.objects.none() if wanted is None else rulings_found(actor, wanted), "made_at"
        )
        context = self.page_context(request, "Rulings", form=form, part=part, rulings=ruling_rows(part.rows))
        return TemplateResponse(request, "rulings/rulings.html", context)

    def standing_view(self, request: HttpRequest) -> HttpResponse:
        """Those that hold or will, with what each sets; on top every ruling that is to be reviewed, and why."""
        require_safe(request)
        actor = actor_of(request)
        authorize(actor, "ruling.view")
        part = keyset_page(request, standing_rulings(actor).defer("search"), "made_at")
        sets = policies_shown(part.rows)
        waiting = to_review(actor) if part.is_first else []
        context = self.page_context(
            request, "Standing interpretations", part=part,
            rulings=[(ruling_row, sets.get(ruling_row["ruling"].pk, "")) for ruling_row in ruling_rows(part.rows)],
            to_review=[(one, can(actor, "ruling.make", one.ruling)) for one in waiting],
        )  # fmt: skip
        return TemplateResponse(request, "rulings/rulings_standing.html", context)

    # --- A ruling ---

    def change_view(
        self, request: HttpRequest, object_id: str, form_url: str = "", extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        require_safe(request)
        actor = actor_of(request)
        ruling: Ruling = self.get_or_deny(request, object_id)
        state, colour = state_of(ruling)
        waiting = review_of(actor, ruling)
        orders = visible(actor, ruling.consequences.all()) if can(actor, "consequence.view", ruling) else None
        context = self.page_context(
            request, ruling.number, original=ruling, ruling=ruling, state=state, colour=colour,
            buttons=self.buttons(actor, ruling, waiting), replaced_by=getattr(ruling, "replaced_by", None),
            situation=situation_words(ruling.situation), rules=with_words(ruling.rules),
            readings=readings_of(ruling), authority=authority_of(ruling), rests_on=ruling_rests_on(ruling),
            policy=policies_shown([ruling]).get(ruling.pk, ""),
            links=links_of(actor, ruling), reviews=ruling.reviews.all(), review_of=waiting,
            consequences=None if orders is None else consequence_rows(actor, orders),
            order_buttons=order_buttons(actor, ruling.incident, ruling),
            sees_incident=can(actor, "incident.view", ruling.incident),
        )  # fmt: skip
        return TemplateResponse(request, "rulings/ruling.html", context)

    def buttons(self, actor: Staff, ruling: Ruling, waiting: list[ToReview]) -> list[Button]:
        buttons = []
        if waiting and can(actor, "ruling.make", ruling):
            asked = f"{self.address(ruling, 'review')}?rulebook={waiting[0].rulebook}"
            buttons.append(Button(asked, "Review", "rate_review", is_main=True))
        if not ruling.is_withdrawal and not hasattr(ruling, "replaced_by") and may_rule(actor, ruling.incident):
            buttons += [
                Button(self.address(ruling, "supersede"), "Supersede", "published_with_changes"),
                Button(self.address(ruling, "withdraw"), "Withdraw", "undo"),
            ]
        return buttons

    # --- What takes its place ---

    def supersede_view(self, request: HttpRequest, object_id: str) -> HttpResponse:
        ruling: Ruling = self.get_or_deny(request, object_id)
        authorize(actor_of(request), "ruling.make", ruling)
        if request.method != "POST" and (answer := self._told_if_replaced(request, ruling)):
            return answer

        def make(actor: Staff, draft: RulingDraft) -> Ruling:
            return ruling_supersede(actor=actor, ruling=ruling, draft=draft)

        return draft_page(
            self.admin_site, request, ruling.incident, title=f"Supersede: {ruling}", make=make, replaces=ruling,
            initial=initial_instead_of(ruling), back=self.address(ruling),
        )  # fmt: skip

    def _told_if_replaced(self, request: HttpRequest, ruling: Ruling) -> HttpResponse | None:
        try:
            verify_not_replaced(ruling)
        except ValidationError as error:
            messages.error(request, " ".join(error.messages))
            return redirect(self.address(ruling))
        return None

    def withdraw_view(self, request: HttpRequest, object_id: str) -> HttpResponse:
        ruling: Ruling = self.get_or_deny(request, object_id)
        actor = actor_of(request)
        verify_may_rule(actor, ruling.incident, ASKED_BY_THE_FORM)

        def take(actor: Staff, ruling: Ruling, values: dict[str, Any]) -> str:
            made = ruling_withdraw(actor=actor, ruling=ruling, **values)
            return f"{ruling} is withdrawn by {made}."

        return take_step(
            self.admin_site, request, ruling, action="ruling.make", title="Withdraw", take=take,
            form_class=type("WithdrawForm", (WithdrawForm,), {"actor": actor}), back=self.address(ruling),
        )  # fmt: skip

    def review_view(self, request: HttpRequest, object_id: str) -> HttpResponse:
        ruling: Ruling = self.get_or_deny(request, object_id)

        def take(actor: Staff, ruling: Ruling, values: dict[str, Any]) -> str:
            ruling_review(actor=actor, ruling=ruling, **values)
            return f"{ruling} is reviewed in the light of {values['rulebook']}."

        asked = {"rulebook": request.GET.get("rulebook", "")}

        class AskedForm(ReviewForm):
            def __init__(self, *args: Any, **kwargs: Any) -> None:
                super().__init__(*args, initial=asked, **kwargs)

        return take_step(
            self.admin_site, request, ruling, action="ruling.make", title="Review", take=take, form_class=AskedForm,
            back=self.address(ruling),
        )  # fmt: skip


def review_of(actor: Staff, ruling: Ruling) -> list[ToReview]:
    return to_review(actor, ruling)


def links_of(actor: Staff, ruling: Ruling) -> list[tuple[str, Ruling, str]]:
    """Which others it takes the place of, follows or departs from, and the other way round; those within sight."""
    there = [("Takes the place of", ruling.replaces, ""), ("Follows", ruling.follows, "")]
    there += [("Departs from", ruling.departs_from, ruling.departure)]
    here = [("Superseded by", getattr(ruling, "replaced_by", None), "")]
    here += [("Followed by", one, "") for one in ruling.followed_by.all()[:20]]
    here += [("Departed from by", one, one.departure) for one in ruling.departed_from_by.all()[:20]]
    return [(words, one, why) for words, one, why in [*there, *here] if one and can(actor, "ruling.view", one)]
