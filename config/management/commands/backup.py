from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser

from config import backup, embedded


class Command(BaseCommand):
    help = "Writes the embedded database into one file. Everything may keep running."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("file", type=Path, help="A new file, such as backup-2026-03-01.dump.")

    def handle(self, *args: Any, **options: Any) -> None:
        if not settings.EMBEDDED:
            raise CommandError("DATABASE_URL is set: use pg_dump with MIGRATION_DATABASE_URL.")
        target: Path = options["file"].absolute()
        backup.dump(embedded.join(settings.HOME), target)
        size = target.stat().st_size / 1_000_000
        self.stdout.write(f"{target} ({size:.1f} MB)")
        self.stdout.write(f"The secrets in {settings.HOME / 'secrets'} are not in it: keep a copy.")
