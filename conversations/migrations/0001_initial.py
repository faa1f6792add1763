import agents.models
from agents.composite import same_owner
import django.contrib.postgres.indexes
import django.contrib.postgres.search
import django.db.models.deletion
import django.utils.timezone
import pgtrigger.compiler
import pgtrigger.migrations
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    initial = True

    dependencies = [
        ('agents', '0001_initial'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name='Import',
            fields=[
                ('id', models.UUIDField(default=agents.models.new_id, editable=False, primary_key=True, serialize=False)),
                ('format', models.CharField(max_length=32)),
                ('file_name', models.CharField(max_length=255)),
                ('started_at', models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                ('finished_at', models.DateTimeField(blank=True, null=True)),
                ('counts', models.JSONField(default=dict)),
                ('owner', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'ordering': ['-started_at'],
            },
        ),
        migrations.CreateModel(
            name='Conversation',
            fields=[
                ('id', models.UUIDField(default=agents.models.new_id, editable=False, primary_key=True, serialize=False)),
                ('source', models.CharField(max_length=32)),
                ('external_id', models.CharField(max_length=200)),
                ('title', models.CharField(blank=True, max_length=300)),
                ('read_only', models.BooleanField(default=False)),
                ('sensitive', models.BooleanField(default=False)),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                ('last_activity_at', models.DateTimeField(default=django.utils.timezone.now)),
                ('first_message_at', models.DateTimeField(blank=True, null=True)),
                ('last_message_at', models.DateTimeField(blank=True, null=True)),
                ('last_seq', models.PositiveIntegerField(default=0)),
                ('compacted_seq', models.PositiveIntegerField(default=0)),
                ('cursor_seq', models.PositiveIntegerField(default=0)),
                ('due_trigger', models.CharField(blank=True, max_length=16)),
                ('attempts', models.PositiveSmallIntegerField(default=0)),
                ('next_attempt_at', models.DateTimeField(blank=True, null=True)),
                ('last_error', models.CharField(blank=True, max_length=500)),
                ('stuck_at', models.DateTimeField(blank=True, null=True)),
                ('agent', models.ForeignKey(db_constraint=False, on_delete=django.db.models.deletion.PROTECT, related_name='conversations', to='agents.agent')),
                ('client', models.ForeignKey(blank=True, db_constraint=False, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='agents.apikey')),
                ('owner', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='conversations', to=settings.AUTH_USER_MODEL)),
                ('imported_by', models.ForeignKey(blank=True, db_constraint=False, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='conversations', to='conversations.import')),
            ],
            options={
                'ordering': ['-last_activity_at', '-id'],
            },
        ),
        migrations.CreateModel(
            name='Message',
            fields=[
                ('id', models.UUIDField(default=agents.models.new_id, editable=False, primary_key=True, serialize=False)),
                ('seq', models.PositiveIntegerField()),
                ('client_id', models.CharField(max_length=200)),
                ('role', models.CharField(choices=[('user', 'User'), ('assistant', 'Assistant'), ('system', 'System'), ('tool', 'Tool')], max_length=16)),
                ('kind', models.CharField(choices=[('said', 'Said'), ('outcome', 'Digest of a mission or agent run'), ('summary', 'Summary written at compaction')], default='said', max_length=16)),
                ('speaker', models.CharField(blank=True, max_length=120)),
                ('from_owner', models.BooleanField()),
                ('content', models.TextField()),
                ('sent_at', models.DateTimeField()),
                ('zone', models.CharField(default='UTC', max_length=64)),
                ('on_branch', models.BooleanField(default=True)),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                ('conversation', models.ForeignKey(db_constraint=False, on_delete=django.db.models.deletion.PROTECT, related_name='messages', to='conversations.conversation')),
                ('owner', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('parent', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='children', to='conversations.message')),
                ('replaces', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='replaced_by', to='conversations.message')),
            ],
            options={
                'ordering': ['conversation', 'seq'],
            },
        ),
        migrations.CreateModel(
            name='Passage',
            fields=[
                ('id', models.UUIDField(default=agents.models.new_id, editable=False, primary_key=True, serialize=False)),
                ('kind', models.CharField(choices=[('message', 'Message'), ('breadcrumb', 'Breadcrumb')], default='message', max_length=16)),
                ('piece', models.PositiveSmallIntegerField(default=0)),
                ('text', models.TextField()),
                ('text_hash', models.CharField(max_length=64)),
                ('language', models.CharField(default='simple', max_length=24)),
                ('said_at', models.DateTimeField()),
                ('search', models.GeneratedField(db_persist=True, expression=models.Func(models.F('language'), models.F('text'), function='remembrancer_tsvector'), output_field=django.contrib.postgres.search.SearchVectorField())),
                ('conversation', models.ForeignKey(db_constraint=False, on_delete=django.db.models.deletion.PROTECT, related_name='passages', to='conversations.conversation')),
                ('message', models.ForeignKey(blank=True, db_constraint=False, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='passages', to='conversations.message')),
                ('owner', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'ordering': ['conversation', 'said_at', 'piece'],
            },
        ),
        migrations.AddConstraint(
            model_name='import',
            constraint=models.UniqueConstraint(fields=('owner', 'id'), name='import_owner_id'),
        ),
        migrations.AddIndex(
            model_name='conversation',
            index=models.Index(fields=['owner', '-last_activity_at', '-id'], name='conversation_list'),
        ),
        migrations.AddIndex(
            model_name='conversation',
            index=models.Index(condition=models.Q(('cursor_seq__lt', models.F('last_seq')), ('read_only', False), ('stuck_at__isnull', True)), fields=['last_activity_at'], name='conversation_due'),
        ),
        migrations.AddConstraint(
            model_name='conversation',
            constraint=models.UniqueConstraint(fields=('owner', 'source', 'external_id'), name='conversation_external_id'),
        ),
        migrations.AddConstraint(
            model_name='conversation',
            constraint=models.UniqueConstraint(fields=('owner', 'id'), name='conversation_owner_id'),
        ),
        migrations.AddConstraint(
            model_name='conversation',
            constraint=models.CheckConstraint(condition=models.Q(('cursor_seq__lte', models.F('last_seq'))), name='conversation_cursor_in_range'),
        ),
        migrations.AddConstraint(
            model_name='conversation',
            constraint=models.CheckConstraint(condition=models.Q(('compacted_seq__lte', models.F('last_seq'))), name='conversation_mark_in_range'),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name='conversation',
            trigger=pgtrigger.compiler.Trigger(name='conversation_fixed', sql=pgtrigger.compiler.UpsertTriggerSql(condition='WHEN (OLD."id" IS DISTINCT FROM (NEW."id") OR OLD."owner_id" IS DISTINCT FROM (NEW."owner_id") OR OLD."agent_id" IS DISTINCT FROM (NEW."agent_id") OR OLD."source" IS DISTINCT FROM (NEW."source") OR OLD."external_id" IS DISTINCT FROM (NEW."external_id") OR OLD."read_only" IS DISTINCT FROM (NEW."read_only") OR OLD."sensitive" IS DISTINCT FROM (NEW."sensitive") OR OLD."imported_by_id" IS DISTINCT FROM (NEW."imported_by_id") OR OLD."client_id" IS DISTINCT FROM (NEW."client_id") OR OLD."created_at" IS DISTINCT FROM (NEW."created_at"))', func="\n            IF public.remembrancer_is_purging(TG_RELID) THEN RETURN NEW; END IF;\n            RAISE EXCEPTION 'Identity and promises of a conversation are fixed at its creation.' USING ERRCODE = 'restrict_violation';\n        ", hash='ff6db3d0877e7304dcb3b376266192aad2f01cd1', operation='UPDATE', pgid='pgtrigger_conversation_fixed_a3590', table='conversations_conversation', when='BEFORE')),
        ),
        migrations.AddConstraint(
            model_name='message',
            constraint=models.UniqueConstraint(fields=('conversation', 'client_id', 'owner'), name='message_client_id'),
        ),
        migrations.AddConstraint(
            model_name='message',
            constraint=models.UniqueConstraint(fields=('conversation', 'seq', 'owner'), name='message_seq'),
        ),
        migrations.AddConstraint(
            model_name='message',
            constraint=models.UniqueConstraint(fields=('owner', 'id'), name='message_owner_id'),
        ),
        migrations.AddConstraint(
            model_name='message',
            constraint=models.UniqueConstraint(fields=('owner', 'conversation', 'id'), name='message_conversation_id'),
        ),
        migrations.AddConstraint(
            model_name='message',
            constraint=models.CheckConstraint(condition=models.Q(('role', 'user'), ('from_owner', False), _connector='OR'), name='message_owner_is_user'),
        ),
        migrations.AddConstraint(
            model_name='message',
            constraint=models.CheckConstraint(condition=models.Q(('role__in', ['user', 'assistant', 'system', 'tool'])), name='message_role_known'),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name='message',
            trigger=pgtrigger.compiler.Trigger(name='kept', sql=pgtrigger.compiler.UpsertTriggerSql(func="\n            IF public.remembrancer_is_purging(TG_RELID) THEN RETURN OLD; END IF;\n            RAISE EXCEPTION 'A message is never deleted, only purged.' USING ERRCODE = 'restrict_violation';\n        ", hash='367a86627d7f5756846690c697c3fcb798639da3', operation='DELETE', pgid='pgtrigger_kept_72746', table='conversations_message', when='BEFORE')),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name='message',
            trigger=pgtrigger.compiler.Trigger(name='message_fixed', sql=pgtrigger.compiler.UpsertTriggerSql(condition='WHEN (OLD."id" IS DISTINCT FROM (NEW."id") OR OLD."owner_id" IS DISTINCT FROM (NEW."owner_id") OR OLD."conversation_id" IS DISTINCT FROM (NEW."conversation_id") OR OLD."seq" IS DISTINCT FROM (NEW."seq") OR OLD."client_id" IS DISTINCT FROM (NEW."client_id") OR OLD."role" IS DISTINCT FROM (NEW."role") OR OLD."kind" IS DISTINCT FROM (NEW."kind") OR OLD."speaker" IS DISTINCT FROM (NEW."speaker") OR OLD."from_owner" IS DISTINCT FROM (NEW."from_owner") OR OLD."content" IS DISTINCT FROM (NEW."content") OR OLD."sent_at" IS DISTINCT FROM (NEW."sent_at") OR OLD."zone" IS DISTINCT FROM (NEW."zone") OR OLD."parent_id" IS DISTINCT FROM (NEW."parent_id") OR OLD."replaces_id" IS DISTINCT FROM (NEW."replaces_id") OR OLD."created_at" IS DISTINCT FROM (NEW."created_at"))', func="\n            IF public.remembrancer_is_purging(TG_RELID) THEN RETURN NEW; END IF;\n            RAISE EXCEPTION 'A message is never changed; send one that replaces it.' USING ERRCODE = 'restrict_violation';\n        ", hash='e409b3d98f5819b5ce26649eaefb0c77cd7370b6', operation='UPDATE', pgid='pgtrigger_message_fixed_26692', table='conversations_message', when='BEFORE')),
        ),
        migrations.AddIndex(
            model_name='passage',
            index=django.contrib.postgres.indexes.GinIndex(fields=['search'], name='passage_search'),
        ),
        migrations.AddIndex(
            model_name='passage',
            index=models.Index(fields=['message'], name='passage_message'),
        ),
        migrations.AddConstraint(
            model_name='passage',
            constraint=models.UniqueConstraint(fields=('owner', 'conversation', 'text_hash'), name='passage_once'),
        ),
        migrations.AddConstraint(
            model_name='passage',
            constraint=models.UniqueConstraint(fields=('owner', 'id'), name='passage_owner_id'),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name='passage',
            trigger=pgtrigger.compiler.Trigger(name='kept', sql=pgtrigger.compiler.UpsertTriggerSql(func="\n            IF public.remembrancer_is_purging(TG_RELID) THEN RETURN OLD; END IF;\n            RAISE EXCEPTION 'A passage is never deleted, only purged.' USING ERRCODE = 'restrict_violation';\n        ", hash='004d614cd256b215069a6f28409c50615438fa17', operation='DELETE', pgid='pgtrigger_kept_25c2a', table='conversations_passage', when='BEFORE')),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name='passage',
            trigger=pgtrigger.compiler.Trigger(name='passage_fixed', sql=pgtrigger.compiler.UpsertTriggerSql(condition='WHEN (OLD."id" IS DISTINCT FROM (NEW."id") OR OLD."owner_id" IS DISTINCT FROM (NEW."owner_id") OR OLD."conversation_id" IS DISTINCT FROM (NEW."conversation_id") OR OLD."message_id" IS DISTINCT FROM (NEW."message_id") OR OLD."kind" IS DISTINCT FROM (NEW."kind") OR OLD."piece" IS DISTINCT FROM (NEW."piece") OR OLD."text" IS DISTINCT FROM (NEW."text") OR OLD."text_hash" IS DISTINCT FROM (NEW."text_hash") OR OLD."language" IS DISTINCT FROM (NEW."language") OR OLD."said_at" IS DISTINCT FROM (NEW."said_at"))', func="\n            IF public.remembrancer_is_purging(TG_RELID) THEN RETURN NEW; END IF;\n            RAISE EXCEPTION 'The raw record is append-only.' USING ERRCODE = 'restrict_violation';\n        ", hash='1501f475ac52bf123f6c8bbb8a882284a7eb77f6', operation='UPDATE', pgid='pgtrigger_passage_fixed_6aa04', table='conversations_passage', when='BEFORE')),
        ),
        same_owner('conversations_conversation', 'agent_id', 'agents_agent'),
        same_owner('conversations_conversation', 'client_id', 'agents_apikey'),
        same_owner('conversations_conversation', 'imported_by_id', 'conversations_import'),
        same_owner('conversations_message', 'conversation_id', 'conversations_conversation'),
        same_owner('conversations_message', 'parent_id', 'conversations_message', within='conversation_id'),
        same_owner('conversations_message', 'replaces_id', 'conversations_message', within='conversation_id'),
        same_owner('conversations_passage', 'conversation_id', 'conversations_conversation'),
        same_owner('conversations_passage', 'message_id', 'conversations_message', within='conversation_id'),
    ]
