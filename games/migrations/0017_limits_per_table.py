"""A proposal holds the whole sign of each of its tables and what it was worked out from; presets of limits.

Proposals from before had one sheet for all tables. Each of their tables gets a row of its own with that sheet, and as
its base the sign in force at the proposed moment as known when it was proposed.
"""

import django.contrib.postgres.fields
import django.db.models.deletion
import django.db.models.functions.text
import simple_history.models
from django.conf import settings
from django.db import migrations, models

COPY = """
INSERT INTO games_proposedsign (proposal_id, table_id, sheet_id, base_id, removals)
SELECT p.id, t.table_id, p.sheet_id, (
    SELECT l.id FROM games_limitset l
    WHERE l.table_id = t.table_id AND l.starts_at <= coalesce(p.starts_at, p.proposed_at)
        AND l.recorded_at <= p.proposed_at
    ORDER BY l.starts_at DESC, l.revision DESC LIMIT 1
), '{}'
FROM games_limitproposal p JOIN games_limitproposal_tables t ON t.limitproposal_id = p.id;
SET CONSTRAINTS ALL IMMEDIATE;
SET CONSTRAINTS ALL DEFERRED;
"""

#: The limits that stand on one sheet and not on another, by the names that the API has for them.
REMOVED = """
CREATE FUNCTION limits_removed(old_sheet bigint, new_sheet bigint) RETURNS text[] LANGUAGE sql STABLE AS $$
    SELECT coalesce(array_agg(name ORDER BY name), '{}') FROM (
        SELECT 'boxes.' || o.key || '.min' AS name FROM games_limitline o
            LEFT JOIN games_limitline n ON n.sheet_id = new_sheet AND n.key = o.key
            WHERE o.sheet_id = old_sheet AND o.minimum IS NOT NULL AND n.minimum IS NULL
        UNION ALL
        SELECT 'boxes.' || o.key || '.max' FROM games_limitline o
            LEFT JOIN games_limitline n ON n.sheet_id = new_sheet AND n.key = o.key
            WHERE o.sheet_id = old_sheet AND o.maximum IS NOT NULL AND n.maximum IS NULL
        UNION ALL
        SELECT 'differential.' || o.type FROM games_differentialline o
            LEFT JOIN games_differentialline n ON n.sheet_id = new_sheet AND n.type = o.type
            WHERE o.sheet_id = old_sheet AND n.id IS NULL
    ) AS removed
$$
"""

PROPOSED = """
CREATE FUNCTION proposed_sign_confirmed() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE removed text[];
BEGIN
    SELECT limits_removed(l.sheet_id, NEW.sheet_id) INTO removed FROM games_limitset l WHERE l.id = NEW.base_id;
    IF NOT coalesce(removed, '{}') <@ NEW.removals THEN
        RAISE EXCEPTION 'A proposed sign removes limits that its proposer did not confirm: "proposed_sign_confirmed" (%).',
            removed USING ERRCODE = 'check_violation';
    END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER removals_confirmed BEFORE INSERT ON games_proposedsign
    FOR EACH ROW EXECUTE FUNCTION proposed_sign_confirmed();
ALTER TABLE games_proposedsign ENABLE ALWAYS TRIGGER removals_confirmed;
"""

APPROVED = """
CREATE FUNCTION limit_set_as_proposed() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    proposed record;
    removed text;
BEGIN
    SELECT s.sheet_id, d.removals, t.code, limits_removed(l.sheet_id, s.sheet_id) AS removed INTO proposed
        FROM games_limitdecision d
        JOIN games_proposedsign s ON s.proposal_id = d.proposal_id AND s.table_id = NEW.table_id
        JOIN games_table t ON t.id = s.table_id
        LEFT JOIN games_limitset l ON l.id = s.base_id
        WHERE d.id = NEW.decision_id;
    IF proposed.sheet_id IS DISTINCT FROM NEW.sheet_id THEN
        RAISE EXCEPTION 'Limits in force are those proposed for the table: "limit_set_as_proposed".'
            USING ERRCODE = 'check_violation';
    END IF;
    FOREACH removed IN ARRAY coalesce(proposed.removed, '{}') LOOP
        IF NOT proposed.code || ' ' || removed = ANY (proposed.removals) THEN
            RAISE EXCEPTION 'The approver did not confirm that % is removed: "limit_set_removals_confirmed".', removed
                USING ERRCODE = 'check_violation';
        END IF;
    END LOOP;
    RETURN NEW;
END $$;
CREATE TRIGGER as_proposed BEFORE INSERT ON games_limitset
    FOR EACH ROW WHEN (NEW.decision_id IS NOT NULL) EXECUTE FUNCTION limit_set_as_proposed();
ALTER TABLE games_limitset ENABLE ALWAYS TRIGGER as_proposed;
"""


