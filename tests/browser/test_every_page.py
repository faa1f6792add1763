"""Every page of the desk, full of rows: no barrier that axe-core calls serious, nothing refused by
the policy, nothing wider than a phone."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest
from django.urls import reverse
from playwright.sync_api import expect

from tests.browser.desk import sign_in
from tests.browser.watching import grave_barriers, wait_until
from tests.isolation.household import Household, household
from tests.isolation.test_pages import LISTS, ONE_ROW

if TYPE_CHECKING:
    from playwright.sync_api import Page
    from pytest_django.live_server_helper import LiveServer

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

DESK, PHONE = {"width": 1100, "height": 800}, {"width": 360, "height": 740}
CHARTS_FIT = "[...document.querySelectorAll('canvas')].every(c => c.clientWidth <= innerWidth)"
FORMS = ("assistant-new", "collection-new", "fact-new", "language-model")
# Their colours are seen in the dark too.
DARK = {
    "review", "fact", "facts", "dashboard", "settings", "run", "recall", "conversation",
    "collection", "document",
}  # fmt: skip


def addresses(home: Household) -> Iterator[tuple[str, str]]:
    """Of each kind of page one; parts of pages stand in those, and a download is none."""
    seen = {"around", "candidate", "document-original"}
    for case in ONE_ROW:
        if case.method == "GET" and case.name not in seen:
            seen.add(case.name)
            yield case.name, case.url(home)
    for name, query in LISTS:
        if name not in seen:
            seen.add(name)
            asked = "&".join(f"{key}={value}" for key, value in query.items())
            yield name, f"{reverse(name)}?{asked}"
    yield from ((name, reverse(name)) for name in FORMS)


def test_no_page_shuts_anybody_out(page: "Page", live_server: "LiveServer") -> None:
    home = household("Alicewort")
    home.owner.is_staff = home.owner.is_superuser = True
    home.owner.save()
    sign_in(page.context, live_server.url, home.owner)
    problems = {}
    for name, address in addresses(home):
        page.emulate_media(color_scheme="light")
        page.set_viewport_size(DESK)  # type: ignore[arg-type]
        page.goto(live_server.url + address)
        expect(page.get_by_role("heading", level=1)).to_have_count(1)
        problems[name] = grave_barriers(page)
        if name in DARK:
            page.emulate_media(color_scheme="dark")
            problems[f"{name} in the dark"] = grave_barriers(page)
        page.set_viewport_size(PHONE)  # type: ignore[arg-type]
        # Charts are drawn anew a moment after the window has its size.
        wait_until(page, CHARTS_FIT)
        width = page.evaluate("document.documentElement.scrollWidth")
        problems[f"{name} on a phone"] = f"{width} px" if width > PHONE["width"] else ""
    assert {name: problem for name, problem in problems.items() if problem} == {}
    assert len(problems) > 60
