"""A form field for the severities of procedural findings."""

from typing import Any

from django import forms
from django.forms.renderers import get_default_renderer
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from unfold.widgets import UnfoldAdminSelectWidget

from audits.findings.labels import kind_name
from audits.findings.models.policy import PROCEDURAL_SEVERITY
from audits.models import Category, Severity

SEVERITIES = [(severity.value, severity.label) for severity in Severity]


class ProceduralWidget(forms.MultiWidget):
    """One choice for each kind of procedural finding, in a fixed order."""

    def __init__(self) -> None:
        super().__init__([UnfoldAdminSelectWidget(choices=SEVERITIES) for _ in PROCEDURAL_SEVERITY])

    def decompress(self, value: Any) -> list[int]:
        chosen = value if isinstance(value, dict) else {}
        return [chosen.get(kind, severity.value) for kind, severity in PROCEDURAL_SEVERITY.items()]

    def render(self, name: str, value: Any, attrs: Any = None, renderer: Any = None) -> SafeString:
        """Draw one line for each kind, with its name as the label."""
        choices = self.get_context(name, value, attrs)["widget"]["subwidgets"]
        lines = [
            (choice["attrs"].get("id", ""), kind_name(Category.PROCEDURAL, kind), self._drawn(choice, renderer))
            for kind, choice in zip(PROCEDURAL_SEVERITY, choices, strict=True)
        ]
        line = '<tr><th scope="row"><label for="{}">{}</label></th><td>{}</td></tr>'
        return format_html('<table class="ts-table ts-tight">{}</table>', format_html_join("", line, lines))

    def _drawn(self, choice: dict[str, Any], renderer: Any) -> str:
        drawn: str = (renderer or get_default_renderer()).render(choice["template_name"], {"widget": choice})
        return drawn


class ProceduralField(forms.MultiValueField):
    """The severities of procedural findings, without those that are the default."""

    def __init__(self, **kwargs: Any) -> None:
        each = [forms.TypedChoiceField(choices=SEVERITIES, coerce=int) for _ in PROCEDURAL_SEVERITY]
        super().__init__(each, widget=ProceduralWidget(), require_all_fields=True, **kwargs)

    def compress(self, data_list: list[int]) -> dict[str, int]:
        chosen = zip(PROCEDURAL_SEVERITY.items(), data_list, strict=False)
        return {kind: severity for (kind, default), severity in chosen if severity != default}

    def has_changed(self, initial: Any, data: Any) -> bool:
        return bool(self.compress(self.clean(data)) != (initial or {}))
