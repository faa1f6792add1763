"""Foreign keys that include the owner, so that no pointer leads out of one owner's rows.

Django can't declare them, so the fields say `db_constraint=False` and a migration adds the key.
"""

from django.db.migrations import RunSQL


def same_owner(
    table: str, column: str, target: str, *, scope: str = "owner_id", on_delete: str = "NO ACTION"
) -> RunSQL:
    """The key (scope, column) of `table`, which must point into `target` (scope, id).

    A null column points nowhere and passes. Deferrable, as Django's own keys are, but checked at
    once unless a transaction asks to wait.
    """
    name = f"{table}_{column}_same_{scope.removesuffix('_id')}"
    return RunSQL(
        f'ALTER TABLE "{table}" ADD CONSTRAINT "{name}" FOREIGN KEY ("{scope}", "{column}") '
        f'REFERENCES "{target}" ("{scope}", "id") ON DELETE {on_delete} '
        "DEFERRABLE INITIALLY IMMEDIATE",
        f'ALTER TABLE "{table}" DROP CONSTRAINT "{name}"',
    )
