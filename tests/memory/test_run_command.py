"""manage.py extract: what it reads, what it says, and its exit code."""

from io import StringIO
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.utils import timezone
from pytest_django.fixtures import Settings

from agents.models import Agent, OwnerSettings
from conversations.models import Conversation
from memory.extraction.lease import claim
from memory.models import Fact
from tests.factories import ConversationFactory, FactFactory
from tests.llm_server import ScriptedLlm, fails, scripted_llm
from tests.memory.extraction_cases import candidate, decided, marks, observed, route, say

pytestmark = pytest.mark.django_db

CAT = candidate("The user has a cat.", "I have a cat")


def run(*arguments: str, **options: Any) -> tuple[int, str]:
    """Exit code and everything that was written."""
    out = StringIO()
    try:
        call_command("extract", *arguments, "--no-vectors", stdout=out, stderr=out, **options)
    except SystemExit as end:
        return int(str(end.code)), out.getvalue()
    return 0, out.getvalue()


def unread(agent: Agent, external_id: str, **values: Any) -> Conversation:
    conversation = ConversationFactory.create(agent=agent, external_id=external_id, **values)
    say(conversation, "I have a cat")
    return conversation


def test_it_reads_what_is_due_and_sums_it_up(llm: ScriptedLlm, agent: Agent) -> None:
    due = unread(agent, "old", due_trigger="request")
    lively = unread(agent, "new")
    llm.observer(observed(CAT, CAT | {"general_knowledge": True, "statement": "Cats purr."}))
    code, said = run()
    assert code == 0
    assert "1 conversations with scripted" in said
    assert "old: 1 windows, 2 candidates: 1 new (0 active at once), 0 corrections" in said
    assert "1 dropped (general knowledge: 1)" in said
    assert (marks(due), marks(lively)) == ((1, 0), (0, 0))
    assert "cat" not in said


def test_it_says_when_nothing_is_due_and_how_to_go_on(llm: ScriptedLlm, agent: Agent) -> None:
    assert run() == (0, "Nothing is due: everything is read.\n")
    unread(agent, "new")
    code, said = run()
    assert code == 0
    assert "1 conversations hold something unread" in said
    assert "--all" in said


def test_it_reads_all_in_the_order_in_which_it_was_said(llm: ScriptedLlm, agent: Agent) -> None:
    unread(agent, "first")
    unread(agent, "second", source="elsewhere")
    Conversation.objects.filter(external_id="first").update(last_message_at=timezone.now())
    llm.observer(observed(), observed())
    code, said = run("--all")
    assert code == 0
    assert said.index("second:") < said.index("first:")


def test_it_reads_one_by_name_even_if_it_was_stuck(llm: ScriptedLlm, agent: Agent) -> None:
    stuck = unread(agent, "stuck", stuck_at=timezone.now(), attempts=5)
    other = unread(agent, "other")
    llm.observer(observed(CAT))
    assert run("--conversation", "stuck")[0] == 0
    assert (marks(stuck), marks(other)) == ((1, 0), (0, 0))


def test_a_failure_is_told_and_is_the_exit_code(llm: ScriptedLlm, agent: Agent) -> None:
    unread(agent, "one")
    unread(agent, "two")
    llm.observer(fails(500), observed(CAT))
    code, said = run("--all")
    assert code == 1
    assert "one: The language model's server failed (HTTP 500)." in said
    assert "1 of 2 conversations failed" in said
    assert Fact.objects.count() == 1


def test_it_says_that_the_rules_read(settings: Settings, agent: Agent, no_vectors: None) -> None:
    settings.LLM_ROUTES = {"general": {"model": ""}, "private": {"model": ""}}
    unread(agent, "one")
    code, said = run("--all")
    assert code == 0
    assert "built-in rules" in said
    assert "LLM_MODEL" in said


def test_it_refuses_while_memory_is_off(llm: ScriptedLlm, agent: Agent) -> None:
    unread(agent, "one")
    OwnerSettings.objects.update(memory_enabled=False)
    with pytest.raises(CommandError, match="Memory is off for alice"):
        run("--all")
    assert llm.requests == []


def test_it_names_what_waits_for_the_private_route(llm: ScriptedLlm, agent: Agent) -> None:
    unread(agent, "secret", sensitive=True)
    plain = unread(agent, "plain")
    llm.observer(observed())
    code, said = run("--all")
    assert code == 0
    assert "1 sensitive conversations wait for LLM_PRIVATE_MODEL." in said
    assert marks(plain) == (1, 0)
    assert run("--conversation", "secret")[0] == 0
    assert len(llm.requests) == 1


def test_it_uses_the_private_route_where_there_is_one(
    llm: ScriptedLlm, agent: Agent, settings: Settings
) -> None:
    unread(agent, "secret", sensitive=True)
    with scripted_llm() as private:
        settings.LLM_ROUTES = {"general": route(llm), "private": route(private, "local")}
        private.observer(observed(CAT))
        code, said = run("--all")
    assert (code, llm.requests) == (0, [])
    assert "with local" in said


def test_it_refuses_what_it_cannot_find_or_may_not_learn_from(
    llm: ScriptedLlm, agent: Agent, bobs_agent: Agent
) -> None:
    unread(bobs_agent, "of bob")
    unread(agent, "quiet", read_only=True)
    with pytest.raises(CommandError, match="alice has no conversation 'of bob'"):
        run("--conversation", "of bob", "--owner", "alice")
    with pytest.raises(CommandError, match="read-only"):
        run("--conversation", "quiet", "--owner", "alice")
    with pytest.raises(CommandError, match="--owner"):
        run("--all")
    assert llm.requests == []


def test_it_gives_up_on_a_lease_that_another_keeps(
    llm: ScriptedLlm, agent: Agent, settings: Settings
) -> None:
    unread(agent, "one")
    claim(agent.owner)
    settings.EXTRACTION_LEASE_SECONDS = 0
    with pytest.raises(CommandError, match="Another extraction"):
        run("--all")


def test_it_asks_the_reflector_too(llm: ScriptedLlm, agent: Agent) -> None:
    FactFactory.create(owner=agent.owner, statement="The user sold a cat.")
    unread(agent, "one")
    llm.observer(observed(CAT))
    llm.reflector(decided((1, "skip", [])))
    assert "1 dropped (the reflector saw nothing new: 1)" in run("--all")[1]
