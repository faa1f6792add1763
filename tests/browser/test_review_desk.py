"""A week of candidates at the owner's desk, in Chromium: by keyboard, in bulk, taken back, on a
phone, and without JavaScript."""

import time
from datetime import timedelta
from typing import TYPE_CHECKING

import pytest
from django.urls import reverse
from playwright.sync_api import expect

from agents.audit import person
from memory import lifecycle
from memory.models import CorrectionTarget, Fact
from memory.vocabulary import State, Withheld
from tests.browser.desk import Keyboard, queue_of, sign_in
from tests.browser.watching import grave_barriers
from tests.factories import MONDAY, FactFactory
from tests.memory.candidates import candidate

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Locator, Page
    from pytest_django.live_server_helper import LiveServer

    from agents.models import Agent, User

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

BEES, HENS, ANTS = "The user keeps bees.", "The user keeps hens.", "The user dislikes ants."


@pytest.fixture
def desk(page: "Page", live_server: "LiveServer", alice: "User") -> "Page":
    sign_in(page.context, live_server.url, alice)
    return page


def go(page: "Page", live_server: "LiveServer", name: str, query: str = "") -> None:
    page.goto(f"{live_server.url}{reverse(name)}{query}")


def card(page: "Page", statement: str) -> "Locator":
    return page.locator("[data-card]", has_text=statement)


def states() -> dict[str, str]:
    return dict(Fact.objects.values_list("statement", "state"))


def faded(agent: "Agent", statement: str) -> Fact:
    long_ago = MONDAY - timedelta(days=400)
    values = {"state": State.ACTIVE, "observed_at": long_ago, "decayed_at": MONDAY}
    return FactFactory.create(agent=agent, statement=statement, **values)


def test_a_queue_of_fifty_is_cleared_by_keyboard_alone(
    desk: "Page", live_server: "LiveServer", agent: "Agent"
) -> None:
    queue_of(agent, *(f"The user has hive number {n}." for n in range(50)))
    go(desk, live_server, "review")
    keyboard, started = Keyboard(desk), time.monotonic()
    keyboard.press("j")
    for number in range(1, 51):
        keyboard.decide(*{0: ("n", "Enter"), 5: ("s", "Enter")}.get(number % 10, "y"))
        if number % 20 == 0:
            expect(desk.locator("[data-after-cards]")).to_be_focused()
            keyboard.press("Enter")
            expect(desk.locator("[data-card]").first).to_be_focused()
    seconds = time.monotonic() - started
    expect(desk.locator("#waiting-count")).to_be_empty()
    found = list(states().values())
    assert (found.count("active"), found.count("rejected"), found.count("pending")) == (40, 5, 5)
    assert keyboard.presses <= 65
    print(f"{seconds / 50:.2f} s and {keyboard.presses / 50:.2f} key presses per decision")


def test_one_at_a_time_every_step_has_its_key_and_its_undo(
    desk: "Page", live_server: "LiveServer", agent: "Agent"
) -> None:
    queue_of(agent, BEES, HENS, ANTS)
    go(desk, live_server, "review", "?view=one")
    shown = desk.locator("[data-card]")
    expect(shown).to_be_focused()
    desk.keyboard.press("e")
    expect(desk.get_by_label("Statement")).to_be_focused()
    desk.get_by_label("Statement").fill("The user keeps twelve hives.")
    desk.get_by_role("button", name="Confirm this wording").press("Enter")
    expect(shown).to_contain_text(HENS)
    expect(shown).to_be_focused()
    expect(desk.locator("#announce")).to_have_text("Confirmed with your wording.")
    expect(desk).to_have_title("(2) Review · Remembrancer")
    desk.keyboard.press("u")
    expect(shown).to_contain_text(BEES)
    expect(shown).to_be_focused()
    expect(desk).to_have_title("(3) Review · Remembrancer")
    for key, statement in (("j", HENS), ("k", BEES)):
        desk.keyboard.press(key)
        expect(shown).to_contain_text(statement)
        expect(shown).to_be_focused()
    desk.keyboard.press("o")
    expect(desk.get_by_role("heading", name="Said around it")).to_be_visible()
    desk.keyboard.press("m")
    desk.get_by_role("checkbox", name=f"{HENS} pending").check()
    desk.get_by_label("Statement").fill("The user keeps bees and hens.")
    desk.get_by_role("button", name="Merge them into this").press("Enter")
    expect(shown).to_contain_text(ANTS)
    expect(shown).to_be_focused()
    desk.keyboard.press("y")
    expect(desk.locator("[data-after-cards]")).to_be_focused()
    # Gone from the page, still to be taken back.
    go(desk, live_server, "decided")
    desk.locator(".rows > li", has_text="bees and hens").get_by_role("button").click()
    expect(desk.get_by_text("it waits for you again")).to_be_visible()
    assert states()[BEES] == states()[HENS] == State.PENDING
    assert states()[ANTS] == State.ACTIVE


