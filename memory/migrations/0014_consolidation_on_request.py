from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('memory', '0013_cited_messages_of_cases'),
    ]

    operations = [
        migrations.AddField(
            model_name='consolidationschedule',
            name='requested_at',
            field=models.DateTimeField(null=True),
        ),
    ]
