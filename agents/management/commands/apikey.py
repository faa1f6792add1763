from argparse import ArgumentParser
from datetime import datetime, timedelta
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.utils import timezone

from agents import keys
from agents.access import keys_of
from agents.audit import command
from agents.models import ApiKey, User
from agents.naming import Unnamed, agent_named, owner_named

ACTOR = command("apikey")
# What an assistant needs. It can't approve anything.
USUAL = [ApiKey.Scope.INGEST, ApiKey.Scope.RECALL]

MOST_DAYS = 36_500


class Command(BaseCommand):
    help = "Make, list and revoke API keys. A new key is printed alone, once."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--owner", help="username; the only account if there is just one")
        actions = parser.add_subparsers(dest="action", required=True)
        create = actions.add_parser("create", help="make a key and print it")
        create.add_argument("name", help="what will use it, for the list of keys")
        create.add_argument("--agent", help="slug of the agent that it speaks for; else for any")
        create.add_argument(
            "--scope", action="append", choices=ApiKey.Scope.values, help="may be given repeatedly"
        )
        create.add_argument("--days", type=int, help="days until it expires; else never")
        actions.add_parser("list", help="list the keys, but not what they read")
        revoke = actions.add_parser("revoke", help="end a key at once")
        revoke.add_argument("prefix", help="as it is listed")

    def handle(self, *arguments: Any, **options: Any) -> None:
        try:
            owner = owner_named(options["owner"])
            {"create": self._create, "list": self._list, "revoke": self._revoke}[options["action"]](
                owner, options
            )
        except (Unnamed, keys.KeyRefused) as error:
            raise CommandError(str(error)) from error

    def _create(self, owner: User, options: dict[str, Any]) -> None:
        agent = agent_named(owner, options["agent"]) if options["agent"] else None
        key, plaintext = keys.issue(
            owner=owner,
            agent=agent,
            name=options["name"],
            scopes=options["scope"] or USUAL,
            expires_at=_in_days(options["days"]),
            actor=ACTOR,
        )
        self.stdout.write(plaintext)
        speaks_for = agent.slug if agent else "any agent that a request names"
        self.stderr.write(f"For {speaks_for}; may {', '.join(key.scopes)}. It is not shown again.")

    def _list(self, owner: User, options: dict[str, Any]) -> None:
        for key in keys_of(owner):
            state = "live" if key.is_live(timezone.now()) else "ended"
            agent = key.agent.slug if key.agent else "*"
            self.stdout.write(f"{key.prefix}  {state}  {agent}  {','.join(key.scopes)}  {key.name}")

    def _revoke(self, owner: User, options: dict[str, Any]) -> None:
        key = keys_of(owner).filter(prefix=options["prefix"]).first()
        if key is None:
            raise CommandError(f"{owner.username} has no key {options['prefix']}.")
        keys.revoke(key=key, actor=ACTOR)
        self.stdout.write(f"{key.prefix} is revoked.")


def _in_days(days: int | None) -> datetime | None:
    if days is None:
        return None
    if not 1 <= days <= MOST_DAYS:
        raise keys.KeyRefused(f"--days must be between 1 and {MOST_DAYS}.")
    return timezone.now() + timedelta(days=days)
