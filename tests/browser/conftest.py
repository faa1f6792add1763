"""Chromium, driven against a live server."""

import time
from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

from tests.browser.watching import watch
from tests.conftest import need

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

# Milliseconds: two cores may be busy with other tests.
PATIENCE = 20_000
# They keep it quiet where there is no network.
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


@pytest.fixture(scope="package")
def browser(django_db_setup: None) -> Iterator["Browser"]:
    """For the browser tests only, and gone after them: while Playwright's synchronous API runs, so
    does its event loop, in which asyncio.run() fails and Django refuses queries unless told not to.
    """
    program = need("chromium")
    from playwright.sync_api import expect, sync_playwright

    expect.set_options(timeout=PATIENCE)
    with pytest.MonkeyPatch.context() as patch, sync_playwright() as playwright:
        patch.setenv("DJANGO_ALLOW_ASYNC_UNSAFE", "true")
        browser = playwright.chromium.launch(executable_path=program, headless=True, args=FLAGS)
        yield browser
        browser.close()


@pytest.fixture
def page(browser: "Browser") -> Iterator["Page"]:
    """An empty profile each time. A script error, a refused resource or a violation of the
    Content-Security-Policy fails the test; a 409 or 422, which pages are made for, does not."""
    context = browser.new_context()
    errors = watch(context)
    yield context.new_page()
    context.close()
    let_the_server_finish()
    assert errors == []


def let_the_server_finish() -> None:
    """It may still be at work for a page that is closed, and emptying the tables would deadlock."""
    from django.db import connection

    quiet, until = 0, time.monotonic() + 10
    while quiet < 3 and time.monotonic() < until:
        with connection.cursor() as cursor:
            cursor.execute(
                "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()"
                " AND pid <> pg_backend_pid() AND state <> 'idle'"
            )
            (busy,) = cursor.fetchone()
        quiet = 0 if busy else quiet + 1
        time.sleep(0.05)
