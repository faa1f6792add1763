from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('agents', '0002_terms'),
        ('conversations', '0003_index_what_was_said'),
        ('memory', '0002_terms_of_facts'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.AddIndex(
            model_name='fact',
            index=models.Index(condition=models.Q(('state', 'active')), fields=['owner', 'language'], name='fact_language'),
        ),
        migrations.AddIndex(
            model_name='fact',
            index=models.Index(condition=models.Q(('state', 'active')), fields=['owner', 'observed_at'], name='fact_said'),
        ),
        migrations.AddIndex(
            model_name='fact',
            index=models.Index(condition=models.Q(('state', 'active'), ('valid_from__isnull', False)), fields=['owner', 'valid_from'], name='fact_holds'),
        ),
    ]
