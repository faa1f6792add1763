import contextlib
import os
import sys
from collections.abc import Iterator
from typing import Any

import tzlocal
from django.conf import settings
from django.core.management import call_command
from django.core.management.base import BaseCommand
from django.db import DatabaseError, connections

from agents import accounts, signin
from agents.audit import command
from config import embedded, supervisor
from config.errors import StartError
from config.supervisor import say

LEAST_FREE = 300_000_000


class Command(BaseCommand):
    help = "Starts everything on this machine: database, web server, worker and beat."
    # migrate runs them, when there is a database to look at.
    requires_system_checks = []

    def handle(self, *args: Any, **options: Any) -> None:
        stop_request = supervisor.StopRequest()
        try:
            self._run(stop_request)
        except supervisor.Stopped:
            say("Stopped.")
        except (StartError, DatabaseError) as error:
            if stop_request.asked:
                # Ctrl-C also reached the programs that start the database.
                return say("Stopped.")
            sys.exit(f"Remembrancer: {error}")

    def _run(self, stop_request: supervisor.StopRequest) -> None:
        address = f"http://{supervisor.HOST}:{settings.PORT}"
        embedded.require_space(settings.HOME, LEAST_FREE)
        with supervisor.sole_run(settings.HOME, address) as run:
            supervisor.check_port(settings.PORT)
            with _database():
                _prepare()
                stop_request.check()
                say("Starting web server, worker and beat …")
                supervisor.keep_running(
                    _children(),
                    run=run,
                    folder=settings.BASE_DIR,
                    environment={**os.environ, "REMEMBRANCER_HOME": str(settings.HOME)},
                    stop_request=stop_request,
                    ready=lambda: _invite(address),
                )


@contextlib.contextmanager
def _database() -> Iterator[None]:
    if not settings.EMBEDDED:
        yield
        return
    say(f"Starting the database in {settings.HOME / 'postgres'} …")
    server = embedded.join(settings.HOME)
    try:
        yield
    finally:
        connections.close_all()
        others = embedded.holders(server)
        embedded.leave(server)
        if others:
            say(f"The database stays up until process {others[0]}, which uses it, ends.")


def _prepare() -> None:
    (settings.HOME / "logs").mkdir(exist_ok=True)
    say("Bringing the tables up to date …")
    call_command("migrate", interactive=False, verbosity=0, skip_checks=False)
    accounts.first_owner(actor=command("up"), time_zone=tzlocal.get_localzone_name())
    connections.close_all()


def _children() -> list[supervisor.Child]:
    return supervisor.children(
        python=sys.executable,
        logs=settings.HOME / "logs",
        port=settings.PORT,
        # A chat that passes through holds one for as long as the model talks; pages need their own.
        threads=4 + (settings.UPSTREAM_STREAMS if settings.UPSTREAM["base_url"] else 0),
        broker=settings.BROKER_FOLDER,
    )


def _invite(address: str) -> None:
    token = signin.issue(user=accounts.first_owner(actor=command("up")))
    connections.close_all()
    say(f"\nRemembrancer is ready at {address}/")
    say(f"Sign in (works once, within ten minutes): {address}/sign-in/{token}")
    say("Ctrl-C stops it.\n")
