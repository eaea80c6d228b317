"""Form fields and forms of the floor: moments by the casino's clock, limits as a sign shows them, signed checks."""

import datetime as dt
import re
from collections.abc import Iterator, Sequence
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
    UnfoldBooleanWidget,
)

from games.admin.gated import StepForm
from games.engine.limits import Limits, Range
from games.engine.loader import rulebook, rulebooks
from games.engine.money import MoneyError, format_money, parse_money
from games.engine.rulebook import Layout
from games.models import DiceInspection, DiceSet, Pit, Table
from games.moments import MomentError, on_clock, parse_local
from games.services.tables import in_force
from games.signs import TYPE_NAMES

HOUR = re.compile(r"([01]?\d|2[0-3]):([0-5]\d)", re.ASCII)
BOX_LINE = re.compile(r"(\S+)\s+(\S+)\s+(\S+)")


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
        hour, minute = map(int, text.split(":"))
        now = timezone.now().astimezone(zone)
        today = now.replace(hour=hour, minute=minute, second=0, microsecond=0, tzinfo=None, fold=0)
        day = dt.timedelta(days=1)
        if self.past:
            return on_clock(today if on_clock(today, zone) <= now else today - day, zone)
        return on_clock(today if on_clock(today, zone) > now else today + day, zone)


class CloseForm(StepForm):
    notice_given_at = MomentField(
        past=True,
        label="Notice given to players at",
        help_text="When the players at the table were told that it closes.",
    )
    field_order = ["notice_given_at", "reason"]


class ChecksForm(StepForm):
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


class FitForm(StepForm):
    dice_set = forms.ModelChoiceField(DiceSet.objects.none(), widget=UnfoldAdminSelectWidget(), label="Dice set")
    field_order = ["dice_set", "reason"]

    def __init__(self, *args: Any, thing: Table, **kwargs: Any) -> None:
        super().__init__(*args, thing=thing, **kwargs)
        free = DiceSet.objects.filter(pit=thing.pit, state=DiceSet.State.FIT)
        field = self.fields["dice_set"]
        if isinstance(field, forms.ModelChoiceField):
            field.queryset = free.exclude(fits__during__contains=timezone.now())
            field.help_text = "Sets of this pit that are fit for play and at no table."


class InspectForm(StepForm):
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


class GameForm(StepForm):
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
        current = thing.assignment_at(timezone.now())
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
        book.choices = [(one.id, f"{one.title}, version {one.version}") for one in books]
    form.fields["layout"].help_text = "; ".join(f"{one.id}: {', '.join(one.layouts)}" for one in books)


# --- Limits ----------------------------------------------------------------------------------------


def money_field(label: str) -> forms.CharField:
    widget = UnfoldAdminTextInputWidget(attrs={"inputmode": "decimal", "aria-label": label, "autocomplete": "off"})
    return forms.CharField(widget=widget, required=False, max_length=20, label=label)


class LimitsForm(forms.Form):
    """A sign to fill in: a line a bet type, single boxes below, then from when and why."""

    boxes = forms.CharField(
        label="Single boxes", required=False,
        widget=UnfoldAdminTextareaWidget(attrs={"rows": 3, "spellcheck": "false"}),
        help_text="A line a box: its code, minimum and maximum, as in: total-4 10 500. A dash is no limit. "
        "A box's line replaces that of its bet type.",
    )  # fmt: skip
    starts_at = MomentField(
        label="From", required=False, help_text="Empty: as soon as it is approved and notice is given."
    )
    is_correction = forms.BooleanField(
        label="Correction", required=False, widget=UnfoldBooleanWidget(),
        help_text="The sign said this from a moment that has passed, or that has its limits already.",
    )  # fmt: skip
    reason = forms.CharField(
        widget=UnfoldAdminTextInputWidget(), max_length=500, help_text="Why; it stands in the record."
    )

    def __init__(
        self, *args: Any, layouts: Sequence[Layout], differentials: Sequence[str], limits: Limits, **kwargs: Any
    ) -> None:
        super().__init__(*args, **kwargs)
        shared = set.intersection(*(set(layout.types) for layout in layouts))
        self.types = [type_ for type_ in TYPE_NAMES if type_ in shared]
        self.apart = [type_ for type_ in differentials if type_ in shared]
        for type_ in self.types:
            line = limits.by_key.get(type_, Range())
            self._offer(f"min_{type_}", f"Minimum, {TYPE_NAMES[type_]}", line.minimum)
            self._offer(f"max_{type_}", f"Maximum, {TYPE_NAMES[type_]}", line.maximum)
        for type_ in self.apart:
            self._offer(f"apart_{type_}", f"Differential, {TYPE_NAMES[type_]}", limits.differential.get(type_))
        self.fields["boxes"].initial = "\n".join(
            f"{key} {_written(line.minimum) or '-'} {_written(line.maximum) or '-'}"
            for key, line in limits.by_key.items()
            if key not in TYPE_NAMES
        )

    def _offer(self, name: str, label: str, amount: int | None) -> None:
        self.fields[name] = money_field(label)
        self.fields[name].initial = _written(amount)

    def rows(self) -> Iterator[tuple[str, Any, Any, Any]]:
        for type_ in self.types:
            apart = self[f"apart_{type_}"] if type_ in self.apart else None
            yield TYPE_NAMES[type_], self[f"min_{type_}"], self[f"max_{type_}"], apart

    def clean(self) -> dict[str, Any]:
        values = super().clean() or {}
        by_key: dict[str, Range] = {}
        for type_ in self.types:
            line = Range(self._amount(f"min_{type_}"), self._amount(f"max_{type_}"))
            if line.minimum is not None and line.maximum is not None and line.minimum > line.maximum:
                self.add_error(f"max_{type_}", "The maximum is below the minimum.")
            if line != Range():
                by_key[type_] = line
        by_key |= self._boxes(values.get("boxes", ""))
        apart = {type_: amount for type_ in self.apart if (amount := self._amount(f"apart_{type_}")) is not None}
        values["limits"] = Limits(by_key, apart)
        return values

    def _amount(self, name: str) -> int | None:
        try:
            return _amount(self.cleaned_data.get(name, ""))
        except MoneyError as error:
            self.add_error(name, f"{error}.")
            return None

    def _boxes(self, text: str) -> dict[str, Range]:
        found: dict[str, Range] = {}
        for line in filter(None, map(str.strip, text.splitlines())):
            match = BOX_LINE.fullmatch(line)
            if match is None:
                self.add_error("boxes", f"{line!r:.60}: write code, minimum and maximum, as in: total-4 10 500.")
                continue
            key, low, high = match.groups()
            try:
                one = Range(*(None if amount == "-" else _amount(amount) for amount in (low, high)))
            except MoneyError as error:
                self.add_error("boxes", f"{key}: {error}.")
                continue
            if one.minimum is not None and one.maximum is not None and one.minimum > one.maximum:
                self.add_error("boxes", f"{key}: the maximum is below the minimum.")
            if key in found or key in self.types:
                self.add_error("boxes", f"{key}: stands twice; keep one line.")
            found[key] = one
        return found


def _amount(text: str) -> int | None:
    """As people write it: 10,000 and 10 000 are the same."""
    plain = re.sub(r"(?<=\d)[, ](?=\d{3})", "", text.strip())
    return parse_money(plain) if plain else None


def _written(amount: int | None) -> str:
    return "" if amount is None else format_money(amount).removesuffix(".00")