class Migration(migrations.Migration):

    dependencies = [
        ('games', '0016_tumblers_and_warnings'),
    ]

    operations = [
        migrations.CreateModel(
            name='HistoricalLimitPreset',
            fields=[
                ('id', models.BigIntegerField(auto_created=True, blank=True, db_index=True, verbose_name='ID')),
                ('history_author', models.TextField(verbose_name='author')),
                ('name', models.CharField(max_length=40)),
                ('limits', models.JSONField(help_text='Boxes and differential, as the API writes limits.')),
                ('history_change_reason', models.TextField()),
                ('history_id', models.AutoField(primary_key=True, serialize=False)),
                ('history_date', models.DateTimeField(db_index=True)),
                ('history_type', models.CharField(choices=[('+', 'Created'), ('~', 'Changed'), ('-', 'Deleted')], max_length=1)),
            ],
            options={
                'verbose_name': 'historical limit preset',
                'verbose_name_plural': 'historical limit presets',
                'ordering': ('-history_date', '-history_id'),
                'get_latest_by': ('history_date', 'history_id'),
            },
            bases=(simple_history.models.HistoricalChanges, models.Model),
        ),
        migrations.CreateModel(
            name='LimitPreset',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('name', models.CharField(max_length=40)),
                ('limits', models.JSONField(help_text='Boxes and differential, as the API writes limits.')),
            ],
            options={
                'ordering': ['casino__code', 'name'],
            },
        ),
        migrations.CreateModel(
            name='ProposedSign',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('removals', django.contrib.postgres.fields.ArrayField(base_field=models.TextField(), default=list, help_text='The limits of the base that the proposer agreed to remove.', size=None)),
            ],
            options={
                'ordering': ['table__code'],
            },
        ),
        migrations.AddField(
            model_name='limitdecision',
            name='removals',
            field=django.contrib.postgres.fields.ArrayField(base_field=models.TextField(), default=list, help_text="The limits that the approver agreed to remove: the table's code and the limit's name.", size=None),
        ),
        migrations.AddConstraint(
            model_name='limitset',
            constraint=models.UniqueConstraint(fields=('id', 'table'), name='limit_set_of_table'),
        ),
        migrations.AddField(
            model_name='historicallimitpreset',
            name='casino',
            field=models.ForeignKey(blank=True, db_constraint=False, null=True, on_delete=django.db.models.deletion.DO_NOTHING, related_name='+', to='games.casino'),
        ),
        migrations.AddField(
            model_name='historicallimitpreset',
            name='history_user',
            field=models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL),
        ),
        migrations.AddField(
            model_name='limitpreset',
            name='casino',
            field=models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='limit_presets', to='games.casino'),
        ),
        migrations.AddField(
            model_name='proposedsign',
            name='base',
            field=models.ForeignKey(help_text='The sign in force at the moment of the change, as known at the proposal; none: no sign yet.', null=True, on_delete=django.db.models.deletion.PROTECT, related_name='proposed_signs', to='games.limitset'),
        ),
        migrations.AddField(
            model_name='proposedsign',
            name='proposal',
            field=models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='signs', to='games.limitproposal'),
        ),
        migrations.AddField(
            model_name='proposedsign',
            name='sheet',
            field=models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='proposed_signs', to='games.limitsheet'),
        ),
        migrations.AddField(
            model_name='proposedsign',
            name='table',
            field=models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='proposed_signs', to='games.table'),
        ),
        migrations.AddConstraint(
            model_name='limitpreset',
            constraint=models.UniqueConstraint(models.F('casino'), django.db.models.functions.text.Upper('name'), name='limit_preset_name_once', violation_error_message='This casino has a preset of this name already; choose another name.'),
        ),
        migrations.AddConstraint(
            model_name='limitpreset',
            constraint=models.CheckConstraint(condition=models.Q(('name', ''), _negated=True), name='limit_preset_has_a_name'),
        ),
        migrations.AddConstraint(
            model_name='proposedsign',
            constraint=models.UniqueConstraint(fields=('proposal', 'table'), name='proposed_sign_once_a_table'),
        ),
        migrations.RunSQL(COPY, migrations.RunSQL.noop),
        migrations.RemoveField(model_name='limitproposal', name='tables'),
        migrations.AddField(
            model_name='limitproposal',
            name='tables',
            field=models.ManyToManyField(related_name='limit_proposals', through='games.ProposedSign', to='games.table'),
        ),
        migrations.RemoveField(model_name='limitproposal', name='sheet'),
        migrations.RunSQL(
            "ALTER TABLE games_proposedsign ADD CONSTRAINT proposed_sign_base_of_its_table FOREIGN KEY (base_id, table_id) "
            "REFERENCES games_limitset (id, table_id) DEFERRABLE INITIALLY DEFERRED",
            "ALTER TABLE games_proposedsign DROP CONSTRAINT proposed_sign_base_of_its_table",
        ),
        migrations.RunSQL(REMOVED, "DROP FUNCTION limits_removed(bigint, bigint)"),
        migrations.RunSQL(
            PROPOSED,
            "DROP TRIGGER removals_confirmed ON games_proposedsign; DROP FUNCTION proposed_sign_confirmed()",
        ),
        migrations.RunSQL(
            APPROVED, "DROP TRIGGER as_proposed ON games_limitset; DROP FUNCTION limit_set_as_proposed()"
        ),
    ]
