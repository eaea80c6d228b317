"""Limit presets: named limits, such as "Weekend 100", to fill into proposals."""

from django.db import models
from django.db.models.functions import Upper

from games.database.grants import Grants
from games.floor.models.casino import Casino
from games.history.records import History


class LimitPreset(models.Model):
    """Named limits. A preset fills the cells of a proposal that a layout has; it changes no sign."""

    grants = Grants(update=("name", "limits"), delete=True)
    casino_path, pit_path = "casino", None

    casino = models.ForeignKey(Casino, on_delete=models.PROTECT, related_name="limit_presets")
    name = models.CharField(max_length=40)
    limits = models.JSONField(help_text="Boxes and differential, as the API writes limits.")

    history = History()

    class Meta:
        ordering = ["casino__code", "name"]
        constraints = [
            models.UniqueConstraint(
                "casino", Upper("name"), name="limit_preset_name_once",
                violation_error_message="This casino has a preset of this name already; choose another name.",
            ),
            models.CheckConstraint(condition=~models.Q(name=""), name="limit_preset_has_a_name"),
        ]  # fmt: skip

    def __str__(self) -> str:
        return self.name
