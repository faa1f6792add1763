from pathlib import Path

from pgvector.django import VectorExtension

import agents.models
from agents.composite import same_owner
import django.contrib.postgres.fields
import django.contrib.postgres.indexes
import django.contrib.postgres.search
import django.db.models.deletion
import django.utils.timezone
import pgtrigger.compiler
import pgtrigger.migrations
import pgvector.django.vector
from django.conf import settings
from django.db import migrations, models


FUNCTIONS = (Path(__file__).parent.parent / 'sql' / '0001_functions.sql').read_text()


class Migration(migrations.Migration):

    initial = True

    dependencies = [
        ('agents', '0001_initial'),
        ('conversations', '0001_initial'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        VectorExtension(),
        migrations.RunSQL(FUNCTIONS, migrations.RunSQL.noop),
        migrations.CreateModel(
            name='Fact',
            fields=[
                ('id', models.UUIDField(default=agents.models.new_id, editable=False, primary_key=True, serialize=False)),
                ('kind', models.CharField(choices=[('semantic', 'Durable fact or preference'), ('episodic', 'Something that happened'), ('procedural', 'How to do something')], max_length=16)),
                ('statement', models.CharField(max_length=500)),
                ('text_hash', models.CharField(editable=False, max_length=64)),
                ('language', models.CharField(default='simple', max_length=24)),
                ('state', models.CharField(choices=[('pending', 'Pending'), ('active', 'Active'), ('rejected', 'Rejected'), ('archived', 'Archived')], default='pending', max_length=16)),
                ('confidence', models.FloatField(default=1.0)),
                ('tags', django.contrib.postgres.fields.ArrayField(base_field=models.CharField(choices=[('preference', 'Preference'), ('decision', 'Decision'), ('fact', 'Fact'), ('constraint', 'Constraint'), ('confirmed_action', 'Confirmed Action'), ('project', 'Project'), ('location', 'Location'), ('schedule', 'Schedule'), ('relationship', 'Relationship')], max_length=24), blank=True, default=list, size=None)),
                ('pinned', models.BooleanField(default=False)),
                ('origin', models.CharField(choices=[('extraction', 'Extraction'), ('reflection', 'Reflection'), ('merge', 'Merge'), ('remember', 'Remember'), ('manual', 'Manual'), ('import', 'Import')], max_length=16)),
                ('valid_from', models.DateTimeField(blank=True, null=True)),
                ('valid_until', models.DateTimeField(blank=True, null=True)),
                ('valid_precision', models.CharField(choices=[('day', 'Day'), ('month', 'Month'), ('year', 'Year')], default='day', max_length=8)),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                ('observed_at', models.DateTimeField()),
                ('last_confirmed_at', models.DateTimeField()),
                ('decayed_at', models.DateTimeField(blank=True, null=True)),
                ('snoozed_until', models.DateTimeField(blank=True, null=True)),
                ('archived_reason', models.CharField(blank=True, choices=[('superseded', 'A newer fact took its place'), ('merged', 'Merged into another fact'), ('stale', 'Neither confirmed nor used for long'), ('forgotten', 'The owner asked to forget it'), ('duplicate', 'Another candidate says the same'), ('aged_out', 'Waited too long for a decision'), ('replaced', 'A newer correction of the same fact arrived'), ('undone', 'The step that made it was taken back')], max_length=16)),
                ('archived_from', models.CharField(blank=True, choices=[('pending', 'Pending'), ('active', 'Active'), ('rejected', 'Rejected'), ('archived', 'Archived')], max_length=16)),
                ('withheld_for', django.contrib.postgres.fields.ArrayField(base_field=models.CharField(max_length=24), blank=True, default=list, size=None)),
                ('withheld_detail', models.CharField(blank=True, max_length=200)),
                ('reviewed_at', models.DateTimeField(blank=True, null=True)),
                ('prompt_version', models.CharField(blank=True, max_length=64)),
                ('search', models.GeneratedField(db_persist=True, expression=models.Func(models.F('language'), models.F('statement'), function='remembrancer_tsvector'), output_field=django.contrib.postgres.search.SearchVectorField())),
                ('agent', models.ForeignKey(blank=True, db_constraint=False, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='facts', to='agents.agent')),
                ('client', models.ForeignKey(blank=True, db_constraint=False, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='agents.apikey')),
                ('conversation', models.ForeignKey(blank=True, db_constraint=False, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='facts', to='conversations.conversation')),
                ('imported_by', models.ForeignKey(blank=True, db_constraint=False, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='conversations.import')),
                ('owner', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='facts', to=settings.AUTH_USER_MODEL)),
                ('reviewer', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'ordering': ['-created_at', '-id'],
            },
        ),
        migrations.CreateModel(
            name='OwnerLease',
            fields=[
                ('owner', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, primary_key=True, related_name='+', serialize=False, to=settings.AUTH_USER_MODEL)),
                ('token', models.UUIDField()),
                ('expires_at', models.DateTimeField()),
            ],
        ),
        migrations.CreateModel(
            name='Entity',
            fields=[
                ('id', models.UUIDField(default=agents.models.new_id, editable=False, primary_key=True, serialize=False)),
                ('type', models.CharField(choices=[('person', 'Person'), ('project', 'Project'), ('service', 'Service'), ('preference', 'Preference'), ('decision', 'Decision'), ('topic', 'Topic'), ('place', 'Place')], max_length=16)),
                ('name', models.CharField(max_length=120)),
                ('normal_name', models.CharField(max_length=120)),
                ('owner', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='entities', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'verbose_name_plural': 'entities',
                'ordering': ['normal_name'],
            },
        ),
        migrations.CreateModel(
            name='ExtractionRun',
            fields=[
                ('id', models.UUIDField(default=agents.models.new_id, editable=False, primary_key=True, serialize=False)),
                ('trigger', models.CharField(choices=[('idle', 'Idle for 20 minutes'), ('backlog', 'Five unread exchanges'), ('compaction', 'About to be summarised away'), ('outcome', 'Digest of a mission or agent run'), ('request', 'Asked for'), ('retry', 'Retry after a failure'), ('backfill', 'Backfill')], max_length=16)),
                ('state', models.CharField(choices=[('running', 'Running'), ('applied', 'Applied'), ('failed', 'Failed'), ('lost', 'Lost'), ('skipped', 'Skipped')], default='running', max_length=16)),
                ('attempt', models.PositiveSmallIntegerField(default=1)),
                ('first_seq', models.PositiveIntegerField()),
                ('last_seq', models.PositiveIntegerField()),
                ('observer', models.CharField(max_length=120)),
                ('route', models.CharField(blank=True, max_length=16)),
                ('prompt_version', models.CharField(blank=True, max_length=64)),
                ('started_at', models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                ('finished_at', models.DateTimeField(blank=True, null=True)),
                ('error', models.CharField(blank=True, max_length=500)),
                ('llm_calls', models.PositiveSmallIntegerField(default=0)),
                ('input_tokens', models.PositiveIntegerField(default=0)),
                ('output_tokens', models.PositiveIntegerField(default=0)),
                ('counts', models.JSONField(default=dict)),
                ('agent', models.ForeignKey(db_constraint=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='agents.agent')),
                ('conversation', models.ForeignKey(db_constraint=False, on_delete=django.db.models.deletion.PROTECT, related_name='runs', to='conversations.conversation')),
                ('owner', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'ordering': ['-started_at', '-id'],
            },
        ),
        migrations.CreateModel(
            name='FactUsage',
            fields=[
                ('fact', models.OneToOneField(db_constraint=False, on_delete=django.db.models.deletion.CASCADE, primary_key=True, related_name='usage', serialize=False, to='memory.fact')),
                ('last_retrieved_at', models.DateTimeField()),
                ('retrieval_hits', models.PositiveIntegerField(default=1)),
            ],
        ),
        migrations.AddField(
            model_name='fact',
            name='run',
            field=models.ForeignKey(blank=True, db_constraint=False, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='facts', to='memory.extractionrun'),
        ),
        migrations.AddField(
            model_name='fact',
            name='similar_to',
            field=models.ForeignKey(blank=True, db_constraint=False, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='memory.fact'),
        ),
        migrations.AddField(
            model_name='fact',
            name='superseded_by',
            field=models.ForeignKey(blank=True, db_constraint=False, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='predecessors', to='memory.fact'),
        ),
        migrations.CreateModel(
            name='Evidence',
            fields=[
                ('id', models.UUIDField(default=agents.models.new_id, editable=False, primary_key=True, serialize=False)),
                ('quote', models.TextField()),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                ('message', models.ForeignKey(db_constraint=False, on_delete=django.db.models.deletion.PROTECT, related_name='evidence', to='conversations.message')),
                ('owner', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('fact', models.ForeignKey(db_constraint=False, on_delete=django.db.models.deletion.PROTECT, related_name='evidence', to='memory.fact')),
            ],
            options={
                'verbose_name_plural': 'evidence',
                'ordering': ['fact', 'created_at'],
            },
        ),
        migrations.CreateModel(
            name='DroppedCandidate',
            fields=[
                ('id', models.UUIDField(default=agents.models.new_id, editable=False, primary_key=True, serialize=False)),
                ('gate', models.CharField(choices=[('not_about_owner', 'Not about the owner'), ('general_knowledge', 'General knowledge'), ('changes_nothing', 'Would change nothing the assistant does'), ('quote_not_found', 'The quote is not in the message'), ('not_owner_spoken', 'The owner did not say it'), ('recalled_echo', 'Restates what recall put into the conversation'), ('header_echo', 'Restates the header of a digest'), ('unresolved_date', 'A relative date was left unresolved'), ('batch_duplicate', 'Said twice in one reply'), ('same_as_active', 'Restates an active fact (reinforced)'), ('same_as_pending', 'Already waiting (evidence added)'), ('same_as_rejected', 'Rejected before'), ('tombstoned', 'Purged or forgotten before'), ('credential', 'Holds a credential'), ('bad_handle', 'The reflector named a fact that it was not shown'), ('no_confirmation', 'A confirmed action without its confirmation quote'), ('skipped', 'The reflector saw nothing new'), ('over_limit', 'More candidates than one reply may hold')], max_length=24)),
                ('statement', models.CharField(max_length=500)),
                ('quote', models.TextField(blank=True)),
                ('detail', models.CharField(blank=True, max_length=300)),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                ('message', models.ForeignKey(db_constraint=False, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='conversations.message')),
                ('owner', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('run', models.ForeignKey(db_constraint=False, on_delete=django.db.models.deletion.PROTECT, related_name='dropped', to='memory.extractionrun')),
                ('fact', models.ForeignKey(db_constraint=False, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='memory.fact')),
            ],
            options={
                'ordering': ['created_at', 'id'],
            },
        ),
        migrations.CreateModel(
            name='CorrectionTarget',
            fields=[
                ('id', models.UUIDField(default=agents.models.new_id, editable=False, primary_key=True, serialize=False)),
                ('open', models.BooleanField(default=True, editable=False)),
                ('owner', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('fact', models.ForeignKey(db_constraint=False, on_delete=django.db.models.deletion.PROTECT, related_name='targets', to='memory.fact')),
                ('target', models.ForeignKey(db_constraint=False, on_delete=django.db.models.deletion.PROTECT, related_name='corrections', to='memory.fact')),
            ],
        ),
        migrations.CreateModel(
            name='FactEmbedding',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('model', models.CharField(max_length=120)),
                ('vector', pgvector.django.vector.VectorField()),
                ('fact', models.ForeignKey(db_constraint=False, on_delete=django.db.models.deletion.CASCADE, related_name='embeddings', to='memory.fact')),
                ('owner', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
            ],
        ),
        migrations.CreateModel(
            name='FactEntity',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('entity', models.ForeignKey(db_constraint=False, on_delete=django.db.models.deletion.CASCADE, to='memory.entity')),
                ('fact', models.ForeignKey(db_constraint=False, on_delete=django.db.models.deletion.CASCADE, to='memory.fact')),
                ('owner', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
            ],
        ),
        migrations.AddField(
            model_name='entity',
            name='facts',
            field=models.ManyToManyField(related_name='entities', through='memory.FactEntity', to='memory.fact'),
        ),
        migrations.CreateModel(
            name='RecalledFact',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('recalled_at', models.DateTimeField(default=django.utils.timezone.now)),
                ('conversation', models.ForeignKey(db_constraint=False, on_delete=django.db.models.deletion.PROTECT, related_name='recalled', to='conversations.conversation')),
                ('fact', models.ForeignKey(db_constraint=False, on_delete=django.db.models.deletion.CASCADE, related_name='+', to='memory.fact')),
                ('owner', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
            ],
        ),
        migrations.CreateModel(
            name='Tombstone',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('digest', models.CharField(max_length=64)),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                ('owner', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
            ],
        ),
        migrations.CreateModel(
            name='EntityAlias',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('name', models.CharField(max_length=120)),
                ('normal_name', models.CharField(max_length=120)),
                ('entity', models.ForeignKey(db_constraint=False, on_delete=django.db.models.deletion.CASCADE, related_name='aliases', to='memory.entity')),
                ('owner', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'verbose_name_plural': 'entity aliases',
                'constraints': [models.UniqueConstraint(fields=('owner', 'normal_name', 'entity'), name='alias_once_per_entity')],
            },
        ),
        migrations.AddIndex(
            model_name='extractionrun',
            index=models.Index(fields=['owner', '-started_at', '-id'], name='run_list'),
        ),
        migrations.AddIndex(
            model_name='extractionrun',
            index=models.Index(fields=['conversation', '-started_at'], name='run_conversation'),
        ),
        migrations.AddConstraint(
            model_name='extractionrun',
            constraint=models.UniqueConstraint(fields=('owner', 'id'), name='run_owner_id'),
        ),
        migrations.AddConstraint(
            model_name='extractionrun',
            constraint=models.CheckConstraint(condition=models.Q(('first_seq__lte', models.F('last_seq'))), name='run_window_order'),
        ),
        migrations.AddConstraint(
            model_name='extractionrun',
            constraint=models.UniqueConstraint(condition=models.Q(('state', 'applied')), fields=('conversation', 'first_seq', 'owner'), name='run_window_applied_once'),
        ),
        migrations.AddField(
            model_name='factusage',
            name='owner',
            field=models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL),
        ),
        migrations.AddIndex(
            model_name='fact',
            index=models.Index(fields=['owner', 'state', '-created_at', '-id'], name='fact_list'),
        ),
        migrations.AddIndex(
            model_name='fact',
            index=models.Index(condition=models.Q(('state', 'pending')), fields=['owner', '-conversation', 'id'], include=('snoozed_until',), name='fact_queue'),
        ),
        migrations.AddIndex(
            model_name='fact',
            index=models.Index(fields=['conversation', 'state'], name='fact_conversation'),
        ),
        migrations.AddIndex(
            model_name='fact',
            index=models.Index(condition=models.Q(('state', 'active')), fields=['owner', 'agent'], name='fact_active_scope'),
        ),
        migrations.AddIndex(
            model_name='fact',
            index=models.Index(condition=models.Q(('pinned', True), ('state', 'active')), fields=['owner'], name='fact_pinned'),
        ),
        migrations.AddIndex(
            model_name='fact',
            index=models.Index(fields=['owner', 'text_hash'], name='fact_text'),
        ),
        migrations.AddIndex(
            model_name='fact',
            index=models.Index(condition=models.Q(('superseded_by__isnull', False)), fields=['superseded_by'], name='fact_chain'),
        ),
        migrations.AddIndex(
            model_name='fact',
            index=models.Index(condition=models.Q(('run__isnull', False)), fields=['run'], name='fact_run'),
        ),
        migrations.AddIndex(
            model_name='fact',
            index=django.contrib.postgres.indexes.GinIndex(fields=['search'], name='fact_search'),
        ),
        migrations.AddConstraint(
            model_name='fact',
            constraint=models.UniqueConstraint(fields=('owner', 'id'), name='fact_owner_id'),
        ),
        migrations.AddConstraint(
            model_name='fact',
            constraint=models.CheckConstraint(condition=models.Q(('state__in', ['pending', 'active', 'rejected', 'archived'])), name='fact_state_known'),
        ),
        migrations.AddConstraint(
            model_name='fact',
            constraint=models.CheckConstraint(condition=models.Q(('kind__in', ['semantic', 'episodic', 'procedural'])), name='fact_kind_known'),
        ),
        migrations.AddConstraint(
            model_name='fact',
            constraint=models.CheckConstraint(condition=models.Q(('origin__in', ['extraction', 'reflection', 'merge', 'remember', 'manual', 'import'])), name='fact_origin_known'),
        ),
        migrations.AddConstraint(
            model_name='fact',
            constraint=models.CheckConstraint(condition=models.Q(('confidence__gte', 0), ('confidence__lte', 1)), name='fact_confidence_range'),
        ),
        migrations.AddConstraint(
            model_name='fact',
            constraint=models.CheckConstraint(condition=models.Q(('statement__regex', '\\S')), name='fact_statement_not_empty'),
        ),
        migrations.AddConstraint(
            model_name='fact',
            constraint=models.CheckConstraint(condition=models.Q(('text_hash__regex', '^[0-9a-f]{64}$')), name='fact_text_hash_is_one'),
        ),
        migrations.AddConstraint(
            model_name='fact',
            constraint=models.CheckConstraint(condition=models.Q(('tags__contained_by', ['preference', 'decision', 'fact', 'constraint', 'confirmed_action', 'project', 'location', 'schedule', 'relationship'])), name='fact_tags_known'),
        ),
        migrations.AddConstraint(
            model_name='fact',
            constraint=models.CheckConstraint(condition=models.Q(('valid_precision__in', ['day', 'month', 'year'])), name='fact_precision_known'),
        ),
        migrations.AddConstraint(
            model_name='fact',
            constraint=models.CheckConstraint(condition=models.Q(('valid_from__isnull', True), ('valid_until__isnull', True), ('valid_from__lt', models.F('valid_until')), _connector='OR'), name='fact_validity_order'),
        ),
        migrations.AddConstraint(
            model_name='fact',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('archived_from', 'pending'), ('archived_reason__in', ['duplicate', 'aged_out', 'replaced', 'forgotten']), ('state', 'archived')), models.Q(('archived_from', 'active'), ('archived_reason__in', ['superseded', 'merged', 'stale', 'forgotten', 'undone']), ('state', 'archived')), models.Q(models.Q(('state', 'archived'), _negated=True), ('archived_from', ''), ('archived_reason', '')), _connector='OR'), name='fact_archived_with_reason'),
        ),
        migrations.AddConstraint(
            model_name='fact',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('superseded_by__isnull', False), ('archived_reason__in', ['superseded', 'merged'])), models.Q(('superseded_by__isnull', True), models.Q(('archived_reason__in', ['superseded', 'merged']), _negated=True)), _connector='OR'), name='fact_successor_with_reason'),
        ),
        migrations.AddConstraint(
            model_name='fact',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('state', 'rejected'), _negated=True), ('reviewer__isnull', False), _connector='OR'), name='fact_rejected_by_person'),
        ),
        migrations.AddConstraint(
            model_name='fact',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('state', 'active'), _negated=True), models.Q(('kind', 'episodic'), ('origin', 'extraction')), ('origin', 'remember'), ('reviewer__isnull', False), _connector='OR'), name='fact_active_was_reviewed'),
        ),
        migrations.AddConstraint(
            model_name='fact',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('state', 'pending'), _negated=True), ('reviewer__isnull', True), _connector='OR'), name='fact_pending_undecided'),
        ),
        migrations.AddConstraint(
            model_name='fact',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('reviewed_at__isnull', True), ('reviewer__isnull', True)), models.Q(('reviewed_at__isnull', False), ('reviewer__isnull', False)), _connector='OR'), name='fact_review_complete'),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name='fact',
            trigger=pgtrigger.compiler.Trigger(name='kept', sql=pgtrigger.compiler.UpsertTriggerSql(func="\n            IF public.remembrancer_is_purging(TG_RELID) THEN RETURN OLD; END IF;\n            RAISE EXCEPTION 'A fact is never deleted, only purged.' USING ERRCODE = 'restrict_violation';\n        ", hash='b850c299fad46c90979cf3496b9f20ed749e41f4', operation='DELETE', pgid='pgtrigger_kept_ed530', table='memory_fact', when='BEFORE')),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name='fact',
            trigger=pgtrigger.compiler.Trigger(name='fact_birth', sql=pgtrigger.compiler.UpsertTriggerSql(execute='remembrancer_fact_birth()', func='RETURN NULL;', hash='5c91d4b9f391bba536f42cceae206f01508e1112', operation='INSERT', pgid='pgtrigger_fact_birth_08f12', table='memory_fact', when='BEFORE')),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name='fact',
            trigger=pgtrigger.compiler.Trigger(name='fact_change', sql=pgtrigger.compiler.UpsertTriggerSql(execute='remembrancer_fact_change()', func='RETURN NULL;', hash='d6787394872f1117ce11cfce94dccf51b6e895d1', operation='UPDATE', pgid='pgtrigger_fact_change_33352', table='memory_fact', when='BEFORE')),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name='fact',
            trigger=pgtrigger.compiler.Trigger(name='fact_moved', sql=pgtrigger.compiler.UpsertTriggerSql(condition='WHEN (OLD."state" IS DISTINCT FROM (NEW."state"))', execute='remembrancer_fact_moved()', func='RETURN NULL;', hash='107f8d85bdb74507c7a6c8a2699ffa46e7fc240c', operation='UPDATE', pgid='pgtrigger_fact_moved_f64a7', table='memory_fact', when='AFTER')),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name='fact',
            trigger=pgtrigger.compiler.Trigger(name='fact_settled', sql=pgtrigger.compiler.UpsertTriggerSql(condition='WHEN (OLD."state" IS DISTINCT FROM (NEW."state") AND NEW."state" = \'active\')', constraint='CONSTRAINT', execute='remembrancer_fact_settled()', func='RETURN NULL;', hash='aa9a3ac1944a9bb88a5f778c96422081ab3ea96c', operation='UPDATE', pgid='pgtrigger_fact_settled_1698f', table='memory_fact', timing='DEFERRABLE INITIALLY DEFERRED', when='AFTER')),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name='fact',
            trigger=pgtrigger.compiler.Trigger(name='audited', sql=pgtrigger.compiler.UpsertTriggerSql(execute='remembrancer_audit()', func='RETURN NULL;', hash='879dc550a07d4849086604e47e872298153ff3bb', operation='INSERT OR UPDATE OR DELETE', pgid='pgtrigger_audited_ce25c', table='memory_fact', when='AFTER')),
        ),
        migrations.AddIndex(
            model_name='evidence',
            index=models.Index(fields=['message'], name='evidence_message'),
        ),
        migrations.AddConstraint(
            model_name='evidence',
            constraint=models.UniqueConstraint(fields=('fact', 'message', 'owner'), name='evidence_once'),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name='evidence',
            trigger=pgtrigger.compiler.Trigger(name='kept', sql=pgtrigger.compiler.UpsertTriggerSql(func="\n            IF public.remembrancer_is_purging(TG_RELID) THEN RETURN OLD; END IF;\n            RAISE EXCEPTION 'Evidence is never deleted, only purged.' USING ERRCODE = 'restrict_violation';\n        ", hash='18d7af4a1fc39001309ed911377135e18b5194e9', operation='DELETE', pgid='pgtrigger_kept_b381d', table='memory_evidence', when='BEFORE')),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name='evidence',
            trigger=pgtrigger.compiler.Trigger(name='evidence_fixed', sql=pgtrigger.compiler.UpsertTriggerSql(condition='WHEN (OLD."id" IS DISTINCT FROM (NEW."id") OR OLD."owner_id" IS DISTINCT FROM (NEW."owner_id") OR OLD."fact_id" IS DISTINCT FROM (NEW."fact_id") OR OLD."message_id" IS DISTINCT FROM (NEW."message_id") OR OLD."quote" IS DISTINCT FROM (NEW."quote") OR OLD."created_at" IS DISTINCT FROM (NEW."created_at"))', func="\n            IF public.remembrancer_is_purging(TG_RELID) THEN RETURN NEW; END IF;\n            RAISE EXCEPTION 'Evidence is never changed.' USING ERRCODE = 'restrict_violation';\n        ", hash='5a92ac497cd9ba8289703207cbb6b221fecfc8d7', operation='UPDATE', pgid='pgtrigger_evidence_fixed_0395c', table='memory_evidence', when='BEFORE')),
        ),
        migrations.AddIndex(
            model_name='droppedcandidate',
            index=models.Index(fields=['run'], name='dropped_run'),
        ),
        migrations.AddConstraint(
            model_name='correctiontarget',
            constraint=models.UniqueConstraint(fields=('fact', 'target', 'owner'), name='target_once'),
        ),
        migrations.AddConstraint(
            model_name='correctiontarget',
            constraint=models.UniqueConstraint(condition=models.Q(('open', True)), fields=('owner', 'target'), name='target_one_open'),
        ),
        migrations.AddConstraint(
            model_name='correctiontarget',
            constraint=models.CheckConstraint(condition=models.Q(('fact', models.F('target')), _negated=True), name='target_not_self'),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name='correctiontarget',
            trigger=pgtrigger.compiler.Trigger(name='target_fixed', sql=pgtrigger.compiler.UpsertTriggerSql(condition='WHEN (OLD."id" IS DISTINCT FROM (NEW."id") OR OLD."owner_id" IS DISTINCT FROM (NEW."owner_id") OR OLD."fact_id" IS DISTINCT FROM (NEW."fact_id"))', func="\n            IF public.remembrancer_is_purging(TG_RELID) THEN RETURN NEW; END IF;\n            RAISE EXCEPTION 'A correction keeps its targets, or follows them to their successors.' USING ERRCODE = 'restrict_violation';\n        ", hash='d08ae93d9df8a0bbdfbbd90d3d0f12b35afe2704', operation='UPDATE', pgid='pgtrigger_target_fixed_c8bd0', table='memory_correctiontarget', when='BEFORE')),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name='correctiontarget',
            trigger=pgtrigger.compiler.Trigger(name='target_open', sql=pgtrigger.compiler.UpsertTriggerSql(execute='remembrancer_target()', func='RETURN NULL;', hash='4d819cbb2e9ba8fd4b3d5e7ae2135cc121979e6b', operation='INSERT OR UPDATE', pgid='pgtrigger_target_open_6b09c', table='memory_correctiontarget', when='BEFORE')),
        ),
        migrations.AddIndex(
            model_name='factembedding',
            index=models.Index(fields=['owner', 'model'], name='embedding_owner'),
        ),
        migrations.AddConstraint(
            model_name='factembedding',
            constraint=models.UniqueConstraint(fields=('fact', 'model', 'owner'), name='embedding_once_per_model'),
        ),
        migrations.AddIndex(
            model_name='factentity',
            index=models.Index(fields=['fact'], name='entity_of_fact'),
        ),
        migrations.AddConstraint(
            model_name='factentity',
            constraint=models.UniqueConstraint(fields=('entity', 'fact', 'owner'), name='entity_fact_once'),
        ),
        migrations.AddConstraint(
            model_name='entity',
            constraint=models.UniqueConstraint(fields=('owner', 'type', 'normal_name'), name='entity_name_per_owner'),
        ),
        migrations.AddConstraint(
            model_name='entity',
            constraint=models.UniqueConstraint(fields=('owner', 'id'), name='entity_owner_id'),
        ),
        migrations.AddConstraint(
            model_name='recalledfact',
            constraint=models.UniqueConstraint(fields=('conversation', 'fact'), name='recalled_once'),
        ),
        migrations.AddConstraint(
            model_name='tombstone',
            constraint=models.UniqueConstraint(fields=('owner', 'digest'), name='tombstone_once'),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name='tombstone',
            trigger=pgtrigger.compiler.Trigger(name='kept', sql=pgtrigger.compiler.UpsertTriggerSql(func="\n            IF public.remembrancer_is_purging(TG_RELID) THEN RETURN OLD; END IF;\n            RAISE EXCEPTION 'A tombstone is never deleted.' USING ERRCODE = 'restrict_violation';\n        ", hash='e99abac26bf48f7fc048382c306081dd85c1db24', operation='DELETE', pgid='pgtrigger_kept_e4f7f', table='memory_tombstone', when='BEFORE')),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name='tombstone',
            trigger=pgtrigger.compiler.Trigger(name='tombstone_fixed', sql=pgtrigger.compiler.UpsertTriggerSql(condition='WHEN (OLD."id" IS DISTINCT FROM (NEW."id") OR OLD."owner_id" IS DISTINCT FROM (NEW."owner_id") OR OLD."digest" IS DISTINCT FROM (NEW."digest") OR OLD."created_at" IS DISTINCT FROM (NEW."created_at"))', func="\n            IF public.remembrancer_is_purging(TG_RELID) THEN RETURN NEW; END IF;\n            RAISE EXCEPTION 'A tombstone is never changed.' USING ERRCODE = 'restrict_violation';\n        ", hash='e9b7dbc931871aecce37ff3835f9e9181aaaf467', operation='UPDATE', pgid='pgtrigger_tombstone_fixed_cbae5', table='memory_tombstone', when='BEFORE')),
        ),
        same_owner('memory_fact', 'agent_id', 'agents_agent'),
        same_owner('memory_fact', 'superseded_by_id', 'memory_fact'),
        same_owner('memory_fact', 'similar_to_id', 'memory_fact'),
        same_owner('memory_fact', 'conversation_id', 'conversations_conversation'),
        same_owner('memory_fact', 'run_id', 'memory_extractionrun'),
        same_owner('memory_fact', 'imported_by_id', 'conversations_import'),
        same_owner('memory_fact', 'client_id', 'agents_apikey'),
        same_owner('memory_factembedding', 'fact_id', 'memory_fact', on_delete='CASCADE'),
        same_owner('memory_factusage', 'fact_id', 'memory_fact', on_delete='CASCADE'),
        same_owner('memory_evidence', 'fact_id', 'memory_fact'),
        same_owner('memory_evidence', 'message_id', 'conversations_message'),
        same_owner('memory_correctiontarget', 'fact_id', 'memory_fact'),
        same_owner('memory_correctiontarget', 'target_id', 'memory_fact'),
        same_owner('memory_entityalias', 'entity_id', 'memory_entity', on_delete='CASCADE'),
        same_owner('memory_factentity', 'fact_id', 'memory_fact', on_delete='CASCADE'),
        same_owner('memory_factentity', 'entity_id', 'memory_entity', on_delete='CASCADE'),
        same_owner('memory_extractionrun', 'agent_id', 'agents_agent'),
        same_owner('memory_extractionrun', 'conversation_id', 'conversations_conversation'),
        same_owner('memory_droppedcandidate', 'run_id', 'memory_extractionrun'),
        same_owner('memory_droppedcandidate', 'message_id', 'conversations_message'),
        same_owner('memory_droppedcandidate', 'fact_id', 'memory_fact'),
        same_owner('memory_recalledfact', 'conversation_id', 'conversations_conversation'),
        same_owner('memory_recalledfact', 'fact_id', 'memory_fact', on_delete='CASCADE'),
        # Two jobs or two tabs can't make twins. The owner's id stands for "no agent", which a plain
        # comparison would call unknown.
        migrations.RunSQL(
            'ALTER TABLE memory_fact ADD CONSTRAINT fact_one_live_per_text EXCLUDE USING btree '
            '(owner_id WITH =, (coalesce(agent_id, owner_id)) WITH =, text_hash WITH =) '
            "WHERE (state IN ('pending', 'active')) DEFERRABLE INITIALLY IMMEDIATE",
            'ALTER TABLE memory_fact DROP CONSTRAINT fact_one_live_per_text',
        ),
    ]
