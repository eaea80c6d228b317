"""A casino manager of the group belongs to no single casino; they rule only with the consent of compliance."""

from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('games', '0023_thresholds'),
    ]

    operations = [
        migrations.RemoveConstraint(
            model_name='staff',
            name='staff_post_only_in_the_pit',
        ),
        migrations.AddConstraint(
            model_name='staff',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('casino__isnull', False), ('department', 'pit'), models.Q(('post', ''), _negated=True)), models.Q(('casino__isnull', True), ('department', 'pit'), ('pit__isnull', True), ('post', 'casino-manager')), models.Q(models.Q(('department', 'pit'), _negated=True), ('pit__isnull', True), ('post', '')), _connector='OR'), name='staff_post_only_in_the_pit', violation_error_message='People of the pit have a casino and a post (only a casino manager of the group belongs to no single casino); people of other departments have no post and no pit.'),
        ),
    ]
