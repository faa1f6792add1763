from typing import Any

from django.core.management.base import CommandError, CommandParser
from django.core.management.commands import migrate
from django.db import connections


class Command(migrate.Command):
    """Django's migrate, as the role that owns the tables."""

    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        parser.set_defaults(database="owner")

    def execute(self, *args: Any, **options: Any) -> str | None:
        if options["database"] not in connections.settings:
            raise CommandError(
                "Set MIGRATION_DATABASE_URL to the role that owns the tables; "
                "the application's own role may not change them."
            )
        return super().execute(*args, **options)

    def get_check_kwargs(self, options: dict[str, Any]) -> Any:
        """Looks at the application's role too: the last moment before it could own tables."""
        kwargs: dict[Any, Any] = dict(super().get_check_kwargs(options))
        return {**kwargs, "databases": ["default", options["database"]]}
