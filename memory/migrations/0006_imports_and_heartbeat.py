from pathlib import Path

from django.conf import settings
from django.db import migrations, models

SQL = Path(__file__).parent.parent / 'sql'


class Migration(migrations.Migration):

    dependencies = [
        ('agents', '0003_who_read'),
        ('conversations', '0005_approved_imports'),
        ('memory', '0005_cases_insights_and_profiles'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name='Heartbeat',
            fields=[
                ('host', models.CharField(max_length=120, primary_key=True, serialize=False)),
                ('at', models.DateTimeField()),
                ('embedding_model', models.CharField(max_length=120)),
            ],
        ),
        migrations.RemoveConstraint(
            model_name='fact',
            name='fact_archived_with_reason',
        ),
        migrations.AlterField(
            model_name='fact',
            name='archived_reason',
            field=models.CharField(blank=True, choices=[('superseded', 'A newer fact took its place'), ('merged', 'Merged into another fact'), ('stale', 'Neither confirmed nor used for long'), ('forgotten', 'The owner asked to forget it'), ('duplicate', 'Another candidate says the same'), ('aged_out', 'Waited too long for a decision'), ('replaced', 'A newer correction of the same fact arrived'), ('undone', 'The step that made it was taken back'), ('ended', 'It no longer holds')], max_length=16),
        ),
        migrations.AddConstraint(
            model_name='fact',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('archived_from', 'pending'), ('archived_reason__in', ['duplicate', 'aged_out', 'replaced', 'forgotten', 'undone']), ('state', 'archived')), models.Q(('archived_from', 'active'), ('archived_reason__in', ['superseded', 'merged', 'stale', 'forgotten', 'undone', 'ended']), ('state', 'archived')), models.Q(models.Q(('state', 'archived'), _negated=True), ('archived_from', ''), ('archived_reason', '')), _connector='OR'), name='fact_archived_with_reason'),
        ),
        migrations.RunSQL(
            (SQL / '0006_imports.sql').read_text(), (SQL / '0006_imports_reverse.sql').read_text()
        ),
    ]
