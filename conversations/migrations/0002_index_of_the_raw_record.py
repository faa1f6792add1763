from pathlib import Path

from pgvector.django import VectorExtension

from agents.composite import same_owner
import django.contrib.postgres.fields
import django.db.models.deletion
import pgtrigger.compiler
import pgtrigger.migrations
import pgvector.django.vector
from django.conf import settings
from django.db import migrations, models

FUNCTIONS = (Path(__file__).parent.parent / 'sql' / '0002_index.sql').read_text()
DROP = """
    DROP FUNCTION remembrancer_message_moved;
    DROP FUNCTION remembrancer_passage_purged;
    DROP FUNCTION remembrancer_passages_came;
    DROP FUNCTION remembrancer_unindex_passages;
    DROP FUNCTION remembrancer_index_passages;
    DROP FUNCTION remembrancer_date_terms;
"""


class Migration(migrations.Migration):

    dependencies = [
        ('agents', '0002_terms'),
        ('conversations', '0001_initial'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        VectorExtension(),
        migrations.CreateModel(
            name='IndexedPassage',
            fields=[
                ('passage', models.OneToOneField(db_constraint=False, on_delete=django.db.models.deletion.CASCADE, primary_key=True, related_name='indexed', serialize=False, to='conversations.passage')),
                ('conversation_id', models.UUIDField()),
                ('stretch', models.PositiveIntegerField()),
                ('place', models.PositiveIntegerField()),
                ('language', models.CharField(max_length=24)),
                ('length', models.PositiveIntegerField()),
                ('words', models.PositiveIntegerField()),
            ],
        ),
        migrations.CreateModel(
            name='PassageEmbedding',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('model', models.CharField(max_length=120)),
                ('vector', pgvector.django.vector.VectorField()),
            ],
        ),
        migrations.CreateModel(
            name='PassageTerm',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('owner', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('term', models.TextField()),
                ('passage', models.ForeignKey(db_constraint=False, on_delete=django.db.models.deletion.CASCADE, related_name='terms', to='conversations.passage')),
                ('conversation_id', models.UUIDField()),
                ('stretch', models.PositiveIntegerField()),
                ('place', models.PositiveIntegerField()),
                ('tf', models.FloatField()),
                ('length', models.PositiveIntegerField()),
            ],
        ),
        migrations.CreateModel(
            name='ShownPassages',
            fields=[
                ('conversation', models.OneToOneField(db_constraint=False, on_delete=django.db.models.deletion.CASCADE, primary_key=True, related_name='shown_passages', serialize=False, to='conversations.conversation')),
                ('passage_ids', django.contrib.postgres.fields.ArrayField(base_field=models.UUIDField(), default=list, size=None)),
            ],
        ),
        pgtrigger.migrations.RemoveTrigger(
            model_name='passage',
            name='passage_fixed',
        ),
        migrations.AddField(
            model_name='passage',
            name='place',
            field=models.PositiveIntegerField(default=0),
        ),
        migrations.AddField(
            model_name='passage',
            name='stretch',
            field=models.PositiveIntegerField(default=0),
        ),
        migrations.AddIndex(
            model_name='passage',
            index=models.Index(fields=['conversation', 'stretch', 'place'], name='passage_place'),
        ),
        migrations.AddField(
            model_name='indexedpassage',
            name='owner',
            field=models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL),
        ),
        migrations.AddField(
            model_name='passageembedding',
            name='owner',
            field=models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL),
        ),
        migrations.AddField(
            model_name='passageembedding',
            name='passage',
            field=models.ForeignKey(db_constraint=False, on_delete=django.db.models.deletion.CASCADE, related_name='embeddings', to='conversations.passage'),
        ),
        migrations.AddField(
            model_name='shownpassages',
            name='owner',
            field=models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL),
        ),
        migrations.AddIndex(
            model_name='indexedpassage',
            index=models.Index(fields=['owner', 'conversation_id', 'stretch', 'place'], include=('length',), name='indexed_place'),
        ),
        migrations.AddIndex(
            model_name='indexedpassage',
            index=models.Index(fields=['owner', 'language'], name='indexed_language'),
        ),
        migrations.AddIndex(
            model_name='passageembedding',
            index=models.Index(fields=['owner', 'model'], name='passage_vector_owner'),
        ),
        migrations.AddConstraint(
            model_name='passageembedding',
            constraint=models.UniqueConstraint(fields=('passage', 'model', 'owner'), name='passage_vector_once'),
        ),
        migrations.AddConstraint(
            model_name='passageterm',
            constraint=models.UniqueConstraint(fields=('owner', 'term', 'passage'), include=('conversation_id', 'stretch', 'place', 'tf', 'length'), name='passage_term_once'),
        ),
        same_owner('conversations_indexedpassage', 'passage_id', 'conversations_passage', on_delete='CASCADE'),
        same_owner('conversations_passageterm', 'passage_id', 'conversations_passage', on_delete='CASCADE'),
        same_owner('conversations_passageembedding', 'passage_id', 'conversations_passage', on_delete='CASCADE'),
        same_owner('conversations_shownpassages', 'conversation_id', 'conversations_conversation', on_delete='CASCADE'),
        migrations.RunSQL(FUNCTIONS, DROP),
        pgtrigger.migrations.AddTrigger(
            model_name='message',
            trigger=pgtrigger.compiler.Trigger(name='message_moved', sql=pgtrigger.compiler.UpsertTriggerSql(condition='WHEN (OLD."on_branch" IS DISTINCT FROM (NEW."on_branch") OR OLD."content" IS DISTINCT FROM (NEW."content"))', execute='remembrancer_message_moved()', func='RETURN NULL;', hash='30a262929da73992b02d522c1e445e263f7a2e83', operation='UPDATE', pgid='pgtrigger_message_moved_e9e68', table='conversations_message', when='AFTER')),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name='passage',
            trigger=pgtrigger.compiler.Trigger(name='passages_came', sql=pgtrigger.compiler.UpsertTriggerSql(execute='remembrancer_passages_came()', func='RETURN NULL;', hash='69e8d28a93cb6c8472b2ed565765393b6b106040', level='STATEMENT', operation='INSERT', pgid='pgtrigger_passages_came_d4229', referencing='REFERENCING NEW TABLE AS came ', table='conversations_passage', when='AFTER')),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name='passage',
            trigger=pgtrigger.compiler.Trigger(name='passage_purged', sql=pgtrigger.compiler.UpsertTriggerSql(condition='WHEN (OLD."text" IS DISTINCT FROM (NEW."text"))', execute='remembrancer_passage_purged()', func='RETURN NULL;', hash='8dc7299aca7a3476f4086f82e1434a52b9239d13', operation='UPDATE', pgid='pgtrigger_passage_purged_e8ebd', table='conversations_passage', when='AFTER')),
        ),
    ]
