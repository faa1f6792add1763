"""In Chromium: a document that failed is tried again, facts are proposed out of one, and a
collection is pinned to a conversation."""

import io
import tempfile
import threading
from typing import TYPE_CHECKING

import pytest
from django.db import connection
from django.urls import reverse
from playwright.sync_api import expect

from agents.audit import person
from conversations.models import Conversation
from knowledge import ingest
from knowledge.ingest import job
from knowledge.models import Document
from knowledge.pins import pins_of
from memory.extraction.run import extract
from memory.models import Evidence, Fact
from memory.vocabulary import State, Trigger
from tests.browser.desk import sign_in
from tests.browser.watching import grave_barriers
from tests.factories import ConversationFactory
from tests.knowledge.shelves import document, shelf
from tests.llm_server import scripted_llm
from tests.memory.extraction_cases import candidate, observed

if TYPE_CHECKING:
    from collections.abc import Callable

    from playwright.sync_api import Page
    from pytest_django.fixtures import Settings
    from pytest_django.live_server_helper import LiveServer

    from agents.models import Agent
    from knowledge.models import Collection

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

RENT = "The tenant pays a rent of 1,250 euro a month."


@pytest.fixture
def papers(agent: "Agent", page: "Page", live_server: "LiveServer") -> "Collection":
    sign_in(page.context, live_server.url, agent.owner)
    return shelf(agent.owner)


def apart(step: "Callable[[], object]") -> None:
    """What the worker does, on a thread of its own: in the browser's no other event loop starts."""

    def run() -> None:
        try:
            step()
        finally:
            connection.close()

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()


def failed_for_now(papers: "Collection", monkeypatch: pytest.MonkeyPatch) -> Document:
    """The worker's folder for temporary files was gone, each time that it tried."""
    owner = papers.owner
    added = ingest.add_file(
        owner=owner, collection=papers, file_name="lease.md", stream=io.BytesIO(RENT.encode()),
        actor=person(owner),
    )  # fmt: skip
    with monkeypatch.context() as broken:
        broken.setattr(tempfile, "tempdir", "/nowhere")
        for _ in range(4):
            job.work(added.document.pk)
            Document.objects.update(next_attempt_at=None)
    return Document.objects.get()


def test_what_failed_is_tried_again(
    page: "Page",
    live_server: "LiveServer",
    papers: "Collection",
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    row = failed_for_now(papers, monkeypatch)
    page.goto(live_server.url + reverse("collection", args=[papers.pk]))
    listed = page.locator(f"#document-{row.pk}")
    expect(listed.locator(".chip")).to_have_text("Failed")
    expect(listed).to_contain_text("Something went wrong on our side")
    assert not grave_barriers(page)
    listed.get_by_role("button", name="Try again").press("Enter")
    expect(page.locator(".note.success")).to_have_text("It is tried again.")
    state = page.locator(".facts-about .chip")
    expect(state).to_have_text("Waiting")
    # What the worker does; the page finds out by itself.
    job.work(row.pk)
    expect(state).to_have_text("Ready")
    expect(page.get_by_role("button", name="Try again")).to_have_count(0)
    page.get_by_role("link", name="Papers").click()
    expect(listed.locator(".chip")).to_have_text("Ready")


def test_facts_are_proposed_out_of_a_document(
    page: "Page",
    live_server: "LiveServer",
    agent: "Agent",
    papers: "Collection",
    settings: "Settings",
) -> None:
    row = document(papers, "Lease", RENT)
    with scripted_llm() as llm:
        general = {"model": "scripted", "base_url": llm.url, "api_key": "key"}
        settings.LLM_ROUTES = {"general": general, "private": {"model": ""}}
        page.goto(live_server.url + reverse("document", args=[row.pk]))
        page.get_by_text("Propose facts from this document").click()
        page.get_by_role("button", name="Read all 1 passage", exact=True).click()
        expect(page.locator(".note.success")).to_contain_text(f"waits in {agent.name}’s review")
        expect(page.locator("article.said")).to_contain_text(RENT)
        assert not grave_barriers(page)
        llm.observer(observed(candidate("The user pays a rent of 1,250 euro a month.", RENT)))
        apart(lambda: extract(conversation=Conversation.objects.get(), trigger=Trigger.REQUEST))
    page.goto(live_server.url + reverse("review"))
    card = page.locator("[data-card]")
    expect(card).to_contain_text("The user pays a rent of 1,250 euro a month.")
    expect(card).to_contain_text("Read from a document, not said by you")
    assert Fact.objects.get().state == State.PENDING
    assert Evidence.objects.get().quote == RENT


def test_a_collection_is_pinned_to_a_conversation(
    page: "Page", live_server: "LiveServer", agent: "Agent", papers: "Collection"
) -> None:
    talk = ConversationFactory.create(agent=agent)
    page.goto(live_server.url + reverse("conversation", args=[talk.pk]))
    page.get_by_text("Documents that it is about").click()
    page.get_by_label("Collection").select_option("Papers")
    page.get_by_role("button", name="Pin", exact=True).press("Enter")
    expect(page.locator(".note.success")).to_have_text("“Papers” is pinned.")
    assert [row.name for row in pins_of(talk)] == ["Papers"]
    assert not grave_barriers(page)
    page.get_by_role("button", name="Unpin Papers", exact=True).press("Enter")
    expect(page.locator(".note.success")).to_have_text("“Papers” is no longer pinned.")
    assert pins_of(talk) == []
