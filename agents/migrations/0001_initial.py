from pathlib import Path

import agents.models
from agents.composite import same_owner
import django.contrib.auth.validators
import django.contrib.postgres.fields
import django.db.models.deletion
import django.utils.timezone
import pgtrigger.compiler
import pgtrigger.migrations
from django.conf import settings
from django.db import migrations, models


FUNCTIONS = (Path(__file__).parent.parent / 'sql' / '0001_functions.sql').read_text()


class Migration(migrations.Migration):

    initial = True

    dependencies = [
        ('auth', '0012_alter_user_first_name_max_length'),
    ]

    operations = [
        migrations.RunSQL(FUNCTIONS, migrations.RunSQL.noop),
        migrations.CreateModel(
            name='User',
            fields=[
                ('password', models.CharField(max_length=128, verbose_name='password')),
                ('last_login', models.DateTimeField(blank=True, null=True, verbose_name='last login')),
                ('is_superuser', models.BooleanField(default=False, help_text='Designates that this user has all permissions without explicitly assigning them.', verbose_name='superuser status')),
                ('username', models.CharField(error_messages={'unique': 'A user with that username already exists.'}, help_text='Required. 150 characters or fewer. Letters, digits and @/./+/-/_ only.', max_length=150, unique=True, validators=[django.contrib.auth.validators.UnicodeUsernameValidator()], verbose_name='username')),
                ('first_name', models.CharField(blank=True, max_length=150, verbose_name='first name')),
                ('last_name', models.CharField(blank=True, max_length=150, verbose_name='last name')),
                ('email', models.EmailField(blank=True, max_length=254, verbose_name='email address')),
                ('is_staff', models.BooleanField(default=False, help_text='Designates whether the user can log into this admin site.', verbose_name='staff status')),
                ('is_active', models.BooleanField(default=True, help_text='Designates whether this user should be treated as active. Unselect this instead of deleting accounts.', verbose_name='active')),
                ('date_joined', models.DateTimeField(default=django.utils.timezone.now, verbose_name='date joined')),
                ('id', models.UUIDField(default=agents.models.new_id, editable=False, primary_key=True, serialize=False)),
                ('groups', models.ManyToManyField(blank=True, help_text='The groups this user belongs to. A user will get all permissions granted to each of their groups.', related_name='user_set', related_query_name='user', to='auth.group', verbose_name='groups')),
                ('user_permissions', models.ManyToManyField(blank=True, help_text='Specific permissions for this user.', related_name='user_set', related_query_name='user', to='auth.permission', verbose_name='user permissions')),
            ],
            options={
                'verbose_name': 'user',
                'verbose_name_plural': 'users',
                'abstract': False,
            },
        ),
        migrations.CreateModel(
            name='OwnerSettings',
            fields=[
                ('owner', models.OneToOneField(on_delete=django.db.models.deletion.PROTECT, primary_key=True, related_name='settings', serialize=False, to=settings.AUTH_USER_MODEL)),
                ('memory_enabled', models.BooleanField(blank=True, default=None, null=True)),
                ('time_zone', models.CharField(default='UTC', max_length=64, validators=[agents.models.validate_zone])),
                ('cap_per_agent', models.PositiveIntegerField(blank=True, null=True)),
                ('cap_global', models.PositiveIntegerField(blank=True, null=True)),
            ],
            options={
                'verbose_name_plural': 'owner settings',
            },
        ),
        migrations.CreateModel(
            name='Agent',
            fields=[
                ('id', models.UUIDField(default=agents.models.new_id, editable=False, primary_key=True, serialize=False)),
                ('slug', models.SlugField(max_length=64)),
                ('name', models.CharField(max_length=120)),
                ('reads', models.CharField(choices=[('own', 'Only its own facts'), ('own_and_global', 'Its own facts and the global ones'), ('all', 'Every fact of the owner')], default='own_and_global', max_length=16)),
                ('is_default', models.BooleanField(default=False)),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                ('owner', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='agents', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'ordering': ['name', 'id'],
            },
        ),
        migrations.CreateModel(
            name='ApiKey',
            fields=[
                ('id', models.UUIDField(default=agents.models.new_id, editable=False, primary_key=True, serialize=False)),
                ('name', models.CharField(max_length=120)),
                ('prefix', models.CharField(max_length=16, unique=True)),
                ('digest', models.CharField(max_length=64)),
                ('scopes', django.contrib.postgres.fields.ArrayField(base_field=models.CharField(choices=[('ingest', 'Ingest'), ('recall', 'Recall'), ('search', 'Search'), ('propose', 'Propose'), ('remember', 'Remember'), ('forget', 'Forget'), ('review', 'Review'), ('export', 'Export'), ('proxy', 'Proxy'), ('admin', 'Admin')], max_length=16), size=None)),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                ('expires_at', models.DateTimeField(blank=True, null=True)),
                ('revoked_at', models.DateTimeField(blank=True, null=True)),
                ('last_used_at', models.DateTimeField(blank=True, null=True)),
                ('agent', models.ForeignKey(blank=True, db_constraint=False, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='api_keys', to='agents.agent')),
                ('owner', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='api_keys', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'ordering': ['-created_at'],
            },
        ),
        migrations.CreateModel(
            name='AuditEvent',
            fields=[
                ('id', models.BigAutoField(primary_key=True, serialize=False)),
                ('at', models.DateTimeField()),
                ('owner_id', models.UUIDField()),
                ('table', models.CharField(max_length=63)),
                ('row_id', models.CharField(max_length=64)),
                ('action', models.CharField(choices=[('insert', 'Insert'), ('update', 'Update'), ('delete', 'Delete')], max_length=8)),
                ('actor', models.CharField(max_length=120)),
                ('reason', models.CharField(blank=True, max_length=300)),
                ('context', models.CharField(blank=True, max_length=120)),
                ('before', models.JSONField(null=True)),
                ('after', models.JSONField(null=True)),
            ],
            options={
                'ordering': ['-id'],
                'indexes': [models.Index(fields=['table', 'row_id', 'id'], name='audit_row'), models.Index(fields=['owner_id', '-id'], name='audit_owner')],
            },
        ),
        migrations.CreateModel(
            name='SignInToken',
            fields=[
                ('digest', models.CharField(max_length=64, primary_key=True, serialize=False)),
                ('expires_at', models.DateTimeField()),
                ('used_at', models.DateTimeField(null=True)),
                ('user', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to=settings.AUTH_USER_MODEL)),
            ],
        ),
        pgtrigger.migrations.AddTrigger(
            model_name='ownersettings',
            trigger=pgtrigger.compiler.Trigger(name='kept', sql=pgtrigger.compiler.UpsertTriggerSql(func="\n            IF public.remembrancer_is_purging(TG_RELID) THEN RETURN OLD; END IF;\n            RAISE EXCEPTION 'Settings go with their owner, who is never deleted.' USING ERRCODE = 'restrict_violation';\n        ", hash='7131d9a437eb31a5a2593182f50da36083350d2a', operation='DELETE', pgid='pgtrigger_kept_8f1a2', table='agents_ownersettings', when='BEFORE')),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name='ownersettings',
            trigger=pgtrigger.compiler.Trigger(name='settings_fixed', sql=pgtrigger.compiler.UpsertTriggerSql(condition='WHEN (OLD."owner_id" IS DISTINCT FROM (NEW."owner_id"))', func="\n            IF public.remembrancer_is_purging(TG_RELID) THEN RETURN NEW; END IF;\n            RAISE EXCEPTION 'Settings stay with their owner.' USING ERRCODE = 'restrict_violation';\n        ", hash='7a469bee43757c7111a5c4f748f686bcc0c3b0ff', operation='UPDATE', pgid='pgtrigger_settings_fixed_63522', table='agents_ownersettings', when='BEFORE')),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name='ownersettings',
            trigger=pgtrigger.compiler.Trigger(name='audited', sql=pgtrigger.compiler.UpsertTriggerSql(execute='remembrancer_audit()', func='RETURN NULL;', hash='a4486b5e08ef9e4ce00f3bc6a0f614a66df7484e', operation='INSERT OR UPDATE OR DELETE', pgid='pgtrigger_audited_5ccf8', table='agents_ownersettings', when='AFTER')),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name='user',
            trigger=pgtrigger.compiler.Trigger(name='settings_follow', sql=pgtrigger.compiler.UpsertTriggerSql(constraint='CONSTRAINT', execute='remembrancer_give_settings()', func='RETURN NULL;', hash='178112847c5c6b41b74c82d1adf91b0fb74a8a1f', operation='INSERT', pgid='pgtrigger_settings_follow_98598', table='agents_user', timing='DEFERRABLE INITIALLY DEFERRED', when='AFTER')),
        ),
        migrations.AddConstraint(
            model_name='agent',
            constraint=models.UniqueConstraint(fields=('owner', 'slug'), name='agent_slug_per_owner'),
        ),
        migrations.AddConstraint(
            model_name='agent',
            constraint=models.UniqueConstraint(fields=('owner', 'id'), name='agent_owner_id'),
        ),
        migrations.AddConstraint(
            model_name='agent',
            constraint=models.UniqueConstraint(condition=models.Q(('is_default', True)), fields=('owner',), name='agent_one_default'),
        ),
        migrations.AddConstraint(
            model_name='agent',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('reads', 'all'), _negated=True), ('is_default', True), _connector='OR'), name='agent_all_only_default'),
        ),
        migrations.AddConstraint(
            model_name='agent',
            constraint=models.CheckConstraint(condition=models.Q(('reads__in', ['own', 'own_and_global', 'all'])), name='agent_reads_known'),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name='agent',
            trigger=pgtrigger.compiler.Trigger(name='agent_fixed', sql=pgtrigger.compiler.UpsertTriggerSql(condition='WHEN (OLD."id" IS DISTINCT FROM (NEW."id") OR OLD."owner_id" IS DISTINCT FROM (NEW."owner_id"))', func="\n            IF public.remembrancer_is_purging(TG_RELID) THEN RETURN NEW; END IF;\n            RAISE EXCEPTION 'An agent never changes its owner.' USING ERRCODE = 'restrict_violation';\n        ", hash='1d8677d101f159f32c63a443f380c865042e74e8', operation='UPDATE', pgid='pgtrigger_agent_fixed_16290', table='agents_agent', when='BEFORE')),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name='agent',
            trigger=pgtrigger.compiler.Trigger(name='audited', sql=pgtrigger.compiler.UpsertTriggerSql(execute='remembrancer_audit()', func='RETURN NULL;', hash='f9e7e5b8a3b0806a77003876ad279e6827f607b5', operation='INSERT OR UPDATE OR DELETE', pgid='pgtrigger_audited_abe2d', table='agents_agent', when='AFTER')),
        ),
        migrations.AddConstraint(
            model_name='apikey',
            constraint=models.UniqueConstraint(fields=('owner', 'id'), name='apikey_owner_id'),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name='apikey',
            trigger=pgtrigger.compiler.Trigger(name='kept', sql=pgtrigger.compiler.UpsertTriggerSql(func="\n            IF public.remembrancer_is_purging(TG_RELID) THEN RETURN OLD; END IF;\n            RAISE EXCEPTION 'A key is never deleted, only revoked.' USING ERRCODE = 'restrict_violation';\n        ", hash='c0d00e3ebccbf12fd6f16fa71d39d90e4a2350f6', operation='DELETE', pgid='pgtrigger_kept_9b3dd', table='agents_apikey', when='BEFORE')),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name='apikey',
            trigger=pgtrigger.compiler.Trigger(name='key_fixed', sql=pgtrigger.compiler.UpsertTriggerSql(condition='WHEN (OLD."id" IS DISTINCT FROM (NEW."id") OR OLD."owner_id" IS DISTINCT FROM (NEW."owner_id") OR OLD."agent_id" IS DISTINCT FROM (NEW."agent_id") OR OLD."prefix" IS DISTINCT FROM (NEW."prefix") OR OLD."digest" IS DISTINCT FROM (NEW."digest") OR OLD."scopes" IS DISTINCT FROM (NEW."scopes") OR OLD."created_at" IS DISTINCT FROM (NEW."created_at"))', func="\n            IF public.remembrancer_is_purging(TG_RELID) THEN RETURN NEW; END IF;\n            RAISE EXCEPTION 'What a key may do is fixed; revoke it and make another.' USING ERRCODE = 'restrict_violation';\n        ", hash='03fd31cf136cc50fd55030bc284dddcfbd493d72', operation='UPDATE', pgid='pgtrigger_key_fixed_1a8e5', table='agents_apikey', when='BEFORE')),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name='apikey',
            trigger=pgtrigger.compiler.Trigger(name='audited', sql=pgtrigger.compiler.UpsertTriggerSql(execute='remembrancer_audit()', func='RETURN NULL;', hash='c6dc69db8ba8211f907eb5c3bc688c1946bfd5ab', operation='INSERT OR UPDATE OR DELETE', pgid='pgtrigger_audited_f3f21', table='agents_apikey', when='AFTER')),
        ),
        migrations.AddConstraint(
            model_name='signintoken',
            constraint=models.CheckConstraint(condition=models.Q(('used_at__isnull', True), ('used_at__lte', models.F('expires_at')), _connector='OR'), name='signin_used_in_time'),
        ),
        same_owner('agents_apikey', 'agent_id', 'agents_agent'),
    ]
