import re
from typing import Any

from django.db import migrations

from memory import vector_index

# Those of before, in which everybody's vectors lay among each other.
_FORMER = r'^\w+_near_[0-9a-f]{12}$'
_MADE = re.compile(r"halfvec\((\d+)\).* = '((?:[^']|'')*)'", re.DOTALL)


def make(apps: Any, schema_editor: Any) -> None:
    """Makes the index of each model that has one anew, and only then lets go of the former."""
    alias = schema_editor.connection.alias
    with schema_editor.connection.cursor() as cursor:
        cursor.execute('SELECT indexname, indexdef FROM pg_indexes WHERE indexname ~ %s', [_FORMER])
        former = cursor.fetchall()
    models = {found.groups() for _, made in former if (found := _MADE.search(made))}
    for dimensions, model in sorted(models):
        vector_index.ensure_vector_index(model.replace("''", "'"), int(dimensions), using=alias)
    with schema_editor.connection.cursor() as cursor:
        for name, _ in former:
            cursor.execute(f'DROP INDEX CONCURRENTLY IF EXISTS "{name}"')


class Migration(migrations.Migration):

    # An index can be built beside readers and writers only outside a transaction.
    atomic = False

    dependencies = [
        ('memory', '0021_webhooks'),
    ]

    operations = [migrations.RunPython(make, migrations.RunPython.noop)]
