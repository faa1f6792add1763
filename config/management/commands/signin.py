from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser

from agents import accounts, signin
from agents.audit import command
from agents.models import User
from config.supervisor import running_address


class Command(BaseCommand):
    help = "Prints a link that signs in once, within ten minutes."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--user", help="Whom it signs in; the first administrator if left out.")

    def handle(self, *args: Any, **options: Any) -> None:
        user = _user(options["user"])
        base = running_address(settings.HOME) or settings.PUBLIC_URL
        self.stdout.write(f"{base}/sign-in/{signin.issue(user=user)}")


def _user(username: str | None) -> User:
    if username is None:
        return accounts.first_owner(actor=command("signin"))
    try:
        return User.objects.get(username=username, is_active=True)
    except User.DoesNotExist:
        raise CommandError(f"There is no active account {username!r}.") from None
