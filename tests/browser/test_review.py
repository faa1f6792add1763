"""The review queue in Chromium: keyboard, mouse, two tabs, a phone, and no JavaScript."""

from typing import TYPE_CHECKING

import pytest
from django.urls import reverse
from playwright.sync_api import expect

from memory.models import Fact
from memory.vocabulary import State
from tests.browser.desk import queue_of, sign_in

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page
    from pytest_django.live_server_helper import LiveServer

    from agents.models import Agent, User

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

BEES, HENS, ANTS = "The user keeps bees.", "The user keeps hens.", "The user dislikes ants."


@pytest.fixture
def queue_page(page: "Page", live_server: "LiveServer", alice: "User", agent: "Agent") -> "Page":
    queue_of(agent, BEES, HENS, ANTS)
    sign_in(page.context, live_server.url, alice)
    page.goto(live_server.url + reverse("review"))
    expect(page).to_have_title("(3) Review · Remembrancer")
    return page


def states() -> dict[str, str]:
    return dict(Fact.objects.values_list("statement", "state"))


def test_the_queue_is_cleared_by_keyboard_alone(queue_page: "Page") -> None:
    page = queue_page
    page.keyboard.press("j")
    expect(page.locator("[data-card]", has_text=BEES)).to_be_focused()
    page.keyboard.press("j")
    page.keyboard.press("k")
    page.keyboard.press("y")
    expect(page.locator("[data-card]", has_text=HENS)).to_be_focused()
    expect(page.locator("#waiting-count")).to_have_text("2 waiting")
    expect(page).to_have_title("(2) Review · Remembrancer")
    page.keyboard.press("n")
    page.keyboard.type("sold them")
    page.keyboard.press("Enter")
    expect(page.locator("[data-card]", has_text=ANTS)).to_be_focused()
    page.keyboard.press("y")
    expect(page.locator("[data-after-cards]")).to_be_focused()
    expect(page.locator("#waiting-count")).to_be_empty()
    assert states() == {BEES: State.ACTIVE, HENS: State.REJECTED, ANTS: State.ACTIVE}


def test_keys_typed_into_a_field_decide_nothing(queue_page: "Page") -> None:
    page = queue_page
    page.keyboard.press("j")
    page.keyboard.press("n")
    page.keyboard.type("yyy jk")
    page.keyboard.press("Escape")
    expect(page.locator("[data-card]", has_text=BEES)).to_be_focused()
    expect(page.get_by_label("Why? (not needed)").first).to_be_hidden()
    page.keyboard.press("?")
    expect(page.get_by_role("dialog", name="Keys")).to_be_visible()
    page.keyboard.press("y")
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog", name="Keys")).to_be_hidden()
    assert set(states().values()) == {State.PENDING}


def test_a_candidate_is_edited_and_confirmed_by_mouse_and_taken_back(queue_page: "Page") -> None:
    page = queue_page
    card = page.locator("[data-card]", has_text=BEES)
    card.get_by_role("link", name="Edit").click()
    expect(page.get_by_label("Statement")).to_be_focused()
    page.get_by_role("link", name="Cancel").click()
    expect(card.get_by_role("button", name="Confirm")).to_be_visible()
    card.get_by_role("link", name="Edit").click()
    page.get_by_label("Statement").fill("The user keeps twelve hives.")
    page.get_by_role("button", name="Confirm this wording").click()
    expect(page.get_by_text("Confirmed with your wording:")).to_be_visible()
    hens = page.locator("[data-card]", has_text=HENS)
    hens.get_by_role("button", name="Confirm").click()
    # Until it answers, the only Undo is that of the decision before.
    outcome = page.locator(".result", has_text=f"Confirmed: {HENS}")
    outcome.get_by_role("button", name="Undo").click()
    expect(hens.get_by_role("button", name="Confirm")).to_be_visible()
    expect(page.locator("#waiting-count")).to_have_text("2 waiting")
    assert states()["The user keeps twelve hives."] == State.ACTIVE
    assert states()[HENS] == State.PENDING


def test_the_second_of_two_tabs_learns_what_the_first_did(
    queue_page: "Page", browser: "Browser", live_server: "LiveServer", alice: "User"
) -> None:
    # A context of its own: Chromium calls the 409 an error in the console, which it is not here.
    context = browser.new_context()
    sign_in(context, live_server.url, alice)
    late = context.new_page()
    late.goto(live_server.url + reverse("review"))
    queue_page.locator("[data-card]", has_text=BEES).get_by_role("button", name="Confirm").click()
    expect(queue_page.get_by_text("Confirmed: The user keeps bees.")).to_be_visible()
    late.keyboard.press("j")
    late.keyboard.press("n")
    late.keyboard.press("Enter")
    expect(late.locator(".result")).to_contain_text("already decided elsewhere")
    expect(late.locator(".result")).not_to_contain_text("Rejected")
    expect(late.locator("#waiting-count")).to_have_text("2 waiting")
    context.close()
    assert states()[BEES] == State.ACTIVE


def test_it_works_without_javascript(
    browser: "Browser", live_server: "LiveServer", alice: "User", agent: "Agent"
) -> None:
    queue_of(agent, BEES, HENS)
    context = browser.new_context(java_script_enabled=False)
    sign_in(context, live_server.url, alice)
    page = context.new_page()
    page.goto(live_server.url + reverse("review"))
    page.locator(".card", has_text=BEES).get_by_role("button", name="Confirm").click()
    expect(page.locator(".note.success")).to_have_text(f"Confirmed: {BEES}")
    expect(page.locator(".card")).to_have_count(1)
    page.locator(".card", has_text=HENS).get_by_role("link", name="Edit").click()
    page.get_by_label("Statement").fill("The user keeps six hens.")
    page.get_by_role("button", name="Confirm this wording").click()
    expect(page.get_by_text("Nothing waits for you")).to_be_visible()
    context.close()
    assert states()["The user keeps six hens."] == State.ACTIVE


def test_no_page_is_wider_than_a_phone(queue_page: "Page", live_server: "LiveServer") -> None:
    page = queue_page
    page.set_viewport_size({"width": 360, "height": 720})
    for name in ("review", "facts", "conversations", "runs", "settings"):
        page.goto(live_server.url + reverse(name))
        expect(page.get_by_role("heading", level=1)).to_be_visible()
        assert page.evaluate("document.documentElement.scrollWidth") <= 360, name


def test_no_page_breaks_the_policy_against_inline_scripts_and_styles(
    queue_page: "Page", live_server: "LiveServer", alice: "User"
) -> None:
    """The page's fixture fails on the line that Chromium writes for each violation."""
    page = queue_page
    fact = Fact.objects.all()[0]
    desk = [reverse(name) for name in ("facts", "conversations", "runs", "recall", "settings")]
    desk += [reverse("fact", args=[fact.pk]), reverse("conversation", args=[fact.conversation_id])]
    alice.is_staff = alice.is_superuser = True
    alice.save()
    admin = [reverse(f"admin:{name}") for name in ("index", "memory_fact_changelist")]
    admin += [
        reverse("admin:memory_fact_change", args=[fact.pk]),
        reverse("admin:agents_agent_add"),
    ]
    for address in desk + admin:
        page.goto(live_server.url + address)
        expect(page.get_by_role("heading", level=1).first).to_be_visible()
    page.context.clear_cookies()
    page.goto(live_server.url + reverse("login"))
    expect(page.get_by_role("button", name="Sign in")).to_be_visible()
