import django.db.models.deletion
import django.utils.timezone
from django.conf import settings
from django.db import migrations, models

from agents.composite import same_owner


class Migration(migrations.Migration):

    dependencies = [
        ('agents', '0002_terms'),
        ('conversations', '0003_index_what_was_said'),
        ('memory', '0003_indexes_of_recall'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name='RecalledAhead',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('source', models.CharField(max_length=32)),
                ('external_id', models.CharField(max_length=200)),
                ('recalled_at', models.DateTimeField(default=django.utils.timezone.now)),
                ('agent', models.ForeignKey(db_constraint=False, db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='agents.agent')),
                ('fact', models.ForeignKey(db_constraint=False, on_delete=django.db.models.deletion.CASCADE, related_name='+', to='memory.fact')),
                ('owner', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('owner', 'agent', 'source', 'external_id', 'fact'), name='recalled_ahead_once')],
                'indexes': [models.Index(fields=['owner', 'recalled_at'], name='recalled_ahead_age')],
            },
        ),
        same_owner('memory_recalledahead', 'agent_id', 'agents_agent'),
        same_owner('memory_recalledahead', 'fact_id', 'memory_fact', on_delete='CASCADE'),
        migrations.RemoveConstraint(
            model_name='recalledfact',
            name='recalled_once',
        ),
        migrations.AddConstraint(
            model_name='recalledfact',
            constraint=models.UniqueConstraint(fields=('conversation', 'fact', 'owner'), name='recalled_once'),
        ),
    ]
