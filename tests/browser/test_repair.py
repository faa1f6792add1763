"""Repair in Chromium: a purge that is typed, and a bulk step in the admin from preview to outcome.
Pages of the admin keep people out no more than the desk does."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest
from django.urls import reverse
from playwright.sync_api import expect

from memory.models import BulkJob, Evidence, Fact
from memory.vocabulary import Repair, State
from tests.browser.desk import queue_of, sign_in
from tests.browser.watching import grave_barriers
from tests.factories import FactFactory

if TYPE_CHECKING:
    from playwright.sync_api import Page
    from pytest_django.live_server_helper import LiveServer

    from agents.models import Agent, User

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

# In the markup of Django's own admin, which is not ours to copy: its search box is named by a
# picture and described by our text; the box that select2 puts in place of a labelled field has no
# name.
OF_DJANGO = frozenset(
    {
        ("label-title-only", "#searchbar"),
        ("aria-input-field-name", ".select2-selection"),
        ("aria-input-field-name", "#select2-"),
    }
)
BEES, HENS = "The user keeps bees.", "The user keeps hens."


@pytest.fixture
def staff(page: "Page", live_server: "LiveServer", alice: "User") -> "Page":
    alice.is_staff = alice.is_superuser = True
    alice.save()
    sign_in(page.context, live_server.url, alice)
    return page


def go(page: "Page", live_server: "LiveServer", name: str, *arguments: object) -> None:
    page.goto(live_server.url + reverse(name, args=arguments))


def choose(page: "Page", step: Repair, *statements: str) -> None:
    for statement in statements:
        row = page.get_by_role("row").filter(has_text=statement)
        row.get_by_role("checkbox").check()
    page.get_by_label("Action:").select_option(step.value)
    page.get_by_role("button", name="Go", exact=True).click()


def texts() -> set[str]:
    return {*Fact.objects.values_list("statement", flat=True)} | {
        *Evidence.objects.values_list("quote", flat=True)
    }


def test_a_purge_is_typed_and_leaves_no_text(
    staff: "Page", live_server: "LiveServer", agent: "Agent"
) -> None:
    gone, stays = queue_of(agent, BEES, HENS)
    go(staff, live_server, "fact", gone.pk)
    staff.get_by_role("link", name="Purge").click()
    expect(staff.get_by_text("There is no way back.")).to_be_visible()
    staff.get_by_label("Type purge to purge").fill("yes")
    staff.get_by_role("button", name="Purge", exact=True).click()
    expect(staff.get_by_role("alert")).to_contain_text("Nothing was done.")
    assert BEES in texts()
    staff.get_by_label("Type purge to purge").fill("purge")
    staff.get_by_label("Type purge to purge").press("Enter")
    expect(staff.get_by_text("Purged: facts 1")).to_be_visible()
    assert BEES not in texts()
    assert stays.statement in texts()
    for name in ("facts", "review", "decided", "conversations"):
        go(staff, live_server, name)
        expect(staff.get_by_role("heading", level=1)).to_be_visible()
        expect(staff.get_by_text("keeps bees")).to_have_count(0)


def test_a_bulk_step_is_previewed_and_then_told_row_by_row(
    staff: "Page", live_server: "LiveServer", agent: "Agent"
) -> None:
    queue_of(agent, BEES, HENS)
    FactFactory.create(agent=agent, statement="The user has a boat.", state=State.REJECTED)
    go(staff, live_server, "admin:memory_fact_changelist")
    choose(staff, Repair.CONFIRM, BEES, HENS, "has a boat")
    expect(staff.get_by_text("2 of 3 chosen facts would change.")).to_be_visible()
    expect(staff.get_by_text("1 is rejected and would be left as it is.")).to_be_visible()
    assert grave_barriers(staff) == ""
    assert not Fact.objects.filter(state=State.ACTIVE).exists()
    staff.get_by_label("Reason, for the audit trail").fill("seen with my own eyes")
    staff.get_by_role("button", name="Confirm").click()
    expect(staff.get_by_text("2 done, 1 refused, 0 still to do, of 3.")).to_be_visible()
    boat = staff.get_by_role("row").filter(has_text="has a boat")
    expect(boat).to_contain_text("refused")
    assert Fact.objects.filter(state=State.ACTIVE).count() == 2


def test_a_bulk_purge_in_the_admin_is_typed(
    staff: "Page", live_server: "LiveServer", agent: "Agent"
) -> None:
    queue_of(agent, BEES, HENS)
    go(staff, live_server, "admin:memory_fact_changelist")
    choose(staff, Repair.PURGE, BEES)
    word = staff.get_by_label("Type “purge 1” to go ahead")
    word.fill("purge 2")
    word.press("Enter")
    expect(staff.get_by_text("Nothing was done: type “purge 1” to go ahead.")).to_be_visible()
    assert BEES in texts()
    word.fill("purge 1")
    word.press("Enter")
    expect(staff.get_by_text("1 done, 0 refused, 0 still to do, of 1.")).to_be_visible()
    assert BEES not in texts()
    assert HENS in texts()


def pages_of_the_admin(fact: Fact, job: BulkJob) -> Iterator[str]:
    facts, jobs = "admin:memory_fact", "admin:memory_bulkjob"
    yield reverse("admin:index")
    yield reverse(f"{facts}_changelist")
    yield reverse(f"{facts}_changelist") + "?state=active&q=bees"
    yield reverse(f"{facts}_change", args=[fact.pk])
    yield reverse(f"{facts}_correct", args=[fact.pk])
    yield reverse(f"{jobs}_changelist")
    yield reverse(f"{jobs}_change", args=[job.pk])
    yield reverse("admin:agents_agent_add")


def test_no_page_of_the_admin_shuts_anybody_out(
    staff: "Page", live_server: "LiveServer", alice: "User", agent: "Agent"
) -> None:
    """What is refused by the policy fails in the page's fixture."""
    fact = FactFactory.create(agent=agent, statement=BEES, state=State.ACTIVE)
    job = BulkJob.objects.create(owner=alice, started_by=alice, step=Repair.MOVE, agent=agent)
    problems = {}
    for address in pages_of_the_admin(fact, job):
        for scheme in ("light", "dark"):
            staff.emulate_media(color_scheme=scheme)
            staff.goto(live_server.url + address)
            expect(staff.get_by_role("heading", level=1).first).to_be_visible()
            problems[f"{address} {scheme}"] = grave_barriers(staff, known=OF_DJANGO)
    assert {name: problem for name, problem in problems.items() if problem} == {}
