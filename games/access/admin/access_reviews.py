"""Quarterly access reviews: the list, a review with its accounts, the page to mark them and the signature."""

from typing import Any

from django import forms
from django.contrib import admin, messages
from django.core.exceptions import ValidationError
from django.db import transaction
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.template.response import TemplateResponse
from django.urls import URLPattern, path, reverse
from django.utils import timezone
from unfold.decorators import display
from unfold.widgets import UnfoldAdminSelectWidget, UnfoldAdminTextareaWidget, UnfoldAdminTextInputWidget

from games.access.gate import authorize, can
from games.access.services.access_reviews import account_mark, lines_with_marks, local_day, review_sign, unmarked
from games.models import AccessReview, AccessReviewLine, AccessReviewMark, Staff
from games.pages.gated import ActionForm, Button, GatedAdmin, actor_of, add_errors, require_safe, take_step

LONGEST_NOTE = 500


class MarksForm(forms.Form):
    """A choice and a note for each account; what is left empty stays as it is."""

    def __init__(self, *args: Any, review: AccessReview, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.lines = lines_with_marks(review)
        for line, _ in self.lines:
            self.fields[f"outcome-{line.pk}"] = forms.ChoiceField(
                label=f"Decision on {line.name}", choices=[("", "–"), *AccessReviewMark.Outcome.choices],
                required=False, widget=UnfoldAdminSelectWidget(attrs={"aria-label": f"Decision on {line.name}"}),
            )  # fmt: skip
            self.fields[f"note-{line.pk}"] = forms.CharField(
                label=f"Note on {line.name}", max_length=LONGEST_NOTE, required=False,
                widget=UnfoldAdminTextInputWidget(attrs={"aria-label": f"Note on {line.name}"}),
            )  # fmt: skip

    def rows(self) -> list[dict[str, Any]]:
        return [
            {"line": line, "mark": mark, "outcome": self[f"outcome-{line.pk}"], "note": self[f"note-{line.pk}"]}
            for line, mark in self.lines
        ]

    def clean(self) -> dict[str, Any]:
        values = super().clean() or {}
        if not self.errors and not any(values.get(f"outcome-{line.pk}") for line, _ in self.lines):
            raise ValidationError("Nothing was marked: choose keep or remove for at least one account.")
        return values

    def chosen(self) -> list[tuple[AccessReviewLine, str, str]]:
        given = self.cleaned_data
        marks = [(line, given[f"outcome-{line.pk}"], given[f"note-{line.pk}"]) for line, _ in self.lines]
        return [mark for mark in marks if mark[1]]


class SignReviewForm(ActionForm):
    note = forms.CharField(
        label="Findings of the review", max_length=2000, widget=UnfoldAdminTextareaWidget(attrs={"rows": 3}),
        help_text="What was found and who removes what. It stands with your signature.",
    )  # fmt: skip

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        del self.fields["reason"]


@admin.register(AccessReview)
class AccessReviewAdmin(GatedAdmin):
    list_display = ["name", "casino", "state", "due_on", "opened_at", "signed_by"]
    list_filter = ["casino"]
    list_select_related = ["casino", "signature"]

    @display(description="Quarter", ordering="quarter")
    def name(self, review: AccessReview) -> str:
        return review.quarter_name

    @display(description="State", label={"signed": "success", "overdue": "danger", "open": "warning"})
    def state(self, review: AccessReview) -> str:
        return state_of(review)

    @display(description="Signed by")
    def signed_by(self, review: AccessReview) -> str:
        return review.signature.who if review.is_signed else "–"

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        return super().get_queryset(request).select_related("signature")

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False  # it opens by itself

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def get_urls(self) -> list[URLPattern]:
        own = [
            path(f"<path:object_id>/{name}/", self.admin_site.admin_view(view), name=f"games_accessreview_{name}")
            for name, view in (("mark", self.mark_view), ("sign", self.sign_view))
        ]
        return [*own, *super().get_urls()]

    def address(self, review: AccessReview, page: str = "change") -> str:
        return reverse(f"admin:games_accessreview_{page}", args=[review.pk])

    def page_context(self, request: HttpRequest, review: AccessReview, **more: Any) -> dict[str, Any]:
        title = f"Access review {review}"
        common = {"title": title, "original": review, "review": review, "state": state_of(review), "opts": self.opts}
        return {**self.admin_site.each_context(request), **common, **more}

    def change_view(
        self, request: HttpRequest, object_id: str, form_url: str = "", extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        require_safe(request)
        review: AccessReview = self.get_or_deny(request, object_id)
        lines = lines_with_marks(review)
        context = self.page_context(
            request, review, lines=lines, missing=sum(mark is None for _, mark in lines),
            signature=getattr(review, "signature", None), buttons=self.buttons_for(request, review),
        )  # fmt: skip
        return TemplateResponse(request, "access/access_review.html", context)

    def history_view(
        self, request: HttpRequest, object_id: str, extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        """Written once: its page is its history."""
        return self.change_view(request, object_id)

    def buttons_for(self, request: HttpRequest, review: AccessReview) -> list[Button]:
        if review.is_signed:
            return []
        is_complete = not unmarked(review).exists()
        offered = [
            ("mark", Button(self.address(review, "mark"), "Mark accounts", "checklist", not is_complete)),
            ("sign", Button(self.address(review, "sign"), "Sign", "draw", is_complete)),
        ]
        return [button for verb, button in offered if can(request.user, f"accessreview.{verb}", review)]

    def mark_view(self, request: HttpRequest, object_id: str) -> HttpResponse:
        """All marks that were sent, or none."""
        review, actor = self.get_or_deny(request, object_id), actor_of(request)
        authorize(actor, "accessreview.mark", review)
        if review.is_signed:
            messages.error(request, "This review is signed; it does not change any more.")
            return redirect(self.address(review))
        form = MarksForm(request.POST if request.method == "POST" else None, review=review)
        if form.is_bound and form.is_valid():
            try:
                with transaction.atomic():
                    for line, outcome, note in form.chosen():
                        account_mark(actor=actor, line=line, outcome=outcome, note=note)
            except ValidationError as error:
                add_errors(form, error)
            else:
                messages.success(request, f"{len(form.chosen())} accounts are marked.")
                return redirect(self.address(review))
        context = self.page_context(request, review, form=form, rows=form.rows(), back=self.address(review))
        return TemplateResponse(request, "access/access_review_mark.html", context)

    def sign_view(self, request: HttpRequest, object_id: str) -> HttpResponse:
        review: AccessReview = self.get_or_deny(request, object_id)

        def take(actor: Staff, review: AccessReview, values: dict[str, Any]) -> str:
            review_sign(actor=actor, review=review, note=values["note"])
            return f"Access review {review} is signed."

        return take_step(
            self.admin_site,
            request,
            review,
            action="accessreview.sign",
            title="Sign",
            form_class=SignReviewForm,
            take=take,
            back=self.address(review),
        )


def state_of(review: AccessReview) -> str:
    if review.is_signed:
        return "signed"
    return "overdue" if review.is_overdue(local_day(review.casino, timezone.now())) else "open"
