"""The behaviour of every admin page: the gate decides, services write, the history shows who, when, why and what."""

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
    """Return the logged-in person; the admin site admits no one else."""
    if not isinstance(request.user, Staff):
        raise PermissionDenied
    return request.user


def require_safe(request: HttpRequest) -> None:
    """Refuse anything but reading a page that only shows a record."""
    if request.method not in ("GET", "HEAD"):
        raise PermissionDenied("This page is read-only. Use the record's own actions to change it.")


class GatedAdmin(ModelAdmin):
    """A list of what the person may see. A record out of reach gives 403, and nothing is deleted."""

    list_fullwidth = True
    compressed_fields = True
    warn_unsaved_form = True
    actions = None

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        return visible(request.user, super().get_queryset(request))

    def records(self) -> QuerySet[Any]:
        """Return all records, with what a page of one of them needs."""
        records: QuerySet[Any] = self.model._default_manager.all()
        return records

    def changelist_view(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> Any:
        """Show the list under the title that the sidebar gives it."""
        site: Any = self.admin_site  # asked rather than imported: the sidebar knows the audits
        title = site.sidebar_title(request.path) or str(self.opts.verbose_name_plural).capitalize()
        return super().changelist_view(request, {"title": title, **(extra_context or {})})

    def get_object(self, request: HttpRequest, object_id: str, from_field: str | None = None) -> Any:
        """Return a record from all records, so that a denial is recorded; confidential ones appear absent."""
        field = self.opts.get_field(from_field) if from_field else self.opts.pk
        try:
            thing = self.records().get(**{field.name: field.to_python(object_id)})
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
        """Allow only the filters that the page offers: others would reveal columns that it does not show."""
        offered = {str(self.date_hierarchy)}
        for list_filter in self.get_list_filter(request) if request else self.list_filter:
            named = list_filter[0] if isinstance(list_filter, list | tuple) else list_filter
            offered.add(str(getattr(named, "parameter_name", named)))
        offered |= {f"{name}_{end}" for name in offered for end in ("from", "to")}  # a range of days
        return any(lookup == name or lookup.startswith(f"{name}__") for name in offered) and super().lookup_allowed(
            lookup, value, request
        )

    def formfield_for_foreignkey(self, db_field: Any, request: HttpRequest, **kwargs: Any) -> Any:
        """Offer only records that the person may see."""
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
    """A form with a reason. The service checks it, and its faults appear at the fields."""

    reason = forms.CharField(
        widget=UnfoldAdminTextInputWidget(), help_text="Kept in the history.", max_length=500, strip=True
    )
    actor: Staff  # set by AuditedAdmin.get_form


@dataclass(frozen=True)
class Button:
    """An action offered on a page."""

    address: str
    title: str
    icon: str
    is_main: bool = False


class ActionForm(forms.Form):
    """The form of one action on a record (end an appointment, revoke a key): at least the reason."""

    reason = forms.CharField(widget=UnfoldAdminTextInputWidget(), max_length=500, help_text="Kept in the history.")

    def __init__(self, *args: Any, thing: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.thing = thing


def add_errors(form: forms.BaseForm, error: ValidationError) -> None:
    """Add a service's faults to a form, at their fields where the form has them."""
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
    """Show a page with one form, ask the gate, call the service, and report the result on the page it returns to."""
    actor = actor_of(request)
    authorize(actor, action, thing)
    try:
        form = form_class(request.POST or None, thing=thing)
    except ValidationError as error:  # the action is not possible at all now
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


#: Attribute of a request with the service's faults, while its form is shown again.
REFUSAL = "service_refusal"


def refused_form(form: type[forms.BaseForm], refusal: ValidationError) -> type[forms.BaseForm]:
    """Make a form that includes the service's faults among its errors."""

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
        """Leave out the reason for people who can only read."""
        fields = super().get_fields(request, obj)
        may_write = self.has_change_permission(request, obj) if obj else self.has_add_permission(request)
        return fields if may_write else [name for name in fields if name != "reason" or hasattr(self.model, name)]

    def history_form_view(
        self, request: HttpRequest, object_id: str, version_id: str, extra_context: dict[str, Any] | None = None
    ) -> Any:
        """Show one version with its own values, read-only. The library's page would save it back."""
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
        """Write a value for the page of a version."""
        return readable_value(field, value)

    def history_view(self, request: HttpRequest, object_id: str, extra_context: dict[str, Any] | None = None) -> Any:
        if self.get_object(request, unquote(object_id)) is None:
            raise Http404(f"There is no {self.opts.verbose_name} {object_id}.")
        return super().history_view(request, object_id, extra_context)

    def changeform_view(self, request: HttpRequest, *args: Any, **kwargs: Any) -> Any:
        """Show the service's faults at their fields, with the values that were typed."""
        try:
            return super().changeform_view(request, *args, **kwargs)
        except ValidationError as error:
            setattr(request, REFUSAL, error)
        return super().changeform_view(request, *args, **kwargs)  # the same form again, now with errors

    def step(
        self, request: HttpRequest, object_id: str, *, action: str, title: str, form_class: type[ActionForm],
        take: Callable[[Staff, Any, dict[str, Any]], str],
    ) -> HttpResponse:  # fmt: skip
        """Show a page for one action on one record. `take` calls the service and returns the success message."""
        thing = self.get_or_404(request, object_id)
        back = reverse(f"admin:{self.opts.app_label}_{self.opts.model_name}_change", args=[thing.pk])
        return take_step(
            self.admin_site, request, thing, action=action, title=title, form_class=form_class, take=take, back=back
        )

    def save_model(self, request: HttpRequest, obj: Any, form: Any, change: bool) -> None:
        """Save with one service call; the page goes on with the record that it wrote."""
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
