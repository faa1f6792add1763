"""A backfill of many messages through the real command: how long it takes, and whether it grows.

    python -m bench.backfill [--messages 100000]

The language model is a scripted server of this process, which answers at once; everything else is
real. Prints the size of the command's process at every tenth, and at the end a JSON object.
"""

import argparse
import json
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psutil

from bench.home import start, told

PER_CONVERSATION = 40
THINGS = ("bicycle", "piano", "boat", "camera", "telescope", "loom", "kiln", "cello")
PLACES = ("Oslo", "Turku", "Bergen", "Lund", "Aarhus", "Tartu", "Riga", "Visby")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--messages", type=int, default=100_000)
    messages = parser.parse_args().messages
    with tempfile.TemporaryDirectory(prefix="remembrancer-bench-") as folder:
        start(Path(folder))
        with told(f"{messages:,} messages"):
            seed(messages)
        found = measure(messages)
    print(json.dumps(found))


def seed(messages: int) -> None:
    from agents.accounts import first_owner
    from agents.audit import command

    owner = first_owner(actor=command("bench"))
    agent = owner.agents.get()
    for number in range(0, messages, PER_CONVERSATION):
        _conversation(agent, number, min(PER_CONVERSATION, messages - number))


def _conversation(agent: Any, number: int, size: int) -> None:
    from datetime import UTC, datetime, timedelta

    from conversations.models import Conversation, Message

    begun = datetime(2024, 1, 1, tzinfo=UTC) + timedelta(minutes=number)
    conversation = Conversation.objects.create(
        owner=agent.owner,
        agent=agent,
        source="bench",
        external_id=str(number),
        last_seq=size,
        first_message_at=begun,
        last_message_at=begun,
    )
    Message.objects.bulk_create(
        Message(
            owner=agent.owner,
            conversation=conversation,
            seq=seq,
            client_id=str(seq),
            role="user" if seq % 2 else "assistant",
            from_owner=bool(seq % 2),
            content=_said(number + seq) if seq % 2 else "Good to know. " * 40,
            sent_at=begun,
        )
        for seq in range(1, size + 1)
    )


def _said(number: int) -> str:
    thing, place = THINGS[number % 8], PLACES[number // 8 % 8]
    return f"I bought {thing} number {number} in {place}. " + "It was a fine day there. " * 20


def measure(messages: int) -> dict[str, Any]:
    from django.db import connection

    from tests.llm_server import scripted_llm

    with scripted_llm() as llm:
        llm.observe_with(lambda request: _observed(llm, request))
        llm.reflect_with(lambda request: _reflected(request))
        environment = {"LLM_MODEL": "scripted", "LLM_BASE_URL": llm.url, "LLM_API_KEY": "key"}
        started = time.monotonic()
        process = _backfill(environment)
        sizes = list(_watch(process, messages))
        seconds = time.monotonic() - started
    with connection.cursor() as cursor:
        cursor.execute("SELECT count(*) FROM memory_fact")
        (facts,) = cursor.fetchone()
    return {
        "messages": messages,
        "seconds": round(seconds),
        "facts": facts,
        "exit": process.returncode,
        "mb_at_each_tenth": sizes,
    }


def _backfill(environment: dict[str, str]) -> "subprocess.Popen[bytes]":
    import os

    return subprocess.Popen(
        [sys.executable, "manage.py", "backfill"], env=os.environ | environment, stdout=sys.stderr
    )


def _watch(process: "subprocess.Popen[bytes]", messages: int) -> Iterator[int]:
    """Megabytes that the process itself holds, whenever another tenth is read."""
    tenth, held = 1, psutil.Process(process.pid)
    while process.poll() is None:
        time.sleep(0.5)
        if _read() * 10 >= tenth * messages:
            megabytes = held.memory_info().rss // 1_000_000
            print(f"{tenth * 10:3} %  {megabytes} MB", file=sys.stderr, flush=True)
            yield megabytes
            tenth += 1


def _read() -> int:
    from django.db import connection

    with connection.cursor() as cursor:
        cursor.execute("SELECT coalesce(sum(cursor_seq), 0) FROM conversations_conversation")
        return int(cursor.fetchone()[0])


def _observed(llm: Any, request: Any) -> Any:
    """The first thing bought in the window, which is a new one each time."""
    from tests.memory.extraction_cases import candidate, observed

    llm.requests.clear()
    found = re.search(
        r'n="(\d+)" from="owner"(?:(?! read=)[^>])*>\n(I bought (\w+ number \d+ in \w+))',
        request.user,
    )
    assert found
    statement = f"The user bought {found[3]}."
    return observed(candidate(statement, found[2], int(found[1])))


def _reflected(request: Any) -> Any:
    from tests.memory.extraction_cases import decided

    return decided((1, "create", []))


if __name__ == "__main__":
    main()
