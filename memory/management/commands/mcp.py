import signal
import threading
from typing import Any

import environ
from asgiref.sync import async_to_sync
from django.core.management.base import BaseCommand, CommandError
from django.db import close_old_connections

from agents import audit, keys
from memory import embedding
from memory.mcp.caller import Caller, KeyGone

VARIABLE = "REMEMBRANCER_KEY"


class Command(BaseCommand):
    help = f"""\
Serve the memory to one assistant over stdin and stdout, by the Model Context Protocol. The
assistant's program starts this itself; docs/mcp.md says how to set it up in which.

{VARIABLE} (or {VARIABLE}_FILE, the path of a file) holds the API key, which decides whose memory it
is and which tools there are: manage.py apikey makes one.

Exit code 0: the program has closed the connection. 1: the key is missing or not valid.
"""
    requires_system_checks = []

    def handle(self, *args: Any, **options: Any) -> None:
        plaintext = environ.FileAwareEnv().str(VARIABLE, default="").strip()
        if not plaintext:
            raise CommandError(f"{VARIABLE} is not set. Make a key with: manage.py apikey --help")
        try:
            _caller(plaintext)
        except KeyGone as gone:
            raise CommandError(f"{VARIABLE}: {gone}") from gone
        audit.context.set("command mcp")
        # Ctrl-C ends it at once, whatever waits for input.
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        # Takes seconds. Until then memory goes by words.
        threading.Thread(target=embedding.warm_up, name="embedding-warm-up", daemon=True).start()
        async_to_sync(_serve)(plaintext)


def _caller(plaintext: str) -> Caller:
    """Looked at anew for each request: a key may be revoked while the program runs."""
    close_old_connections()
    key = keys.verify(plaintext)
    if key is None:
        raise KeyGone
    return Caller(key)


async def _serve(plaintext: str) -> None:
    from mcp.server.stdio import stdio_server

    from memory.mcp.serve import server

    serving = server(lambda: _caller(plaintext))
    async with stdio_server() as (incoming, outgoing):
        await serving.run(incoming, outgoing, serving.create_initialization_options())
