"""kill -9 of a real worker in the middle of an extraction: repeated, nothing doubled or lost."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from celery import Celery

from agents.models import Agent
from config.environment import broker_folders
from conversations.models import Conversation
from memory.extraction.lease import at_work
from memory.models import Evidence, ExtractionRun, Fact, OwnerLease
from memory.vocabulary import State
from tests.deploy.processes import PATIENCE, Started, clean_environment
from tests.factories import ConversationFactory, FactFactory
from tests.llm_server import ScriptedLlm, scripted_llm, waits
from tests.memory.extraction_cases import candidate, decided, handle, observed, say

WORKER = ["-m", "celery", "-A", "config.celery", "worker", "--pool", "threads"]
LYON = candidate("The user lives in Lyon.", "I live in Lyon now")


@pytest.fixture
def llm() -> Iterator[ScriptedLlm]:
    with scripted_llm() as server:
        yield server


@pytest.fixture
def conversation(agent: Agent) -> Conversation:
    conversation = ConversationFactory.create(agent=agent)
    say(conversation, "I live in Lyon now")
    Conversation.objects.filter(pk=conversation.pk).update(due_trigger="request")
    return conversation


@contextmanager
def worker(home: Path, environment: dict[str, str]) -> Iterator[Started]:
    command = [*WORKER, "--concurrency", "2", "--without-mingle", "--without-gossip"]
    started = Started(command, environment, home / f"worker-{time.monotonic_ns()}.out")
    try:
        yield started
    finally:
        if started.process.poll() is None:
            started.process.kill()
            started.process.wait(PATIENCE)


def send_sweep(home: Path) -> None:
    """As beat does."""
    for name in ("messages", "control"):
        (home / "broker" / name).mkdir(parents=True, exist_ok=True)
    sender = Celery(broker="filesystem://localhost//", set_as_current=False)
    sender.conf.broker_transport_options = broker_folders(home / "broker")
    sender.send_task("memory.tasks.sweep", queue="remembrancer")
    sender.close()


def until(true: Callable[[], object], process: Started) -> None:
    give_up = time.monotonic() + PATIENCE
    while not true():
        assert process.process.poll() is None, process.said()
        assert time.monotonic() < give_up, process.said()
        time.sleep(0.05)


@pytest.mark.django_db(transaction=True)
def test_what_a_killed_worker_began_is_done_by_the_next(
    llm: ScriptedLlm,
    conversation: Conversation,
    database_urls: dict[str, str],
    tmp_path: Path,
) -> None:
    old = FactFactory.create(
        owner=conversation.owner, state=State.ACTIVE, statement="The user lives in Paris."
    )
    environment = clean_environment(
        SECRET_KEY="s" * 48,
        HASH_KEY="h" * 48,
        REMEMBRANCER_HOME=str(tmp_path),
        LLM_MODEL="scripted",
        LLM_BASE_URL=llm.url,
        **database_urls,
    )
    llm.observer(observed(LYON))
    llm.reflector(waits(PATIENCE, decided()))

    send_sweep(tmp_path)
    with worker(tmp_path, environment) as first:
        until(lambda: llm.asked("ReflectorReply"), first)
        assert ExtractionRun.objects.get().state == ExtractionRun.State.RUNNING
        first.process.kill()
        first.process.wait(PATIENCE)
    conversation.refresh_from_db()
    assert conversation.cursor_seq == 0
    assert Fact.objects.count() == 1
    assert OwnerLease.objects.count() == 1

    llm.observer(observed(LYON))
    llm.reflect_with(lambda request: decided((1, "supersede", [handle(request, old)])))
    until_free()
    send_sweep(tmp_path)
    with worker(tmp_path, environment) as second:
        until(lambda: Conversation.objects.get(pk=conversation.pk).cursor_seq == 1, second)
        until(lambda: not OwnerLease.objects.exists(), second)

    lost, applied = ExtractionRun.objects.order_by("started_at")
    assert (lost.state, applied.state) == ("lost", "applied")
    assert (lost.attempt, applied.attempt) == (1, 2)
    assert Fact.objects.filter(run=applied).get().statement == "The user lives in Lyon."
    assert (Fact.objects.count(), Evidence.objects.count()) == (2, 1)


def until_free() -> None:
    """Postgres notices within milliseconds that the worker's session has ended."""
    give_up = time.monotonic() + 10
    while at_work() and time.monotonic() < give_up:
        time.sleep(0.01)
    assert not at_work()
