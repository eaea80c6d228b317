"""Passkeys as second factors. A removed one never comes back, and a counter never goes back: by trigger."""

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models

ONLY_FORWARD = """
CREATE FUNCTION passkey_only_forward() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF OLD.removed_at IS NOT NULL THEN
        RAISE EXCEPTION 'Passkey % is removed and stays as it is: "passkey_only_forward".', OLD.id
            USING ERRCODE = 'check_violation';
    END IF;
    IF NEW.sign_count < OLD.sign_count THEN
        RAISE EXCEPTION 'The counter of passkey % went back: "passkey_only_forward".', OLD.id
            USING ERRCODE = 'check_violation';
    END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER passkey_only_forward BEFORE UPDATE ON games_passkey
    FOR EACH ROW EXECUTE FUNCTION passkey_only_forward();
"""
BACK = """
DROP TRIGGER passkey_only_forward ON games_passkey;
DROP FUNCTION passkey_only_forward();
"""


class Migration(migrations.Migration):

    dependencies = [
        ('games', '0035_remedy_at_opening'),
    ]

    operations = [
        migrations.AlterField(
            model_name='failedlogin',
            name='kind',
            field=models.CharField(choices=[('password', 'Wrong password or number'), ('code', 'Wrong code'), ('passkey', 'Passkey not accepted'), ('counter', 'Passkey counter went back, it may be a copy'), ('access', 'Right password, no access'), ('throttled', 'Too many attempts, not checked'), ('confirm', 'Wrong confirmation in a session')], max_length=10),
        ),
        migrations.CreateModel(
            name='Passkey',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('name', models.CharField(help_text='The human-readable name of this device.', max_length=64)),
                ('confirmed', models.BooleanField(default=True, help_text='Is this device ready for use?')),
                ('credential', models.BinaryField(max_length=1023, unique=True, verbose_name='credential id')),
                ('public_key', models.BinaryField(max_length=2048)),
                ('transports', models.JSONField(blank=True, default=list, help_text='How the browser reaches it: usb, internal, …')),
                ('sign_count', models.PositiveBigIntegerField(help_text="The authenticator's own counter of uses; 0: it has none.")),
                ('last_challenge', models.BinaryField(help_text='Answered last; never accepted again.', max_length=64, null=True)),
                ('created_at', models.DateTimeField(verbose_name='added')),
                ('last_used_at', models.DateTimeField(null=True, verbose_name='last used')),
                ('removed_at', models.DateTimeField(null=True, verbose_name='removed')),
                ('removed_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('user', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'verbose_name': 'passkey',
                'ordering': ['created_at', 'id'],
                'constraints': [models.UniqueConstraint(condition=models.Q(('confirmed', True)), fields=('user', 'name'), name='passkey_name_of_person'), models.CheckConstraint(condition=models.Q(models.Q(('confirmed', True), ('removed_at', None), ('removed_by', None)), models.Q(('confirmed', False), ('removed_at__isnull', False), ('removed_by__isnull', False)), _connector='OR'), name='passkey_removal_named')],
            },
        ),
        migrations.RunSQL(ONLY_FORWARD, BACK),
    ]
