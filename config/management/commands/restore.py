import sys
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import connections

from config import backup, embedded


class Command(BaseCommand):
    help = "Replaces the embedded database by a backup."
    requires_system_checks = []

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("file", type=Path)
        parser.add_argument("--yes", action="store_true", help="Do it instead of telling.")

    def handle(self, *args: Any, **options: Any) -> None:
        if not settings.EMBEDDED:
            raise CommandError("DATABASE_URL is set: use pg_restore with MIGRATION_DATABASE_URL.")
        source: Path = options["file"].absolute()
        made = backup.made_at(source)
        if not options["yes"]:
            self.stdout.write(
                f"The whole database in {settings.HOME / 'postgres'} would be replaced by {source},"
                f" which was made at {made}."
            )
            self.stdout.write("Nothing was done. Stop `make up`, then add --yes to do it.")
            sys.exit(2)
        connections.close_all()
        backup.restore(embedded.join(settings.HOME), source)
        call_command("migrate", interactive=False, verbosity=0)
        self.stdout.write(f"Restored from {source}.")
