"""A Postgres of the bench's own, with the schema in it and the model loaded."""

import os
import sys
import time
import warnings
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from datetime import datetime
from multiprocessing import get_context
from pathlib import Path
from typing import TYPE_CHECKING
from unittest.mock import patch

if TYPE_CHECKING:
    from agents.models import Agent, User

# What later runs need not make again. Beside the application's own data, which git ignores.
KEPT = Path(__file__).resolve().parent.parent / ".data" / "bench"


def start(folder: Path) -> None:
    """Everything that imports models has to be imported after this."""
    load(folder)
    migrate()


def load(folder: Path) -> None:
    """The first half of `start`: the model is there, the schema is not."""
    _keep_graphs(folder)
    join(folder)


def migrate() -> None:
    """The second half: a minute of one processor, in which the others can go on with texts."""
    from django.core.management import call_command

    call_command("migrate", verbosity=0)


def join(folder: Path) -> None:
    """As `load`, in another process beside the one that started."""
    _set_up(folder)
    from memory import embedding

    embedding.warm_up()


@contextmanager
def workers(folder: Path) -> Iterator[ProcessPoolExecutor]:
    """A process for each core. What is handed to them is a function of a module, and what pickle
    can carry."""
    with ProcessPoolExecutor(
        os.cpu_count(), mp_context=get_context("spawn"), initializer=join, initargs=(folder,)
    ) as pool:
        yield pool


def _set_up(folder: Path) -> None:
    os.environ |= {
        "REMEMBRANCER_HOME": str(folder),
        "DATABASE_URL": "",
        "DJANGO_SETTINGS_MODULE": "config.settings",
    }
    warnings.filterwarnings("ignore")
    import django

    django.setup()


def _keep_graphs(folder: Path) -> None:
    """The model's graph takes seconds to make, and is the same for every run."""
    graphs = folder / "models"
    if not graphs.exists():
        folder.mkdir(parents=True, exist_ok=True)
        (KEPT / "models").mkdir(parents=True, exist_ok=True)
        graphs.symlink_to(KEPT / "models")


def stop() -> None:
    """The server goes with the last process that uses it."""
    from django.conf import settings
    from django.db import connections

    from config import embedded

    connections.close_all()
    embedded.leave(embedded.join(settings.HOME))


def bench_url() -> str:
    """Our own database, for a role that may write past the triggers."""
    from django.conf import settings

    from config import embedded

    return embedded.join(settings.HOME).url(embedded.SUPERUSER)


def app_url() -> str:
    """The database for the application's own role, as a server set-up is told it."""
    from django.conf import settings

    from config import embedded

    return embedded.join(settings.HOME).url(embedded.APP_ROLE)


def api_key(
    owner: "User", scopes: Sequence[str] = ("recall",), agent: "Agent | None" = None
) -> str:
    from agents import keys
    from agents.audit import person

    _, plaintext = keys.issue(
        owner=owner, agent=agent, name="bench", scopes=scopes, actor=person(owner)
    )
    return plaintext


def superuser_url() -> str:
    """For peers that bring tables of their own: an empty database beside ours."""
    import psycopg
    from django.conf import settings

    from config import embedded

    server = embedded.join(settings.HOME)
    with psycopg.connect(server.url(embedded.SUPERUSER, "postgres"), autocommit=True) as connection:
        connection.execute("DROP DATABASE IF EXISTS peers")
        connection.execute("CREATE DATABASE peers")
    with psycopg.connect(server.url(embedded.SUPERUSER, "peers"), autocommit=True) as connection:
        connection.execute("CREATE EXTENSION vector")
    return server.url(embedded.SUPERUSER, "peers")


@contextmanager
def clock(moment: datetime) -> Iterator[None]:
    """The application believes that it is then."""
    with patch("django.utils.timezone.now", lambda: moment):
        yield


@contextmanager
def told(what: str) -> Iterator[None]:
    started = time.monotonic()
    print(f"{what} ...", end=" ", file=sys.stderr, flush=True)
    yield
    print(f"{time.monotonic() - started:.0f} s", file=sys.stderr, flush=True)
