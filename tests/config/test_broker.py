"""The broker that is a folder: one process writes a hint while another looks for it."""

import threading
from collections.abc import Iterator
from pathlib import Path
from queue import Empty
from typing import Any

import pytest
from kombu import Connection
from kombu.simple import SimpleQueue

from config.environment import broker_folders

MESSAGES = 400
BODY = {"args": ["x" * 5000]}


@pytest.fixture
def connection(tmp_path: Path) -> Iterator[Connection]:
    from config import celery  # noqa: F401  (names the transport)

    options = broker_folders(tmp_path)
    for name in ("messages", "control"):
        (tmp_path / name).mkdir()
    with Connection("folder://localhost//", transport_options=options) as opened:
        yield opened


def queue(connection: Connection, name: str) -> SimpleQueue:
    """A name of its own for each test: Kombu keeps what was declared for the whole process."""
    return connection.SimpleQueue(name, no_ack=True)


def test_it_never_hands_over_half_a_message(connection: Connection) -> None:
    reader = queue(connection, "many")
    writer = threading.Thread(target=_write, args=[connection.clone()])
    writer.start()
    got: list[Any] = []
    while writer.is_alive() or len(got) < MESSAGES:
        try:
            got.append(reader.get(block=False).payload)
        except Empty:
            if not writer.is_alive() and not _left(connection):
                break
    writer.join()
    assert got == [BODY] * MESSAGES


def _write(connection: Connection) -> None:
    with connection:
        sent = queue(connection, "many")
        for _ in range(MESSAGES):
            sent.put(BODY)


def _left(connection: Connection) -> list[Path]:
    return list(folder_of(connection).glob("*.msg"))


def folder_of(connection: Connection) -> Path:
    assert connection.transport_options
    return Path(connection.transport_options["data_folder_in"])


def test_a_message_that_a_crash_cut_off_is_passed_over(connection: Connection) -> None:
    reader = queue(connection, "few")
    folder = folder_of(connection)
    (folder / "0_a.few.msg").write_text("")
    (folder / "0_b.few.msg").write_text('{"body": "')
    reader.put(BODY)
    assert reader.get(timeout=5).payload == BODY
    assert not _left(connection)
