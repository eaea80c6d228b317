"""How every admin page of ours behaves: the gate decides, services write, history shows who, when, why, old and new."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from django import forms
from django.contrib import messages
from django.contrib.admin.utils import unquote
from django.core.exceptions import PermissionDenied, ValidationError
from django.db.models import Model, QuerySet
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.template.response import TemplateResponse
from django.urls import reverse
from simple_history.admin import SimpleHistoryAdmin
from unfold.admin import ModelAdmin
from unfold.widgets import UnfoldAdminTextInputWidget

from games.access.gate import authorize, can, can_be_confidential, has_place, visible, visible_or_none
from games.history.versions import readable_value, version_facts
from games.models import Staff
from games.pages.paging import is_key


def actor_of(request: HttpRequest) -> Staff:
    """Who is at the keyboard; the admin site lets nobody else in."""
    if not isinstance(request.user, Staff):
        raise PermissionDenied
    return request.user


def require_safe(request: HttpRequest) -> None:
    """A page of ours that shows a record: nothing is sent to it."""
    if request.method not in ("GET", "HEAD"):
        raise PermissionDenied("This page is only to look at; what changes a record has a page of its own.")


class GatedAdmin(ModelAdmin):
    """Lists show what the person may see; a record out of his reach is a 403, never a guess; nothing is deleted."""

    list_fullwidth = True
    compressed_fields = True
    warn_unsaved_form = True
    actions = None

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        return visible(request.user, super().get_queryset(request))

    def get_object(self, request: HttpRequest, object_id: str, from_field: str | None = None) -> Any:
        """Out of all records, so that one out of reach is refused on record; what can be confidential is absent."""
        field = self.opts.get_field(from_field) if from_field else self.opts.pk
        try:
            thing = self.model._default_manager.get(**{field.name: field.to_python(object_id)})
        except (self.model.DoesNotExist, ValidationError, ValueError):
            thing = None
        return visible_or_none(request.user, self.model, thing) if can_be_confidential(self.model) else thing

    def get_or_404(self, request: HttpRequest, object_id: str) -> Any:
        """Return the record of a page whose step asks the gate itself."""
        thing = self.get_object(request, object_id)
        if thing is None:
            raise Http404(f"There is no {self.opts.verbose_name} {object_id}.")
        return thing

    def get_or_deny(self, request: HttpRequest, object_id: str, action: str = "") -> Any:
        """Return the record of a page; out of reach of the action, viewing by default, it is refused on record."""
        thing = self.get_or_404(request, object_id)
        authorize(actor_of(request), action or f"{self.opts.model_name}.view", thing)
        return thing

    def lookup_allowed(self, lookup: str, value: str, request: HttpRequest | None = None) -> bool:
        """Only what the page offers as a filter: any other lookup would ask about columns that it does not show."""
        offered = {str(self.date_hierarchy)}
        for one in self.get_list_filter(request) if request else self.list_filter:
            named = one[0] if isinstance(one, list | tuple) else one
            offered.add(str(getattr(named, "parameter_name", named)))
        offered |= {f"{name}_{end}" for name in offered for end in ("from", "to")}  # a range of days
        return any(lookup == name or lookup.startswith(f"{name}__") for name in offered) and super().lookup_allowed(
            lookup, value, request
        )

    def formfield_for_foreignkey(self, db_field: Any, request: HttpRequest, **kwargs: Any) -> Any:
        """What may be chosen is what the person may see."""
        if has_place(db_field.related_model):
            kwargs.setdefault("queryset", visible(request.user, db_field.related_model._default_manager.all()))
        return super().formfield_for_foreignkey(db_field, request, **kwargs)

    def _may(self, request: HttpRequest, verb: str, obj: Model | None = None) -> bool:
        return can(request.user, f"{self.opts.model_name}.{verb}", obj)

    def has_module_permission(self, request: HttpRequest) -> bool:
        return self._may(request, "view")

    def has_view_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return self._may(request, "view", obj)

    def has_add_permission(self, request: HttpRequest) -> bool:
        return self._may(request, "add")

    def has_change_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return self._may(request, "change", obj)

    def has_delete_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False


class ServiceForm(forms.ModelForm):  # type: ignore[type-arg]
    """A form with a reason, checked by the service: what it refuses stands at the field, not on an error page."""

    reason = forms.CharField(
        widget=UnfoldAdminTextInputWidget(), help_text="Why; it stands in the history.", max_length=500, strip=True
    )
    actor: Staff  # set by AuditedAdmin.get_form


@dataclass(frozen=True)
class Button:
    """A step that can be taken from a page of ours."""

    address: str
    title: str
    icon: str
    is_main: bool = False


class ActionForm(forms.Form):
    """The form of one step taken on a record (end a duty, set a password): at the least, why."""

    reason = forms.CharField(
        widget=UnfoldAdminTextInputWidget(), max_length=500, help_text="Why; it stands in the history."
    )

    def __init__(self, *args: Any, thing: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.thing = thing


def add_errors(form: forms.BaseForm, error: ValidationError) -> None:
    """What a service refused, at its field where the form has it."""
    if not hasattr(error, "error_dict"):
        form.add_error(None, error)
        return
    for name, faults in error.error_dict.items():
        form.add_error(name if name in form.fields else None, faults)


def take_step(
    site: Any, request: HttpRequest, thing: Any, *, action: str, title: str, form_class: type[ActionForm],
    take: Callable[[Staff, Any, dict[str, Any]], str], back: str, above: str | None = None,
    context: dict[str, Any] | None = None,
) -> HttpResponse:  # fmt: skip
    """A page with one form: asked of the gate, taken by the service; what was done is told on the page behind it."""
    actor = actor_of(request)
    authorize(actor, action, thing)
    try:
        form = form_class(request.POST or None, thing=thing)
    except ValidationError as error:  # the step cannot even be asked for
        messages.error(request, " ".join(error.messages))
        return redirect(back)
    if request.method == "POST" and form.is_valid():
        try:
            messages.success(request, take(actor, thing, form.cleaned_data))
            return redirect(back)
        except ValidationError as error:
            add_errors(form, error)
    page = {"title": f"{title}: {thing}", "form": form, "back": back, "button": title, "above": above}
    return TemplateResponse(request, "pages/step.html", {**site.each_context(request), **page, **(context or {})})


#: Where a request keeps what a service refused, while its form is shown again.
REFUSAL = "service_refusal"


def refused_form(form: type[forms.BaseForm], refusal: ValidationError) -> type[forms.BaseForm]:
    """Make a form that has what a service refused among its errors."""

    class RefusedForm(form):  # type: ignore[misc, valid-type]
        def full_clean(self) -> None:
            super().full_clean()
            if self.is_bound:
                add_errors(self, refusal)

    return RefusedForm


class AuditedAdmin(SimpleHistoryAdmin, GatedAdmin):
    """An audited record: written by its service, with a history tab."""

    form = ServiceForm
    history_list_display = ["history_author"]
    history_list_per_page = 50
    object_history_list_template = "history/history_list.html"

    def get_form(self, request: HttpRequest, obj: Any = None, change: bool = False, **kwargs: Any) -> Any:
        form = super().get_form(request, obj, change, **kwargs)
        form.actor = actor_of(request)
        refusal = getattr(request, REFUSAL, None)
        return form if refusal is None else refused_form(form, refusal)

    def get_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        """Who only looks is not asked why."""
        fields = super().get_fields(request, obj)
        may_write = self.has_change_permission(request, obj) if obj else self.has_add_permission(request)
        return fields if may_write else [name for name in fields if name != "reason" or hasattr(self.model, name)]

    def history_form_view(
        self, request: HttpRequest, object_id: str, version_id: str, extra_context: dict[str, Any] | None = None
    ) -> Any:
        """Show one version with its own values, to read only. The library's page is a form that saves it back."""
        require_safe(request)
        thing = self.get_object(request, unquote(object_id))
        versions = None if thing is None else self.model.history.filter(**{self.opts.pk.attname: thing.pk})
        version = versions.filter(pk=version_id).first() if versions is not None and is_key(version_id) else None
        if thing is None or versions is None or version is None:
            raise Http404(f"There is no version {version_id} of {self.opts.verbose_name} {object_id}.")
        if not self.has_view_permission(request, thing):
            raise PermissionDenied
        ordered = list(versions.order_by("history_date", "history_id"))
        place = ordered.index(version)
        earlier, later = ordered[place - 1] if place else None, next(iter(ordered[place + 1 :]), None)
        context = {
            **self.admin_site.each_context(request), "title": f"{thing}: version {place + 1}", "opts": self.opts,
            "original": thing, "object_id": thing.pk, "version": version, "earlier": earlier, "later": later,
            "facts": version_facts(version, earlier, self.readable_value), "place": place + 1,
            "count": len(ordered), "is_newest": later is None,
        }  # fmt: skip
        return TemplateResponse(request, "history/history_version.html", context)

    def readable_value(self, field: Any, value: Any) -> str:
        """How a value stands on the page of a version."""
        return readable_value(field, value)

    def history_view(self, request: HttpRequest, object_id: str, extra_context: dict[str, Any] | None = None) -> Any:
        if self.get_object(request, unquote(object_id)) is None:
            raise Http404(f"There is no {self.opts.verbose_name} {object_id}.")
        return super().history_view(request, object_id, extra_context)

    def changeform_view(self, request: HttpRequest, *args: Any, **kwargs: Any) -> Any:
        """Show what a service refused after the form let it pass, at its field and with what was typed."""
        try:
            return super().changeform_view(request, *args, **kwargs)
        except ValidationError as error:
            setattr(request, REFUSAL, error)
        return super().changeform_view(request, *args, **kwargs)  # the same form again, not valid this time

    def step(
        self, request: HttpRequest, object_id: str, *, action: str, title: str, form_class: type[ActionForm],
        take: Callable[[Staff, Any, dict[str, Any]], str],
    ) -> HttpResponse:  # fmt: skip
        """A page that takes one step on one record: `take` calls the service and says what was done."""
        thing = self.get_or_404(request, object_id)
        back = reverse(f"admin:{self.opts.app_label}_{self.opts.model_name}_change", args=[thing.pk])
        return take_step(
            self.admin_site, request, thing, action=action, title=title, form_class=form_class, take=take, back=back
        )

    def save_model(self, request: HttpRequest, obj: Any, form: Any, change: bool) -> None:
        """One service call; the record it wrote is what the page goes on with."""
        values = {name: form.cleaned_data[name] for name in form.fields if name != "reason"}
        reason = form.cleaned_data["reason"]
        if change:
            self.service_update(actor_of(request), obj, values, reason)
        else:
            obj.pk = self.service_create(actor_of(request), values, reason).pk

    def service_create(self, actor: Staff, values: dict[str, Any], reason: str) -> Model:
        raise PermissionDenied

    def service_update(self, actor: Staff, obj: Any, values: dict[str, Any], reason: str) -> None:
        raise PermissionDenied
