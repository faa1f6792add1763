from pathlib import Path

from agents.composite import same_owner
import agents.models
import django.contrib.postgres.fields
import django.contrib.postgres.indexes
import django.db.models.deletion
import django.utils.timezone
import pgtrigger.compiler
import pgtrigger.migrations
from django.conf import settings
from django.db import migrations, models

FUNCTIONS = (Path(__file__).parent.parent / 'sql' / '0009_sketches.sql').read_text()
DROP = """
    DROP FUNCTION remembrancer_purges_sketches;
    DROP FUNCTION remembrancer_terms_in;
"""


class Migration(migrations.Migration):

    dependencies = [
        ('conversations', '0008_passages_of_documents'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.RunSQL(FUNCTIONS, DROP),
        migrations.CreateModel(
            name='Sketch',
            fields=[
                ('id', models.UUIDField(default=agents.models.new_id, editable=False, primary_key=True, serialize=False)),
                ('key', models.CharField(max_length=40)),
                ('text', models.TextField()),
                ('revision', models.PositiveIntegerField(default=1)),
                ('kept', models.BooleanField(default=False)),
                ('language', models.CharField(default='simple', max_length=24)),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                ('updated_at', models.DateTimeField(default=django.utils.timezone.now)),
                ('terms', models.GeneratedField(db_persist=True, expression=models.Func(models.F('language'), models.F('text'), function='remembrancer_terms_in'), output_field=django.contrib.postgres.fields.ArrayField(base_field=models.TextField(), size=None))),
                ('conversation', models.ForeignKey(db_constraint=False, db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='sketches', to='conversations.conversation')),
                ('owner', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'verbose_name_plural': 'sketches',
                'ordering': ['conversation', 'created_at', 'id'],
                'indexes': [django.contrib.postgres.indexes.GinIndex(fields=['terms'], name='sketch_terms'), models.Index(condition=models.Q(('kept', False)), fields=['updated_at'], name='sketch_may_expire')],
                'constraints': [models.UniqueConstraint(fields=('owner', 'conversation', 'key'), name='sketch_key'), models.CheckConstraint(condition=models.Q(('key__regex', '^[a-z0-9][a-z0-9_-]{0,39}$')), name='sketch_key_written'), models.CheckConstraint(condition=models.Q(('text__length__gte', 1), ('text__length__lte', 2000)), name='sketch_text_fits')],
            },
        ),
        pgtrigger.migrations.AddTrigger(
            model_name='sketch',
            trigger=pgtrigger.compiler.Trigger(name='sketch_fixed', sql=pgtrigger.compiler.UpsertTriggerSql(condition='WHEN (OLD."id" IS DISTINCT FROM (NEW."id") OR OLD."owner_id" IS DISTINCT FROM (NEW."owner_id") OR OLD."conversation_id" IS DISTINCT FROM (NEW."conversation_id") OR OLD."key" IS DISTINCT FROM (NEW."key") OR OLD."created_at" IS DISTINCT FROM (NEW."created_at"))', func="\n            IF public.remembrancer_is_purging(TG_RELID) THEN RETURN NEW; END IF;\n            RAISE EXCEPTION 'A section of notes keeps its conversation and its name.' USING ERRCODE = 'restrict_violation';\n        ", hash='24102e73869c3af9178c91522f5d55e858c3eb15', operation='UPDATE', pgid='pgtrigger_sketch_fixed_0061b', table='conversations_sketch', when='BEFORE')),
        ),
        same_owner('conversations_sketch', 'conversation_id', 'conversations_conversation'),
    ]
