"""On a narrow screen nothing runs out of the page, and no cell is a few letters wide."""

from typing import TYPE_CHECKING

import pytest

from tests.browser.desk import queue_of, sign_in

if TYPE_CHECKING:
    from playwright.sync_api import Page
    from pytest_django.live_server_helper import LiveServer

    from agents.models import Agent, User

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

PHONE = 390


def test_the_trail_of_a_fact_can_be_read(
    page: "Page", live_server: "LiveServer", alice: "User", agent: "Agent"
) -> None:
    (fact,) = queue_of(agent, "The user keeps bees.")
    sign_in(page.context, live_server.url, alice)
    page.set_viewport_size({"width": PHONE, "height": 844})
    page.goto(f"{live_server.url}/facts/{fact.pk}/")
    cells = page.locator("table td").all()
    assert cells
    for cell in cells:
        box = cell.bounding_box()
        assert box is not None
        assert box["width"] > PHONE / 2
    assert page.evaluate("document.documentElement.scrollWidth") <= PHONE


def test_an_empty_list_keeps_its_words_off_the_edge(
    page: "Page", live_server: "LiveServer", alice: "User"
) -> None:
    sign_in(page.context, live_server.url, alice)
    page.set_viewport_size({"width": PHONE, "height": 844})
    page.goto(f"{live_server.url}/facts/")
    padding = page.locator(".empty").evaluate("it => getComputedStyle(it).paddingLeft")
    assert float(padding.removesuffix("px")) >= 16
