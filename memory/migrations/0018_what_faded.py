from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('agents', '0004_heirs_and_thresholds'),
        ('conversations', '0005_approved_imports'),
        ('memory', '0017_purge_more'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.AddIndex(
            model_name='fact',
            index=models.Index(condition=models.Q(('decayed_at__isnull', False), ('state', 'active')), fields=['owner', 'decayed_at', 'id'], name='fact_faded'),
        ),
    ]
