from typing import Any

from django.db import migrations

from memory import vector_index

# The packaged model. `reembed` makes the indexes of another.
MODEL, DIMENSIONS = 'all-MiniLM-L6-v2', 384


def make(apps: Any, schema_editor: Any) -> None:
    vector_index.ensure_vector_index(MODEL, DIMENSIONS, using=schema_editor.connection.alias)


def drop(apps: Any, schema_editor: Any) -> None:
    vector_index.drop_vector_index(MODEL, using=schema_editor.connection.alias)


class Migration(migrations.Migration):

    # An index can be built beside readers and writers only outside a transaction.
    atomic = False

    dependencies = [
        ('conversations', '0002_index_of_the_raw_record'),
        ('memory', '0010_counts_of_facts'),
    ]

    operations = [migrations.RunPython(make, drop)]
