"""On a narrow screen nothing runs out of the page, and no cell is a few letters wide; on paper
stands the text and nothing to press."""

from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect

from memory.vocabulary import Withheld
from tests.browser.desk import queue_of, sign_in
from tests.memory.candidates import candidate

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


# Of what stands in a row: whether each is as high as the first, and on its line.
MIDDLES = """
(items) => items.map((item) => item.getBoundingClientRect())
  .filter((box, at, all) => box.height && Math.abs(box.top - all[0].top) < all[0].height / 2)
  .map((box) => Math.round(box.top + box.height / 2))
"""


def test_buttons_links_and_what_folds_stand_on_one_line(
    page: "Page", live_server: "LiveServer", alice: "User", agent: "Agent"
) -> None:
    queue_of(agent, "The user keeps bees.")
    sign_in(page.context, live_server.url, alice)
    for width in (PHONE, 1100):
        page.set_viewport_size({"width": width, "height": 844})
        page.goto(f"{live_server.url}/facts/")
        row = page.locator("form.search > :is(input, button, a.button):visible")
        middles = row.evaluate_all(MIDDLES)
        assert len(middles) > 1
        assert len(set(middles)) == 1
        page.goto(f"{live_server.url}/review/")
        row = page.locator(".actions :is(button, a.button, summary.button):visible")
        heights = row.evaluate_all("all => all.map(it => Math.round(it.offsetHeight))")
        assert len(heights) > 4
        assert len(set(heights)) == 1


def test_what_makes_a_rule_of_a_candidate_says_for_whom_in_one_line(
    page: "Page", live_server: "LiveServer", alice: "User", agent: "Agent"
) -> None:
    candidate(agent, "The user wants answers in French.", withheld_for=[Withheld.DIRECTIVE])
    sign_in(page.context, live_server.url, alice)
    page.set_viewport_size({"width": 1100, "height": 844})
    page.goto(f"{live_server.url}/review/")
    page.locator("summary", has_text="Make this a rule").click()
    box = page.get_by_text("only for Main").last.bounding_box()
    assert box is not None
    assert box["height"] < 40


def test_on_paper_stands_the_text_and_nothing_to_press(
    page: "Page", live_server: "LiveServer", alice: "User", agent: "Agent"
) -> None:
    (fact,) = queue_of(agent, "The user keeps bees.")
    sign_in(page.context, live_server.url, alice)
    page.emulate_media(media="print", color_scheme="dark")
    for address in ("/review/", f"/facts/{fact.pk}/"):
        page.goto(live_server.url + address)
        expect(page.locator(".statement").first).to_be_visible()
        expect(page.locator("mark").first).to_be_visible()
        for control in page.locator("button, nav, .actions").all():
            expect(control).not_to_be_visible()
        paper = page.evaluate("getComputedStyle(document.body).backgroundColor")
        assert paper == "rgb(255, 255, 255)"
