"""The owner's desk in Chromium: quarantine and back, the switch during a run, a fact by hand, and
charts that are tables without JavaScript."""

import threading
from typing import TYPE_CHECKING

import pytest
from django.db import connection
from django.urls import reverse
from playwright.sync_api import expect

from memory.extraction import run
from memory.models import ExtractionRun, Fact
from memory.vocabulary import State, Trigger
from tests.browser.desk import sign_in
from tests.factories import ConversationFactory, FactFactory, MessageFactory
from tests.llm_server import answers, meanwhile, scripted_llm

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page
    from pytest_django.fixtures import Settings
    from pytest_django.live_server_helper import LiveServer

    from agents.models import Agent, User

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def at_desk(page: "Page", live_server: "LiveServer", alice: "User") -> "Page":
    sign_in(page.context, live_server.url, alice)
    return page


def states() -> dict[str, str]:
    return dict(Fact.objects.values_list("statement", "state"))


def test_everything_from_a_conversation_goes_to_quarantine_and_back(
    at_desk: "Page", live_server: "LiveServer", agent: "Agent"
) -> None:
    talk = ConversationFactory.create(agent=agent, title="Bees and hives")
    for n in range(3):
        FactFactory.create(
            agent=agent,
            conversation=talk,
            statement=f"The user has {n} hives.",
            state=State.ACTIVE,
        )
    FactFactory.create(agent=agent, statement="The user keeps hens.", state=State.ACTIVE)
    before = states()
    at_desk.goto(live_server.url + reverse("conversation", args=[talk.pk]))
    at_desk.get_by_role("link", name="Send its facts back").click()
    expect(at_desk.get_by_text("The user has 2 hives.")).to_be_visible()
    at_desk.get_by_role("button", name="Send 3 back to the queue").click()
    expect(at_desk.get_by_text("3 facts wait for you again")).to_be_visible()
    expect(at_desk.locator("#waiting-count")).to_contain_text("3")
    assert sorted(states().values()) == [State.ACTIVE] + [State.PENDING] * 3
    at_desk.get_by_role("button", name="Make 3 active again").click()
    expect(at_desk.get_by_text("3 facts are active again")).to_be_visible()
    assert states() == before


def test_the_switch_holds_while_a_run_is_under_way(
    at_desk: "Page", live_server: "LiveServer", agent: "Agent", settings: "Settings"
) -> None:
    talk = ConversationFactory.create(agent=agent)
    MessageFactory.create(conversation=talk, content="I keep bees.")
    asked, off = threading.Event(), threading.Event()

    def wait(request: object) -> None:
        asked.set()
        off.wait(30)

    def read() -> None:
        try:
            run.extract(conversation=talk, trigger=Trigger.REQUEST)
        finally:
            connection.close()

    with scripted_llm() as llm:
        general = {"model": "scripted", "base_url": llm.url, "api_key": "key"}
        settings.LLM_ROUTES = {"general": general, "private": {"model": ""}}
        llm.observer(meanwhile(wait, answers({"candidates": []})))
        reader = threading.Thread(target=read)
        reader.start()
        assert asked.wait(30)
        at_desk.goto(live_server.url + reverse("settings"))
        at_desk.get_by_label("Off: nothing is stored").check()
        at_desk.get_by_role("button", name="Save").first.click()
        expect(at_desk.get_by_text("Saved. It holds from now on.")).to_be_visible()
        off.set()
        reader.join(30)
    done = ExtractionRun.objects.get()
    assert done.state == ExtractionRun.State.FAILED
    talk.refresh_from_db()
    assert talk.cursor_seq == 0
    at_desk.goto(live_server.url + reverse("run", args=[done.pk]))
    expect(at_desk.get_by_text("Memory was switched off while")).to_be_visible()
    at_desk.goto(live_server.url + reverse("dashboard"))
    expect(at_desk.get_by_text("Memory is off")).to_be_visible()


def test_a_fact_by_hand_stands_beside_the_nearest_while_one_writes(
    at_desk: "Page", live_server: "LiveServer", agent: "Agent"
) -> None:
    FactFactory.create(agent=agent, statement="The user keeps bees in Turku.", state=State.ACTIVE)
    at_desk.goto(live_server.url + reverse("facts"))
    at_desk.get_by_role("link", name="Add a fact").click()
    at_desk.get_by_label("Statement").press_sequentially("The user keeps bees.")
    expect(at_desk.get_by_role("link", name="The user keeps bees in Turku.")).to_be_visible()
    at_desk.get_by_role("button", name="Add it").click()
    expect(at_desk.get_by_text("Added. Your assistants may be told it")).to_be_visible()
    assert states()["The user keeps bees."] == State.ACTIVE


def test_charts_are_drawn_from_tables_that_stand_without_javascript(
    at_desk: "Page", browser: "Browser", live_server: "LiveServer", alice: "User", agent: "Agent"
) -> None:
    FactFactory.create(agent=agent, statement="The user keeps bees.", state=State.ACTIVE)
    address = live_server.url + reverse("dashboard")
    at_desk.goto(address)
    chart = at_desk.get_by_role("img", name="Kinds of active facts")
    expect(chart).to_be_visible()
    box = chart.bounding_box()
    assert box is not None
    chart.click(position={"x": box["width"] * 0.7, "y": box["height"] * 0.4})
    expect(at_desk.get_by_role("link", name="The user keeps bees.")).to_be_visible()
    context = browser.new_context(java_script_enabled=False)
    sign_in(context, live_server.url, alice)
    plain = context.new_page()
    plain.goto(address)
    row = plain.get_by_role("row", name="Durable fact or preference")
    row.get_by_role("link", name="1").click()
    expect(plain.get_by_role("link", name="The user keeps bees.")).to_be_visible()
    context.close()
