import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('games', '0037_reports'),
    ]

    operations = [
        migrations.AlterField(
            model_name='tablestep',
            name='by',
            field=models.ForeignKey(blank=True, help_text='Empty if a file says so.', null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='games.staff'),
        ),
        migrations.AddField(
            model_name='tablestep',
            name='source',
            field=models.TextField(blank=True, default='', help_text='The floor file that says so, in place of a person.'),
        ),
        migrations.AddField(
            model_name='tablestep',
            name='checks_of',
            field=models.CharField(blank=True, default='', help_text='The rulebook whose opening checks were made and passed.', max_length=64),
        ),
        migrations.AddField(
            model_name='tablestep',
            name='checks_by',
            field=models.ForeignKey(blank=True, help_text='Who made the checks.', null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='games.staff'),
        ),
        migrations.AddConstraint(
            model_name='tablestep',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('by__isnull', False), ('source', '')), models.Q(('by__isnull', True), models.Q(('source', ''), _negated=True)), _connector='OR'), name='step_by_a_person_or_a_file'),
        ),
        migrations.AddConstraint(
            model_name='tablestep',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('checks_by__isnull', True), ('checks_of', '')), models.Q(('checks_by__isnull', False), ('kind', 'open'), models.Q(('checks_of', ''), _negated=True), models.Q(('source', ''), _negated=True)), _connector='OR'), name='step_checks_of_a_file'),
        ),
    ]
