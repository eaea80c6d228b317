"""What people call the records of some models, where that is not the name in the migrations.

Set after the models are loaded, so that pages, messages and denials use these names and no migration is needed.
"""

from django.apps import apps

#: Singular and plural by model label.
RECORD_NAMES = {
    "games.Denial": ("access denial", "access denials"),
    "games.LimitSet": ("table sign", "table signs"),
    "audits.Consequence": ("corrective action", "corrective actions"),
    "audits.DaySummary": ("daily result", "daily results"),
    "audits.Notice": ("notification", "notifications"),
    "audits.Run": ("reconciliation run", "reconciliation runs"),
}


def rename_records() -> None:
    """Give the models the names that people use."""
    for label, (singular, plural) in RECORD_NAMES.items():
        options = apps.get_model(label)._meta
        options.verbose_name, options.verbose_name_plural = singular, plural
