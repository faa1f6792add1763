import sys
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from agents import audit
from agents.models import User
from agents.naming import Unnamed, owner_named
from agents.wording import counted
from memory.lifecycle import NotAllowed
from memory.management.choosing import INTERRUPTED, PLAN_ONLY, stoppable
from memory.purge.account import close_account
from memory.purge.plan import Deed, plan_of
from memory.purge.selection import chosen


class Command(BaseCommand):
    help = (
        "Close an account: purge all of its memory, revoke its keys, take its name away and let "
        "nobody sign in with it. There is no way back. Prints what would go, and does it with "
        "--yes and the name typed again: --confirm USERNAME. Exit codes as of `manage.py purge`."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--owner", required=True, help="username")
        parser.add_argument("--confirm", metavar="USERNAME", help="the same name once more")
        parser.add_argument("--yes", action="store_true", help="do it instead of telling")

    def handle(self, *arguments: Any, **options: Any) -> None:
        audit.context.set("command close_account")
        owner = _owner(options)
        plan = plan_of(chosen(owner=owner, everything=True), Deed.PURGE)
        self.stdout.write(
            f"To close the account {owner.username}: purge"
            f" {counted(plan.facts_in_all, 'fact')} and {counted(plan.messages, 'message')},"
            " revoke its keys, take its name away."
        )
        if not options["yes"]:
            self.stdout.write("Nothing was done. Add --yes to do it.")
            sys.exit(PLAN_ONLY)
        self._close(owner, plan.total)

    def _close(self, owner: User, total: int) -> None:
        actor = audit.command("close_account", owner)
        try:
            with stoppable(total, self.stderr.write) as tell:
                close_account(owner=owner, actor=actor, tell=tell)
        except NotAllowed as error:
            raise CommandError(str(error)) from error
        except KeyboardInterrupt:
            self.stderr.write("Stopped. What was done stays done; run it again to go on.")
            sys.exit(INTERRUPTED)
        self.stdout.write("The account is closed.")


def _owner(options: dict[str, Any]) -> User:
    try:
        owner = owner_named(options["owner"])
    except Unnamed as error:
        raise CommandError(str(error)) from error
    if options["yes"] and options["confirm"] != owner.username:
        raise CommandError(f"Type the name again: --confirm {owner.username}.")
    return owner
