import django.db.models.deletion
import pgtrigger.compiler
import pgtrigger.migrations
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('conversations', '0004_lists_of_what_is_unread'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.AddField(
            model_name='import',
            name='approved_by',
            field=models.ForeignKey(blank=True, editable=False, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name='import',
            trigger=pgtrigger.compiler.Trigger(name='import_fixed', sql=pgtrigger.compiler.UpsertTriggerSql(condition='WHEN (OLD."id" IS DISTINCT FROM (NEW."id") OR OLD."owner_id" IS DISTINCT FROM (NEW."owner_id") OR OLD."started_at" IS DISTINCT FROM (NEW."started_at") OR OLD."approved_by_id" IS DISTINCT FROM (NEW."approved_by_id"))', func="\n            IF public.remembrancer_is_purging(TG_RELID) THEN RETURN NEW; END IF;\n            RAISE EXCEPTION 'An import is approved when it begins, or never.' USING ERRCODE = 'restrict_violation';\n        ", hash='e95c55c962d122c853c8cdf440838a486beec921', operation='UPDATE', pgid='pgtrigger_import_fixed_02828', table='conversations_import', when='BEFORE')),
        ),
    ]
