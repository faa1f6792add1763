from pathlib import Path

import django.db.models.deletion
import pgtrigger.compiler
import pgtrigger.migrations
from django.conf import settings
from django.db import migrations, models


FUNCTIONS = (Path(__file__).parent.parent / 'sql' / '0010_counts.sql').read_text()
DROP = """
    DROP FUNCTION remembrancer_fold_counts;
    DROP FUNCTION remembrancer_count_facts;
    DROP FUNCTION remembrancer_terms_went;
    DROP FUNCTION remembrancer_terms_came;
"""


class Migration(migrations.Migration):

    dependencies = [
        ('memory', '0009_purge'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name='FactCount',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('owner', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('agent_id', models.UUIDField(null=True)),
                ('facts', models.IntegerField()),
                ('length', models.BigIntegerField()),
            ],
        ),
        migrations.AddIndex(
            model_name='factcount',
            index=models.Index(fields=['owner'], include=['agent_id', 'facts', 'length'], name='count_owner'),
        ),
        migrations.RunSQL(FUNCTIONS, DROP),
        pgtrigger.migrations.AddTrigger(
            model_name='factterm',
            trigger=pgtrigger.compiler.Trigger(name='terms_came', sql=pgtrigger.compiler.UpsertTriggerSql(execute='remembrancer_terms_came()', func='RETURN NULL;', hash='d883f26a8fbdf01fde843f3149a147d2fed69b69', level='STATEMENT', operation='INSERT', pgid='pgtrigger_terms_came_8da0d', referencing='REFERENCING NEW TABLE AS came ', table='memory_factterm', when='AFTER')),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name='factterm',
            trigger=pgtrigger.compiler.Trigger(name='terms_went', sql=pgtrigger.compiler.UpsertTriggerSql(execute='remembrancer_terms_went()', func='RETURN NULL;', hash='4cba75594a104c8e1779038a36dca447feb5c222', level='STATEMENT', operation='DELETE', pgid='pgtrigger_terms_went_30326', referencing='REFERENCING OLD TABLE AS went ', table='memory_factterm', when='AFTER')),
        ),
        migrations.RunSQL('SELECT remembrancer_count_facts()', migrations.RunSQL.noop),
    ]
