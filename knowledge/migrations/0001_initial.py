from pathlib import Path

from agents.composite import same_owner
import agents.models
import django.contrib.postgres.fields
import django.db.models.deletion
import django.utils.timezone
import pgtrigger.compiler
import pgtrigger.migrations
import pgvector.django.vector
from django.conf import settings
from django.db import migrations, models


FUNCTIONS = (Path(__file__).parent.parent / 'sql' / '0001_functions.sql').read_text()
DROP = """
    DROP FUNCTION remembrancer_purges_knowledge;
    DROP FUNCTION remembrancer_document_passages_came;
"""
# The key is also the index that answers the words of a question by itself. What a passage is cut
# of is read whole and does not shrink: it is neither compressed nor searched.
COVER = """
    ALTER TABLE knowledge_documentterm DROP CONSTRAINT knowledge_documentterm_pkey,
        ADD PRIMARY KEY (owner_id, term, passage_id)
            INCLUDE (document_id, generation, tf, length);
    ALTER TABLE knowledge_documentfile ALTER COLUMN content SET STORAGE EXTERNAL
"""


class Migration(migrations.Migration):

    initial = True

    dependencies = [
        ('agents', '0007_names_in_the_admin'),
        ('conversations', '0007_names_in_the_admin'),
        ('memory', '0019_names_in_the_admin'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.RunSQL(FUNCTIONS, DROP),
        migrations.CreateModel(
            name='Collection',
            fields=[
                ('id', models.UUIDField(default=agents.models.new_id, editable=False, primary_key=True, serialize=False)),
                ('name', models.CharField(max_length=120)),
                ('description', models.CharField(blank=True, max_length=500)),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                ('agent', models.ForeignKey(blank=True, db_constraint=False, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='collections', to='agents.agent')),
                ('owner', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='collections', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'ordering': ['name', 'id'],
            },
        ),
        migrations.CreateModel(
            name='Document',
            fields=[
                ('id', models.UUIDField(default=agents.models.new_id, editable=False, primary_key=True, serialize=False)),
                ('title', models.CharField(max_length=300)),
                ('origin', models.CharField(choices=[('upload', 'Uploaded'), ('web', 'From the web'), ('api', 'Sent by a client'), ('outcome', "An assistant's outcome")], max_length=8)),
                ('address', models.CharField(blank=True, max_length=2000)),
                ('file_name', models.CharField(blank=True, max_length=255)),
                ('media_type', models.CharField(blank=True, max_length=100)),
                ('size', models.PositiveBigIntegerField(default=0)),
                ('digest', models.CharField(blank=True, max_length=64)),
                ('language', models.CharField(default='simple', max_length=24)),
                ('pages', models.PositiveIntegerField(blank=True, null=True)),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                ('state', models.CharField(choices=[('waiting', 'Waiting'), ('converting', 'Being read'), ('indexing', 'Being indexed'), ('ready', 'Ready'), ('failed', 'Failed')], default='waiting', max_length=16)),
                ('stage', models.CharField(blank=True, choices=[('', ''), ('fetching', 'Fetching the page'), ('converting', 'Reading pages'), ('splitting', 'Cutting it into passages'), ('embedding', 'Indexing passages')], max_length=16)),
                ('progress', models.PositiveIntegerField(default=0)),
                ('progress_of', models.PositiveIntegerField(default=0)),
                ('attempts', models.PositiveSmallIntegerField(default=0)),
                ('next_attempt_at', models.DateTimeField(blank=True, null=True)),
                ('failure', models.CharField(blank=True, choices=[('unsupported', 'Not a kind of file that can be read'), ('empty', 'Nothing to read in it'), ('damaged', 'Damaged'), ('protected', 'Protected with a password'), ('too_large', 'Too large'), ('too_long', 'Too many pages'), ('unpacks', 'Unpacks to far more than it is'), ('hostile', 'Made in a way that no honest file is'), ('too_heavy', 'Takes too much memory or time'), ('duplicate', 'The same as another document of its collection'), ('refused', 'The address may not be read'), ('unreachable', "The address can't be reached"), ('broken_off', 'Broken off'), ('internal', 'A fault of this application')], max_length=16)),
                ('failure_detail', models.CharField(blank=True, max_length=500)),
                ('notes', models.CharField(blank=True, max_length=500)),
                ('token', models.UUIDField(blank=True, null=True)),
                ('busy_until', models.DateTimeField(blank=True, null=True)),
                ('generation', models.PositiveIntegerField(blank=True, null=True)),
                ('passages', models.PositiveIntegerField(default=0)),
                ('length', models.PositiveBigIntegerField(default=0)),
                ('indexed_at', models.DateTimeField(blank=True, null=True)),
                ('client', models.ForeignKey(blank=True, db_constraint=False, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='agents.apikey')),
                ('collection', models.ForeignKey(db_constraint=False, on_delete=django.db.models.deletion.PROTECT, related_name='documents', to='knowledge.collection')),
                ('owner', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='documents', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'ordering': ['-created_at', '-id'],
            },
        ),
        migrations.CreateModel(
            name='DocumentFile',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('piece', models.PositiveIntegerField()),
                ('content', models.BinaryField()),
                ('document', models.ForeignKey(db_constraint=False, on_delete=django.db.models.deletion.CASCADE, related_name='pieces', to='knowledge.document')),
                ('owner', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'ordering': ['document', 'piece'],
            },
        ),
        migrations.CreateModel(
            name='DocumentPassage',
            fields=[
                ('id', models.UUIDField(default=agents.models.new_id, editable=False, primary_key=True, serialize=False)),
                ('generation', models.PositiveIntegerField()),
                ('ordinal', models.PositiveIntegerField()),
                ('text', models.TextField()),
                ('headings', django.contrib.postgres.fields.ArrayField(base_field=models.CharField(max_length=300), blank=True, default=list, size=None)),
                ('page_from', models.PositiveIntegerField(blank=True, null=True)),
                ('page_to', models.PositiveIntegerField(blank=True, null=True)),
                ('start', models.PositiveIntegerField()),
                ('end', models.PositiveIntegerField()),
                ('kind', models.CharField(choices=[('text', 'Text'), ('ocr', 'Text recognised in an image'), ('caption', 'Caption of an image')], default='text', max_length=8)),
                ('language', models.CharField(default='simple', max_length=24)),
                ('document', models.ForeignKey(db_constraint=False, on_delete=django.db.models.deletion.CASCADE, related_name='+', to='knowledge.document')),
                ('owner', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'ordering': ['document', 'generation', 'ordinal'],
            },
        ),
        migrations.CreateModel(
            name='DocumentEmbedding',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('document_id', models.UUIDField()),
                ('generation', models.PositiveIntegerField()),
                ('model', models.CharField(max_length=120)),
                ('vector', pgvector.django.vector.VectorField()),
                ('owner', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('passage', models.ForeignKey(db_constraint=False, on_delete=django.db.models.deletion.CASCADE, related_name='embeddings', to='knowledge.documentpassage')),
            ],
        ),
        migrations.CreateModel(
            name='DocumentTerm',
            fields=[
                ('pk', models.CompositePrimaryKey('owner', 'term', 'passage', blank=True, editable=False, primary_key=True, serialize=False)),
                ('term', models.TextField()),
                ('document_id', models.UUIDField()),
                ('generation', models.PositiveIntegerField()),
                ('tf', models.PositiveIntegerField()),
                ('length', models.PositiveIntegerField()),
                ('owner', models.ForeignKey(db_constraint=False, db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('passage', models.ForeignKey(db_constraint=False, on_delete=django.db.models.deletion.CASCADE, related_name='terms', to='knowledge.documentpassage')),
            ],
        ),
        migrations.CreateModel(
            name='DocumentText',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('generation', models.PositiveIntegerField()),
                ('markdown', models.TextField()),
                ('document', models.ForeignKey(db_constraint=False, on_delete=django.db.models.deletion.CASCADE, related_name='texts', to='knowledge.document')),
                ('owner', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
            ],
        ),
        migrations.AddConstraint(
            model_name='collection',
            constraint=models.UniqueConstraint(fields=('owner', 'agent', 'name'), name='collection_once', nulls_distinct=False),
        ),
        migrations.AddConstraint(
            model_name='collection',
            constraint=models.UniqueConstraint(fields=('owner', 'id'), name='collection_owner_id'),
        ),
        migrations.AddConstraint(
            model_name='collection',
            constraint=models.CheckConstraint(condition=models.Q(('name__regex', '^\\S(.*\\S)?$')), name='collection_has_a_name'),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name='collection',
            trigger=pgtrigger.compiler.Trigger(name='kept', sql=pgtrigger.compiler.UpsertTriggerSql(func="\n            IF public.remembrancer_is_purging(TG_RELID) THEN RETURN OLD; END IF;\n            RAISE EXCEPTION 'A collection is never deleted, only purged.' USING ERRCODE = 'restrict_violation';\n        ", hash='8b25ffbf555d58fb7b3ca431172d28a300e2ebbd', operation='DELETE', pgid='pgtrigger_kept_0e40f', table='knowledge_collection', when='BEFORE')),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name='collection',
            trigger=pgtrigger.compiler.Trigger(name='collection_fixed', sql=pgtrigger.compiler.UpsertTriggerSql(condition='WHEN (OLD."id" IS DISTINCT FROM (NEW."id") OR OLD."owner_id" IS DISTINCT FROM (NEW."owner_id") OR OLD."created_at" IS DISTINCT FROM (NEW."created_at"))', func="\n            IF public.remembrancer_is_purging(TG_RELID) THEN RETURN NEW; END IF;\n            RAISE EXCEPTION 'A collection stays with its owner.' USING ERRCODE = 'restrict_violation';\n        ", hash='2ebe57eca2901d33a71bcc7a5697b7340fe21b07', operation='UPDATE', pgid='pgtrigger_collection_fixed_412e7', table='knowledge_collection', when='BEFORE')),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name='collection',
            trigger=pgtrigger.compiler.Trigger(name='audited', sql=pgtrigger.compiler.UpsertTriggerSql(execute='remembrancer_audit()', func='RETURN NULL;', hash='a86c2444c5b0120c12ec874ada1410b3c4f8d2fd', operation='INSERT OR UPDATE OR DELETE', pgid='pgtrigger_audited_823d5', table='knowledge_collection', when='AFTER')),
        ),
        migrations.AddIndex(
            model_name='document',
            index=models.Index(fields=['owner', 'collection', '-created_at', '-id'], name='document_list'),
        ),
        migrations.AddIndex(
            model_name='document',
            index=models.Index(condition=models.Q(('state__in', ['waiting', 'converting', 'indexing'])), fields=['next_attempt_at'], name='document_due'),
        ),
        migrations.AddConstraint(
            model_name='document',
            constraint=models.UniqueConstraint(fields=('owner', 'id'), name='document_owner_id'),
        ),
        migrations.AddConstraint(
            model_name='document',
            constraint=models.UniqueConstraint(condition=models.Q(('digest', ''), _negated=True), fields=('owner', 'collection', 'digest'), name='document_once'),
        ),
        migrations.AddConstraint(
            model_name='document',
            constraint=models.UniqueConstraint(condition=models.Q(('address', ''), _negated=True), fields=('owner', 'collection', 'address'), name='document_address_once'),
        ),
        migrations.AddConstraint(
            model_name='document',
            constraint=models.CheckConstraint(condition=models.Q(('digest__regex', '^([0-9a-f]{64})?$')), name='document_digest_is_one'),
        ),
        migrations.AddConstraint(
            model_name='document',
            constraint=models.CheckConstraint(condition=models.Q(('state__in', ['waiting', 'converting', 'indexing', 'ready', 'failed'])), name='document_state_known'),
        ),
        migrations.AddConstraint(
            model_name='document',
            constraint=models.CheckConstraint(condition=models.Q(('origin__in', ['upload', 'web', 'api', 'outcome'])), name='document_origin_known'),
        ),
        migrations.AddConstraint(
            model_name='document',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('state', 'failed'), _negated=True), models.Q(('failure', ''), _negated=True), _connector='OR'), name='document_failed_for_a_reason'),
        ),
        migrations.AddConstraint(
            model_name='document',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('state', 'ready'), _negated=True), ('generation__isnull', False), _connector='OR'), name='document_ready_answers'),
        ),
        migrations.AddConstraint(
            model_name='document',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('digest', ''), _negated=True), models.Q(('address', ''), _negated=True), _connector='OR'), name='document_has_a_source'),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name='document',
            trigger=pgtrigger.compiler.Trigger(name='kept', sql=pgtrigger.compiler.UpsertTriggerSql(func="\n            IF public.remembrancer_is_purging(TG_RELID) THEN RETURN OLD; END IF;\n            RAISE EXCEPTION 'A document is never deleted, only purged.' USING ERRCODE = 'restrict_violation';\n        ", hash='eb1eaeb149efe4bdb6bd5df33c615802502f7c04', operation='DELETE', pgid='pgtrigger_kept_f4d47', table='knowledge_document', when='BEFORE')),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name='document',
            trigger=pgtrigger.compiler.Trigger(name='document_fixed', sql=pgtrigger.compiler.UpsertTriggerSql(condition='WHEN (OLD."id" IS DISTINCT FROM (NEW."id") OR OLD."owner_id" IS DISTINCT FROM (NEW."owner_id") OR OLD."client_id" IS DISTINCT FROM (NEW."client_id") OR OLD."origin" IS DISTINCT FROM (NEW."origin") OR OLD."created_at" IS DISTINCT FROM (NEW."created_at"))', func="\n            IF public.remembrancer_is_purging(TG_RELID) THEN RETURN NEW; END IF;\n            RAISE EXCEPTION 'Where a document came from never changes.' USING ERRCODE = 'restrict_violation';\n        ", hash='d2c19ac99fe3c1f47616de3f0a4767627a1f3651', operation='UPDATE', pgid='pgtrigger_document_fixed_4ce91', table='knowledge_document', when='BEFORE')),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name='document',
            trigger=pgtrigger.compiler.Trigger(name='audited', sql=pgtrigger.compiler.UpsertTriggerSql(execute='remembrancer_audit()', func='RETURN NULL;', hash='e5ffb7471fe49a38b11993f9695269a6d8cadf40', operation='INSERT OR DELETE', pgid='pgtrigger_audited_78702', table='knowledge_document', when='AFTER')),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name='document',
            trigger=pgtrigger.compiler.Trigger(name='audited_change', sql=pgtrigger.compiler.UpsertTriggerSql(condition='WHEN (OLD."collection_id" IS DISTINCT FROM (NEW."collection_id") OR OLD."title" IS DISTINCT FROM (NEW."title") OR OLD."address" IS DISTINCT FROM (NEW."address") OR OLD."file_name" IS DISTINCT FROM (NEW."file_name") OR OLD."state" IS DISTINCT FROM (NEW."state") OR OLD."failure" IS DISTINCT FROM (NEW."failure") OR OLD."generation" IS DISTINCT FROM (NEW."generation") OR OLD."digest" IS DISTINCT FROM (NEW."digest"))', execute='remembrancer_audit()', func='RETURN NULL;', hash='b066cd47cc8808039d80e4fd13c643148fa92d38', operation='UPDATE', pgid='pgtrigger_audited_change_c47e5', table='knowledge_document', when='AFTER')),
        ),
        migrations.AddConstraint(
            model_name='documentfile',
            constraint=models.UniqueConstraint(fields=('document', 'piece', 'owner'), name='document_piece_once'),
        ),
        migrations.AddConstraint(
            model_name='documentpassage',
            constraint=models.UniqueConstraint(fields=('document', 'generation', 'ordinal', 'owner'), name='document_passage_place'),
        ),
        migrations.AddConstraint(
            model_name='documentpassage',
            constraint=models.UniqueConstraint(fields=('owner', 'id'), name='document_passage_owner_id'),
        ),
        migrations.AddConstraint(
            model_name='documentpassage',
            constraint=models.CheckConstraint(condition=models.Q(('start__lte', models.F('end'))), name='document_passage_stretch'),
        ),
        migrations.AddConstraint(
            model_name='documentpassage',
            constraint=models.CheckConstraint(condition=models.Q(('kind__in', ['text', 'ocr', 'caption'])), name='document_passage_kind_known'),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name='documentpassage',
            trigger=pgtrigger.compiler.Trigger(name='document_passage_fixed', sql=pgtrigger.compiler.UpsertTriggerSql(condition='WHEN (OLD."id" IS DISTINCT FROM (NEW."id") OR OLD."owner_id" IS DISTINCT FROM (NEW."owner_id") OR OLD."document_id" IS DISTINCT FROM (NEW."document_id") OR OLD."generation" IS DISTINCT FROM (NEW."generation") OR OLD."ordinal" IS DISTINCT FROM (NEW."ordinal") OR OLD."text" IS DISTINCT FROM (NEW."text") OR OLD."headings" IS DISTINCT FROM (NEW."headings"))', func="\n            IF public.remembrancer_is_purging(TG_RELID) THEN RETURN NEW; END IF;\n            RAISE EXCEPTION 'A passage is never changed; a newer generation takes its place.' USING ERRCODE = 'restrict_violation';\n        ", hash='a0e5576eb3411b763a9216b82f5bb5279d1402f0', operation='UPDATE', pgid='pgtrigger_document_passage_fixed_660f6', table='knowledge_documentpassage', when='BEFORE')),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name='documentpassage',
            trigger=pgtrigger.compiler.Trigger(name='document_passages_came', sql=pgtrigger.compiler.UpsertTriggerSql(execute='remembrancer_document_passages_came()', func='RETURN NULL;', hash='dfc06e0da0011e86ec654ccd1554af0e6a0fc340', level='STATEMENT', operation='INSERT', pgid='pgtrigger_document_passages_came_f9657', referencing='REFERENCING NEW TABLE AS came ', table='knowledge_documentpassage', when='AFTER')),
        ),
        migrations.AddIndex(
            model_name='documentembedding',
            index=models.Index(fields=['owner', 'model'], name='document_vector_owner'),
        ),
        migrations.AddConstraint(
            model_name='documentembedding',
            constraint=models.UniqueConstraint(fields=('passage', 'model', 'owner'), name='document_vector_once'),
        ),
        migrations.AddConstraint(
            model_name='documenttext',
            constraint=models.UniqueConstraint(fields=('document', 'generation', 'owner'), name='document_text_once'),
        ),
        same_owner('knowledge_collection', 'agent_id', 'agents_agent'),
        same_owner('knowledge_document', 'collection_id', 'knowledge_collection'),
        same_owner('knowledge_document', 'client_id', 'agents_apikey'),
        same_owner('knowledge_documentfile', 'document_id', 'knowledge_document', on_delete='CASCADE'),
        same_owner('knowledge_documenttext', 'document_id', 'knowledge_document', on_delete='CASCADE'),
        same_owner('knowledge_documentpassage', 'document_id', 'knowledge_document', on_delete='CASCADE'),
        same_owner(
            'knowledge_documentterm', 'passage_id', 'knowledge_documentpassage', on_delete='CASCADE'
        ),
        same_owner(
            'knowledge_documentembedding', 'passage_id', 'knowledge_documentpassage', on_delete='CASCADE'
        ),
        migrations.RunSQL(COVER, migrations.RunSQL.noop),
    ]
