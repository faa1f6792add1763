from pathlib import Path

from agents.composite import same_owner
import django.db.models.deletion
import django.db.models.functions.text
import pgtrigger.compiler
import pgtrigger.migrations
from django.conf import settings
from django.db import migrations, models


FUNCTIONS = (Path(__file__).parent.parent / 'sql' / '0002_terms.sql').read_text()
DROP = """
    DROP FUNCTION remembrancer_evidence_purged;
    DROP FUNCTION remembrancer_evidence_came;
    DROP FUNCTION remembrancer_fact_reindexed;
    DROP FUNCTION remembrancer_facts_born;
    DROP FUNCTION remembrancer_index_facts;
    DROP FUNCTION remembrancer_times;
"""
# The key is also the index that answers the words of a question by itself.
COVER = """
    ALTER TABLE memory_factterm DROP CONSTRAINT memory_factterm_pkey,
        ADD PRIMARY KEY (owner_id, term, fact_id) INCLUDE (agent_id, tf, stated, length, words)
"""
BACKFILL = """
    DO $$
    DECLARE
        whose uuid;
    BEGIN
        FOR whose IN SELECT id FROM public.agents_user LOOP
            PERFORM public.remembrancer_index_facts(ARRAY(
                SELECT id FROM public.memory_fact WHERE owner_id = whose AND state = 'active'));
        END LOOP;
    END
    $$
"""


class Migration(migrations.Migration):

    dependencies = [
        ('agents', '0002_terms'),
        ('conversations', '0002_index_of_the_raw_record'),
        ('memory', '0001_initial'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name='FactTerm',
            fields=[
                ('pk', models.CompositePrimaryKey('owner', 'term', 'fact', blank=True, editable=False, primary_key=True, serialize=False)),
                ('fact', models.ForeignKey(db_constraint=False, on_delete=django.db.models.deletion.CASCADE, related_name='terms', to='memory.fact')),
                ('owner', models.ForeignKey(db_constraint=False, db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('term', models.TextField()),
                ('agent_id', models.UUIDField(null=True)),
                ('tf', models.FloatField()),
                ('stated', models.BooleanField()),
                ('length', models.PositiveIntegerField()),
                ('words', models.PositiveIntegerField()),
            ],
        ),
        migrations.RunSQL(COVER, migrations.RunSQL.noop),
        same_owner('memory_factterm', 'fact_id', 'memory_fact', on_delete='CASCADE'),
        migrations.RunSQL(FUNCTIONS, DROP),
        migrations.AddIndex(
            model_name='entityalias',
            index=models.Index(models.F('owner'), django.db.models.functions.text.Left('normal_name', 2), name='alias_start'),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name='evidence',
            trigger=pgtrigger.compiler.Trigger(name='evidence_came', sql=pgtrigger.compiler.UpsertTriggerSql(execute='remembrancer_evidence_came()', func='RETURN NULL;', hash='46adb09cca5849385e38ea4b6201a2609f152adc', level='STATEMENT', operation='INSERT', pgid='pgtrigger_evidence_came_9af27', referencing='REFERENCING NEW TABLE AS came ', table='memory_evidence', when='AFTER')),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name='evidence',
            trigger=pgtrigger.compiler.Trigger(name='evidence_purged', sql=pgtrigger.compiler.UpsertTriggerSql(execute='remembrancer_evidence_purged()', func='RETURN NULL;', hash='c2e949b617682f535d32e4d03c9e2f2d25ca35b7', operation='UPDATE OR DELETE', pgid='pgtrigger_evidence_purged_9f826', table='memory_evidence', when='AFTER')),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name='fact',
            trigger=pgtrigger.compiler.Trigger(name='facts_born', sql=pgtrigger.compiler.UpsertTriggerSql(execute='remembrancer_facts_born()', func='RETURN NULL;', hash='4394bceb00aea9aaef2a9a5ead306bcc33c4885a', level='STATEMENT', operation='INSERT', pgid='pgtrigger_facts_born_cc035', referencing='REFERENCING NEW TABLE AS born ', table='memory_fact', when='AFTER')),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name='fact',
            trigger=pgtrigger.compiler.Trigger(name='fact_reindexed', sql=pgtrigger.compiler.UpsertTriggerSql(condition='WHEN (OLD."state" IS DISTINCT FROM (NEW."state") OR OLD."statement" IS DISTINCT FROM (NEW."statement"))', execute='remembrancer_fact_reindexed()', func='RETURN NULL;', hash='ce91606ffbd6061043f21e7ed4e5ddafe2178ff0', operation='UPDATE', pgid='pgtrigger_fact_reindexed_15b5d', table='memory_fact', when='AFTER')),
        ),
        migrations.RunSQL(BACKFILL, migrations.RunSQL.noop),
    ]
