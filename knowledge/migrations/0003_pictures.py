from pathlib import Path

import agents.models
import django.db.models.deletion
import django.utils.timezone
from django.conf import settings
from django.db import migrations, models

from agents.composite import same_owner

SQL = Path(__file__).parent.parent / 'sql'
PURGE = (SQL / '0003_pictures.sql').read_text()
# As it was.
FIRST = (SQL / '0001_functions.sql').read_text()
BEFORE = FIRST[FIRST.index('CREATE FUNCTION remembrancer_purges_knowledge'):].replace(
    'CREATE FUNCTION', 'CREATE OR REPLACE FUNCTION', 1
)


class Migration(migrations.Migration):

    dependencies = [
        ('knowledge', '0002_vectors_of_parts_and_pins'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name='PictureReading',
            fields=[
                ('id', models.UUIDField(default=agents.models.new_id, editable=False, primary_key=True, serialize=False)),
                ('digest', models.CharField(max_length=64)),
                ('model', models.CharField(max_length=120)),
                ('prompt_version', models.CharField(max_length=64)),
                ('answered_at', models.DateTimeField(blank=True, null=True)),
                ('words', models.TextField(blank=True)),
                ('description', models.TextField(blank=True)),
                ('asked_at', models.DateTimeField(default=django.utils.timezone.now)),
                ('error', models.CharField(blank=True, max_length=300)),
                ('llm_calls', models.PositiveIntegerField(default=0)),
                ('input_tokens', models.PositiveIntegerField(default=0)),
                ('output_tokens', models.PositiveIntegerField(default=0)),
            ],
            options={
                'ordering': ['document', 'asked_at', 'id'],
            },
        ),
        migrations.RemoveConstraint(
            model_name='documentpassage',
            name='document_passage_kind_known',
        ),
        migrations.AlterField(
            model_name='documentpassage',
            name='kind',
            field=models.CharField(choices=[('text', 'Text'), ('ocr', 'Text recognised in an image'), ('caption', 'Caption of an image'), ('read', 'Text in an image, read by a language model'), ('vision', 'Image described by a language model')], default='text', max_length=8),
        ),
        migrations.AddConstraint(
            model_name='documentpassage',
            constraint=models.CheckConstraint(condition=models.Q(('kind__in', ['text', 'ocr', 'caption', 'read', 'vision'])), name='document_passage_kind_known'),
        ),
        migrations.AddField(
            model_name='picturereading',
            name='document',
            field=models.ForeignKey(db_constraint=False, on_delete=django.db.models.deletion.CASCADE, related_name='pictures', to='knowledge.document'),
        ),
        migrations.AddField(
            model_name='picturereading',
            name='owner',
            field=models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL),
        ),
        migrations.AddIndex(
            model_name='picturereading',
            index=models.Index(fields=['owner', 'asked_at'], name='picture_asked'),
        ),
        migrations.AddConstraint(
            model_name='picturereading',
            constraint=models.UniqueConstraint(fields=('document', 'digest', 'model', 'prompt_version', 'owner'), name='picture_read_once'),
        ),
        same_owner('knowledge_picturereading', 'document_id', 'knowledge_document', on_delete='CASCADE'),
        migrations.RunSQL(PURGE, BEFORE),
    ]
