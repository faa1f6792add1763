from agents.composite import same_owner
import agents.models
import django.contrib.postgres.fields
import django.db.models.deletion
import django.utils.timezone
import pgtrigger.compiler
import pgtrigger.migrations
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('agents', '0002_terms'),
        ('memory', '0006_imports_and_heartbeat'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name='ConsolidationSchedule',
            fields=[
                ('owner', models.OneToOneField(on_delete=django.db.models.deletion.PROTECT, primary_key=True, related_name='+', serialize=False, to=settings.AUTH_USER_MODEL)),
                ('last_started_at', models.DateTimeField(null=True)),
                ('last_run_at', models.DateTimeField(null=True)),
                ('merged_up_to', models.UUIDField(null=True)),
            ],
        ),
        migrations.CreateModel(
            name='ConsolidationRun',
            fields=[
                ('id', models.UUIDField(default=agents.models.new_id, editable=False, primary_key=True, serialize=False)),
                ('trigger', models.CharField(choices=[('daily', 'Daily'), ('request', 'Asked for'), ('command', 'Command'), ('continue', 'Went on after a stop')], max_length=16)),
                ('state', models.CharField(choices=[('running', 'Running'), ('done', 'Done'), ('failed', 'Failed'), ('lost', 'Lost'), ('switched_off', 'Switched off')], default='running', max_length=16)),
                ('started_at', models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                ('finished_at', models.DateTimeField(blank=True, null=True)),
                ('stages', django.contrib.postgres.fields.ArrayField(base_field=models.CharField(max_length=32), default=list, size=None)),
                ('counts', models.JSONField(default=dict)),
                ('errors', models.JSONField(default=dict)),
                ('stopped_by', models.CharField(blank=True, choices=[('run', 'A run may archive so many active facts and no more'), ('month', 'Thirty days may archive so many active facts and no more')], max_length=8)),
                ('owner', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'ordering': ['-started_at', '-id'],
            },
        ),
        migrations.CreateModel(
            name='ConsolidationChange',
            fields=[
                ('id', models.UUIDField(default=agents.models.new_id, editable=False, primary_key=True, serialize=False)),
                ('stage', models.CharField(max_length=32)),
                ('action', models.CharField(max_length=32)),
                ('facts', django.contrib.postgres.fields.ArrayField(base_field=models.UUIDField(), default=list, size=None)),
                ('others', django.contrib.postgres.fields.ArrayField(base_field=models.UUIDField(), default=list, size=None)),
                ('sources', django.contrib.postgres.fields.ArrayField(base_field=models.UUIDField(), default=list, size=None)),
                ('reason', models.CharField(max_length=300)),
                ('detail', models.JSONField(default=dict)),
                ('reversible', models.BooleanField(default=True)),
                ('archived', models.PositiveIntegerField(default=0)),
                ('held', models.BooleanField(default=False)),
                ('at', models.DateTimeField()),
                ('undone_at', models.DateTimeField(blank=True, null=True)),
                ('owner', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('undone_by', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('run', models.ForeignKey(db_constraint=False, on_delete=django.db.models.deletion.PROTECT, related_name='changes', to='memory.consolidationrun')),
            ],
            options={
                'ordering': ['id'],
            },
        ),
        migrations.AddIndex(
            model_name='consolidationrun',
            index=models.Index(fields=['owner', '-started_at', '-id'], name='consolidation_list'),
        ),
        migrations.AddConstraint(
            model_name='consolidationrun',
            constraint=models.UniqueConstraint(fields=('owner', 'id'), name='consolidation_owner_id'),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name='consolidationrun',
            trigger=pgtrigger.compiler.Trigger(name='kept', sql=pgtrigger.compiler.UpsertTriggerSql(func="\n            IF public.remembrancer_is_purging(TG_RELID) THEN RETURN OLD; END IF;\n            RAISE EXCEPTION 'A run of consolidation is never deleted.' USING ERRCODE = 'restrict_violation';\n        ", hash='a80215006bbf1a7c851763b4640962a87abba5b5', operation='DELETE', pgid='pgtrigger_kept_ac7e6', table='memory_consolidationrun', when='BEFORE')),
        ),
        migrations.AddIndex(
            model_name='consolidationchange',
            index=models.Index(fields=['run', 'id'], name='consolidation_of_run'),
        ),
        migrations.AddIndex(
            model_name='consolidationchange',
            index=models.Index(fields=['owner', 'stage', '-at'], name='consolidation_of_stage'),
        ),
        migrations.AddConstraint(
            model_name='consolidationchange',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('undone_at__isnull', True), ('undone_by__isnull', True)), models.Q(('held', False), ('undone_at__isnull', False), ('undone_by__isnull', False)), _connector='OR'), name='consolidation_undone_by_somebody'),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name='consolidationchange',
            trigger=pgtrigger.compiler.Trigger(name='consolidation_fixed', sql=pgtrigger.compiler.UpsertTriggerSql(condition='WHEN (OLD."id" IS DISTINCT FROM (NEW."id") OR OLD."owner_id" IS DISTINCT FROM (NEW."owner_id") OR OLD."run_id" IS DISTINCT FROM (NEW."run_id") OR OLD."stage" IS DISTINCT FROM (NEW."stage") OR OLD."action" IS DISTINCT FROM (NEW."action") OR OLD."facts" IS DISTINCT FROM (NEW."facts") OR OLD."others" IS DISTINCT FROM (NEW."others") OR OLD."sources" IS DISTINCT FROM (NEW."sources") OR OLD."reason" IS DISTINCT FROM (NEW."reason") OR OLD."detail" IS DISTINCT FROM (NEW."detail"))', func="\n            IF public.remembrancer_is_purging(TG_RELID) THEN RETURN NEW; END IF;\n            RAISE EXCEPTION 'What a run did is not rewritten, only taken back.' USING ERRCODE = 'restrict_violation';\n        ", hash='cdac5657775fb1905558f2d070b57d01651754b2', operation='UPDATE', pgid='pgtrigger_consolidation_fixed_a7dda', table='memory_consolidationchange', when='BEFORE')),
        ),
        same_owner('memory_consolidationchange', 'run_id', 'memory_consolidationrun'),
    ]
