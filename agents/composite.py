"""Foreign keys that include the owner, so that no pointer leads out of one owner's rows.

Django can't declare them, so the fields say `db_constraint=False` and a migration adds the key.
"""

from django.db.migrations import RunSQL


def same_owner(
    table: str, column: str, target: str, *, within: str = "", on_delete: str = "NO ACTION"
) -> RunSQL:
    """The key (owner, column) of `table`, which must point into `target` (owner, id).

    `within` is one more column that both ends share: a conversation.

    A null column points nowhere and passes. Deferrable, as Django's own keys are, but checked at
    once unless a transaction asks to wait.
    """
    scope = ["owner_id", within] if within else ["owner_id"]
    name = f"{table}_{column}_same_{scope[-1].removesuffix('_id')}"
    ours, theirs = (", ".join(f'"{part}"' for part in [*scope, end]) for end in (column, "id"))
    return RunSQL(
        f'ALTER TABLE "{table}" ADD CONSTRAINT "{name}" FOREIGN KEY ({ours}) '
        f'REFERENCES "{target}" ({theirs}) ON DELETE {on_delete} '
        "DEFERRABLE INITIALLY IMMEDIATE",
        f'ALTER TABLE "{table}" DROP CONSTRAINT "{name}"',
    )
