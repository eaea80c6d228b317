"""Sessions, failed logins, throttle counters, resets of second factors by two people, idle times of a casino."""

import django.core.validators
import django.db.models.deletion
import uuid
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('games', '0020_account_triggers'),
    ]

    operations = [
        migrations.CreateModel(
            name='FactorReset',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('proposed_at', models.DateTimeField()),
                ('reason', models.CharField(max_length=500)),
            ],
            options={
                'verbose_name': 'second factor reset',
                'ordering': ['-proposed_at', '-id'],
            },
        ),
        migrations.CreateModel(
            name='FactorResetConfirmation',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('confirmed_at', models.DateTimeField()),
            ],
            options={
                'verbose_name': 'confirmation of a second factor reset',
            },
        ),
        migrations.CreateModel(
            name='FailedLogin',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('at', models.DateTimeField(auto_now_add=True)),
                ('number', models.CharField(max_length=64, verbose_name='account tried')),
                ('kind', models.CharField(choices=[('password', 'Wrong password or number'), ('code', 'Wrong code'), ('access', 'Right password, no access'), ('throttled', 'Too many attempts, not checked'), ('confirm', 'Wrong confirmation in a session')], max_length=10)),
                ('address', models.GenericIPAddressField(null=True)),
                ('browser', models.CharField(max_length=200)),
            ],
            options={
                'verbose_name': 'failed login',
                'ordering': ['-at', '-id'],
            },
        ),
        migrations.CreateModel(
            name='LoginSession',
            fields=[
                ('id', models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ('address', models.GenericIPAddressField(null=True)),
                ('browser', models.CharField(max_length=200)),
                ('started_at', models.DateTimeField()),
                ('passed_at', models.DateTimeField(help_text='When the last factor was passed; empty: only the password was.', null=True, verbose_name='logged in')),
                ('seen_at', models.DateTimeField(verbose_name='last seen')),
                ('ended_at', models.DateTimeField(null=True, verbose_name='ended')),
                ('end', models.CharField(blank=True, choices=[('logout', 'Logged out'), ('idle', 'Not used for too long'), ('absolute', 'Longest time reached'), ('ended', 'Ended on a page'), ('password', 'Password changed'), ('factor', 'Second factor reset')], max_length=10)),
                ('reason', models.CharField(blank=True, max_length=500)),
            ],
            options={
                'verbose_name': 'session',
                'ordering': ['-started_at'],
            },
        ),
        migrations.CreateModel(
            name='LoginThrottle',
            fields=[
                ('key', models.CharField(max_length=80, primary_key=True, serialize=False)),
                ('failures', models.PositiveIntegerField(default=0)),
                ('refused', models.PositiveIntegerField(default=0, help_text='Attempts that were not checked since the last one.')),
                ('blocked_until', models.DateTimeField()),
                ('last_at', models.DateTimeField(db_index=True)),
            ],
            options={
                'verbose_name': 'login throttle',
            },
        ),
        migrations.AddField(
            model_name='casino',
            name='idle_minutes',
            field=models.PositiveSmallIntegerField(default=15, help_text='Minutes without a click after which a session of the pit department ends.', validators=[django.core.validators.MinValueValidator(1), django.core.validators.MaxValueValidator(240)], verbose_name='idle time on the floor'),
        ),
        migrations.AddField(
            model_name='casino',
            name='office_idle_minutes',
            field=models.PositiveSmallIntegerField(default=60, help_text='Minutes without a click after which a session of any other department ends.', validators=[django.core.validators.MinValueValidator(1), django.core.validators.MaxValueValidator(240)], verbose_name='idle time in offices'),
        ),
        migrations.AddField(
            model_name='historicalcasino',
            name='idle_minutes',
            field=models.PositiveSmallIntegerField(default=15, help_text='Minutes without a click after which a session of the pit department ends.', validators=[django.core.validators.MinValueValidator(1), django.core.validators.MaxValueValidator(240)], verbose_name='idle time on the floor'),
        ),
        migrations.AddField(
            model_name='historicalcasino',
            name='office_idle_minutes',
            field=models.PositiveSmallIntegerField(default=60, help_text='Minutes without a click after which a session of any other department ends.', validators=[django.core.validators.MinValueValidator(1), django.core.validators.MaxValueValidator(240)], verbose_name='idle time in offices'),
        ),
        migrations.AddConstraint(
            model_name='casino',
            constraint=models.CheckConstraint(condition=models.Q(('idle_minutes__gte', 1), ('idle_minutes__lte', 240), ('office_idle_minutes__gte', 1), ('office_idle_minutes__lte', 240)), name='casino_idle_minutes_bounded'),
        ),
        migrations.AddField(
            model_name='factorreset',
            name='proposed_by',
            field=models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL),
        ),
        migrations.AddField(
            model_name='factorreset',
            name='staff',
            field=models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='factor_resets', to=settings.AUTH_USER_MODEL),
        ),
        migrations.AddField(
            model_name='factorresetconfirmation',
            name='confirmed_by',
            field=models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL),
        ),
        migrations.AddField(
            model_name='factorresetconfirmation',
            name='proposed_by',
            field=models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL),
        ),
        migrations.AddField(
            model_name='factorresetconfirmation',
            name='reset',
            field=models.OneToOneField(db_constraint=False, on_delete=django.db.models.deletion.PROTECT, related_name='confirmation', to='games.factorreset'),
        ),
        migrations.AddField(
            model_name='factorresetconfirmation',
            name='staff',
            field=models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL),
        ),
        migrations.AddField(
            model_name='failedlogin',
            name='casino',
            field=models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='games.casino'),
        ),
        migrations.AddField(
            model_name='failedlogin',
            name='staff',
            field=models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='failed_logins', to=settings.AUTH_USER_MODEL),
        ),
        migrations.AddField(
            model_name='loginsession',
            name='ended_by',
            field=models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL),
        ),
        migrations.AddField(
            model_name='loginsession',
            name='staff',
            field=models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='logins', to=settings.AUTH_USER_MODEL),
        ),
        migrations.AddConstraint(
            model_name='factorreset',
            constraint=models.CheckConstraint(condition=models.Q(('staff', models.F('proposed_by')), _negated=True), name='factor_reset_not_own'),
        ),
        migrations.AddConstraint(
            model_name='factorreset',
            constraint=models.UniqueConstraint(fields=('id', 'staff', 'proposed_by'), name='factor_reset_of_proposer'),
        ),
        migrations.AddConstraint(
            model_name='factorresetconfirmation',
            constraint=models.CheckConstraint(condition=models.Q(('confirmed_by', models.F('proposed_by')), _negated=True), name='factor_reset_by_two'),
        ),
        migrations.AddConstraint(
            model_name='factorresetconfirmation',
            constraint=models.CheckConstraint(condition=models.Q(('confirmed_by', models.F('staff')), _negated=True), name='factor_reset_not_confirmed_by_own'),
        ),
        migrations.AddIndex(
            model_name='failedlogin',
            index=models.Index(fields=['-at', '-id'], name='failed_login_newest_first'),
        ),
        migrations.AddIndex(
            model_name='failedlogin',
            index=models.Index(fields=['staff', '-at'], name='failed_login_of_staff'),
        ),
        migrations.AddIndex(
            model_name='loginsession',
            index=models.Index(fields=['staff', '-started_at'], name='login_session_of_staff'),
        ),
        migrations.AddIndex(
            model_name='loginsession',
            index=models.Index(fields=['staff', 'address'], name='login_session_place'),
        ),
        migrations.AddConstraint(
            model_name='loginsession',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('end', ''), ('ended_at__isnull', True)), models.Q(('ended_at__isnull', False), models.Q(('end', ''), _negated=True)), _connector='OR'), name='login_session_end_named'),
        ),
        # A confirmation names the person and the proposer of its proposal, and no other.
        migrations.RunSQL(
            "ALTER TABLE games_factorresetconfirmation ADD CONSTRAINT factor_reset_as_proposed "
            "FOREIGN KEY (reset_id, staff_id, proposed_by_id) "
            "REFERENCES games_factorreset (id, staff_id, proposed_by_id) DEFERRABLE INITIALLY DEFERRED",
            "ALTER TABLE games_factorresetconfirmation DROP CONSTRAINT factor_reset_as_proposed",
        ),
    ]
