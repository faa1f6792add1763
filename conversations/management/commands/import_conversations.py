import sys
from argparse import ArgumentParser, RawDescriptionHelpFormatter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from tqdm import tqdm

from agents.gate import MemoryOff
from agents.naming import Unnamed, agent_named, owner_named
from agents.wording import counted
from conversations.importers.base import Report, Unrecognised, formats
from conversations.importers.files import Unreadable
from conversations.importers.run import Plan, Survey, Tally, WhoIsOwner, bring_in, sources_at

PARTLY, INTERRUPTED = 3, 130
# Lines about what is broken; the rest is counted.
SHOWN = 20


class Command(BaseCommand):
    help = """\
Bring in conversations from an export of another assistant: a file, a ZIP archive as it came, or a
folder of them, in any of the formats listed below.

Running it again adds only what is new, so an import that was stopped goes on where it stopped.
Exit code 0: all of it is in. 1: nothing could be done, or memory was switched off on the way.
3: parts of the file were broken and are listed; the rest is in. 130: stopped.
"""

    def create_parser(self, *arguments: Any, **options: Any) -> Any:
        return super().create_parser(
            *arguments, formatter_class=RawDescriptionHelpFormatter, **options
        )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.epilog = _epilog()
        parser.add_argument("path", type=Path, help="a file, a .zip, or a folder")
        parser.add_argument(
            "--format",
            choices=["auto", *formats()],
            default="auto",
            metavar="NAME",
            help="auto (the default) looks into each file",
        )
        parser.add_argument("--owner", help="username; the only account if there is just one")
        parser.add_argument("--agent", help="slug; the owner's default agent if left out")
        parser.add_argument("--me", help="the owner's name in a file in which several people speak")
        parser.add_argument("--dry-run", action="store_true", help="say what would come in")
        parser.add_argument(
            "--sensitive", action="store_true", help="only a private language model may read it"
        )

    def handle(self, *arguments: Any, **options: Any) -> None:
        tally, report = Tally(), Report()
        try:
            agent = agent_named(owner_named(options["owner"]), options["agent"])
            plan = Plan(agent, options["me"], options["sensitive"], options["dry_run"])
            self._bring_in(options["path"], options["format"], plan, tally, report)
        except (Unnamed, Unreadable, Unrecognised, WhoIsOwner) as error:
            raise CommandError(str(error)) from error
        except MemoryOff as error:
            self._tell(tally, plan, report)
            raise CommandError(_off(plan)) from error
        except KeyboardInterrupt:
            self._tell(tally, plan, report)
            self.stderr.write("Stopped. Run it again to go on.")
            sys.exit(INTERRUPTED)
        self._tell(tally, plan, report)
        if report.broken:
            sys.exit(PARTLY)

    def _bring_in(self, path: Path, format: str, plan: Plan, tally: Tally, report: Report) -> None:
        with sources_at(path, format, plan, report) as (sources, found):
            places = bring_in(sources, path.resolve().name, plan, tally, report)
            for _ in _with_progress(places, found):
                pass

    def _tell(self, tally: Tally, plan: Plan, report: Report) -> None:
        agent = plan.agent
        done = "Would bring in" if plan.dry_run else "Brought in"
        off = f" ({tally.off_branch} of them off the branch)" if tally.off_branch else ""
        self.stdout.write(
            f"{done} for {agent.owner.username}, agent {agent.slug}: "
            f"{counted(tally.messages, 'message')}{off}.\n"
            f"Conversations: {tally.conversations} new, {tally.continued} continued, "
            f"{tally.unchanged} unchanged. Messages known already: {tally.known}."
        )
        for what, count in report.skipped.items():
            self.stdout.write(f"Left out: {what}: {count}.")
        for what, count in report.adjusted.items():
            self.stdout.write(f"Adjusted: {what}: {count}.")
        for line in report.broken.lines[:SHOWN]:
            self.stderr.write(f"Could not be read: {line}")
        if len(report.broken) > SHOWN:
            self.stderr.write(f"… and {len(report.broken) - SHOWN} more.")


def _epilog() -> str:
    width = max(len(name) for name in formats())
    known = "\n".join(f"  {name:{width}}  {format.what}" for name, format in formats().items())
    return f"""\
formats:
{known}

Of an archive or a folder, the .json and .jsonl files that are in one of these are taken. Telegram's
chats, and other files in which several people speak, need --me NAME; without it, the names in them
are listed. docs/import-format.md says what is kept of each format, and what is left out.
"""


def _with_progress(places: Iterator[str], found: Survey) -> Iterator[str]:
    """On a terminal only."""
    yield from tqdm(places, total=found.conversations, unit=" conversations", disable=None)


def _off(plan: Plan) -> str:
    who = plan.agent.owner.username
    return f"Memory is off for {who}, so no more is brought in. Switch it on in the settings first."
