"""A purge beside what is at work: the scripted model does it while it thinks."""

import subprocess
from collections.abc import Callable

import pytest
from django.db import connections

from agents.models import Agent
from config import embedded
from conversations import passages
from conversations.models import Conversation, Message
from memory.lifecycle.returns import digest_of
from memory.models import DroppedCandidate, ExtractionRun, Fact, Tombstone
from memory.purge.execute import purge
from memory.purge.selection import chosen
from memory.vocabulary import State
from tests.conftest import TEST_DATABASE
from tests.factories import ConversationFactory, FactFactory
from tests.llm_server import Recorded, Reply, ScriptedLlm, meanwhile
from tests.memory.dumping import dump, found
from tests.memory.extraction_cases import candidate, decided, observed, run_once, say
from tests.memory.sessions import Session, waits
from tests.memory.steps import by

pytestmark = pytest.mark.django_db(transaction=True)

LYON = candidate("The user lives in Lyon.", "I live in Lyon now")


@pytest.fixture
def conversation(agent: Agent) -> Conversation:
    conversation = ConversationFactory.create(agent=agent)
    passages.store(say(conversation, "I live in Lyon now"))
    return conversation


def while_thinking(do: Callable[[], object], reply: Reply) -> Reply:
    def apart(request: Recorded) -> None:
        try:
            do()
        finally:
            connections.close_all()

    return meanwhile(apart, reply)


def purge_messages(conversation: Conversation) -> None:
    purge(
        selection=chosen(owner=conversation.owner, conversation=conversation),
        actor=by(conversation.owner),
    )


def test_a_job_that_read_before_the_purge_writes_nothing_back(
    llm: ScriptedLlm, conversation: Conversation
) -> None:
    llm.observer(while_thinking(lambda: purge_messages(conversation), observed(LYON)))
    run = run_once(conversation)
    assert run.state == ExtractionRun.State.LOST
    assert not Fact.objects.exists()
    assert found(dump(), "Lyon") == set()


def test_nor_does_one_that_compared_with_a_purged_fact(
    llm: ScriptedLlm, conversation: Conversation
) -> None:
    """The reflector's reason may repeat what it was shown."""
    old = FactFactory.create(
        agent=conversation.agent, statement="The user lives in Perpignan.", state=State.ACTIVE
    )

    def forget_it() -> None:
        purge(selection=chosen(owner=old.owner, facts=(old.pk,)), actor=by(old.owner))

    llm.observer(observed(LYON))
    llm.reflector(while_thinking(forget_it, decided((1, "supersede", [1]))))
    assert run_once(conversation).state == ExtractionRun.State.LOST
    assert found(dump(), "Perpignan") == set()
    assert not DroppedCandidate.objects.exists()
    llm.observer(observed(LYON))
    assert run_once(conversation).counts["created"] == 1


def test_a_later_backfill_meets_the_tombstone(llm: ScriptedLlm, conversation: Conversation) -> None:
    row = FactFactory.create(agent=conversation.agent, statement="The user lives in Lyon.")
    purge(selection=chosen(owner=row.owner, facts=(row.pk,)), actor=by(row.owner))
    llm.observer(observed(candidate("User, lives in the Lyon", "I live in Lyon now")))
    assert run_once(conversation).counts["dropped"] == {"tombstoned": 1}
    dropped = DroppedCandidate.objects.get()
    assert (dropped.statement, dropped.quote, dropped.detail) == ("", "", "")


def test_it_waits_for_a_writer_and_takes_what_that_wrote(conversation: Conversation) -> None:
    """A transition that is under way ends first; its fact is then chosen as well."""
    from memory.lifecycle import propose
    from tests.memory.steps import draft

    owner, agent = conversation.owner, conversation.agent
    writer, eraser = Session(), Session()
    try:
        writer.begin()
        writer.do(
            lambda: propose(
                owner=owner, agent=agent, draft=draft("The user lives in Lyon."), actor=by(owner)
            )
        )
        one = FactFactory.create(owner=owner, statement="The user loves Lyon.")
        selection = chosen(owner=owner, match="Lyon")
        future = eraser.start(lambda: purge(selection=selection, actor=by(owner)))
        assert waits(future)
        writer.commit()
        assert future.result(timeout=30)["facts"] == 2
    finally:
        writer.close()
        eraser.close()
    assert Fact.objects.get(pk=one.pk).statement == Fact.PURGED
    assert found(dump(), "Lyon") == set()


def test_a_real_dump_holds_neither_the_text_nor_the_secret(
    postgres: embedded.Server, conversation: Conversation, settings: object
) -> None:
    from django.conf import settings as configured

    statement = "The user lives in Lyon."
    row = FactFactory.create(
        agent=conversation.agent, conversation=conversation, statement=statement,
        message=Message.objects.get(),
    )  # fmt: skip

    def dumped() -> str:
        url = postgres.url(embedded.SUPERUSER, TEST_DATABASE)
        program = str(embedded.program("pg_dump"))
        return subprocess.run([program, url], capture_output=True, text=True, check=True).stdout

    assert dumped().count("Lyon") > 3
    purge(selection=chosen(owner=row.owner, facts=(row.pk,)), actor=by(row.owner))
    text = dumped()
    assert "Lyon" not in text
    assert "lyon" not in text
    assert configured.HASH_KEY not in text
    assert Tombstone.objects.get().digest == digest_of(statement)
