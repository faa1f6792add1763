"""What holds for every page: who may see it, and what a list costs."""

from typing import TYPE_CHECKING
from uuid import uuid4

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import URLPattern, reverse

from memory import urls
from memory.models import Fact
from memory.vocabulary import State
from tests.factories import ConversationFactory
from tests.memory.candidates import a_run, candidate
from tests.memory.pages import text

if TYPE_CHECKING:
    pass

pytestmark = pytest.mark.django_db


def test_every_page_needs_an_owner_and_hides_what_belongs_to_another(client, stranger, agent):
    """Walks the routes of facts, conversations and runs, so that a new one is tested the moment it
    is there. Those of other rows have cases in tests/isolation."""
    conversation = ConversationFactory.create(agent=agent)
    fact = candidate(agent, "The user keeps bees.", conversation=conversation)
    ids = {"fact_id": fact.pk, "conversation_id": conversation.pk, "run_id": a_run(conversation).pk}
    for pattern in urls.urlpatterns:
        if not isinstance(pattern, URLPattern):
            continue
        if pattern.name in {"home", "waiting-count"} or pattern.pattern.converters.keys() - ids:
            continue
        wanted = {name: ids[name] for name in pattern.pattern.converters}
        address = reverse(pattern.name, kwargs=wanted)
        client.logout()
        answers = [client.get(address), client.post(address)]
        assert {answer.status_code for answer in answers} <= {302, 405}, pattern.name
        assert any(
            a["Location"].startswith("/accounts/login") for a in answers if a.has_header("Location")
        )
        if not wanted:
            continue
        client.force_login(stranger)
        answers = [client.get(address), client.post(address)]
        assert {answer.status_code for answer in answers} <= {404, 405}, pattern.name
        for answer in answers:
            assert b"bees" not in answer.content
    fact.refresh_from_db()
    assert fact.state == State.PENDING


def test_the_start_page_leads_to_the_queue(alices):
    assert alices.get("/")["Location"] == reverse("review")


@pytest.mark.parametrize("name", ["fact", "conversation", "run"])
def test_a_page_of_what_never_was_is_not_found(alices, name):
    assert alices.get(reverse(name, args=[uuid4()])).status_code == 404


@pytest.mark.parametrize("name", ["facts", "conversations", "runs"])
def test_lists_cost_the_same_for_20_rows_as_for_10(alices, agent, name):
    def fill(count: int) -> None:
        for _ in range(count):
            conversation = ConversationFactory.create(agent=agent)
            statement = f"The user has {Fact.objects.count()} hives."
            candidate(agent, statement, conversation=conversation, state=State.ACTIVE)
            a_run(conversation)

    fill(10)
    text(alices, name)
    with CaptureQueriesContext(connection) as ten:
        text(alices, name)
    fill(10)
    with CaptureQueriesContext(connection) as twenty:
        page = text(alices, name)
    assert page.count("hives") >= 20 or name != "facts"
    assert len(ten) == len(twenty) <= 12
