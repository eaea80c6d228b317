"""Form fields and forms of the floor: moments by the casino's clock, dice, games, signed checks."""

import datetime as dt
import re
from typing import Any
from zoneinfo import ZoneInfo

from django import forms
from django.core.exceptions import ValidationError
from django.utils import timezone
from unfold.widgets import (
    UnfoldAdminRadioSelectWidget,
    UnfoldAdminSelectWidget,
    UnfoldAdminTextareaWidget,
    UnfoldAdminTextInputWidget,
)

from games.engine.money import format_money
from games.engine.rules.loader import rulebook, rulebooks
from games.floor.moments import MomentError, on_clock, parse_local
from games.floor.services.remedies import rules_of_suspension
from games.floor.services.tables import in_force
from games.models import DiceInspection, DiceSet, Pit, Table, TableStep
from games.pages.gated import ActionForm
from games.rounds.terms import terms_at

HOUR = re.compile(r"([01]?\d|2[0-3]):([0-5]\d)(?::([0-5]\d))?", re.ASCII)


class MomentField(forms.Field):
    """A time by the casino's clock: 21:07 is the next one (or the last one), 2026-11-15 21:07 a certain one."""

    widget = UnfoldAdminTextInputWidget

    def __init__(self, *, past: bool = False, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.past = past
        self.widget.attrs.setdefault("maxlength", "40")
        self.widget.attrs.setdefault("placeholder", "21:07 or 2026-11-15 21:07")

    def to_python(self, value: Any) -> Any:
        text = str(value or "").strip()
        if not text:
            return None
        zone = ZoneInfo(timezone.get_current_timezone_name())
        try:
            return self._by_hour(text, zone) if HOUR.fullmatch(text) else parse_local(text, zone)
        except MomentError as error:
            raise ValidationError(f"{error}.") from None

    def _by_hour(self, text: str, zone: ZoneInfo) -> dt.datetime:
        hour, minute, second = (*map(int, text.split(":")), 0)[:3]
        now = timezone.now().astimezone(zone)
        today = now.replace(hour=hour, minute=minute, second=second, microsecond=0, tzinfo=None, fold=0)
        day = dt.timedelta(days=1)
        if self.past:
            return on_clock(today if on_clock(today, zone) <= now else today - day, zone)
        return on_clock(today if on_clock(today, zone) > now else today + day, zone)


class CloseForm(ActionForm):
    notice_given_at = MomentField(
        past=True,
        label="Notice given to players at",
        help_text="When the players at the table were told that it closes.",
    )
    field_order = ["notice_given_at", "reason"]


class SuspendForm(ActionForm):
    cause = forms.ChoiceField(
        choices=[("", "Not given"), *TableStep.Cause.choices], required=False, widget=UnfoldAdminSelectWidget(),
        help_text="Where the rulebook has a rule on malfunctions, it is cited unless there is another reason, and "
        "resuming needs what was rectified and who checked it.",
    )  # fmt: skip
    field_order = ["cause", "reason"]


class RemedyForm(ActionForm):
    """Resuming, or opening again, after a malfunction by rule: what was rectified, by whom, and who checked it."""

    rectified = forms.CharField(
        label="What was rectified, or which procedures were introduced", max_length=2000,
        widget=UnfoldAdminTextareaWidget(attrs={"rows": 2}),
    )  # fmt: skip
    rectified_by = forms.CharField(
        label="Rectified by", max_length=200, widget=UnfoldAdminTextInputWidget(),
        help_text="A person on the staff, or a technician from outside.",
    )  # fmt: skip
    checked_by = forms.CharField(
        label="Checked by", max_length=40, widget=UnfoldAdminTextInputWidget(),
        help_text="The staff number of whoever checked that it works.",
    )  # fmt: skip
    field_order = ["rectified", "rectified_by", "checked_by", "reason"]

    def __init__(self, *args: Any, thing: Table, **kwargs: Any) -> None:
        super().__init__(*args, thing=thing, **kwargs)
        rules = rules_of_suspension(thing)
        for name in ("rectified", "rectified_by", "checked_by"):
            if rules:
                field = self.fields[name]
                field.help_text = f"{field.help_text} Required by {', '.join(rules)}.".strip()
            else:
                del self.fields[name]


class ChecksForm(ActionForm):
    """The rulebook's checks one by one; who sends it signs it."""

    def __init__(self, *args: Any, thing: Table, **kwargs: Any) -> None:
        super().__init__(*args, thing=thing, **kwargs)
        del self.fields["reason"]
        book = rulebook(in_force(thing).rulebook)
        self.checks = [check.name for check in book.opening_checks]
        for check in book.opening_checks:
            self.fields[check.name] = forms.ChoiceField(
                label=check.text, choices=[("yes", "Passed"), ("no", "Not passed")],
                widget=UnfoldAdminRadioSelectWidget(), help_text=", ".join(book.cite(*check.rules)),
            )  # fmt: skip
        self.fields["remarks"] = forms.CharField(
            widget=UnfoldAdminTextareaWidget(attrs={"rows": 2}), required=False, max_length=1000,
            help_text="What was found; needed where a check did not pass.",
        )  # fmt: skip

    def answers(self) -> dict[str, bool]:
        return {name: self.cleaned_data[name] == "yes" for name in self.checks}


class FitForm(ActionForm):
    dice_set = forms.ModelChoiceField(DiceSet.objects.none(), widget=UnfoldAdminSelectWidget(), label="Dice set")
    field_order = ["dice_set", "reason"]

    def __init__(self, *args: Any, thing: Table, **kwargs: Any) -> None:
        super().__init__(*args, thing=thing, **kwargs)
        free = DiceSet.objects.filter(pit=thing.pit, state=DiceSet.State.FIT)
        field = self.fields["dice_set"]
        if isinstance(field, forms.ModelChoiceField):
            field.queryset = free.exclude(fits__during__contains=timezone.now())
            field.help_text = "Sets of this pit that are fit for play and at no table."


class InspectForm(ActionForm):
    result = forms.ChoiceField(choices=DiceInspection.Result.choices, widget=UnfoldAdminRadioSelectWidget())
    seal_found = forms.CharField(
        widget=UnfoldAdminTextInputWidget(), max_length=40, help_text="The number on the seal."
    )
    new_seal = forms.CharField(
        widget=UnfoldAdminTextInputWidget(), max_length=40, required=False, help_text="If it was sealed anew."
    )
    remarks = forms.CharField(
        widget=UnfoldAdminTextareaWidget(attrs={"rows": 2}), required=False, max_length=1000,
        help_text="What was found; needed where the set is not good.",
    )  # fmt: skip

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        del self.fields["reason"]


class GameForm(ActionForm):
    """What is played on a table from a moment on."""

    pit = forms.ModelChoiceField(Pit.objects.none(), widget=UnfoldAdminSelectWidget())
    rulebook = forms.ChoiceField(widget=UnfoldAdminSelectWidget())
    layout = forms.CharField(widget=UnfoldAdminTextInputWidget(), max_length=8)
    chip_unit = forms.CharField(
        widget=UnfoldAdminTextInputWidget(), max_length=20, help_text="What a pro-rated stake is rounded down to."
    )
    starts_at = MomentField(label="From")
    field_order = ["pit", "rulebook", "layout", "chip_unit", "starts_at", "reason"]

    def __init__(self, *args: Any, thing: Table, **kwargs: Any) -> None:
        current = terms_at(thing, timezone.now()).assignment
        if current:
            kwargs["initial"] = {
                "pit": current.pit_id, "rulebook": current.rulebook, "layout": current.layout,
                "chip_unit": format_money(current.chip_unit),
            }  # fmt: skip
        super().__init__(*args, thing=thing, **kwargs)
        offer_games(self, Pit.objects.filter(casino=thing.casino))


def offer_games(form: forms.BaseForm, pits: Any) -> None:
    """The pits of a casino, the published rulebooks, and which layouts they have."""
    books = rulebooks().values()
    pit, book = form.fields["pit"], form.fields["rulebook"]
    if isinstance(pit, forms.ModelChoiceField) and isinstance(book, forms.ChoiceField):
        pit.queryset = pits
        book.choices = [(book.id, f"{book.title}, version {book.version}") for book in books]
    form.fields["layout"].help_text = "; ".join(f"{book.id}: {', '.join(book.layouts)}" for book in books)