def test_a_merge_in_the_list_takes_the_other_card_along_and_brings_it_back(
    desk: "Page", live_server: "LiveServer", agent: "Agent"
) -> None:
    queue_of(agent, BEES, HENS, ANTS)
    go(desk, live_server, "review", "?view=list")
    desk.keyboard.press("j")
    desk.keyboard.press("m")
    desk.get_by_role("checkbox", name=f"{HENS} pending").check()
    desk.get_by_label("Statement").fill("The user keeps bees and hens.")
    desk.get_by_role("button", name="Merge them into this").click()
    expect(desk.locator("[data-card]")).to_have_count(1)
    expect(desk.get_by_text("Merged into")).to_be_visible()
    desk.keyboard.press("u")
    expect(desk.locator("[data-card]")).to_have_count(3)
    assert set(states().values()) == {State.PENDING, State.ARCHIVED}


def test_a_bulk_decision_with_a_failure_inside_tells_each_outcome(
    desk: "Page", live_server: "LiveServer", alice: "User", agent: "Agent"
) -> None:
    facts = queue_of(agent, BEES, HENS, ANTS)
    flagged = candidate(agent, "The user must win.", withheld_for=[Withheld.DIRECTIVE])
    go(desk, live_server, "review", "?view=list")
    for _ in range(4):
        desk.keyboard.press("j")
        desk.keyboard.press("x")
    desk.get_by_role("button", name="Decide over it").click()
    expect(desk.get_by_role("checkbox", name=flagged.statement)).not_to_be_checked()
    assert grave_barriers(desk) == ""
    lifecycle.reject(fact=facts[1], actor=person(alice))
    desk.get_by_role("button", name="Confirm the ticked").click()
    expect(desk.get_by_role("heading", level=1)).to_have_text("2 of 3 decided")
    row = desk.locator(".rows > li", has_text=HENS)
    expect(row).to_contain_text("already decided elsewhere: the fact is rejected now")
    expect(row).not_to_contain_text("done")
    assert states()[flagged.statement] == State.PENDING
    desk.get_by_role("button", name="Undo what was done").click()
    expect(desk.get_by_role("heading", level=1)).to_have_text("2 of 2 taken back")
    assert states()[BEES] == states()[ANTS] == State.PENDING


def test_old_facts_are_confirmed_again_by_keyboard(
    desk: "Page", live_server: "LiveServer", agent: "Agent"
) -> None:
    for statement in (BEES, HENS, ANTS):
        faded(agent, statement)
    go(desk, live_server, "reconfirm")
    assert grave_barriers(desk) == ""
    keyboard = Keyboard(desk)
    keyboard.press("j")
    keyboard.decide("y")
    keyboard.decide("n", "Enter")
    expect(card(desk, ANTS)).to_be_focused()
    keyboard.press("u")
    expect(card(desk, HENS)).to_be_focused()
    keyboard.press("e")
    desk.keyboard.press("Control+a")
    desk.keyboard.type("The user keeps geese.")
    desk.keyboard.press("Enter")
    expect(desk.locator(".result", has_text="Changed:")).to_be_visible()
    found = states()
    assert (found[BEES], found[HENS]) == (State.ACTIVE, State.ARCHIVED)
    assert (found["The user keeps geese."], found[ANTS]) == (State.ACTIVE, State.ACTIVE)
    # Gone from the page, still to be taken back.
    go(desk, live_server, "reconfirm")
    desk.keyboard.press("u")
    still = desk.locator(".rows > li", has_text=BEES).filter(has_text="Still true")
    expect(still).to_have_count(1)
    assert grave_barriers(desk) == ""
    still.get_by_role("button").click()
    expect(desk.get_by_text("it is asked about again")).to_be_visible()
    expect(still).to_have_count(0)
    go(desk, live_server, "reconfirm")
    expect(card(desk, BEES)).to_be_visible()


