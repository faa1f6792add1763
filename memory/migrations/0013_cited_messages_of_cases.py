import pgtrigger.compiler
import pgtrigger.migrations
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('memory', '0012_bulk_repair'),
    ]

    operations = [
        pgtrigger.migrations.RemoveTrigger(
            model_name='casesource',
            name='case_source_fixed',
        ),
        migrations.AddField(
            model_name='casesource',
            name='cited',
            field=models.BooleanField(default=True),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name='casesource',
            trigger=pgtrigger.compiler.Trigger(name='case_source_fixed', sql=pgtrigger.compiler.UpsertTriggerSql(condition='WHEN (OLD."id" IS DISTINCT FROM (NEW."id") OR OLD."owner_id" IS DISTINCT FROM (NEW."owner_id") OR OLD."case_id" IS DISTINCT FROM (NEW."case_id") OR OLD."message_id" IS DISTINCT FROM (NEW."message_id") OR OLD."cited" IS DISTINCT FROM (NEW."cited"))', func="\n            IF public.remembrancer_is_purging(TG_RELID) THEN RETURN NEW; END IF;\n            RAISE EXCEPTION 'A source is never changed.' USING ERRCODE = 'restrict_violation';\n        ", hash='b69d710a4c3459078733e768b0ddd2d5809760f7', operation='UPDATE', pgid='pgtrigger_case_source_fixed_d2104', table='memory_casesource', when='BEFORE')),
        ),
    ]
