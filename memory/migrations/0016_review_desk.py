import django.db.models.deletion
import pgtrigger.compiler
import pgtrigger.migrations
import uuid
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('agents', '0004_heirs_and_thresholds'),
        ('conversations', '0005_approved_imports'),
        ('memory', '0015_terms_of_any_fact'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name='DigestMail',
            fields=[
                ('owner', models.OneToOneField(on_delete=django.db.models.deletion.PROTECT, primary_key=True, related_name='+', serialize=False, to=settings.AUTH_USER_MODEL)),
                ('day', models.DateField()),
                ('sent_at', models.DateTimeField(null=True)),
                ('error', models.CharField(blank=True, max_length=300)),
                ('attempts', models.PositiveSmallIntegerField(default=0)),
            ],
        ),
        migrations.CreateModel(
            name='ReviewDigest',
            fields=[
                ('owner', models.OneToOneField(on_delete=django.db.models.deletion.PROTECT, primary_key=True, related_name='review_digest', serialize=False, to=settings.AUTH_USER_MODEL)),
                ('address', models.EmailField(blank=True, max_length=254)),
                ('key', models.UUIDField(default=uuid.uuid4)),
            ],
        ),
        migrations.AddIndex(
            model_name='fact',
            index=models.Index(condition=models.Q(('snoozed_until__isnull', False), ('state', 'pending')), fields=['owner', 'snoozed_until', 'id'], name='fact_snoozed'),
        ),
        migrations.AddIndex(
            model_name='fact',
            index=models.Index(condition=models.Q(('reviewed_at__isnull', False)), fields=['owner', '-reviewed_at', '-id'], name='fact_decided'),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name='reviewdigest',
            trigger=pgtrigger.compiler.Trigger(name='digest_fixed', sql=pgtrigger.compiler.UpsertTriggerSql(condition='WHEN (OLD."owner_id" IS DISTINCT FROM (NEW."owner_id"))', func="\n            IF public.remembrancer_is_purging(TG_RELID) THEN RETURN NEW; END IF;\n            RAISE EXCEPTION 'A setting stays with its owner.' USING ERRCODE = 'restrict_violation';\n        ", hash='2c58f0386aa25a5045c7591429189adf2bcf0e77', operation='UPDATE', pgid='pgtrigger_digest_fixed_454b4', table='memory_reviewdigest', when='BEFORE')),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name='reviewdigest',
            trigger=pgtrigger.compiler.Trigger(name='audited', sql=pgtrigger.compiler.UpsertTriggerSql(execute='remembrancer_audit()', func='RETURN NULL;', hash='7ee39862c3904c93f83607e859b8f30844697aea', operation='INSERT OR UPDATE OR DELETE', pgid='pgtrigger_audited_30ed9', table='memory_reviewdigest', when='AFTER')),
        ),
    ]
