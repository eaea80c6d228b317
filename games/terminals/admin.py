"""Terminals: create a key and show it once, change its tables, revoke it."""

from typing import Any

from django import forms
from django.contrib import admin
from django.db.models import Model
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from unfold.decorators import action, display
from unfold.widgets import UnfoldAdminCheckboxSelectMultipleWidget

from games.access.gate import can, within_reach
from games.models import Staff, Table, Terminal
from games.pages.gated import ActionForm, AuditedAdmin, ServiceForm, actor_of
from games.terminals.services import terminal_bind, terminal_create, terminal_revoke, verify_one_casino


class TablesField(forms.ModelMultipleChoiceField):  # type: ignore[type-arg]
    def __init__(self) -> None:
        super().__init__(
            Table.objects.none(), widget=UnfoldAdminCheckboxSelectMultipleWidget(),
            help_text="The terminal may send rounds of these tables. All must be of one casino.",
        )  # fmt: skip


class TerminalForm(ServiceForm):
    """A new terminal, in the casino of its tables."""

    tables = TablesField()

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        offer_tables(self, within_reach(self.actor, "terminal.add", Table.objects.all()))

    def clean(self) -> dict[str, Any]:
        values = super().clean() or {}
        if "tables" in values and "name" in values:
            casino = verify_one_casino(values["tables"])
            terminal = Terminal(casino=casino, name=values["name"], source=values.get("source", ""))
            terminal.validate_constraints(exclude={"key_hash"})  # the form cannot check this, since it has no casino
        return values


class BindForm(ActionForm):
    tables = TablesField()
    field_order = ["tables", "reason"]

    def __init__(self, *args: Any, thing: Terminal, **kwargs: Any) -> None:
        super().__init__(*args, thing=thing, initial={"tables": thing.tables.all()}, **kwargs)
        offer_tables(self, Table.objects.filter(casino=thing.casino))


def offer_tables(form: forms.BaseForm, tables: Any) -> None:
    field = form.fields.get("tables")
    if isinstance(field, TablesField):
        field.queryset = tables.select_related("casino")


@admin.register(Terminal)
class TerminalAdmin(AuditedAdmin):
    form = TerminalForm
    list_display = ["name", "table_codes", "source", "hint", "state", "last_used_at", "casino"]
    list_filter = ["casino", ("revoked_at", admin.EmptyFieldListFilter)]
    list_select_related = ["casino"]
    search_fields = ["name", "key_hint", "table_codes"]
    actions_detail = ["bind", "revoke"]

    @display(description="Key", ordering="key_hint")
    def hint(self, terminal: Terminal) -> str:
        return f"{terminal.key_hint}…"

    @display(description="State", label={"in use": "success", "revoked": None}, ordering="revoked_at")
    def state(self, terminal: Terminal) -> str:
        return "in use" if terminal.is_active else "revoked"

    def get_fields(self, request: HttpRequest, obj: Any = None) -> list[str]:
        if obj is None:
            return ["name", "tables", "source", "reason"]
        return ["name", "casino", "table_codes", "source", "key_hint", "revoked_at", "last_used_at"]

    def has_change_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False  # a terminal changes by actions, not by a form

    def lookup_allowed(self, lookup: str, value: str, request: HttpRequest | None = None) -> bool:
        """Refuse lookups by hash: a filter in the address would reveal it letter by letter."""
        return not lookup.startswith("key_hash") and super().lookup_allowed(lookup, value, request)

    # --- A new key: in the response to the form, and nowhere else ---

    def add_view(
        self, request: HttpRequest, form_url: str = "", extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        only_save = {"show_save_and_continue": False, "show_save_and_add_another": False}
        answer: HttpResponse = super().add_view(request, form_url, only_save | (extra_context or {}))
        return answer

    def save_model(self, request: HttpRequest, obj: Any, form: Any, change: bool) -> None:
        asked = {name: form.cleaned_data[name] for name in ("name", "tables", "source", "reason")}
        terminal, obj.key = terminal_create(actor=actor_of(request), **asked)
        obj.pk = terminal.pk

    def save_related(self, request: HttpRequest, form: Any, formsets: Any, change: bool) -> None:
        """Do nothing: the service has bound the tables."""

    def response_add(self, request: HttpRequest, obj: Any, post_url_continue: str | None = None) -> HttpResponse:
        """Show the key on the page itself, uncached: messages and redirects would store or repeat it."""
        terminal = Terminal.objects.get(pk=obj.pk)
        page = {"title": f"Key of {terminal}", "terminal": terminal, "key": obj.key, "opts": self.opts}
        return TemplateResponse(
            request, "terminals/terminal_key.html", {**self.admin_site.each_context(request), **page}
        )

    # --- Steps ---

    @action(description="Bind", icon="link", permissions=["bind"])
    def bind(self, request: HttpRequest, object_id: str) -> HttpResponse:
        def take(actor: Staff, terminal: Terminal, values: dict[str, Any]) -> str:
            changed = terminal_bind(actor=actor, terminal=terminal, **values)
            return (
                f"The tables of {terminal} were changed."
                if changed
                else "These are already its tables. Nothing was changed."
            )

        return self.step(request, object_id, action="terminal.change", title="Bind", form_class=BindForm, take=take)

    @action(description="Revoke", icon="key_off", permissions=["revoke"])
    def revoke(self, request: HttpRequest, object_id: str) -> HttpResponse:
        def take(actor: Staff, terminal: Terminal, values: dict[str, Any]) -> str:
            terminal_revoke(actor=actor, terminal=terminal, **values)
            return f"{terminal} was revoked. Its key is no longer valid."

        return self.step(request, object_id, action="terminal.revoke", title="Revoke", form_class=ActionForm, take=take)

    def has_bind_permission(self, request: HttpRequest, object_id: str | None = None) -> bool:
        return self._in_use(request, object_id, "terminal.change")

    def has_revoke_permission(self, request: HttpRequest, object_id: str | None = None) -> bool:
        return self._in_use(request, object_id, "terminal.revoke")

    def _in_use(self, request: HttpRequest, object_id: str | None, action: str) -> bool:
        terminal: Terminal | None = self.get_object(request, str(object_id))
        return terminal is not None and terminal.is_active and can(request.user, action, terminal)
