from pathlib import Path

from django.db import migrations

FUNCTIONS = (Path(__file__).parent.parent / "sql" / "0002_terms.sql").read_text()


class Migration(migrations.Migration):
    dependencies = [("agents", "0001_initial")]

    operations = [
        migrations.RunSQL(
            FUNCTIONS,
            "DROP FUNCTION remembrancer_terms; DROP FUNCTION remembrancer_configuration",
        ),
    ]
