import sys
from argparse import ArgumentParser, RawDescriptionHelpFormatter
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from agents import audit
from agents.gate import MemoryOff
from agents.models import User
from agents.naming import Unnamed, agent_named, owner_named
from agents.wording import counted
from memory.transfer import proposals, rollback, store
from memory.transfer.lists import LISTS, OURS, format_of
from memory.transfer.plan import Conflict
from memory.transfer.reading import BadFile
from memory.transfer.store import Result

PLAN_ONLY, PARTLY = 2, 3


class Command(BaseCommand):
    help = """\
Bring in memories: a file of export_memories, or what another program remembers. All of the file is
stored, or nothing.

Everything waits in the review queue, screened as usual: what holds a credential, or was rejected
or purged here, stays out. A file of export_memories may come in as it was instead, with --approve:
that is your word, as the person who runs this server, for every fact in it.
"""

    def create_parser(self, *arguments: Any, **options: Any) -> Any:
        return super().create_parser(
            *arguments, formatter_class=RawDescriptionHelpFormatter, **options
        )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.epilog = _epilog()
        what = parser.add_mutually_exclusive_group(required=True)
        what.add_argument("file", type=Path, nargs="?", help="what to bring in")
        what.add_argument("--rollback", metavar="IMPORT", help="take an import back, by its id")
        what.add_argument(
            "--list", action="store_true", help="imports of memories so far, newest first"
        )
        parser.add_argument("--owner", help="username; the only account if there is just one")
        parser.add_argument(
            "--agent", metavar="SLUG", help="whose memories a list holds; the default agent's"
        )
        parser.add_argument(
            "--format",
            choices=["auto", OURS, *LISTS],
            default="auto",
            metavar="NAME",
            help="auto (the default) looks at the file",
        )
        parser.add_argument("--approve", action="store_true", help="let everything in as it was")
        parser.add_argument(
            "--conflict",
            choices=list(Conflict),
            default=Conflict.SKIP,
            help="where a fact of the file stands for what an active one says otherwise here: "
            "skip it (the default), let it wait as a correction (pending), or let it replace "
            "(supersede, with --approve)",
        )
        parser.add_argument("--dry-run", action="store_true", help="say what would come in")
        parser.add_argument("--yes", action="store_true", help="roll back instead of telling")

    def handle(self, *arguments: Any, **options: Any) -> None:
        audit.context.set("command import_memories")
        try:
            owner = owner_named(options["owner"])
            if options["list"]:
                self._list(owner)
            elif options["rollback"]:
                self._roll_back(owner, options["rollback"], options["yes"])
            else:
                self._bring_in(owner, options)
        except (Unnamed, BadFile) as error:
            raise CommandError(str(error)) from error
        except OSError as error:
            raise CommandError(f"Can't read {options['file']}: {error.strerror}.") from error
        except MemoryOff as error:
            raise CommandError(
                f"Memory is off for {owner.username}, so nothing is brought in. "
                "Switch it on in the settings first."
            ) from error

    def _bring_in(self, owner: User, options: dict[str, Any]) -> None:
        path: Path = options["file"]
        format = options["format"]
        if format == "auto":
            format = format_of(path, path.name)
        _check(format, options)
        result = _result(owner, path, format, options)
        self._tell(result, dry_run=options["dry_run"])
        if result.notes:
            sys.exit(PARTLY)

    def _tell(self, result: Result, *, dry_run: bool) -> None:
        found = ", ".join(f"{n:,} {what}" for what, n in result.new.items()) or "nothing new"
        self.stdout.write(f"{'Would bring in' if dry_run else 'Brought in'}: {found}.")
        for why, number in result.left.items():
            self.stdout.write(f"Left out, {why}: {number:,}.")
        for note in result.notes:
            self.stderr.write(note)
        if result.imported:
            self.stdout.write(f"To take it back: import_memories --rollback {result.imported}")

    def _list(self, owner: User) -> None:
        for row in rollback.imports_of(owner)[:50]:
            how = "let in as it was" if row.approved_by_id else "for review"
            when = f"{row.started_at:%Y-%m-%d %H:%M}"
            self.stdout.write(f"{row.pk}  {when}  {row.format} {row.file_name} ({how})")

    def _roll_back(self, owner: User, name: str, sure: bool) -> None:
        imported = rollback.import_of(owner, name)
        if imported is None:
            raise CommandError(f"{owner.username} has no import {name!r}; --list shows them.")
        if not rollback.imports_of(owner).filter(pk=imported.pk).exists():
            raise CommandError(
                "That is an import of conversations. To take out what it brought: "
                f"manage.py purge --import {imported.pk}"
            )
        if not sure:
            self._tell_rollback(rollback.look_at(imported), "Would take back")
            self.stdout.write("Nothing was done. Add --yes to do it.")
            sys.exit(PLAN_ONLY)
        found = rollback.roll_back(imported=imported, actor=audit.command("import_memories", owner))
        self._tell_rollback(found, "Took back")

    def _tell_rollback(self, found: rollback.Rollback, done: str) -> None:
        self.stdout.write(
            f"{done}: {counted(len(found.waiting), 'fact')} that waited, "
            f"{len(found.as_brought):,} that came in decided."
        )
        if found.cases:
            self.stdout.write(f"{done}: {counted(len(found.cases), 'case')}.")
        if found.rules:
            self.stdout.write(f"{done}: {counted(found.rules, 'rule')}.")
        if found.decided:
            stays = counted(found.decided, "fact or case", "facts and cases")
            self.stdout.write(f"Decided over since, it stays: {stays}.")
        if found.conversations:
            what = counted(found.conversations, "conversation")
            self.stdout.write(f"What was said stays until it is purged: {what}.")


def _check(format: str, options: dict[str, Any]) -> None:
    """Raises CommandError."""
    if format != OURS and options["approve"]:
        raise CommandError("Only a file of export_memories can be let in with --approve.")
    if format != OURS and options["conflict"] != Conflict.SKIP:
        raise CommandError("--conflict is for files of export_memories.")
    if format == OURS and options["agent"]:
        raise CommandError("The file says itself which agent's each fact is; leave out --agent.")
    if options["conflict"] == Conflict.SUPERSEDE and not options["approve"]:
        raise CommandError("Replacing facts needs a person's word: add --approve.")


def _result(owner: User, path: Path, format: str, options: dict[str, Any]) -> Result:
    actor, name = audit.command("import_memories"), path.name
    if format != OURS:
        return proposals.propose_list(
            agent=agent_named(owner, options["agent"]),
            path=path,
            name=name,
            format=format,
            actor=actor,
            written_at=datetime.fromtimestamp(path.stat().st_mtime, UTC),
            dry_run=options["dry_run"],
        )
    rest: dict[str, Any] = {
        "owner": owner,
        "path": path,
        "name": name,
        "conflict": Conflict(options["conflict"]),
        "dry_run": options["dry_run"],
    }
    if options["approve"]:
        return store.bring_in(**rest, actor=audit.command("import_memories", owner))
    return proposals.propose_file(**rest, actor=actor)


def _epilog() -> str:
    width = max(map(len, [*LISTS, OURS]))
    known = "\n".join(f"  {form.name:{width}}  {form.what}" for form in LISTS.values())
    return f"""\
formats:
  {OURS:{width}}  a file of export_memories
{known}

A second run adds nothing. What is in a list without a date counts as said when the file was last
changed. docs/memory-format.md says what is kept and what is not.

exit codes: 0 it is in; 1 nothing was stored; 2 wrong arguments, or a rollback without --yes;
3 it is in, but the tombstones are not (it says why).
"""
