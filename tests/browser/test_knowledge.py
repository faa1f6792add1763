"""A document goes up, is read, is found, and is deleted."""

from typing import TYPE_CHECKING

import pytest
from django.urls import reverse
from playwright.sync_api import expect

from knowledge.ingest import job
from knowledge.models import Collection, Document
from memory import embedding
from tests.browser.desk import sign_in
from tests.browser.watching import grave_barriers

if TYPE_CHECKING:
    from pathlib import Path

    from playwright.sync_api import Page
    from pytest_django.fixtures import Settings
    from pytest_django.live_server_helper import LiveServer

    from agents.models import User

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

LEASE = "# Lease\n\nThe tenant pays a rent of 1,250 euro on the second day of each month.\n"
# What a person does with the mouse, which no command of the browser's does.
DROP = """
([names, contents]) => {
  const transfer = new DataTransfer();
  names.forEach((name, at) => transfer.items.add(new File([contents[at]], name)));
  const form = document.querySelector("form[data-upload]");
  form.dispatchEvent(new DragEvent("dragover", { dataTransfer: transfer, cancelable: true }));
  form.dispatchEvent(new DragEvent("drop", { dataTransfer: transfer, cancelable: true }));
}
"""


def test_a_document_is_dropped_read_found_and_deleted(
    page: "Page",
    live_server: "LiveServer",
    alice: "User",
    settings: "Settings",
    tmp_path: "Path",
) -> None:
    settings.KNOWLEDGE_MAX_BYTES = 1_000_000
    embedding.warm_up()
    papers = Collection.objects.create(owner=alice, name="Papers")
    place = live_server.url + reverse("collection", args=[papers.pk])
    sign_in(page.context, live_server.url, alice)
    page.goto(place)

    page.evaluate(DROP, [["lease.md", "huge.pdf"], [LEASE, "x" * 1_000_001]])
    uploads = page.locator("[data-uploads] li")
    expect(uploads.nth(0)).to_contain_text("lease is up")
    expect(uploads.nth(1)).to_have_text(
        "huge.pdf: is larger than 1 MB, the most that fits. Split it and add the parts."
    )
    listed = page.locator("#documents .rows > li")
    expect(listed).to_have_count(1)
    expect(listed).to_contain_text("Waiting")

    # What the worker does. The page finds out by itself, and then asks no more.
    job.work(Document.objects.get().pk)
    expect(listed).to_contain_text("Ready")
    expect(page.locator("#documents")).to_have_attribute("hx-trigger", "refresh")
    assert grave_barriers(page) == ""

    (tmp_path / "again.md").write_text(LEASE)
    page.get_by_label("Files").set_input_files(tmp_path / "again.md")
    page.get_by_role("button", name="Upload").click()
    expect(uploads).to_have_count(3)
    expect(uploads.last).to_contain_text("was there already")

    page.reload()
    page.get_by_label("Look for").fill("When is the rent due?")
    page.get_by_role("button", name="Search").click()
    found = page.get_by_role("article")
    expect(found).to_have_count(1)
    expect(found).to_contain_text("second day of each month")
    assert grave_barriers(page) == ""

    found.get_by_role("link").click()
    expect(page.get_by_role("heading", level=1)).to_be_visible()
    expect(page.get_by_role("article")).to_contain_text("second day of each month")
    page.get_by_role("link", name="Delete…").click()
    page.get_by_role("button", name="Delete").click()
    expect(page.locator(".note.success")).to_contain_text("is deleted")
    expect(listed).to_have_text("Nothing in it yet.")
    assert not Document.objects.exists()
