from argparse import ArgumentParser
from collections.abc import Callable
from typing import Any

from agents.audit import Actor
from agents.models import User
from agents.wording import counted
from memory.management.choosing import ChoosingCommand
from memory.purge import execute
from memory.purge.plan import Deed
from memory.purge.selection import BadSelection, Selection, chosen

NOUNS = {
    "facts": "fact",
    "messages": "message",
    "titles": "title",
    "candidates": "dropped candidate",
    "entities": "name",
}


class Command(ChoosingCommand):
    help = """\
Erase facts and what was said, everywhere: texts, vectors, quotes, what the trail tells of them, and
what was made from them, such as merges, insights and sentences of a profile. The messages that the
facts quote become [purged] and are never read again. There is no way back, and the same text is not
learned again; only its owner can write it down anew.

Prints what would go; does it with --yes. Backups and exports made before still hold it. Stopped
half way, run it again: what is gone is not chosen any more.

Exit code 0: done, or nothing matches. 1: refused. 2: nothing was done, because only the plan was
asked for or the arguments are wrong. 130: stopped.
"""
    deed = Deed.PURGE

    def add_arguments(self, parser: ArgumentParser) -> None:
        super().add_arguments(parser)
        parser.add_argument(
            "--everything",
            action="store_true",
            help="all of an owner's memory; needs --owner and, typed once more, --confirm",
        )
        parser.add_argument("--confirm", metavar="USERNAME", help="with --everything only")

    def selection(self, owner: User, options: dict[str, Any]) -> Selection:
        if not options["everything"]:
            if options["confirm"] is not None:
                raise BadSelection("--confirm belongs to --everything.")
            return super().selection(owner, options)
        if options["owner"] is None:
            raise BadSelection("--everything needs --owner: it never guesses whose memory it is.")
        if options["confirm"] != owner.username:
            raise BadSelection(
                f"--everything needs --confirm {owner.username}: type the name again."
            )
        others = {name: value for name, value in options.items() if name in self.rules and value}
        if others:
            raise BadSelection(
                f"--everything goes with no other rule; drop --{next(iter(others))}."
            )
        return chosen(owner=owner, everything=True)

    def run(self, selection: Selection, actor: Actor, tell: Callable[[int], Any]) -> str:
        erased = execute.purge(selection=selection, actor=actor, tell=tell)
        told = ", ".join(
            counted(erased[noun], one, noun) for noun, one in NOUNS.items() if erased[noun]
        )
        return f"Purged: {told or 'nothing'}."
