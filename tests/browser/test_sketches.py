"""An assistant's working notes in Chromium: shown, kept and deleted by their owner."""

from typing import TYPE_CHECKING

import pytest
from django.urls import reverse
from playwright.sync_api import expect

from conversations.models import Sketch
from conversations.sketches import writing
from tests.browser.desk import sign_in
from tests.browser.watching import grave_barriers
from tests.factories import ConversationFactory

if TYPE_CHECKING:
    from playwright.sync_api import Page
    from pytest_django.live_server_helper import LiveServer

    from agents.models import Agent

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


def test_an_owner_keeps_and_deletes_what_the_assistant_noted(
    page: "Page", live_server: "LiveServer", agent: "Agent"
) -> None:
    talk = ConversationFactory.create(agent=agent, external_id="trip", title="The trip")
    for key, text in (("plan", "Compare <b>hotels</b>."), ("open", "Ask about the ferry.")):
        writing.write(agent=agent, source=talk.source, external_id="trip", key=key, text=text)
    sign_in(page.context, live_server.url, agent.owner)
    page.goto(live_server.url + reverse("conversation", args=[talk.pk]))
    notes = page.locator("#sketches .said")
    page.get_by_text("Working notes of the assistant (2)").click()
    expect(notes.filter(has_text="Compare <b>hotels</b>.")).to_be_visible()
    assert not grave_barriers(page)
    page.get_by_role("button", name="Keep plan", exact=True).press("Enter")
    expect(notes.filter(has_text="plan").locator(".chip")).to_have_text("kept")
    page.get_by_role("button", name="Delete open", exact=True).press("Enter")
    expect(page.get_by_text("“open” is deleted.")).to_be_visible()
    expect(notes).to_have_count(1)
    assert list(Sketch.objects.values_list("key", "kept")) == [("plan", True)]
