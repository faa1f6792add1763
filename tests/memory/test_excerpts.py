"""What a document says is read when its owner asks, and always waits for the owner."""

from typing import Any

import pytest

from agents.gate import MemoryOff
from agents.models import Agent, OwnerSettings
from conversations.ingest import Excerpt, Stored, excerpts
from conversations.models import Passage
from memory.models import DroppedCandidate, Evidence, Fact
from memory.vocabulary import Gate, State, Withheld
from tests.factories import MONDAY, FactFactory
from tests.llm_server import ScriptedLlm
from tests.memory.extraction_cases import candidate, happened, observed, run_once

pytestmark = pytest.mark.django_db

RENT = "The tenant pays a rent of 1,250 euro a month."
SIGNED = "Signed by the tenant on 14 February 2026."


def lease(agent: Agent, *texts: str, first: int = 0) -> Stored:
    passages = [
        Excerpt(id=f"p{n}", place=f"Lease, page {n}", text=text)
        for n, text in enumerate(texts, first)
    ]
    return excerpts(
        agent=agent, external_id="lease", title="Lease", passages=passages, added_at=MONDAY
    )


def test_a_document_is_asked_about_by_a_prompt_of_its_own(llm: ScriptedLlm, agent: Agent) -> None:
    conversation = lease(agent, RENT, "x" * 5000).conversation
    llm.observer(observed())
    run = run_once(conversation)
    assert run.prompt_version == "document-v1 reflector-v1"
    (asked,) = llm.asked("ObserverReply")
    assert "passages of a document" in asked.system
    assert 'from="document"' in asked.user
    assert 'name="Lease, page 0"' in asked.user
    assert "x" * 5000 in asked.user


def test_what_a_document_says_waits_however_sure_it_is(llm: ScriptedLlm, agent: Agent) -> None:
    conversation = lease(agent, RENT, SIGNED).conversation
    llm.observer(
        observed(
            candidate("The user pays a rent of 1,250 euro a month.", RENT),
            happened("The user signed a lease on 14 February 2026.", SIGNED, "2026-02-14", 2),
        )
    )
    run_once(conversation)
    assert {fact.state for fact in Fact.objects.all()} == {State.PENDING}
    assert all(Withheld.DOCUMENT in fact.withheld_for for fact in Fact.objects.all())
    quotes = {row.quote: row.message.speaker for row in Evidence.objects.select_related("message")}
    assert quotes == {RENT: "Lease, page 0", SIGNED: "Lease, page 1"}


def test_a_document_confirms_nothing(llm: ScriptedLlm, agent: Agent) -> None:
    said = "The user pays a rent of 1,250 euro a month."
    known: Any = FactFactory.create(agent=agent, statement=said, state=State.ACTIVE)
    before = known.last_confirmed_at
    conversation = lease(agent, RENT).conversation
    llm.observer(observed(candidate(said, RENT)))
    run_once(conversation)
    known.refresh_from_db()
    assert known.last_confirmed_at == before
    assert DroppedCandidate.objects.get().gate == Gate.SAME_AS_ACTIVE


def test_a_passage_is_read_once_and_is_not_part_of_what_was_said(agent: Agent) -> None:
    first = lease(agent, RENT)
    again = lease(agent, RENT)
    assert (first.new, again.new, again.known) == (1, 0, 1)
    assert again.conversation == first.conversation
    assert lease(agent, SIGNED, first=1).new == 1
    assert not Passage.objects.exists()


def test_while_memory_is_off_no_document_is_read(agent: Agent) -> None:
    OwnerSettings.objects.filter(owner=agent.owner).update(memory_enabled=False)
    with pytest.raises(MemoryOff):
        lease(agent, RENT)


def test_no_client_writes_where_documents_are_read(api: Any, alice_key: Any) -> None:
    said = {"id": "1", "role": "user", "content": "hello", "sent_at": "2026-03-02T09:00:00Z"}
    answer = api(alice_key).post(
        "/api/v1/conversations/lease/messages",
        {"source": "document", "messages": [said]},
        content_type="application/json",
    )
    assert answer.status_code == 422
    assert "reserved" in answer.content.decode()
