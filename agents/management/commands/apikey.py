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
from agents.wording import counted

ACTOR = command("apikey")
# What an assistant needs. It can't approve anything.
USUAL = [ApiKey.Scope.INGEST, ApiKey.Scope.RECALL]

MOST_DAYS = 36_500
MOST_HOURS = 168


class Command(BaseCommand):
    help = "Make, list, rotate and revoke API keys. A new key is printed alone, once."

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
        rotate = actions.add_parser("rotate", help="end a key and print one in its place")
        rotate.add_argument("prefix", help="as it is listed")
        rotate.add_argument("--hours", type=int, default=0, help="the old key goes on for so long")
        revoke = actions.add_parser("revoke", help="end a key at once")
        revoke.add_argument("prefix", help="as it is listed")

    def handle(self, *arguments: Any, **options: Any) -> None:
        try:
            owner = owner_named(options["owner"])
            getattr(self, f"_{options['action']}")(owner, options)
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

    def _rotate(self, owner: User, options: dict[str, Any]) -> None:
        if not 0 <= options["hours"] <= MOST_HOURS:
            raise CommandError(f"--hours must be between 0 and {MOST_HOURS}.")
        old = _named(owner, options["prefix"])
        overlap = timedelta(hours=options["hours"])
        _, plaintext = keys.rotate(key=old, actor=ACTOR, overlap=overlap)
        self.stdout.write(plaintext)
        ends = f"ends in {counted(options['hours'], 'hour')}" if overlap else "is revoked"
        self.stderr.write(f"In the place of {old.prefix}, which {ends}. It is not shown again.")

    def _revoke(self, owner: User, options: dict[str, Any]) -> None:
        key = _named(owner, options["prefix"])
        keys.revoke(key=key, actor=ACTOR)
        self.stdout.write(f"{key.prefix} is revoked.")


def _named(owner: User, prefix: str) -> ApiKey:
    key = keys_of(owner).select_related("owner").filter(prefix=prefix).first()
    if key is None:
        raise CommandError(f"{owner.username} has no key {prefix}; `apikey list` lists them.")
    return key


def _in_days(days: int | None) -> datetime | None:
    if days is None:
        return None
    if not 1 <= days <= MOST_DAYS:
        raise keys.KeyRefused(f"--days must be between 1 and {MOST_DAYS}.")
    return timezone.now() + timedelta(days=days)
