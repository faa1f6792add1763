from collections.abc import Callable
from typing import Any

from agents.audit import Actor
from agents.wording import counted
from memory.management.choosing import ChoosingCommand
from memory.purge import execute
from memory.purge.plan import Deed
from memory.purge.selection import Selection


class Command(ChoosingCommand):
    help = """\
Forget facts: no assistant is told them any more, and they are not learned again. They stay among
the archived facts, from where each can be restored; `manage.py purge` erases them.

Prints what would be forgotten; does it with --yes.

Exit code 0: done, or nothing matches. 1: refused. 2: nothing was done, because only the plan was
asked for or the arguments are wrong. 130: stopped; run it again to go on.
"""
    deed = Deed.FORGET

    def run(self, selection: Selection, actor: Actor, tell: Callable[[int], Any]) -> str:
        count = execute.forget(selection=selection, actor=actor, tell=tell)
        return f"Forgotten: {counted(count, 'fact')}."
