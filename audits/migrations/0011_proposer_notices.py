"""Which decisions on limit proposals their proposers were told of. Decisions from before count as known to them."""

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('audits', '0010_affected_rounds_and_discretion'),
        ('games', '0017_limits_per_table'),
    ]

    operations = [
        migrations.CreateModel(
            name='ProposerNotice',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('decision', models.OneToOneField(on_delete=django.db.models.deletion.PROTECT, related_name='proposer_notice', to='games.limitdecision')),
                ('notice', models.OneToOneField(help_text='None: decided before proposers were told.', null=True, on_delete=django.db.models.deletion.PROTECT, related_name='proposer_notice', to='audits.notice')),
            ],
        ),
        migrations.RunSQL(
            "INSERT INTO audits_proposernotice (decision_id) SELECT id FROM games_limitdecision; "
            "SET CONSTRAINTS ALL IMMEDIATE; SET CONSTRAINTS ALL DEFERRED",
            migrations.RunSQL.noop,
        ),
    ]
