"""The programs under docs/examples, run as they stand against a live server."""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.core.management import call_command
from pytest_django.live_server_helper import LiveServer

from agents.audit import person
from agents.models import Agent
from conversations.models import Message
from memory import embedding, lifecycle
from memory.models import Fact
from memory.tasks_embedding import embed_missing
from memory.vocabulary import State
from tests.factories import ApiKeyFactory, FactFactory
from tests.upstream_server import Upstream, calls, says, scripted_upstream

pytestmark = pytest.mark.django_db(transaction=True)
EXAMPLES = Path(__file__).parents[2] / "docs" / "examples"
KNOWN = "The user sails a small boat named Aurora."


@pytest.fixture
def model() -> Iterator[Upstream]:
    embedding.warm_up()  # as a server does before its first request
    with scripted_upstream() as server:
        yield server


def run(
    program: str,
    *arguments: str,
    server: LiveServer,
    agent: Agent,
    model: Upstream,
    typed: str = "",
) -> str:
    key = ApiKeyFactory.create(agent=agent, scopes=["ingest", "recall", "remember"])
    told = {
        "REMEMBRANCER_URL": server.url,
        "REMEMBRANCER_KEY": key.plaintext,
        "OPENAI_BASE_URL": model.url,
        "OPENAI_API_KEY": "none",
        "MODEL": "scripted",
    }
    done = subprocess.run(
        [sys.executable, str(EXAMPLES / program), *arguments],
        input=typed,
        env=os.environ | told,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def said(agent: Agent) -> list[tuple[str, str]]:
    rows = Message.objects.filter(owner=agent.owner).order_by("conversation", "seq")
    return list(rows.values_list("role", "content"))


def test_the_first_steps_store_and_recall_once_it_is_confirmed(
    live_server: LiveServer, agent: Agent, model: Upstream
) -> None:
    told = run("start.py", server=live_server, agent=agent, model=model)
    assert "'new': 1" in told
    assert said(agent) == [("user", "I moved to Turku last week.")]
    call_command("backfill", owner=agent.owner.username)
    fact = Fact.objects.get(owner=agent.owner, state=State.PENDING)
    assert "Turku" not in run("start.py", server=live_server, agent=agent, model=model)
    lifecycle.confirm(fact=fact, actor=person(agent.owner))
    embed_missing()
    assert fact.statement in run("start.py", server=live_server, agent=agent, model=model)


def test_the_chat_tells_the_model_what_is_known_and_memory_what_was_said(
    live_server: LiveServer, agent: Agent, model: Upstream
) -> None:
    FactFactory.create(agent=agent, statement=KNOWN, state=State.ACTIVE)
    FactFactory.create(agent=agent, statement="The user sails a raft named Borealis.")
    model.script(says("Aurora, of course."), says("Fair winds!"))
    question, farewell = "What is the name of my boat?", "Thanks."
    told = run(
        "chat.py", server=live_server, agent=agent, model=model, typed=f"{question}\n{farewell}\n\n"
    )
    assert "Aurora, of course." in told
    first, second = model.requests
    assert KNOWN in first.body["messages"][-1]["content"]
    assert "Borealis" not in first.text
    assert KNOWN not in str(second.body["messages"][:-1])
    assert said(agent) == [
        ("user", question), ("assistant", "Aurora, of course."),
        ("user", farewell), ("assistant", "Fair winds!"),
    ]  # fmt: skip


def test_the_agent_is_told_what_is_known_and_remembers_when_asked(
    live_server: LiveServer, agent: Agent, model: Upstream
) -> None:
    FactFactory.create(agent=agent, statement=KNOWN, state=State.ACTIVE)
    message = "Please remember: I berth my boat Aurora in Naantali."
    statement = "The user berths the boat Aurora in Naantali."
    asked = '{"statement": "%s", "quote": "I berth my boat Aurora in Naantali."}' % statement  # noqa: UP031
    model.script(calls("remember", asked), says("Noted."))
    told = run("agent.py", message, server=live_server, agent=agent, model=model)
    assert told.strip().endswith("Noted.")
    assert KNOWN in model.requests[0].text
    stored = Fact.objects.get(owner=agent.owner, statement=statement)
    assert stored.state in {State.ACTIVE, State.PENDING}
    assert stored.evidence.get().message.content == message
    assert stored.state in model.requests[1].text
    assert said(agent) == [("user", message), ("assistant", "Noted.")]
