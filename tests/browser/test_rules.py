"""Rules in Chromium, by keyboard: written, ordered, brought in from a file, made of a candidate."""

from typing import TYPE_CHECKING

import pytest
from django.urls import reverse
from playwright.sync_api import expect

from memory.models import Rule
from memory.vocabulary import State, Withheld
from tests.browser.desk import AT_A_CARD, sign_in
from tests.browser.watching import grave_barriers, wait_until
from tests.memory.candidates import candidate

if TYPE_CHECKING:
    from playwright.sync_api import Page
    from pytest_django.live_server_helper import LiveServer

    from agents.models import Agent

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

METRIC, BRIEF, TABLES = "Answer in metric units.", "Be brief.", "Prefer tables."


def expect_order(page: "Page", *texts: str) -> None:
    expect(page.locator("ol.rows .statement")).to_have_text(list(texts))


def test_an_owner_writes_orders_imports_and_makes_rules(
    page: "Page", live_server: "LiveServer", agent: "Agent"
) -> None:
    sign_in(page.context, live_server.url, agent.owner)
    page.goto(live_server.url + reverse("rules"))
    for number, text in enumerate((METRIC, BRIEF, TABLES), start=1):
        page.get_by_label("Rule", exact=True).fill(text)
        page.keyboard.press("Tab")
        page.get_by_role("button", name="Add it").press("Enter")
        expect(page.locator("ol.rows .statement")).to_have_count(number)
    # The button keeps the focus, so that it moves on.
    page.get_by_role("button", name=f"Up “{TABLES}”").press("Enter")
    expect_order(page, METRIC, TABLES, BRIEF)
    expect(page.get_by_role("button", name=f"Up “{TABLES}”")).to_be_focused()
    page.keyboard.press("Enter")
    expect_order(page, TABLES, METRIC, BRIEF)
    page.get_by_role("button", name=f"Switch off “{METRIC}”").press("Enter")
    expect(page.locator(".chip", has_text="off")).to_have_count(1)

    page.get_by_role("link", name="Import a file…").click()
    assert not grave_barriers(page)
    text = f"# Me\n\n- {BRIEF}\n- Say the source.\n- Use Celsius.\n"
    page.get_by_label("A file").set_input_files(
        {"name": "CLAUDE.md", "mimeType": "text/markdown", "buffer": text.encode()}
    )
    page.get_by_role("button", name="Look at it").click()
    expect(page.get_by_text("2 of 3 can become rules")).to_be_visible()
    expect(page.get_by_role("checkbox", checked=True)).to_have_count(2)
    assert not grave_barriers(page)
    page.get_by_label("Use Celsius.").uncheck()
    page.get_by_role("button", name="Bring in what is ticked").click()
    expect_order(page, TABLES, METRIC, BRIEF, "Say the source.")

    waiting = candidate(agent, "The user always wants SI.", withheld_for=[Withheld.DIRECTIVE])
    page.goto(live_server.url + reverse("review"))
    card = page.locator("[data-card]")
    expect(card).to_have_count(1)
    page.keyboard.press("j")
    expect(card).to_be_focused()
    page.keyboard.press("r")
    field = page.get_by_label("The rule, in your words to the assistant")
    expect(field).to_be_focused()
    field.fill("Use SI units.")
    page.keyboard.press("Enter")
    expect(page.locator(".result")).to_contain_text("Made a rule")
    assert Rule.objects.get(candidate=waiting).text == "Use SI units."
    wait_until(page, AT_A_CARD)
    page.keyboard.press("u")
    expect(card).to_have_count(1)
    waiting.refresh_from_db()
    assert waiting.state == State.PENDING
    assert not Rule.objects.get(candidate=waiting).stands