def test_the_desk_fits_a_phone_and_a_finger(
    browser: "Browser", live_server: "LiveServer", alice: "User", agent: "Agent"
) -> None:
    old = FactFactory.create(agent=agent, state=State.ACTIVE, statement="The rent is 1,250 euros.")
    new = candidate(agent, "The rent is 1,350 euros.", withheld_for=[Withheld.CORRECTION])
    CorrectionTarget.objects.create(owner=alice, fact=new, target=old)
    faded(agent, BEES)
    context = browser.new_context(viewport={"width": 360, "height": 740}, has_touch=True)
    sign_in(context, live_server.url, alice)
    page = context.new_page()
    for name, query in (
        ("review", "?view=list"), ("review", "?view=one"), ("bulk", ""), ("decided", ""),
        ("snoozed", ""), ("reconfirm", ""), ("digest", ""),
    ):  # fmt: skip
        go(page, live_server, name, query)
        assert page.evaluate("document.documentElement.scrollWidth") <= 360, name
        assert grave_barriers(page) == "", name
    go(page, live_server, "review", "?view=list")
    expect(page.locator(".changes del")).to_have_text("1,250")
    expect(page.locator(".changes ins")).to_have_text("1,350")
    for button in page.locator(".card .actions").get_by_role("button").all():
        box = button.bounding_box()
        assert box is None or box["height"] >= 36
    card(page, new.statement).get_by_role("button", name="Confirm", exact=True).tap()
    expect(page.locator(".result.done")).to_be_visible()
    context.close()
    assert states() == {
        old.statement: State.ARCHIVED, new.statement: State.ACTIVE, BEES: State.ACTIVE
    }  # fmt: skip


def test_every_step_works_without_javascript(
    browser: "Browser", live_server: "LiveServer", alice: "User", agent: "Agent"
) -> None:
    queue_of(agent, BEES, HENS, ANTS)
    old = faded(agent, "The user owns a boat.")
    context = browser.new_context(java_script_enabled=False)
    sign_in(context, live_server.url, alice)
    page = context.new_page()
    go(page, live_server, "review", "?view=list")
    card(page, ANTS).get_by_text("Snooze").click()
    card(page, ANTS).get_by_role("button", name="Next week").click()
    expect(page.get_by_text("Snoozed until")).to_be_visible()
    card(page, BEES).get_by_role("link", name="Merge").click()
    page.get_by_role("checkbox", name=f"{HENS} pending").check()
    page.get_by_label("Statement").fill("The user keeps bees and hens.")
    page.get_by_role("button", name="Merge them into this").click()
    expect(page.get_by_text("Merged: The user keeps bees and hens.")).to_be_visible()
    page.get_by_role("link", name="Decided").click()
    page.locator(".rows > li").first.get_by_role("button").click()
    go(page, live_server, "snoozed")
    page.get_by_role("button", name="Bring it back now").click()
    go(page, live_server, "review", "?view=one")
    page.get_by_role("button", name="Confirm", exact=True).click()
    expect(page.get_by_text("Confirmed: ")).to_be_visible()
    go(page, live_server, "reconfirm")
    card(page, old.statement).get_by_role("button", name="Still true").click()
    expect(page.get_by_text("Nothing is asked about just now.")).to_be_visible()
    context.close()
    assert sorted(states().values()) == ["active", "active", "archived", "pending", "pending"]
