from pathlib import Path

import pgtrigger.compiler
import pgtrigger.migrations
from django.db import migrations

BACKFILL = (Path(__file__).parent.parent / 'sql' / '0003_backfill.sql').read_text()


class Migration(migrations.Migration):
    """Vectors are the worker's. A passage's place is fixed only once it has one."""

    dependencies = [('conversations', '0002_index_of_the_raw_record')]

    operations = [
        migrations.RunSQL(BACKFILL, migrations.RunSQL.noop),
        pgtrigger.migrations.AddTrigger(
            model_name='passage',
            trigger=pgtrigger.compiler.Trigger(name='passage_fixed', sql=pgtrigger.compiler.UpsertTriggerSql(condition='WHEN (OLD."id" IS DISTINCT FROM (NEW."id") OR OLD."owner_id" IS DISTINCT FROM (NEW."owner_id") OR OLD."conversation_id" IS DISTINCT FROM (NEW."conversation_id") OR OLD."message_id" IS DISTINCT FROM (NEW."message_id") OR OLD."kind" IS DISTINCT FROM (NEW."kind") OR OLD."piece" IS DISTINCT FROM (NEW."piece") OR OLD."text" IS DISTINCT FROM (NEW."text") OR OLD."text_hash" IS DISTINCT FROM (NEW."text_hash") OR OLD."language" IS DISTINCT FROM (NEW."language") OR OLD."said_at" IS DISTINCT FROM (NEW."said_at") OR OLD."stretch" IS DISTINCT FROM (NEW."stretch") OR OLD."place" IS DISTINCT FROM (NEW."place"))', func="\n            IF public.remembrancer_is_purging(TG_RELID) THEN RETURN NEW; END IF;\n            RAISE EXCEPTION 'The raw record is append-only.' USING ERRCODE = 'restrict_violation';\n        ", hash='9270b99b551de85b66e30261c625565b4772141a', operation='UPDATE', pgid='pgtrigger_passage_fixed_6aa04', table='conversations_passage', when='BEFORE')),
        ),
    ]
