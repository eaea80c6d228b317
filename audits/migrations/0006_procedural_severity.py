"""A casino says how severe each check of the procedure is."""

import audits.findings.models.policy
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("audits", "0005_who_may_rule")]
    operations = [
        migrations.AddField(
            model, "procedural",
            models.JSONField(
                "severity of procedural findings", default=dict, blank=True,
                validators=[audits.findings.models.policy.validate_procedural],
                help_text="By kind, where it is not the default.",
            ),
        )
        for model in ("findingpolicy", "historicalfindingpolicy")
    ]  # fmt: skip
