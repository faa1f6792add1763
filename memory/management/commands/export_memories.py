import os
import sys
from argparse import ArgumentParser, RawDescriptionHelpFormatter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from tqdm import tqdm

from agents.naming import Unnamed, agent_named, owner_named
from agents.wording import counted
from memory.transfer.export import PurgedMeanwhile, export

INTERRUPTED = 130


class Command(BaseCommand):
    help = """\
Write an owner's memory into one file: facts in every state with their evidence and history,
conversations, entities, agents, settings, and the tombstones of what was purged. The same memory
gives the same file, byte for byte. docs/memory-format.md describes it; import_memories reads it.

Nothing is changed, and it works while memory is off. The file holds everything that the memory
holds: only you can read it, and it is worth as much care as the memory itself. Keys are not in it.
"""

    def create_parser(self, *arguments: Any, **options: Any) -> Any:
        return super().create_parser(
            *arguments, formatter_class=RawDescriptionHelpFormatter, **options
        )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.epilog = EPILOG
        parser.add_argument("file", help="a new file, or - for standard output")
        parser.add_argument("--owner", help="username; the only account if there is just one")
        parser.add_argument("--agent", metavar="SLUG", help="only what is this agent's own")
        parser.add_argument(
            "--no-conversations",
            action="store_true",
            help="facts only, without what was said",
        )
        parser.add_argument("--dry-run", action="store_true", help="only count the lines")

    def handle(self, *arguments: Any, **options: Any) -> None:
        lines = _lines(options)
        try:
            if options["dry_run"]:
                self.stderr.write(f"Would write {counted(sum(1 for _ in lines), 'line')}.")
            elif options["file"] == "-":
                for line in lines:
                    sys.stdout.write(line)
            else:
                self._write(Path(options["file"]).absolute(), lines)
        except PurgedMeanwhile as error:
            raise CommandError(str(error)) from error
        except KeyboardInterrupt:
            self.stderr.write("Stopped. Nothing was kept.")
            sys.exit(INTERRUPTED)

    def _write(self, target: Path, lines: Iterator[str]) -> None:
        """A whole file or none. Raises CommandError."""
        draft = target.with_name(f"{target.name}.part")
        try:
            # "x": never over a file that is there.
            os.close(os.open(target, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
        except OSError as error:
            raise CommandError(f"Can't write {target}: {error.strerror}.") from error
        try:
            with _private(draft) as file:
                count = 0
                for line in tqdm(lines, unit=" lines", disable=None):
                    file.write(line)
                    count += 1
            draft.replace(target)
        except BaseException as error:
            draft.unlink(missing_ok=True)
            target.unlink()
            if isinstance(error, OSError):
                raise CommandError(f"Can't write {target}: {error.strerror}.") from error
            raise
        size = target.stat().st_size / 1_000_000
        self.stderr.write(f"{target}: {counted(count, 'line')}, {size:.1f} MB.")


EPILOG = """\
examples:
  manage.py export_memories memory.jsonl
  manage.py export_memories facts.jsonl --agent work --no-conversations
  manage.py export_memories - | gzip > memory.jsonl.gz

exit codes: 0 written; 1 not written; 2 wrong arguments; 130 stopped.
"""


def _lines(options: dict[str, Any]) -> Iterator[str]:
    """Raises CommandError."""
    try:
        owner = owner_named(options["owner"])
        agent = agent_named(owner, options["agent"]) if options["agent"] else None
    except Unnamed as error:
        raise CommandError(str(error)) from error
    return export(owner=owner, agent=agent, conversations=not options["no_conversations"])


def _private(path: Path) -> Any:
    handle = os.open(path, os.O_CREAT | os.O_TRUNC | os.O_WRONLY, 0o600)
    return os.fdopen(handle, "w", encoding="utf-8", newline="\n")
