from pathlib import Path

from agents.composite import same_owner
import agents.models
import django.contrib.postgres.fields
import django.contrib.postgres.indexes
import django.contrib.postgres.search
import django.db.models.deletion
import django.db.models.functions.text
import django.utils.timezone
import pgtrigger.compiler
import pgtrigger.migrations
import pgvector.django.vector
from django.conf import settings
from django.db import migrations, models


FUNCTIONS = (Path(__file__).parent.parent / 'sql' / '0005_cases.sql').read_text()
DROP = """
    DROP FUNCTION remembrancer_case_birth;
    DROP FUNCTION remembrancer_case_change;
"""


class Migration(migrations.Migration):

    dependencies = [
        ('agents', '0002_terms'),
        ('conversations', '0003_index_what_was_said'),
        ('memory', '0004_recalled_ahead'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.RunSQL(FUNCTIONS, DROP),
        migrations.CreateModel(
            name='Case',
            fields=[
                ('id', models.UUIDField(default=agents.models.new_id, editable=False, primary_key=True, serialize=False)),
                ('goal', models.CharField(max_length=300)),
                ('context', models.CharField(max_length=500)),
                ('approach', models.CharField(max_length=500)),
                ('outcome', models.CharField(max_length=500)),
                ('quality', models.CharField(choices=[('success', 'It worked'), ('partial', 'It worked in part'), ('failure', 'It did not work')], max_length=8)),
                ('lessons', models.CharField(blank=True, max_length=500)),
                ('actors', django.contrib.postgres.fields.ArrayField(base_field=models.CharField(max_length=120), size=None)),
                ('tags', django.contrib.postgres.fields.ArrayField(base_field=models.CharField(max_length=40), blank=True, default=list, size=None)),
                ('text_hash', models.CharField(editable=False, max_length=64)),
                ('language', models.CharField(default='simple', max_length=24)),
                ('state', models.CharField(choices=[('pending', 'Pending'), ('active', 'Active'), ('rejected', 'Rejected'), ('archived', 'Archived')], default='pending', max_length=16)),
                ('revision', models.PositiveIntegerField(default=0)),
                ('withheld_for', django.contrib.postgres.fields.ArrayField(base_field=models.CharField(max_length=24), blank=True, default=list, size=None)),
                ('withheld_detail', models.CharField(blank=True, max_length=200)),
                ('archived_reason', models.CharField(blank=True, choices=[('forgotten', 'The owner asked to forget it'), ('stale', 'Not used for long'), ('aged_out', 'Waited too long for a decision'), ('undone', 'The step that made it was taken back')], max_length=16)),
                ('archived_from', models.CharField(blank=True, choices=[('pending', 'Pending'), ('active', 'Active'), ('rejected', 'Rejected'), ('archived', 'Archived')], max_length=16)),
                ('reviewed_at', models.DateTimeField(blank=True, null=True)),
                ('origin', models.CharField(choices=[('extraction', 'Extraction'), ('import', 'Import')], default='extraction', max_length=16)),
                ('prompt_version', models.CharField(blank=True, max_length=64)),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                ('happened_at', models.DateTimeField()),
                ('search', models.GeneratedField(db_persist=True, expression=models.Func(models.F('language'), django.db.models.functions.text.Concat(models.F('goal'), models.Value(' '), models.F('context'), models.Value(' '), models.F('approach'), models.Value(' '), models.F('outcome'), models.Value(' '), models.F('lessons'), output_field=models.TextField()), function='remembrancer_tsvector'), output_field=django.contrib.postgres.search.SearchVectorField())),
                ('agent', models.ForeignKey(db_constraint=False, on_delete=django.db.models.deletion.PROTECT, related_name='cases', to='agents.agent')),
                ('conversation', models.ForeignKey(db_constraint=False, on_delete=django.db.models.deletion.PROTECT, related_name='cases', to='conversations.conversation')),
                ('owner', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='cases', to=settings.AUTH_USER_MODEL)),
                ('reviewer', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'ordering': ['-created_at', '-id'],
            },
        ),
        migrations.CreateModel(
            name='CaseEmbedding',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('model', models.CharField(max_length=120)),
                ('vector', pgvector.django.vector.VectorField()),
                ('case', models.ForeignKey(db_constraint=False, on_delete=django.db.models.deletion.CASCADE, related_name='embeddings', to='memory.case')),
                ('owner', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
            ],
        ),
        migrations.CreateModel(
            name='CaseReading',
            fields=[
                ('conversation', models.OneToOneField(db_constraint=False, on_delete=django.db.models.deletion.CASCADE, primary_key=True, related_name='case_reading', serialize=False, to='conversations.conversation')),
                ('seq', models.PositiveIntegerField(default=0)),
                ('failures', models.PositiveSmallIntegerField(default=0)),
                ('read_at', models.DateTimeField(default=django.utils.timezone.now)),
                ('owner', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
            ],
        ),
        migrations.CreateModel(
            name='CaseSource',
            fields=[
                ('id', models.UUIDField(default=agents.models.new_id, editable=False, primary_key=True, serialize=False)),
                ('case', models.ForeignKey(db_constraint=False, on_delete=django.db.models.deletion.CASCADE, related_name='sources', to='memory.case')),
                ('message', models.ForeignKey(db_constraint=False, on_delete=django.db.models.deletion.PROTECT, related_name='case_sources', to='conversations.message')),
                ('owner', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'ordering': ['case', 'id'],
            },
        ),
        migrations.CreateModel(
            name='Derivation',
            fields=[
                ('id', models.UUIDField(default=agents.models.new_id, editable=False, primary_key=True, serialize=False)),
                ('fact', models.ForeignKey(db_constraint=False, on_delete=django.db.models.deletion.PROTECT, related_name='derived_from', to='memory.fact')),
                ('owner', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('source', models.ForeignKey(db_constraint=False, on_delete=django.db.models.deletion.PROTECT, related_name='conclusions', to='memory.fact')),
            ],
            options={
                'ordering': ['fact', 'id'],
            },
        ),
        migrations.CreateModel(
            name='Profile',
            fields=[
                ('id', models.UUIDField(default=agents.models.new_id, editable=False, primary_key=True, serialize=False)),
                ('digest', models.CharField(max_length=64)),
                ('prompt_version', models.CharField(blank=True, max_length=64)),
                ('written_by', models.CharField(max_length=120)),
                ('written_at', models.DateTimeField(default=django.utils.timezone.now)),
                ('agent', models.ForeignKey(db_constraint=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='agents.agent')),
                ('owner', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
            ],
        ),
        migrations.CreateModel(
            name='ProfileSentence',
            fields=[
                ('id', models.UUIDField(default=agents.models.new_id, editable=False, primary_key=True, serialize=False)),
                ('place', models.PositiveSmallIntegerField()),
                ('text', models.CharField(max_length=400)),
                ('owner', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('profile', models.ForeignKey(db_constraint=False, on_delete=django.db.models.deletion.CASCADE, related_name='sentences', to='memory.profile')),
            ],
            options={
                'ordering': ['profile', 'place'],
            },
        ),
        migrations.CreateModel(
            name='ProfileCitation',
            fields=[
                ('id', models.UUIDField(default=agents.models.new_id, editable=False, primary_key=True, serialize=False)),
                ('fact', models.ForeignKey(db_constraint=False, on_delete=django.db.models.deletion.PROTECT, related_name='profile_citations', to='memory.fact')),
                ('owner', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('sentence', models.ForeignKey(db_constraint=False, on_delete=django.db.models.deletion.CASCADE, related_name='citations', to='memory.profilesentence')),
            ],
            options={
                'ordering': ['sentence', 'id'],
            },
        ),
        migrations.CreateModel(
            name='Reflection',
            fields=[
                ('id', models.UUIDField(default=agents.models.new_id, editable=False, primary_key=True, serialize=False)),
                ('digest', models.CharField(max_length=64)),
                ('at', models.DateTimeField(default=django.utils.timezone.now)),
                ('agent', models.ForeignKey(blank=True, db_constraint=False, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='agents.agent')),
                ('owner', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
            ],
        ),
        migrations.AddIndex(
            model_name='case',
            index=models.Index(fields=['owner', 'state', '-created_at', '-id'], name='case_list'),
        ),
        migrations.AddIndex(
            model_name='case',
            index=models.Index(condition=models.Q(('state', 'active')), fields=['owner', 'agent'], name='case_active_scope'),
        ),
        migrations.AddIndex(
            model_name='case',
            index=models.Index(fields=['conversation', 'state'], name='case_conversation'),
        ),
        migrations.AddIndex(
            model_name='case',
            index=django.contrib.postgres.indexes.GinIndex(fields=['search'], name='case_search'),
        ),
        migrations.AddConstraint(
            model_name='case',
            constraint=models.UniqueConstraint(fields=('owner', 'id'), name='case_owner_id'),
        ),
        migrations.AddConstraint(
            model_name='case',
            constraint=models.UniqueConstraint(condition=models.Q(('state__in', ['pending', 'active'])), fields=('owner', 'agent', 'text_hash'), name='case_one_live_per_text'),
        ),
        migrations.AddConstraint(
            model_name='case',
            constraint=models.CheckConstraint(condition=models.Q(('goal__length__gte', 10), ('goal__length__lte', 300), ('goal__regex', '^\\S.*\\S$')), name='case_goal_long'),
        ),
        migrations.AddConstraint(
            model_name='case',
            constraint=models.CheckConstraint(condition=models.Q(('context__length__gte', 10), ('context__length__lte', 500), ('context__regex', '^\\S.*\\S$')), name='case_context_long'),
        ),
        migrations.AddConstraint(
            model_name='case',
            constraint=models.CheckConstraint(condition=models.Q(('approach__length__gte', 10), ('approach__length__lte', 500), ('approach__regex', '^\\S.*\\S$')), name='case_approach_long'),
        ),
        migrations.AddConstraint(
            model_name='case',
            constraint=models.CheckConstraint(condition=models.Q(('outcome__length__gte', 10), ('outcome__length__lte', 500), ('outcome__regex', '^\\S.*\\S$')), name='case_outcome_long'),
        ),
        migrations.AddConstraint(
            model_name='case',
            constraint=models.CheckConstraint(condition=models.Q(('actors__len__gte', 1), ('actors__len__lte', 10)), name='case_actors_few'),
        ),
        migrations.AddConstraint(
            model_name='case',
            constraint=models.CheckConstraint(condition=models.Q(('quality__in', ['success', 'partial', 'failure'])), name='case_quality_known'),
        ),
        migrations.AddConstraint(
            model_name='case',
            constraint=models.CheckConstraint(condition=models.Q(('origin__in', ['extraction', 'import'])), name='case_origin_known'),
        ),
        migrations.AddConstraint(
            model_name='case',
            constraint=models.CheckConstraint(condition=models.Q(('text_hash__regex', '^[0-9a-f]{64}$')), name='case_text_hash_is_one'),
        ),
        migrations.AddConstraint(
            model_name='case',
            constraint=models.CheckConstraint(condition=models.Q(('state__in', ['pending', 'active', 'rejected', 'archived'])), name='case_state_known'),
        ),
        migrations.AddConstraint(
            model_name='case',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('archived_from', 'pending'), ('archived_reason__in', ['forgotten', 'aged_out', 'undone']), ('state', 'archived')), models.Q(('archived_from', 'active'), ('archived_reason__in', ['forgotten', 'stale']), ('state', 'archived')), models.Q(models.Q(('state', 'archived'), _negated=True), ('archived_from', ''), ('archived_reason', '')), _connector='OR'), name='case_archived_with_reason'),
        ),
        migrations.AddConstraint(
            model_name='case',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('state__in', ['active', 'rejected']), _negated=True), ('reviewer__isnull', False), _connector='OR'), name='case_decided_by_person'),
        ),
        migrations.AddConstraint(
            model_name='case',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('state', 'pending'), _negated=True), ('reviewer__isnull', True), _connector='OR'), name='case_pending_undecided'),
        ),
        migrations.AddConstraint(
            model_name='case',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('reviewed_at__isnull', True), ('reviewer__isnull', True)), models.Q(('reviewed_at__isnull', False), ('reviewer__isnull', False)), _connector='OR'), name='case_review_complete'),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name='case',
            trigger=pgtrigger.compiler.Trigger(name='kept', sql=pgtrigger.compiler.UpsertTriggerSql(func="\n            IF public.remembrancer_is_purging(TG_RELID) THEN RETURN OLD; END IF;\n            RAISE EXCEPTION 'A case is never deleted, only purged.' USING ERRCODE = 'restrict_violation';\n        ", hash='3699568f7165c3eed2126b001ca1fa5ada80b2b8', operation='DELETE', pgid='pgtrigger_kept_0f054', table='memory_case', when='BEFORE')),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name='case',
            trigger=pgtrigger.compiler.Trigger(name='case_birth', sql=pgtrigger.compiler.UpsertTriggerSql(execute='remembrancer_case_birth()', func='RETURN NULL;', hash='35d2459c872185a661a8a6aab9eb21e76c6bb57c', operation='INSERT', pgid='pgtrigger_case_birth_d534d', table='memory_case', when='BEFORE')),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name='case',
            trigger=pgtrigger.compiler.Trigger(name='case_change', sql=pgtrigger.compiler.UpsertTriggerSql(execute='remembrancer_case_change()', func='RETURN NULL;', hash='174994ede608825e547b11f49ba9620cc605d197', operation='UPDATE', pgid='pgtrigger_case_change_85c62', table='memory_case', when='BEFORE')),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name='case',
            trigger=pgtrigger.compiler.Trigger(name='audited', sql=pgtrigger.compiler.UpsertTriggerSql(execute='remembrancer_audit()', func='RETURN NULL;', hash='4517d910bdcdc746d613eead62926c9a2fffaf8b', operation='INSERT OR UPDATE OR DELETE', pgid='pgtrigger_audited_2cc10', table='memory_case', when='AFTER')),
        ),
        migrations.AddConstraint(
            model_name='caseembedding',
            constraint=models.UniqueConstraint(fields=('case', 'model', 'owner'), name='case_vector_once'),
        ),
        migrations.AddIndex(
            model_name='casesource',
            index=models.Index(fields=['message'], name='case_source_message'),
        ),
        migrations.AddConstraint(
            model_name='casesource',
            constraint=models.UniqueConstraint(fields=('case', 'message', 'owner'), name='case_source_once'),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name='casesource',
            trigger=pgtrigger.compiler.Trigger(name='kept', sql=pgtrigger.compiler.UpsertTriggerSql(func="\n            IF public.remembrancer_is_purging(TG_RELID) THEN RETURN OLD; END IF;\n            RAISE EXCEPTION 'A case keeps its sources; only a purge takes them.' USING ERRCODE = 'restrict_violation';\n        ", hash='8da7c3515b7478503c365fcee3ec1883d30c9476', operation='DELETE', pgid='pgtrigger_kept_47164', table='memory_casesource', when='BEFORE')),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name='casesource',
            trigger=pgtrigger.compiler.Trigger(name='case_source_fixed', sql=pgtrigger.compiler.UpsertTriggerSql(condition='WHEN (OLD."id" IS DISTINCT FROM (NEW."id") OR OLD."owner_id" IS DISTINCT FROM (NEW."owner_id") OR OLD."case_id" IS DISTINCT FROM (NEW."case_id") OR OLD."message_id" IS DISTINCT FROM (NEW."message_id"))', func="\n            IF public.remembrancer_is_purging(TG_RELID) THEN RETURN NEW; END IF;\n            RAISE EXCEPTION 'A source is never changed.' USING ERRCODE = 'restrict_violation';\n        ", hash='35587533d30a801d9f42ea19445c601c0d891d0e', operation='UPDATE', pgid='pgtrigger_case_source_fixed_d2104', table='memory_casesource', when='BEFORE')),
        ),
        migrations.AddIndex(
            model_name='derivation',
            index=models.Index(fields=['source'], name='derivation_source'),
        ),
        migrations.AddConstraint(
            model_name='derivation',
            constraint=models.UniqueConstraint(fields=('fact', 'source', 'owner'), name='derivation_once'),
        ),
        migrations.AddConstraint(
            model_name='derivation',
            constraint=models.CheckConstraint(condition=models.Q(('fact', models.F('source')), _negated=True), name='derivation_not_self'),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name='derivation',
            trigger=pgtrigger.compiler.Trigger(name='kept', sql=pgtrigger.compiler.UpsertTriggerSql(func="\n            IF public.remembrancer_is_purging(TG_RELID) THEN RETURN OLD; END IF;\n            RAISE EXCEPTION 'A conclusion keeps its sources; only a purge takes them.' USING ERRCODE = 'restrict_violation';\n        ", hash='526f6da7815ebbf066f8edba31620c347d13c0a5', operation='DELETE', pgid='pgtrigger_kept_04d9c', table='memory_derivation', when='BEFORE')),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name='derivation',
            trigger=pgtrigger.compiler.Trigger(name='derivation_fixed', sql=pgtrigger.compiler.UpsertTriggerSql(condition='WHEN (OLD."id" IS DISTINCT FROM (NEW."id") OR OLD."owner_id" IS DISTINCT FROM (NEW."owner_id") OR OLD."fact_id" IS DISTINCT FROM (NEW."fact_id") OR OLD."source_id" IS DISTINCT FROM (NEW."source_id"))', func="\n            IF public.remembrancer_is_purging(TG_RELID) THEN RETURN NEW; END IF;\n            RAISE EXCEPTION 'What a fact was concluded from is never changed.' USING ERRCODE = 'restrict_violation';\n        ", hash='fa723b8f49d0cb6d34391803663c6fcd0a67ee6a', operation='UPDATE', pgid='pgtrigger_derivation_fixed_8f703', table='memory_derivation', when='BEFORE')),
        ),
        migrations.AddConstraint(
            model_name='profile',
            constraint=models.UniqueConstraint(fields=('owner', 'agent'), name='profile_once'),
        ),
        migrations.AddConstraint(
            model_name='profile',
            constraint=models.UniqueConstraint(fields=('owner', 'id'), name='profile_owner_id'),
        ),
        migrations.AddConstraint(
            model_name='profilesentence',
            constraint=models.UniqueConstraint(fields=('profile', 'place', 'owner'), name='sentence_place'),
        ),
        migrations.AddConstraint(
            model_name='profilesentence',
            constraint=models.UniqueConstraint(fields=('owner', 'id'), name='sentence_owner_id'),
        ),
        migrations.AddIndex(
            model_name='profilecitation',
            index=models.Index(fields=['fact'], name='citation_fact'),
        ),
        migrations.AddConstraint(
            model_name='profilecitation',
            constraint=models.UniqueConstraint(fields=('sentence', 'fact', 'owner'), name='citation_once'),
        ),
        migrations.AddConstraint(
            model_name='reflection',
            constraint=models.UniqueConstraint(fields=('owner', 'agent'), name='reflection_once', nulls_distinct=False),
        ),
        same_owner('memory_case', 'agent_id', 'agents_agent'),
        same_owner('memory_case', 'conversation_id', 'conversations_conversation'),
        same_owner('memory_casesource', 'case_id', 'memory_case', on_delete='CASCADE'),
        same_owner('memory_casesource', 'message_id', 'conversations_message'),
        same_owner('memory_caseembedding', 'case_id', 'memory_case', on_delete='CASCADE'),
        same_owner(
            'memory_casereading', 'conversation_id', 'conversations_conversation', on_delete='CASCADE'
        ),
        same_owner('memory_derivation', 'fact_id', 'memory_fact'),
        same_owner('memory_derivation', 'source_id', 'memory_fact'),
        same_owner('memory_reflection', 'agent_id', 'agents_agent'),
        same_owner('memory_profile', 'agent_id', 'agents_agent'),
        same_owner('memory_profilesentence', 'profile_id', 'memory_profile', on_delete='CASCADE'),
        same_owner(
            'memory_profilecitation', 'sentence_id', 'memory_profilesentence', on_delete='CASCADE'
        ),
        same_owner('memory_profilecitation', 'fact_id', 'memory_fact'),
    ]
