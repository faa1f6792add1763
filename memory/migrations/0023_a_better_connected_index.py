from typing import Any

from django.db import migrations

from memory import vector_index

_OF_VECTORS = r'^\w+_near_own_[0-9a-f]{12}$'


def set_what_is_kept_in_mind(apps: Any, schema_editor: Any) -> None:
    """For vectors that come from now on. What lies in an index already is connected better when an
    operator builds it anew, which takes minutes and is no part of an upgrade."""
    with schema_editor.connection.cursor() as cursor:
        cursor.execute('SELECT indexname FROM pg_indexes WHERE indexname ~ %s', [_OF_VECTORS])
        for (name,) in cursor.fetchall():
            cursor.execute(
                f'ALTER INDEX "{name}" SET (ef_construction = {vector_index.EF_CONSTRUCTION})'
            )


class Migration(migrations.Migration):

    dependencies = [
        ('memory', '0022_nearest_of_an_owner'),
    ]

    operations = [migrations.RunPython(set_what_is_kept_in_mind, migrations.RunPython.noop)]
